"""
Which launches store past the caches (`stream-stores`): a store that does not go through the caches saves
reading each line before it is written, and leaves nothing there for who reads it next.

On a server with a last cache of 300 MiB, arrays of 1 to 32 MiB that are written and then read took 1.3 to 5.5
times as long with such stores; where the arrays did not fit, on 1 to 4 threads, 0.4 to 0.82 of the time.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

STRIP = 512
"""Iterations whose results are gathered before they are written: all of them stay in the first cache."""
SHORTEST = 256
"""Iterations that make a loop worth it: short ones consist of edges, which are written as before."""
SMALL_BYTES = 1 << 23
"""Arrays of less fit into any last cache: nobody needs to ask how large it is."""
MOST_STORES = 4
"""In a loop: processors gather few lines at a time on their way to memory."""
_ELEMENTS = (4, 8)


def streamed(stores: Sequence[tuple[object, int | None, int]], read: Collection[object]) -> bool:
    """
    Whether the stores of a loop may go past the caches. Each is an array, the bytes by which its address
    grows from one iteration to the next (None if that is not constant), and the bytes it writes; `read`: the
    arrays that the kernel reads anywhere, whose lines are in the caches already.
    """
    arrays = [array for array, _, _ in stores]
    return (
        0 < len(stores) <= MOST_STORES
        and len(set(arrays)) == len(arrays)
        and all(step == size and size in _ELEMENTS for _, step, size in stores)
        and not any(array in read for array in arrays)
    )
