"""Which copies of structures are made scalar by scalar."""

from __future__ import annotations

MOST_SCALARS = 128
"""The most scalars of a structure that is copied scalar by scalar."""
WIDEST = 8
"""The widest word, in bytes, that a copy of unknown contents moves at once."""
SMALLER = 3
"""How many scalars may take the place of one word of such a copy."""


def by_scalars(scalars: int, bytes: int, alignment: int) -> bool:
    """
    Whether to copy an object of `bytes` bytes by its `scalars` scalars: not texts and other rows of small
    numbers, which words of the object's alignment (in bytes) move several at a time.
    """
    words = bytes // min(alignment, WIDEST)
    return scalars <= MOST_SCALARS and scalars <= SMALLER * words
