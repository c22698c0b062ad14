"""
The 16-byte accesses that serve several neighbouring iterations of a stencil, and whether they pay.

A body reads rows of arrays at places relative to its iteration: `a[i][j - 1]`, `a[i][j]`,
`a[i][j + 1]`. A group of neighbouring iterations (columns) reads each place once, and all places within one
aligned piece of 16 bytes by one access. Nothing here sees IR.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .device import MULTIPROCESSORS, WIDE_BYTES

MOST_WORDS = 200
"""The most 32-bit registers for the values read for one group: more would cost occupancy."""
WIDE_THREADS = MULTIPROCESSORS * 64
"""With this many threads, one group each, a large device has enough work."""


@dataclass(frozen=True)
class RowReads:
    """
    The reads of one row of an array by an iteration: elements of `bytes` bytes at `offsets` from the
    iteration's own element, which is 16-byte aligned for the first column of a group.
    """

    bytes: int
    offsets: frozenset[int]


@dataclass(frozen=True)
class RowPiece:
    """
    An aligned piece of 16 bytes of a row: the elements in it that are read, ascending and counted from the
    group's first column, and the columns that read one of them.
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
    The piece to read instead of `piece` if none of the columns that read it exists: a piece that all other
    columns read. `piece` itself if every column reads it; None if there is no such piece.
    """
    if len(piece.columns) == columns:
        return piece
    wanted = [other for other in others if len(piece.columns | other.columns) == columns]
    return max(wanted, key=lambda other: len(other.columns), default=None)


def is_safe(reads: RowReads, columns: int) -> bool:
    """Whether a group can safely read the row whichever of its columns exist."""
    found = pieces(reads, columns)
    return all(refuge(piece, found, columns) is not None for piece in found)


def group_size(element_bytes: Sequence[int]) -> int:
    """The columns per group, so that the narrowest elements fill 16 bytes."""
    return WIDE_BYTES // min(element_bytes)


def words_of(reads: Sequence[RowReads], columns: int) -> int:
    """The 32-bit words that a group of `columns` iterations reads."""
    return sum(
        len(piece.elements) * row.bytes // 4 for row in reads for piece in pieces(row, columns)
    )


def why_not(reads: Sequence[RowReads], columns: int, most_words: int = MOST_WORDS) -> str | None:
    """
    The reason why a group of `columns` iterations with these `reads` each would not pay; None if it does.
    """
    if not all(is_safe(row, columns) for row in reads):
        return "a row is read at too many places"
    words = words_of(reads, columns)
    if words > most_words:
        return f"a group's {words} words would not stay in registers"
    return None
