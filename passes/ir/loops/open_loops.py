"""Parallel loops whose place in the nest is still free."""

from __future__ import annotations

from xdsl.dialects import acc
from xdsl.ir import Operation

from ..ops.acc_ops import hands_on, operand_groups
from ..ops.levels import is_parallel, loop_levels

_BOUNDS = ("lowerbound", "upperbound", "step")


def is_open(op: Operation | None) -> bool:
    """Whether `op` is a parallel loop that may have any level, and has no variables of its own."""
    return isinstance(op, acc.LoopOp) and is_parallel(op) and is_bare(op)


def is_bare(loop: acc.LoopOp) -> bool:
    """Whether a loop has no levels, no variables of its own, and hands no values on."""
    own = any(values for name, values in operand_groups(loop).items() if name not in _BOUNDS)
    whole = len(loop.region.blocks) == 1
    return whole and not own and not loop_levels(loop) and not hands_on(loop)
