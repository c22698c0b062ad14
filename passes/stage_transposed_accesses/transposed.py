"""
Which of two parallel loops should get the lanes, and which accesses are then not contiguous along the
lanes.

`choose_lanes` decides for a nest described by `NestAccess`es; nothing in it sees IR.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

from xdsl.ir import SSAValue

from ..ir.values.region_values import RegionSymbols
from ..ir.values.strides import AccessCounts, count_access, flat_steps


class Direction(Enum):
    """How the address of an access changes with a loop variable."""

    STILL = "not at all"
    ALONG = "to the neighbouring element"
    ACROSS = "otherwise"


def direction_of(
    pointer: SSAValue, element: int, variable: SSAValue, symbols: RegionSymbols
) -> Direction:
    """The direction in which a load or store of `element` bytes through `pointer` moves with `variable`."""
    counts = AccessCounts()
    count_access(flat_steps(pointer, symbols), element, variable, counts)
    if counts.strided:
        return Direction.ACROSS
    return Direction.ALONG if counts.contiguous else Direction.STILL


@dataclass(frozen=True)
class NestAccess:
    """One load or store in a nest of two loops, with its direction for each loop's variable."""

    is_store: bool
    outer: Direction
    inner: Direction

    def is_transposed(self, lanes_outside: bool) -> bool:
        """
        Whether it is contiguous along the other loop, but not along the loop with the lanes (the outer loop
        if `lanes_outside`).
        """
        lanes, rows = (self.outer, self.inner) if lanes_outside else (self.inner, self.outer)
        return lanes is Direction.ACROSS and rows is Direction.ALONG


def choose_lanes(accesses: Sequence[NestAccess]) -> bool | None:
    """
    Whether the outer loop gets the lanes, so that all stores are contiguous. None if the nest has no
    transposed load, or if neither loop makes its stores contiguous.
    """
    for lanes_outside in (False, True):
        stores = [a.outer if lanes_outside else a.inner for a in accesses if a.is_store]
        if not stores or any(d is not Direction.ALONG for d in stores):
            continue
        if any(a.is_transposed(lanes_outside) for a in accesses if not a.is_store):
            return lanes_outside
    return None
