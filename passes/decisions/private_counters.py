"""
Whether an array that a construct only updates atomically gets a copy in every gang (on GPUs in shared
memory), and how many copies of each element.

Measured on an H200: 2^28 updates of 256 counters take 60 ms in global memory and a tenth of a
millisecond in shared memory. With as many adjacent copies of an element as a warp has lanes, a warp's
updates never conflict in one bank, whatever the data.
"""

from __future__ import annotations

from .device import MULTIPROCESSORS, WARP

BLOCKS = 8
SHARED_PER_MULTIPROCESSOR = 227 * 1024
RESERVED_PER_BLOCK = 1024
"""The limits of a multiprocessor of a large device (H200) on resident blocks."""
LARGEST_ARRAY = 16 * 1024
"""The most bytes of an array that is privatised: each of many resident gangs has a copy."""
SHARED_BUDGET = 32 * 1024
"""The most bytes of shared memory for all private counters of a construct."""
THREAD_GANGS = 64
"""The most gangs of CPU threads that have copies: enough for the threads to share the work evenly."""
WORTHWHILE = 4
"""With fewer updates per element, initialising and merging the copies does not pay."""


def choose_copies(elements: int, element_bytes: int, budget: int, most: int = WARP) -> int:
    """
    The copies of each element that a gang gets: a power of two up to `most` (32 if that is 0), or 0 if the
    array is not privatised. `budget`: bytes of shared memory left for it.
    """
    size = elements * element_bytes
    if not 0 < size <= min(LARGEST_ARRAY, budget):
        return 0
    copies = 1
    while copies * 2 <= (most or WARP) and copies * 2 * size <= budget:
        copies *= 2
    return copies


def is_worthwhile(updates: int | None, elements: int) -> bool:
    """Whether this many updates (None: known only at run time) pay for private copies."""
    return updates is None or updates >= WORTHWHILE * elements


def gang_share(counters: int, tile: int) -> int:
    """
    The divisor of a grid made for gangs of `tile` iterations that gives each gang at least one iteration
    for each of the `counters` it initialises and merges.
    """
    return max(1, -(-counters // max(tile, 1)))


def most_gangs(threads: int | None, shared_bytes: int = 0, limit: int = 0) -> int:
    """
    The largest grid: `limit`, or, if that is 0, the resident blocks of the device with blocks of `threads`
    (None: unknown) and `shared_bytes` of shared memory.
    """
    if limit:
        return limit
    blocks = BLOCKS * 256 // max(threads or 256, 256)
    if shared_bytes:
        blocks = min(blocks, SHARED_PER_MULTIPROCESSOR // (shared_bytes + RESERVED_PER_BLOCK))
    return MULTIPROCESSORS * max(1, blocks)
