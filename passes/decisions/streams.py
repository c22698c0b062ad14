"""
Which loops use non-temporal stores (`stream-stores`): they save the read of each cache line before it is
written, and leave nothing in the caches for the next reader.

On a server with a last-level cache of 300 MiB, arrays of 1 to 32 MiB that are written and then read took 1.3
to 5.5 times as long with them; arrays that did not fit, with 1 to 4 threads, 0.4 to 0.82 of the time.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

STRIP = 512
"""Iterations whose results are buffered before they are written: the buffers stay in the L1 cache."""
SHORTEST = 256
"""Iterations from which on a loop is rewritten: short ones are mostly partial lines, written as before."""
SMALL_BYTES = 1 << 23
"""Launches that touch less never stream: last-level caches are larger, and nobody asks for their size."""
MOST_STORES = 4
"""In a loop: processors have few write-combining buffers."""
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
