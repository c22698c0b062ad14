"""
What to do about memory that all iterations of a parallel loop read in their sequential inner loops.

All iterations of `for i: for j: f(a[j], x[i])` read the same `a[j]`. Two things help: a tile of a in
shared memory, which the threads of a gang fetch together (`choose_piece`), and several iterations of i in
one thread, for which a[j] is loaded once (`iterations_side_by_side`). On an H200 the tile takes
65536 all-pairs interactions from 5.3 to 3.7 ms: a thread per output leaves too few warps to hide
the caches' latency. Several iterations per thread leave fewer still, 8.8 ms with two; they pay, by 6 %,
where arithmetic is scarce and all threads that the device can hold have them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

MOST = 4
"""More iterations than this gain little: a shared load is already rare."""
INTENSITY = 8
"""Operations per shared load up to which loading is what limits a loop."""
FULL_DEVICE = 132 * 2048
"""Threads that a large device holds at once."""


@dataclass(frozen=True)
class InnerWork:
    """
    What the innermost sequential loops of a loop body do. `shared_loads` read the same address in all
    iterations of the outer loop; of those that do not, `strided_loads` address memory with a distance other
    than one element between neighbouring iterations. `own_operations`: all that differ
    from iteration to iteration.
    """

    shared_loads: int = 0
    strided_loads: int = 0
    own_operations: int = 0


def iterations_side_by_side(work: InnerWork) -> int:
    """
    Iterations of the outer loop per thread: 1 if that does not pay. Strided accesses rule it out:
    every iteration more in flight needs cache lines of its own.
    """
    busy = work.own_operations > INTENSITY * work.shared_loads
    return 1 if work.shared_loads == 0 or work.strided_loads > 0 or busy else MOST


def enough_iterations(count: int, full_device: int = FULL_DEVICE) -> int:
    """The trip count from which threads with `count` iterations each fill the device."""
    return count * full_device


MOST_BYTES = 16 * 1024
"""Shared memory of a gang for one tile: several gangs fit on a multiprocessor."""


@dataclass(frozen=True)
class StagedPiece:
    """
    A tile for `iterations` of an inner loop: `slot` bytes for each, in which the loads lie at
    `offsets`; `alignment`: of a slot.
    """

    iterations: int
    offsets: tuple[int, ...]
    slot: int
    alignment: int

    @property
    def bytes(self) -> int:
        return self.iterations * self.slot


def choose_piece(sizes: Sequence[int], threads: int, trip: int | None) -> StagedPiece | None:
    """
    The tile for loads of `sizes` bytes, one iteration per thread, or None if it does not pay. Slots of up
    to 16 bytes are powers of two, so that one wide load reads them. `trip`: the inner loop's number of
    iterations if constant.
    """
    if not sizes or (trip is not None and trip < 2 * threads):
        return None
    offsets: list[int] = []
    end = 0
    for size in sizes:
        begin = -(-end // size) * size
        offsets.append(begin)
        end = begin + size
    unit = 16 if end > 8 else 8 if end > 4 else 4 if end > 2 else end
    slot = -(-end // unit) * unit
    piece = StagedPiece(threads, tuple(offsets), slot, unit)
    return piece if piece.bytes <= MOST_BYTES else None
