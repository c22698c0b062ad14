"""
Which 16-byte accesses serve several neighbouring iterations of a stencil, and whether they pay.

A body reads rows of arrays at places relative to its iteration: `a[i][j - 1]`, `a[i][j]`,
`a[i][j + 1]`. A group of neighbouring iterations (columns) reads each place once, and the places that
lie in one aligned piece of 16 bytes in one access. Nothing here sees IR.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

WIDE_BYTES = 16
MOST_WORDS = 200
"""32-bit registers that the values read for one group may take: more would cost occupancy."""
WIDE_THREADS = 132 * 64
"""Threads of a group each from which on a large device has enough to do."""


@dataclass(frozen=True)
class RowReads:
    """
    What an iteration reads of one row of an array: elements of `bytes` bytes at `offsets` from its
    own place, which is aligned for the first column of a group.
    """

    bytes: int
    offsets: frozenset[int]


@dataclass(frozen=True)
class RowPiece:
    """
    Elements that share an aligned piece of 16 bytes of a row, counted from the group's first column:
    the ones that are read, ascending, and the columns that read one of them.
    """

    elements: tuple[int, ...]
    columns: frozenset[int]


def pieces(reads: RowReads, columns: int) -> tuple[RowPiece, ...]:
    """The pieces of a row that a group of `columns` iterations reads, ascending."""
    width = WIDE_BYTES // reads.bytes
    elements: dict[int, set[int]] = {}
    readers: dict[int, set[int]] = {}
    for column in range(columns):
        for offset in reads.offsets:
            element = column + offset
            elements.setdefault(element // width, set()).add(element)
            readers.setdefault(element // width, set()).add(column)
    return tuple(
        RowPiece(tuple(sorted(elements[number])), frozenset(readers[number]))
        for number in sorted(elements)
    )


def refuge(piece: RowPiece, others: Sequence[RowPiece], columns: int) -> RowPiece | None:
    """
    The piece to read instead of `piece` in a group of which no column wants it: one that all other
    columns do. Itself if every column wants it.
    """
    if len(piece.columns) == columns:
        return piece
    wanted = [other for other in others if len(piece.columns | other.columns) == columns]
    return max(wanted, key=lambda other: len(other.columns), default=None)


def is_safe(reads: RowReads, columns: int) -> bool:
    """Whether a group can read the row whichever of its columns there are."""
    found = pieces(reads, columns)
    return all(refuge(piece, found, columns) is not None for piece in found)


def group_size(element_bytes: Sequence[int]) -> int:
    """Columns per group: the narrowest elements fill 16 bytes."""
    return WIDE_BYTES // min(element_bytes)


def words_of(reads: Sequence[RowReads], columns: int) -> int:
    """How many 32-bit words a group of `columns` iterations reads."""
    return sum(
        len(piece.elements) * row.bytes // 4 for row in reads for piece in pieces(row, columns)
    )


def why_not(reads: Sequence[RowReads], columns: int, most_words: int = MOST_WORDS) -> str | None:
    """Why a group of `columns` iterations that each read `reads` would not pay; None if it does."""
    if not all(is_safe(row, columns) for row in reads):
        return "a row's elements lie in too many places"
    words = words_of(reads, columns)
    if words > most_words:
        return f"a group's {words} words would not stay in registers"
    return None
