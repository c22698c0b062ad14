"""
How to share loads that all iterations of a parallel loop make in their sequential inner loops.

All iterations of `for i: for j: f(a[j], x[i])` read the same `a[j]`. Two transformations help: a tile of a
in shared memory, which the threads of a gang fetch together (`choose_piece`), and several iterations of i
in one thread, for which a[j] is loaded once (`iterations_side_by_side`). On an H200 the tile takes 65536
all-pairs interactions from 5.3 to 3.7 ms: with a thread per output there are too few warps to hide the
caches' latency. Several iterations per thread leave even fewer warps (8.8 ms with two); they pay, by 6 %,
if there is little arithmetic and enough iterations to fill the device.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .device import MULTIPROCESSORS

MOST = 4
"""The most iterations side by side: with more, shared loads are already rare."""
INTENSITY = 8
"""With at most this many operations per shared load, loads limit a loop."""
FULL_DEVICE = MULTIPROCESSORS * 2048
"""The threads resident on a large device."""
KEPT_WORDS = 64
"""
The most 32-bit words that a thread keeps in registers because an iteration reads them again and again, as the
coordinates of a point that is compared with several others. Several iterations may take half of that, as each
has results in registers as well.
"""


@dataclass(frozen=True)
class InnerWork:
    """
    The operations of the innermost sequential loops in a loop body. `shared_loads` read the same address in
    all iterations of the outer loop; `strided_loads` are those others whose addresses in neighbouring
    iterations are not neighbouring elements. `own_operations`: all operations whose result differs between
    iterations. `kept_words`: the 32-bit words that each turn of an outer sequential loop reads again.
    """

    shared_loads: int = 0
    strided_loads: int = 0
    own_operations: int = 0
    kept_words: int = 0


def iterations_side_by_side(work: InnerWork) -> int:
    """
    Iterations of the outer loop per thread: 1 if that does not pay. It does not with strided accesses, as
    every further iteration in flight needs cache lines of its own, nor if the elements that one iteration can
    keep in registers do not fit there for several.
    """
    busy = work.own_operations > INTENSITY * work.shared_loads
    crowded = KEPT_WORDS // (2 * MOST) < work.kept_words <= KEPT_WORDS
    alone = work.shared_loads == 0 or work.strided_loads > 0 or busy or crowded
    return 1 if alone else MOST


def enough_iterations(count: int, full_device: int = FULL_DEVICE) -> int:
    """The trip count from which threads with `count` iterations each fill the device."""
    return count * full_device


MOST_BYTES = 16 * 1024
"""The bytes of shared memory for one tile of a gang, so that several gangs fit on a multiprocessor."""


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
