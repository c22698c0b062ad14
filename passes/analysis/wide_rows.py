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
MOST_WORDS = 96
"""32-bit registers that the values read for one group may take: more would cost occupancy."""
WIDE_THREADS = 132 * 512
"""Threads of a group each that keep a large device busy."""
LEAST_REUSE = 2.0
"""Accesses per array and iteration from which on the number of accesses, not of bytes, is the limit."""


@dataclass(frozen=True)
class RowReads:
    """
    What an iteration reads of one row of an array: elements of `bytes` bytes at `offsets` from its
    own place, which is aligned for the first column of a group.
    """

    bytes: int
    offsets: frozenset[int]


@dataclass(frozen=True)
class Piece:
    """
    Elements that share an aligned piece of 16 bytes of a row, counted from the group's first column:
    the ones that are read, ascending, and the columns that read one of them.
    """

    elements: tuple[int, ...]
    columns: frozenset[int]


def pieces(reads: RowReads, columns: int) -> tuple[Piece, ...]:
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
        Piece(tuple(sorted(elements[number])), frozenset(readers[number]))
        for number in sorted(elements)
    )


def refuge(piece: Piece, others: Sequence[Piece], columns: int) -> Piece | None:
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


@dataclass(frozen=True)
class Body:
    """
    What the iterations side by side in one thread access: the rows read, how many elements are
    stored, how many arrays there are, and how many iterations (rows side by side) they are.
    """

    reads: tuple[RowReads, ...]
    stores: int
    arrays: int
    rows: int


def group_size(element_bytes: Sequence[int]) -> int:
    """Columns per group: the narrowest elements fill 16 bytes."""
    return WIDE_BYTES // min(element_bytes)


def why_not(
    body: Body, columns: int, least_reuse: float = LEAST_REUSE, most_words: int = MOST_WORDS
) -> str | None:
    """Why groups of `columns` iterations would not pay; None if they do."""
    if not any(len(reads.offsets) > 1 for reads in body.reads):
        return "no row is read at several columns"
    if not all(is_safe(reads, columns) for reads in body.reads):
        return "a row's elements lie in too many places"
    accesses = sum(len(reads.offsets) for reads in body.reads) + body.stores
    if accesses < least_reuse * body.arrays * body.rows:
        return "the bytes of its arrays, not the number of accesses, are its limit"
    words = sum(
        len(piece.elements) * reads.bytes // 4
        for reads in body.reads
        for piece in pieces(reads, columns)
    )
    if words > most_words:
        return f"a group's {words} words would not stay in registers"
    return None
