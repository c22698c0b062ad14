"""
Which loops use non-temporal stores (`stream-stores`): they avoid reading each cache line before it is
written, but leave no data in the caches for later readers.

On a server with a last-level cache of 300 MiB, arrays of 1 to 32 MiB that are written and then read took 1.3
to 5.5 times as long with them; arrays that did not fit, with 1 to 4 threads, 0.4 to 0.82 of the time. What
is the processor's affair is decided at run time (`runtime/native/caches.py`).
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

STRIP = 1024
"""
The iterations whose results are buffered before they are written, so that the buffers stay in the L1 cache.
With 512, products of 2^25 floats on two threads took 1.1 times as long, with 4096 1.15.
"""
SHORTEST = 256
"""The least iterations of a loop that is rewritten: in shorter ones most lines are partial."""
SMALL_BYTES = 1 << 23
"""
Launches that touch fewer bytes never stream: last-level caches are larger, so their size need not be
queried.
"""
MOST_STORES = 1
"""The most arrays that a loop streams: two were no faster, as there are few write-combining buffers."""
_ELEMENTS = (4, 8)


def streamed(stores: Sequence[tuple[object, int | None, int]], read: Collection[object]) -> bool:
    """
    Whether the stores of a loop may bypass the caches. Each is given by its array, the bytes by which its
    address grows from one iteration to the next (None if not constant), and the bytes it writes. `read`:
    the arrays that the kernel reads anywhere, whose lines are already in the caches.
    """
    arrays = [array for array, _, _ in stores]
    return (
        0 < len(stores) <= MOST_STORES
        and len(set(arrays)) == len(arrays)
        and all(step == size and size in _ELEMENTS for _, step, size in stores)
        and not any(array in read for array in arrays)
    )
