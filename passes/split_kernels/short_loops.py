"""Loops that are known to have few iterations."""

from __future__ import annotations

from xdsl.dialects import scf

from ..decisions.short_rows import MOST_SHORT_ITERATIONS
from ..ir.ops.building import constant_value


def is_short(loop: scf.ForOp) -> bool:
    """Whether a loop is known to have too few iterations to give each a thread."""
    return has_at_most(loop, MOST_SHORT_ITERATIONS)


def has_at_most(loop: scf.ForOp, iterations: int) -> bool:
    lower, upper, step = (constant_value(value) for value in (loop.lb, loop.ub, loop.step))
    if lower is None or upper is None or step is None or step <= 0:
        return False
    return upper - lower <= iterations * step
