"""
How the gangs of a launch share sums of columns: `for j: for i: s[j] += a[i][j]`.

A row's elements are neighbours, so the threads of a gang take neighbouring columns, and several rows of them:
thread t works on column t % w and the rows t / w, t / w + F, … of its gang's share, so that a gang with few
columns also reads whole cache lines. The F results for a column meet in shared memory, those of the S gangs
with the same columns in device memory, where the last gang to come adds them. The order is fixed.

On an H200, hand-written CUDA of this form adds up 16 million floats in 20 to 26 µs whether there are 1 or
16384 columns, with 132 gangs of 1024 threads, 264 of 512 or 1024, or 528 of 512; a thread per column takes
41 µs for 16384 columns, 544 for 1000 and 137419 for 3.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from .device import MULTIPROCESSORS

THREADS = 1024
"""The threads of a gang. More threads have more rows each, and leave fewer results for the last gang."""
MOST_GANGS = MULTIPROCESSORS * 2
"""The most gangs if several have the same columns: as many as are resident with `THREADS` threads."""
COLUMNS = 128
"""The columns of a gang, if there are as many; more only where columns are short."""
MANY_COLUMNS = MOST_GANGS * THREADS
"""
The columns from which on a thread each fills the device: threads that share one would have to exchange their
results. On an H200, sums of 27 terms for a million columns take 129 µs with three threads each, 88 with one.
"""
ROWS = 8
"""The rows that a thread should have at least: its loads in flight."""


FEWEST_ELEMENTS = THREADS * ROWS
"""The elements of the columns that lie side by side from which on such a gang is filled."""
MOST_LONG_ROWS = MULTIPROCESSORS * 4
"""
The most rows whose sums gangs share; more rows, with a gang of fewer threads each, fill the device. On an
H200, sums of 16 rows of a million elements take 310 µs with a gang each, of 2048 rows of 8192 elements 20.
"""

Count = TypeVar("Count")


class SizeArithmetic(Protocol[Count]):
    """Arithmetic on sizes, at least 0, that are numbers here or values of the host code."""

    def multiply(self, a: Count | int, b: Count | int) -> Count | int: ...
    def divide(self, a: Count | int, b: Count | int) -> Count | int:
        """`a / b` rounded down."""
        ...

    def ceil_divide(self, a: Count | int, b: Count | int) -> Count | int: ...
    def minimum(self, a: Count | int, b: Count | int) -> Count | int: ...
    def maximum(self, a: Count | int, b: Count | int) -> Count | int: ...


@dataclass(frozen=True)
class ColumnShares(Generic[Count]):
    """
    For several groups of columns side by side: the `tiles` of columns in a group, the columns of a tile
    (`width`, w above), the rows that a gang reads at a time (`phases`, F), the gangs with the same columns
    (`split`, S), and all gangs.
    """

    tiles: Count | int
    width: Count | int
    phases: Count | int
    split: Count | int
    gangs: Count | int


def column_shares(
    math: SizeArithmetic[Count], rows: Count | int, columns: Count | int, groups: Count | int
) -> ColumnShares[Count]:
    """The shares of `groups` times `columns` columns of `rows` elements each."""
    filling = math.ceil_divide(FEWEST_ELEMENTS, math.maximum(rows, 1))
    many = math.divide(math.multiply(groups, columns), MANY_COLUMNS)
    wanted = math.maximum(filling, math.maximum(math.multiply(many, THREADS), COLUMNS))
    widest = math.minimum(wanted, THREADS)
    tiles = math.maximum(math.ceil_divide(columns, widest), 1)
    width = math.maximum(math.ceil_divide(columns, tiles), 1)
    phases = math.divide(THREADS, width)
    alone = math.multiply(groups, tiles)
    by_gangs = math.divide(MOST_GANGS, math.maximum(alone, 1))
    by_rows = math.divide(rows, math.multiply(phases, ROWS))
    split = math.maximum(math.minimum(by_gangs, by_rows), 1)
    return ColumnShares(tiles, width, phases, split, math.multiply(alone, split))


def row_shares(
    math: SizeArithmetic[Count], length: Count | int, rows: Count | int
) -> ColumnShares[Count]:
    """
    The shares of sums of `rows` rows of `length` elements that lie side by side: all threads of a gang work
    on one row.
    """
    by_gangs = math.divide(MOST_GANGS, math.maximum(rows, 1))
    by_length = math.divide(length, FEWEST_ELEMENTS)
    split = math.maximum(math.minimum(by_gangs, by_length), 1)
    return ColumnShares(math.maximum(rows, 1), 1, THREADS, split, math.multiply(rows, split))
