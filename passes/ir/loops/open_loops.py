"""Parallel loops whose place in the nest is still free."""

from __future__ import annotations

from xdsl.dialects import acc
from xdsl.ir import Operation

from ..ops.acc_ops import hands_on, operand_groups
from ..ops.levels import is_parallel, loop_levels

_BOUNDS = ("lowerbound", "upperbound", "step")


def is_open(op: Operation | None) -> bool:
    """Whether `op` is a parallel loop that may have any level, and has no variables of its own."""
    if not isinstance(op, acc.LoopOp) or not is_parallel(op) or len(op.region.blocks) != 1:
        return False
    own = any(values for name, values in operand_groups(op).items() if name not in _BOUNDS)
    return not own and not loop_levels(op) and not hands_on(op)
