"""
Which versions a nest should have for rows that are too short for the lanes that the schedule gives them.

Measured on an H200 with 16 million floats in rows of m elements (µs), by what processes a row; all iterations
of a tight nest may also be numbered as one sequence. A warp's access costs by the cache lines that it
touches. So a thread per row, whose neighbours are a row apart, is fast until rows are as long as a line if
it only loads, and for a few elements if it stores, since stores do not stay in the first-level cache. A few
lanes per row have full lines, and rows enough for a block. Starting a gang costs more than 16 bytes for each
of its lanes.

| m | 3 | 5 | 8 | 20 | 32 | 64 | 200 | 500 | 2000 |
|---|---|---|---|---|---|---|---|---|---|
| tight nest: 2-D grid | 286 | 174 | 114 | 61 | 47 | 44 | 37 | 37 | 36 |
| tight nest: one sequence | 41 | 40 | 38 | 39 | 38 | 38 | 38 | 38 | 37 |
| store beside: thread | 66 | 100 | 133 | 211 | 282 | 311 | 320 | 277 | 644 |
| store beside: 4 lanes | 78 | 61 | 42 | 46 | 55 | 54 | 66 | 77 | 66 |
| store beside: 8 lanes | 140 | 89 | 60 | 41 | 40 | 37 | 40 | 56 | 49 |
| store beside: gang | 3392 | 2039 | 1279 | 510 | 320 | 163 | 69 | 54 | 39 |
| integer sum: thread | 28 | 23 | 22 | 23 | 73 | 71 | 50 | 49 | 200 |
| integer sum: 8 lanes | 193 | 119 | 76 | 37 | 30 | 20 | 22 | 24 | 26 |
| integer sum: gang | 3381 | 2032 | 1278 | 509 | 319 | 161 | 55 | 36 | 28 |
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from itertools import takewhile
from math import prod

from .device import WARP, WIDE_BYTES
from .launch_shape import STREAM_LANES
from .polynomials import ZERO, Polynomial, divide

MOST_SHORT_ITERATIONS = 8
"""
A loop inside a parallel loop with at most this many iterations is run by one thread: most lanes of a warp
would be idle.
"""
SHORT_SIDE = 16
"""Both sides of a product in blocks that share tiles have as many iterations (`NARROWEST`)."""
SHORTEST_GRID = STREAM_LANES // 2
"""Shorter rows leave more than half of a block's lanes without work."""
SHORTEST_KNOWN_GRID = 32
"""The same if the length is a constant: blocks then have as many warps as a row fills."""
MOST_APART = 3
"""
The most accesses of a tight nest whose rows do not follow one another, such as the inner part of an array,
that is worth a second version: with more accesses it takes longer to compile, and rows are seldom short.
"""
LINE = 128
"""The bytes of a cache line."""
NARROW = 4
LANES = 8
"""The lanes of short rows, and of longer ones."""
LONG_BODY = 10
"""
Iterations of more operations keep so few loads of a few lanes in flight that a gang is better for rows half
as long: the place of the greatest of 1023 floats takes 43 µs for 16384 rows with 8 lanes each.
"""
ORDERED_LANES = 16
"""
The lanes of rows with a sum in order, each of which adds up all terms. With 2^24 floats on an H200, µs for 8,
16 and 32 lanes:

| m | layer norm | cross entropy | softmax |
|---|---|---|---|
| 64 | 74, 115 | 50, 77 | 66, 98 |
| 256 | 73, 73 | 49, 43 | 91, 56 |
| 1024 | 92, 90, 105 | 47, 48, 66 | 143, 111, 93 |
| 4096 | –, 134, 128 | –, 61, 85 | –, 183, 145 |
"""
ORDERED_BYTES = 4096
"""
The bytes of such a row that several loops access, for each sum in order, from which on a warp is better, as
rows in progress no longer stay in the caches; eight times as many if loops only read them. (With one sum, the
logarithm of a softmax of 1024 floats takes 82 µs with 16 lanes and 72 with 32.)
"""
SIDE_BY_SIDE = 2
"""The iterations that each of these lanes has in flight."""
WIDE_FROM = {512: 16384, 1024: 65536}
"""
The lanes of rows that several loops read, and the bytes of a row from which on: those of several gangs
together do not stay in the caches. Measured on an H200 with 2^26 floats in rows that are read twice (cross
entropy) or three times (softmax, layer norm), µs for 128, 256, 512 and 1024 lanes; rows that are read once
take 62 to 74 with any of them:

| bytes of a row | cross entropy | softmax | layer norm |
|---|---|---|---|
| 16384 | 82, 86, 93, 214 | 184, 157, 168, 312 | 206, 142, 137, 280 |
| 32768 | 119, 84, 87, 105 | 297, 189, 161, 181 | 264, 193, 144, 153 |
| 65536 | 131, 123, 84, 94 | 316, 306, 194, 162 | 274, 267, 179, 150 |
| 128000 | 134, 130, 130, 105 | 318, 312, 312, 230 | 276, 268, 268, 218 |
"""
REDUCING_WORKERS = WARP
"""
The workers, of a warp each, that take the rows of a sum over two loops: lanes of one warp are combined
without a barrier. The mean and variance of 256 channels in 64 rows of 784 floats each take 51 µs with 4
workers of 128 lanes, 30 with 8, 12 with 32 of a warp (CUDA 17).
"""
SHORT_REDUCED = 1024
"""Longer rows of such sums have work for more lanes, also where they are few."""
FEWEST_REDUCED = REDUCING_WORKERS // 2
"""Fewer rows in such a sum leave most of these workers idle."""
MANY_THREADS = 32768
"""Fewer threads in all leave most of the device idle."""
_WIDEST_STEP = 16
"""Elements up to this many bytes count as neighbours (as `NEAR_BYTES` of `ir/values/strides.py`)."""


