"""Which 16-byte accesses serve a group of columns, and when they pay."""

from __future__ import annotations

import pytest
from accopt.passes.decisions.wide_rows import (
    RowPiece,
    RowReads,
    group_size,
    is_safe,
    pieces,
    refuge,
    why_not,
    words_of,
)


def reads(*offsets: int, bytes: int = 4) -> RowReads:
    return RowReads(bytes, frozenset(offsets))


def test_a_row_read_at_three_columns_is_one_access_and_two_elements() -> None:
    assert pieces(reads(-1, 0, 1), 4) == (
        RowPiece((-1,), frozenset({0})),
        RowPiece((0, 1, 2, 3), frozenset({0, 1, 2, 3})),
        RowPiece((4,), frozenset({3})),
    )


def test_doubles_fill_sixteen_bytes_in_pairs() -> None:
    assert pieces(reads(-1, 0, bytes=8), 2) == (
        RowPiece((-1,), frozenset({0})),
        RowPiece((0, 1), frozenset({0, 1})),
    )
    # Among floats a group has four columns, and two pieces of each row of doubles.
    assert [piece.elements for piece in pieces(reads(0, bytes=8), 4)] == [(0, 1), (2, 3)]


@pytest.mark.parametrize("columns", [2, 4])
@pytest.mark.parametrize("offsets", [(0,), (-2, 0, 2), (-1, 1), (-5, 3), (7, 8)])
def test_pieces_hold_what_every_column_reads(columns: int, offsets: tuple[int, ...]) -> None:
    found = pieces(reads(*offsets), columns)
    for column in range(columns):
        for offset in offsets:
            element = column + offset
            (piece,) = [p for p in found if element in p.elements]
            assert column in piece.columns
    assert all(max(p.elements) // 4 == min(p.elements) // 4 for p in found)


def test_what_no_column_wants_is_read_elsewhere() -> None:
    found = pieces(reads(-1, 0, 1), 4)
    assert [refuge(piece, found, 4) for piece in found] == [found[1]] * 3
    # Only columns to the right: the first three read one piece, the last the next.
    found = pieces(reads(1), 4)
    assert [piece.columns for piece in found] == [{0, 1, 2}, {3}]
    assert [refuge(piece, found, 4) for piece in found] == [found[1], found[0]]
    # Of four columns of doubles the first two read one piece, the others the next.
    assert is_safe(reads(0, bytes=8), 4)
    assert not is_safe(reads(1, bytes=8), 4)


def test_the_narrowest_elements_fill_an_access() -> None:
    assert group_size([4, 4]) == 4
    assert group_size([8, 8]) == 2
    assert group_size([8, 4]) == 4


LAPLACIAN = (
    # Four planes side by side: the centres of six, and both neighbours in four.
    *(reads(0), *[reads(-1, 0, 1)] * 4, reads(0)),
    *[reads(0)] * 8,
)


def test_a_stencil_pays() -> None:
    assert words_of(LAPLACIAN, 4) == 64
    assert why_not(LAPLACIAN, 4) is None


def test_scattered_rows_and_large_bodies_are_left_alone() -> None:
    scattered = (*LAPLACIAN, reads(1, bytes=8))
    assert why_not(scattered, 4) == "a row is read at too many places"
    assert "64 words" in (why_not(LAPLACIAN, 4, most_words=63) or "")
    assert why_not(LAPLACIAN, 4, most_words=64) is None
