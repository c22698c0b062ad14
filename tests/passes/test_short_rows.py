"""Which accesses are to packed rows, and for which nests a version with a thread for each row pays."""

from __future__ import annotations

import pytest
from accopt.passes.decisions.polynomials import Polynomial
from accopt.passes.decisions.short_rows import FEWEST_FOR_LANES, RowAccess, lanes_from

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
    found = lanes_from(accesses, [M], 1, beside=False)
    assert found == (FEWEST_FOR_LANES if slow else None)


def test_rows_are_packed_if_their_length_is_the_number_of_iterations() -> None:
    assert lanes_from([RowAccess(_bytes(8), (M - 2) * 8)], [M - 2], 1, beside=False)
    assert not lanes_from([RowAccess(_bytes(8), M * 8)], [M - 2], 1, beside=False)


def test_a_known_length_needs_no_version() -> None:
    for beside in (False, True):
        assert (
            lanes_from([RowAccess(_bytes(4), _bytes(400))], [_bytes(100)], 1, beside=beside) is None
        )


def test_beside_other_statements_a_thread_processes_longer_rows_the_less_it_stores() -> None:
    lengths = [lanes_from([PARTS, VALUE], [M], storing, beside=True) for storing in range(4)]
    assert lengths[0] > lengths[1] > lengths[2] == lengths[3] > FEWEST_FOR_LANES  # type: ignore


def test_beside_other_statements_rows_need_not_be_packed() -> None:
    assert lanes_from([PARTS], [M], 1, beside=True)
    assert lanes_from([SAME_ROW, PACKED, GATHERED], [M, _bytes(3)], 0, beside=True)
    for accesses in ([COLUMNS], [PARTS, GATHERED], [VALUE], []):
        assert lanes_from(accesses, [M], 1, beside=True) is None
