"""
Tiles on the stack of a CPU thread for loads that go across memory (`stage-transposed-accesses`).

Transpositions of n² elements on one thread of a server with 32 KiB of L1 cache and 1 MiB of L2, without and
with tiles, in ns an element:

  n          128       200       256       512       1000      1024
  floats   .61 .55   .28 .56   .88 .54   2.3 .54   .67 .66   3.3 .64
  doubles  .87 .61   .32 .63   2.3 .61   2.8 .62   .81 .77   3.2 .93

Tiles of 16 to 64 rows and 64 to 256 columns differ by at most 10 %.
"""

from __future__ import annotations

LINE = 64
"""The bytes of a cache line."""
LANES = 128
"""The columns of a tile."""
MOST_BYTES = 1 << 16
"""The most bytes of all tiles of a nest, which stay in a core's second cache."""
LONG = 1024
"""The least rows of a column for which tiles pay wherever the rows are."""
CROWDED = 256
"""The least rows of a column for which they pay where the distance of rows is a multiple of `POWER` bytes."""
POWER = 1024
"""See `CROWDED`."""


def rows_of(size: int) -> int:
    """The rows of a tile of elements of `size` bytes: two lines of what is loaded."""
    return 2 * LINE // size


def pitch_of(size: int) -> int:
    """
    The elements from one row of a tile to the next: a line more than `LANES`, so that rows fall into
    different sets.
    """
    return LANES + LINE // size
