"""
Which of two parallel loops should have the lanes, and which accesses then run across memory.

`choose_lanes` decides for a nest described by `NestAccess`es; nothing in it sees IR.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

from xdsl.ir import SSAValue

from ..ir.region_values import RegionSymbols
from ..ir.strides import AccessCounts, count_access, flat_steps


class Direction(Enum):
    """How an access moves with a loop variable."""

    STILL = "not at all"
    ALONG = "to the neighbouring element"
    ACROSS = "otherwise"


def direction_of(
    pointer: SSAValue, element: int, variable: SSAValue, symbols: RegionSymbols
) -> Direction:
    """How a load or store of `element` bytes through `pointer` moves with `variable`."""
    counts = AccessCounts()
    count_access(flat_steps(pointer, symbols), element, variable, counts)
    if counts.strided:
        return Direction.ACROSS
    return Direction.ALONG if counts.contiguous else Direction.STILL


@dataclass(frozen=True)
class NestAccess:
    """One load or store in a nest of two loops, and how it moves with the variable of each."""

    is_store: bool
    outer: Direction
    inner: Direction

    def is_transposed(self, lanes_outside: bool) -> bool:
        """Whether it runs across memory with the lanes on the outer (or inner) loop, but along it
        with the lanes on the other."""
        lanes, rows = (self.outer, self.inner) if lanes_outside else (self.inner, self.outer)
        return lanes is Direction.ACROSS and rows is Direction.ALONG


def choose_lanes(accesses: Sequence[NestAccess]) -> bool | None:
    """
    Whether the outer loop gets the lanes: all stores go along memory then. None if the nest has no
    transposed load for tiles to help, or no direction suits its stores.
    """
    for lanes_outside in (False, True):
        stores = [a.outer if lanes_outside else a.inner for a in accesses if a.is_store]
        if not stores or any(d is not Direction.ALONG for d in stores):
            continue
        if any(a.is_transposed(lanes_outside) for a in accesses if not a.is_store):
            return lanes_outside
    return None
