"""Which accesses are to packed rows, and for which nests a version with a thread for each row pays."""

from __future__ import annotations

import pytest
from accopt.passes.decisions.polynomials import Polynomial
from accopt.passes.decisions.short_rows import RowAccess, slow_when_short

N, M = Polynomial.symbol("n"), Polynomial.symbol("m")


def _bytes(count: int) -> Polynomial:
    return Polynomial.constant(count)


PACKED = RowAccess(_bytes(4), M * 4)  # a[i * m + j]
STRUCTURES = RowAccess(_bytes(12), M * 12)  # p[i * m + j].x
VALUE = RowAccess(_bytes(0), _bytes(4))  # b[i]
COLUMNS = RowAccess(N * 4, _bytes(4))  # a[j * n + i]
PARTS = RowAccess(_bytes(4), N * 4)  # a[i * n + j]
SAME_ROW = RowAccess(_bytes(4), _bytes(0))  # b[j]
WIDE = RowAccess(_bytes(64), M * 64)  # p[i * m + j] of large structures
BACKWARDS = RowAccess(_bytes(-4), M * 4)  # a[i * m + m - 1 - j]
GATHERED = RowAccess(None, None)  # a[index[j]]


@pytest.mark.parametrize(
    ("accesses", "slow"),
    [
        ([PACKED], True),
        ([STRUCTURES, STRUCTURES], True),
        ([PACKED, VALUE, VALUE], True),
        ([PACKED, PACKED, COLUMNS], True),
        ([PACKED, COLUMNS], False),
        ([PACKED, GATHERED], False),
        ([COLUMNS], False),
        ([PARTS], False),
        ([SAME_ROW], False),
        ([WIDE], False),
        ([BACKWARDS], False),
        ([VALUE], False),
        ([], False),
    ],
)
def test_threads_take_short_rows_that_follow_one_another(
    accesses: list[RowAccess], slow: bool
) -> None:
    assert slow_when_short(accesses, M) is slow


def test_rows_are_packed_if_their_length_is_the_number_of_iterations() -> None:
    assert slow_when_short([RowAccess(_bytes(8), (M - 2) * 8)], M - 2)
    assert not slow_when_short([RowAccess(_bytes(8), M * 8)], M - 2)


def test_a_known_length_needs_no_version() -> None:
    assert not slow_when_short([RowAccess(_bytes(4), _bytes(400))], _bytes(100))
