"""From which length on lanes should share the rows of a nest, if the length is known only at run time."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
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

    @property
    def is_contiguous(self) -> bool:
        """Whether the innermost loop walks along a row."""
        step = None if self.along is None else self.along.as_constant
        return step is not None and 0 < step <= _WIDEST_STEP

    def is_packed(self, trips: Polynomial) -> bool:
        """Whether it walks along a row whose `trips` elements the next row follows immediately."""
        return self.is_contiguous and self.along is not None and self.across == trips * self.along


MOST_FOR_A_THREAD = (192, 40, 20)
"""
Beside other statements, a row takes a gang, or a thread. By the number of loops over a row that store (two:
two or more): fewer iterations than these are faster in one thread. On an H200, 16 million elements take, in
rows of 8, 27 and 100: integer sums 22, 28, 38 µs with a thread per row, 1264, 377, 105 with a gang; a store
beside the loop 123, 266, 344 and 1265, 378, 106; two loops that store 299, 826, 859 and 1520, 468, 153.
"""
MANY_ROWS = 32768
"""Fewer rows with a thread each leave most of the device idle."""


def lanes_from(
    accesses: Iterable[RowAccess], lengths: Sequence[Polynomial], storing: int, *, beside: bool
) -> int | None:
    """
    The number of iterations of the innermost loops from which on lanes should share a row (for `MANY_ROWS`
    rows; if there are fewer, from `FEWEST_FOR_LANES` on); with fewer, a thread processes it. None: lanes
    always should, or all `lengths`, the numbers of iterations of the loops over a row, are constant.
    `beside`: there are other statements, or several such loops; `storing`: the number of loops that store.
    """
    if all(trips.as_constant is not None for trips in lengths):
        return None
    moving = [access for access in accesses if not access.is_fixed()]
    if beside:
        walking = sum(access.is_contiguous for access in moving)
        return MOST_FOR_A_THREAD[min(storing, 2)] if 2 * walking > len(moving) else None
    packed = sum(access.is_packed(lengths[0]) for access in moving)
    return FEWEST_FOR_LANES if 2 * packed > len(moving) else None
