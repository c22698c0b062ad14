"""
When one thread should run several iterations of a loop side by side because they share what their
sequential inner loops read, and how many.

All iterations of `for i: for j: f(a[j], x[i])` read the same `a[j]`: with n iterations in one thread it
is loaded once for n uses, and n independent chains of arithmetic hide each other's latency. On an
H200 this takes an all-pairs kernel from half to the full speed of hand-written code. It costs
registers, and there are fewer threads: below some trip count the device is not full any more.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

MOST = 4
"""More iterations than this gain little: a shared load is already rare."""
OPERATIONS = 128
"""Largest body of the jammed inner loop, in operations that every iteration has for itself."""
FULL_DEVICE = 132 * 128
"""Threads that keep a large device busy if each has several iterations: one block of 128 on each SM."""


@dataclass(frozen=True)
class InnerWork:
    """
    What the innermost sequential loops of a loop body do. `shared_loads` read the same address in all
    iterations of the outer loop, `own_loads` do not, `strided_loads` of them address memory with a
    distance other than one element between neighbouring iterations. `own_operations`: all that differ
    from iteration to iteration.
    """

    shared_loads: int = 0
    own_loads: int = 0
    strided_loads: int = 0
    own_operations: int = 0


def iterations_side_by_side(work: InnerWork) -> int:
    """
    Iterations of the outer loop per thread: 1 if that does not pay. Strided accesses rule it out:
    every iteration more in flight needs cache lines of its own.
    """
    if work.shared_loads == 0 or work.strided_loads > 0:
        return 1
    count = MOST
    while count > 1 and count * work.own_operations > OPERATIONS:
        count //= 2
    return count


def enough_iterations(count: int, full_device: int = FULL_DEVICE) -> int:
    """The trip count from which `count` iterations per thread keep the device busy."""
    return count * full_device


MOST_BYTES = 16 * 1024
"""Shared memory of a gang for one tile: several gangs fit on a multiprocessor."""


@dataclass(frozen=True)
class Piece:
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


def choose_piece(sizes: Sequence[int], threads: int, trip: int | None) -> Piece | None:
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
    piece = Piece(threads, tuple(offsets), slot, unit)
    return piece if piece.bytes <= MOST_BYTES else None
