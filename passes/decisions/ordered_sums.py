"""
The pieces in which the threads of a gang compute the terms of sums whose order is kept.

A thread that loads the terms of its sum itself waits for memory after every few of them: with 16 million
floats, an H200 takes 1094 µs for 1000 columns, 270 for 4096, and for rows of 256 elements, whose loads are
not contiguous, 70. If all threads of a gang load the terms of 32 sums, and one warp adds them, CUDA takes
196, 51 and 23.
"""

from __future__ import annotations

THREADS = 256
"""The threads of a gang, of which `SUMS` add terms."""
SUMS = 32
"""The sums of a gang, one for each lane of a warp; fewer if there are fewer."""
PITCH = SUMS + 1
"""The places of a row of terms of `SUMS` sums, where lanes store terms of one sum: no bank conflicts."""
ADDED_AT_ONCE = 16
"""The terms that are read from shared memory before the first of them is added."""
_BYTES = 64
"""The bytes of terms that a thread computes for a piece: 16 KiB for a gang, twice as two pieces alternate."""
_WORDS = 48
"""The registers that hold what a thread has loaded for the next piece."""
SHORTEST_ALONG = 32
"""The terms of a sum from which on it pays, if neighbouring terms of one sum are neighbours in memory."""
SHORTEST_ACROSS = 64
"""The terms of a sum from which on it pays, if the terms of neighbouring sums are."""
MOST_ACROSS = 65536
"""The most sums of the latter kind: a thread for each of more of them hides the latency of its loads."""

ROW_TURNS = 4
"""The most terms of a piece that each thread computes for rows of a sparse matrix."""
MOST_ROW_TERMS = 64
"""The terms of such a row, on average in a gang, up to which it pays: a piece has terms of 16 rows."""
ADDED_OF_ROWS = 4
"""The terms of such a row that are read from shared memory before the first of them is added."""
PAD_SHIFT = 5
"""The logarithm of the places after which one is left out, as rows may have an even number of terms."""

PIECE_OF_LANE = 16
"""The terms of a row that each of its lanes computes before they are added up."""
PIECES_BYTES = 1 << 14
"""The most shared memory for the terms of a gang's rows in one loop."""
PAD = 4
"""The places after a row's terms: those of the next row, which another lane reads, are in other banks."""


def turns(bytes: int, words: int) -> int:
    """
    The terms of a piece that each thread computes, a power of two: `bytes` of results and `words` registers
    for each of them. 0: too few.
    """
    most = min(_BYTES // bytes, _WORDS // max(words, 1))
    return 0 if most < 4 else 1 << (most.bit_length() - 1)
