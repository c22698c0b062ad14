"""Which accesses are to packed rows, and which versions nests have for short rows."""

from __future__ import annotations

import pytest
from accopt.passes.decisions.polynomials import Polynomial
from accopt.passes.decisions.short_rows import (
    LONG_BODY,
    SHORTEST_GRID,
    SHORTEST_KNOWN_GRID,
    WIDE_FROM,
    RowAccess,
    RowLoop,
    RowVersion,
    row_versions,
    thread_below,
    wide_versions,
)

N, M = Polynomial.symbol("n"), Polynomial.symbol("m")


def _bytes(count: int) -> Polynomial:
    return Polynomial.constant(count)


PACKED = RowAccess(_bytes(4), M * 4)  # a[i * m + j]
STRUCTURES = RowAccess(_bytes(12), M * 12)  # p[i * m + j].x
VALUE = RowAccess(_bytes(0), _bytes(4))  # b[i]
COLUMNS = RowAccess(N * 4, _bytes(4))  # a[j * n + i]
PARTS = RowAccess(_bytes(4), N * 4)  # a[i * n + j]
DOUBLES = RowAccess(_bytes(8), N * 8)
SAME_ROW = RowAccess(_bytes(4), _bytes(0))  # b[j]
WIDE = RowAccess(_bytes(64), M * 64)  # p[i * m + j] of large structures
BACKWARDS = RowAccess(_bytes(-4), M * 4)  # a[i * m + m - 1 - j]
GATHERED = RowAccess(None, None)  # a[index[j]]


@pytest.mark.parametrize(
    ("accesses", "short"),
    [
        ([PACKED], True),
        ([STRUCTURES, STRUCTURES], True),
        ([PACKED, VALUE, VALUE], True),
        ([PACKED, PACKED, COLUMNS], True),
        ([PACKED, COLUMNS], False),
        ([PACKED, GATHERED], False),
        ([COLUMNS], False),
        ([PARTS, PARTS, PARTS], True),
        ([PARTS, PARTS, PARTS, PARTS], False),
        ([WIDE], False),
        ([BACKWARDS], False),
        ([VALUE], False),
        ([], False),
    ],
)
def test_iterations_of_rows_that_follow_one_another_are_numbered(
    accesses: list[RowAccess], short: bool
) -> None:
    found = row_versions([RowLoop(M, accesses, True)], beside=False)
    assert found == ([RowVersion(None, SHORTEST_GRID)] if short else [])


def test_rows_are_packed_if_their_length_is_the_number_of_iterations() -> None:
    for packed, across in ((True, M - 2), (False, M)):
        loop = RowLoop(M - 2, [RowAccess(_bytes(8), across * 8)] * 5, True)
        assert bool(row_versions([loop], beside=False)) == packed


@pytest.mark.parametrize(("across", "blocks"), [(M * 2, True), (M * N, True), (M * 2 + 1, False)])
def test_rows_may_be_parts_of_blocks_of_several_times_their_length(
    across: Polynomial, blocks: bool
) -> None:
    loop = RowLoop(M, [RowAccess(_bytes(8), across * 8)] * 5, True)
    assert bool(row_versions([loop], beside=False)) == blocks


def test_rows_of_a_known_length_need_not_follow_one_another() -> None:
    loop = RowLoop(_bytes(30), [RowAccess(_bytes(4), _bytes(128))] * 6, True)
    assert row_versions([loop], beside=False)


def test_blocks_suit_rows_of_a_known_length() -> None:
    loop = RowLoop(_bytes(40), [RowAccess(_bytes(4), _bytes(160))], True)
    assert row_versions([loop], beside=False) == [RowVersion(None, SHORTEST_KNOWN_GRID)]


def _beside(*loops: RowLoop) -> dict[int | None, int]:
    return {version.lanes: version.below for version in row_versions(loops, beside=True)}


def test_beside_other_statements_a_thread_loads_a_line_and_stores_a_few_elements() -> None:
    assert _beside(RowLoop(M, [PARTS, VALUE], False)) == {1: 32, 8: 1024}
    assert _beside(RowLoop(M, [DOUBLES], False)) == {1: 16, 8: 512}
    assert _beside(RowLoop(M, [PARTS], False), RowLoop(M, [PARTS], True)) == {1: 4, 4: 16, 8: 512}
    assert thread_below(4) == 32 and thread_below(4, stores=True) == 4


def test_the_more_bytes_an_iteration_accesses_the_shorter_are_rows_for_few_lanes() -> None:
    few = _beside(RowLoop(M, [PARTS, PARTS], True))
    more = _beside(RowLoop(M, [PARTS, PARTS], True), RowLoop(M, [PARTS, DOUBLES], True))
    assert few[8] > more[8] > more[4]


def test_rows_with_long_bodies_have_gangs_sooner() -> None:
    short, long = (_beside(RowLoop(M, [PARTS], False, n)) for n in (LONG_BODY, LONG_BODY + 1))
    assert long[8] * 2 == short[8] and long[1] == short[1]


def test_versions_are_ordered_by_length_and_lanes() -> None:
    versions = row_versions([RowLoop(M, [PARTS], True)], beside=True)
    assert [version.below for version in versions] == sorted(version.below for version in versions)
    assert [version.lanes for version in versions] == [1, 4, 8]


def test_beside_other_statements_rows_need_not_be_packed() -> None:
    assert _beside(RowLoop(M, [SAME_ROW, PACKED, GATHERED], False))
    assert _beside(RowLoop(M, [PARTS, GATHERED, GATHERED, GATHERED], False)) == {1: 32, 8: 1024}
    for accesses in ((COLUMNS,), (PARTS, COLUMNS), (GATHERED,), (VALUE,), ()):
        assert not _beside(RowLoop(M, accesses, True))


def test_long_rows_that_several_loops_read_get_wide_gangs() -> None:
    def read(array: str, step: int = 4) -> RowAccess:
        return RowAccess(_bytes(step), N * step, array)

    def wide(*loops: RowLoop) -> list[int]:
        return list(wide_versions(loops).values())

    bytes_ = list(WIDE_FROM.values())
    assert list(WIDE_FROM) == sorted(WIDE_FROM) and bytes_ == sorted(bytes_)
    assert wide(*[RowLoop(M, [read("a")], False)] * 2) == [b // 4 for b in bytes_]
    assert wide(*[RowLoop(M, [read("a", 8), read("b")], True)] * 3) == [b // 12 for b in bytes_]
    assert not wide(RowLoop(M, [read("a")], False), RowLoop(M, [read("b")], True))
    assert not wide(RowLoop(M, [read("a"), read("a")], False))
    assert not wide(*[RowLoop(M, [VALUE, COLUMNS], False)] * 2)
