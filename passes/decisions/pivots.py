"""
Parts of a loop before and after one of its iterations, the pivot, on which the others depend.

In step `k` of a Floyd-Warshall nest, row `k` is read by all rows and updated itself: rows below `k` need its
values from before, rows above those from after its update.
"""

from __future__ import annotations

from collections.abc import Sequence

from .inequalities import Facts, bounds_from_below
from .polynomials import Polynomial
from .ranges import LoopRange

MOST_OPERATIONS = 80
"""The most operations of a body that is worth repeating: a nest of two loops has it nine times."""


def parts(
    loop: LoopRange, pivot: Polynomial, outer: Sequence[LoopRange]
) -> tuple[LoopRange, LoopRange] | None:
    """
    The iterations before and after `pivot` of a loop in steps of one; None unless `pivot` certainly is one of
    its iterations whenever the loops `outer` (innermost first) run.
    """
    facts = Facts.of_loops(outer)
    least = bounds_from_below([pivot - loop.lower, loop.last - pivot], outer, facts)
    if least is None or not all(map(facts.proves, least)):
        return None
    before = LoopRange(loop.variable, loop.lower, pivot - 1)
    return before, LoopRange(loop.variable, pivot + 1, loop.last)
