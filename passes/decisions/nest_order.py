"""The order of a nest of parallel loops: the innermost is the one with contiguous accesses."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .schedule import Target
from .short_rows import MOST_SHORT_ITERATIONS


@dataclass(frozen=True)
class Walk:
    """
    Contiguous and strided accesses of a nest with respect to one of its variables, and the number of
    iterations of that loop, if it is known.
    """

    contiguous: int
    strided: int
    trips: int | None = None

    @property
    def both(self) -> bool:
        """Whether the variable moves along some arrays and across others."""
        return self.contiguous > 0 and self.strided > 0

    @property
    def along(self) -> bool:
        return self.contiguous > self.strided

    @property
    def across(self) -> bool:
        return self.strided > self.contiguous


def outer_iterations(target: Target) -> int:
    """
    The iterations that the outermost loop should have: CPU threads share those of this loop, GPUs those of
    the whole nest.
    """
    return 64 if target == "host" else 0


def best_order(walks: Sequence[Walk], rows: int = 0) -> list[int] | None:
    """
    The best order of a nest as a permutation of its positions (`walks`: of the outermost variable first), or
    None to keep the order. If most accesses of the innermost variable are strided, the variable with most
    contiguous accesses becomes the innermost. If that was the outermost, the whole nest is reversed, else the
    others keep their order. A loop of fewer than `rows` iterations does not become the outermost.
    """
    if not walks or not walks[-1].across:
        return None
    along = [p for p, walk in enumerate(walks) if walk.along]
    last = max(along, key=lambda p: (walks[p].contiguous - walks[p].strided, p), default=None)
    if last is None:
        return None
    if last == 0:
        order = list(range(len(walks)))[::-1]
    else:
        order = [p for p in range(len(walks)) if p != last] + [last]
    trips = walks[order[0]].trips
    return order if order[0] == 0 or trips is None or trips >= rows else None


def order_of_passes(walks: Sequence[Walk]) -> list[int] | None:
    """
    The order, as for `best_order`, of a nest for a GPU whose outermost loop passes a few times over the same
    elements, such as one over counters that are updated atomically: it becomes the innermost, so that a
    thread reads each element once. None for other nests. Six passes over 2^25 numbers take 362 µs on an H200,
    six counters for each number 77.
    """
    if len(walks) < 2 or not walks[-1].along:
        return None
    first = walks[0]
    few = first.trips is not None and first.trips <= MOST_SHORT_ITERATIONS
    alike = not first.contiguous and not first.strided
    return [*range(1, len(walks)), 0] if few and alike else None