@dataclass(frozen=True)
class RowAccess:
    """
    The bytes by which an access moves from one iteration of the innermost loop to the next (`along`), and of
    the loop around it (`across`), as polynomials; None if they are not known.
    """

    along: Polynomial | None
    across: Polynomial | None
    array: Hashable = None
    """The array, where it is known."""

    def is_fixed(self) -> bool:
        """Whether all iterations of the innermost loop access the same element."""
        return self.along == Polynomial.constant(0)

    @property
    def step(self) -> int | None:
        """The bytes per iteration, if the innermost loop walks along a row."""
        step = None if self.along is None else self.along.as_constant
        return step if step is not None and 0 < step <= _WIDEST_STEP else None

    def is_packed(self, trips: Polynomial) -> bool:
        """
        Whether it walks along a row of `trips` elements, which the next row follows at a multiple of that
        length: immediately, or after the rows that other accesses walk along, as the halves of the blocks
        of a Fourier transform. Blocks of a size that the program chooses are often small.
        """
        if self.step is None or self.across is None or self.across == ZERO:
            return False
        parts = divide(self.across, trips * self.step)
        return parts is not None and parts[1] == ZERO


@dataclass(frozen=True)
class RowVersion:
    """
    A version for rows of fewer than `below` iterations: a row has `lanes` of a warp (1: one thread). None:
    the iterations of all rows are one sequence.
    """

    lanes: int | None
    below: int


@dataclass(frozen=True)
class RowLoop:
    """
    A loop over a row: its number of iterations, its accesses, whether it stores to memory, and the operations
    of an iteration that compute.
    """

    trips: Polynomial
    accesses: Sequence[RowAccess]
    stores: bool
    operations: int = 0


def row_versions(loops: Sequence[RowLoop], *, beside: bool, in_order: int = 0) -> list[RowVersion]:
    """
    The versions for short rows, from the shortest to longer ones; longer rows have the lanes that the
    schedule gives them. None if that is best for all. `beside`: there are other statements, or several loops;
    `in_order`: the sums in them that have an order. Elements that a row selects by data are wherever they are
    for any lanes.
    """
    moving = [access for loop in loops for access in loop.accesses if not access.is_fixed()]
    steps = [access.step for access in moving if access.step is not None]
    if beside:
        walking = [access for access in moving if access.along is not None]
        if 2 * len(steps) <= len(walking):
            return []
        versions = _beside(steps, loops)
        bytes_ = ORDERED_BYTES * in_order * (1 if any(loop.stores for loop in loops) else 8)
        limit = bytes_ // max(_again(loops), 1)
        if in_order and versions[-1].below < limit:
            versions.append(RowVersion(ORDERED_LANES, limit))
        return versions
    trips = loops[0].trips
    known = trips.as_constant is not None
    packed = sum(access.is_packed(trips) for access in moving)
    suitable = len(steps) if known or len(moving) <= MOST_APART else packed
    version = RowVersion(None, SHORTEST_KNOWN_GRID if known else SHORTEST_GRID)
    return [version] if 2 * suitable > len(moving) else []


def _again(loops: Sequence[RowLoop]) -> int:
    """The bytes of an iteration's elements of arrays that several loops access along the row."""
    steps: dict[Hashable, int] = {}
    readers: dict[Hashable, int] = {}
    for loop in loops:
        walked = {a.array: a.step for a in loop.accesses if a.array is not None and a.step}
        for array, step in walked.items():
            steps[array] = max(step, steps.get(array, 0))
            readers[array] = readers.get(array, 0) + 1
    return sum(step for array, step in steps.items() if readers[array] > 1)


def wide_versions(loops: Sequence[RowLoop]) -> dict[int, int]:
    """
    The lanes of long rows, whose loops these are, and the number of iterations from which on, from fewer to
    more lanes; none if no array is read along the row by several loops.
    """
    again = _again(loops)
    return {lanes: bytes_ // again for lanes, bytes_ in WIDE_FROM.items()} if again else {}


def joined_sides(sides: Sequence[int]) -> int:
    """
    How many of the innermost of tightly nested loops, around sequential ones, become one loop, whose
    iterations fill the lanes: all that are short, and the one around them if they have less than a warp's
    iterations together; 0 if fewer than two are short, or no loop is around so few iterations.
    `sides`: their numbers of iterations, innermost first.
    """
    short = list(takewhile(lambda side: side < SHORT_SIDE, sides))
    if len(short) < 2:
        return 0
    joined = len(short) if prod(short) >= WARP else len(short) + 1
    return joined if joined <= len(sides) else 0


def _beside(steps: Sequence[int], loops: Sequence[RowLoop]) -> list[RowVersion]:
    """`steps`: the bytes by which accesses walk along a row."""
    stores = any(loop.stores for loop in loops)
    thread = RowVersion(1, thread_below(max(steps), stores=stores))
    long = any(loop.operations > LONG_BODY for loop in loops)
    lanes = RowVersion(LANES, STREAM_LANES * WIDE_BYTES // (sum(steps) * (2 if long else 1)))
    return [thread, RowVersion(NARROW, 2 * LANES), lanes] if stores else [thread, lanes]


def thread_below(step: int, *, stores: bool = False) -> int:
    """
    The number of iterations below which a thread processes a row of elements of `step` bytes, beside other
    statements.
    """
    return NARROW if stores else max(LINE // step, NARROW)
