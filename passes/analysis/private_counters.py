"""
When an array that a construct only updates atomically is worth a copy in every gang's shared memory,
and how many copies of each element a gang should have.

Measured on an H200: 2^28 updates of 256 counters take 60 ms in global memory and a tenth of a
millisecond in shared memory. With as many copies of an element as a warp has lanes, the copies side
by side, the lanes of a warp never meet in one bank, whatever the data.
"""

from __future__ import annotations

from .block_shape import WARP
from .schedule import RESIDENT_GANGS

LARGEST_ARRAY = 16 * 1024
"""Bytes of the largest array that is privatised: one copy in each of many resident gangs."""
SHARED_BUDGET = 32 * 1024
"""Bytes of shared memory that a construct's private counters may take together."""
WORTHWHILE = 4
"""Updates per element of the array below which making and merging copies does not pay."""


def choose_copies(elements: int, element_bytes: int, budget: int, most: int = WARP) -> int:
    """
    How many copies of each element a gang gets: a power of two up to `most` (32 if that is 0), or 0
    if the array is not to be privatised. `budget`: bytes of shared memory left for it.
    """
    size = elements * element_bytes
    if not 0 < size <= min(LARGEST_ARRAY, budget):
        return 0
    copies = 1
    while copies * 2 <= (most or WARP) and copies * 2 * size <= budget:
        copies *= 2
    return copies


def is_worthwhile(updates: int | None, elements: int) -> bool:
    """Whether so many updates (None: known only at run time) repay private copies."""
    return updates is None or updates >= WORTHWHILE * elements


def gang_share(counters: int, tile: int) -> int:
    """
    By what a grid made for gangs of `tile` iterations is divided, so that a gang has at least one
    iteration for each of the `counters` it sets up and merges.
    """
    return max(1, -(-counters // max(tile, 1)))


def most_gangs(threads: int | None, limit: int = 0) -> int:
    """The largest grid: what the device holds at once with blocks of `threads` (None: unknown)."""
    if limit:
        return limit
    return max(1, RESIDENT_GANGS * 256 // max(threads or 256, 256))
