"""Which nests with an innermost loop of run-time trip count process the rows of packed arrays."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from .polynomials import Polynomial

FEWEST_FOR_LANES = 8
"""
From this many iterations on, lanes process a row at least as fast as one thread does; with fewer, most of a
warp's lanes are idle, and rows that follow one another in memory share cache lines between threads.
"""
_WIDEST_STEP = 16
"""Elements up to this many bytes count as neighbours (as `NEAR_BYTES` of `ir/values/strides.py`)."""


@dataclass(frozen=True)
class RowAccess:
    """
    The bytes by which an access moves in an iteration of the innermost loop (`along`) and of the loop around
    it (`across`), as polynomials; None if they are not known.
    """

    along: Polynomial | None
    across: Polynomial | None

    def is_fixed(self) -> bool:
        """Whether all iterations of the innermost loop access the same element."""
        return self.along == Polynomial.constant(0)

    def is_packed(self, trips: Polynomial) -> bool:
        """
        Whether the innermost loop walks along a row whose `trips` elements the next row follows
        immediately.
        """
        step = None if self.along is None else self.along.as_constant
        if step is None or not 0 < step <= _WIDEST_STEP:
            return False
        return self.across == trips * step


def slow_when_short(accesses: Iterable[RowAccess], trips: Polynomial) -> bool:
    """
    Whether lanes are slower than one thread for each row if the innermost loop has fewer than
    `FEWEST_FOR_LANES` iterations, and that is not known before the program runs: `trips` is not constant,
    and most accesses that depend on the loop are to packed rows.
    """
    if trips.as_constant is not None:
        return False
    moving = [access for access in accesses if not access.is_fixed()]
    return 2 * sum(access.is_packed(trips) for access in moving) > len(moving)
