"""
When an array that a construct only updates atomically is worth a copy in every gang's shared memory,
and how many copies of each element a gang should have.

Measured on an H200: 2^28 updates of 256 counters take 60 ms in global memory and a tenth of a
millisecond in shared memory. With as many copies of an element as a warp has lanes, the copies side
by side, the lanes of a warp never meet in one bank, whatever the data.
"""

from __future__ import annotations

from .block_shape import WARP

MULTIPROCESSORS, BLOCKS = 132, 8
SHARED_PER_MULTIPROCESSOR = 227 * 1024
RESERVED_PER_BLOCK = 1024
"""A large device (H200): its multiprocessors, and what bounds the blocks that one holds."""
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


def most_gangs(threads: int | None, shared_bytes: int = 0, limit: int = 0) -> int:
    """
    The largest grid: `limit`, or (0) what the device holds at once with blocks of `threads` (None:
    unknown) and `shared_bytes` of shared memory.
    """
    if limit:
        return limit
    blocks = BLOCKS * 256 // max(threads or 256, 256)
    if shared_bytes:
        blocks = min(blocks, SHARED_PER_MULTIPROCESSOR // (shared_bytes + RESERVED_PER_BLOCK))
    return MULTIPROCESSORS * max(1, blocks)
