"""
Checks whether the rows of arrays of pointers (`double **a`) and other arrays do not overlap in the host's
memory.

Compiled code calls this before it runs loops in parallel that write rows
(`passes/guard_against_overlap.py`). The host's pointers determine the places of rows, so an answer is valid
as long as these are unchanged.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from ..compiler.base.abi import RowSection
from .data.sections import Shape, Triple, span_of

MOST_ANSWERS = 1024
"""The most answers that are remembered; then all are discarded, as a program may allocate any number of
arrays."""

_string_at = ctypes.string_at
Integers = np.ndarray[tuple[int], np.dtype[np.int64]]


@dataclass(frozen=True)
class PlacedSection:
    """The section `dims` of the memory at `base`."""

    base: int
    kind: RowSection
    dims: tuple[Triple, ...]


def read_sections(numbers: bytes) -> list[PlacedSection]:
    """The sections that compiled code wrote, as i64: base, kind, number of dimensions, their triples."""
    words = iter(np.frombuffer(numbers, np.int64).tolist())
    found: list[PlacedSection] = []
    for base in words:
        kind, length = next(words), next(words)
        dims = tuple((next(words), next(words), next(words)) for _ in range(length))
        found.append(PlacedSection(base, RowSection(kind), dims))
    return found


@dataclass(frozen=True)
class _Block:
    """A block of pointers that was read."""

    address: int
    content: bytes


class RowsApart:
    """The answers so far, each with the pointers for which it was found."""

    def __init__(self) -> None:
        self._answers: dict[bytes, tuple[list[_Block], bool]] = {}

    def apart(self, numbers: bytes) -> bool:
        """
        Whether no row of a written section in `numbers` overlaps a row of another section, or another row
        of its own. Two sections without pointers are not compared.
        """
        known = self._answers.get(numbers)
        if known is not None:
            read, answer = known
            # Compared in the order of reading: if one has changed, later ones may be unmapped.
            if all(_string_at(b.address, len(b.content)) == b.content for b in read):
                return answer
        blocks: list[_Block] = []
        sections = read_sections(numbers)
        answer = _are_apart(sections, [_rows(section, blocks) for section in sections])
        if len(self._answers) >= MOST_ANSWERS:
            self._answers.clear()
        self._answers[numbers] = blocks, answer
        return answer


def _rows(section: PlacedSection, blocks: list[_Block]) -> Integers:
    """
    The pointers to the rows of a section; for an array, its base. Adds the pointers that it reads to
    `blocks`.
    """
    bases = np.array([section.base], np.int64)
    for head in _heads(section.dims):
        offsets = _offsets(head)
        if not offsets.size:
            return np.empty(0, np.int64)
        first, past = int(offsets[0]), int(offsets[-1]) + 8
        read = [
            _Block(base + first, _string_at(base + first, past - first))
            for base in bases.tolist()
            if base
        ]
        blocks += read
        tables = [np.frombuffer(block.content, np.int64)[(offsets - first) // 8] for block in read]
        bases = np.concatenate(tables) if tables else np.empty(0, np.int64)
    return bases


def _heads(dims: Shape) -> Iterator[list[Triple]]:
    """The dimensions of each block of pointers on the way to the rows."""
    head: list[Triple] = []
    for lower, extent, stride in dims:
        head.append((lower, extent, abs(stride)))
        if stride < 0:
            yield head
            head = []


def _offsets(head: Shape) -> Integers:
    """The offsets of the elements of a block from its beginning, in ascending order."""
    total = np.zeros(1, np.int64)
    for lower, extent, stride in head:
        steps = np.arange(lower, lower + max(0, extent), dtype=np.int64) * stride
        total = (total[:, None] + steps).ravel()
    return total


def _row_of(dims: Shape) -> Shape:
    """The dimensions of a row, behind the last one of pointers."""
    last = max((i + 1 for i, (_, _, stride) in enumerate(dims) if stride < 0), default=0)
    return dims[last:]


def _are_apart(sections: Sequence[PlacedSection], rows: Sequence[Integers]) -> bool:
    begins: list[Integers] = []
    ends: list[Integers] = []
    kinds: list[Integers] = []
    for section, bases in zip(sections, rows, strict=True):
        first, size = span_of(_row_of(section.dims))
        if size > 0:
            begins.append(bases + first)
            ends.append(bases + first + size)
            kinds.append(np.full(bases.shape, section.kind, np.int64))
    if not begins:
        return True
    begin, end, kind = (np.concatenate(parts) for parts in (begins, ends, kinds))
    order = np.argsort(begin, kind="stable")
    begin, end, kind = begin[order], end[order], kind[order]
    written, row = (kind & RowSection.WRITTEN) != 0, (kind & RowSection.ROWS) != 0

    def reached(which: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> Integers:
        """For each row, the largest end of memory of this kind that begins before it."""
        ends = np.maximum.accumulate(np.where(which, end, 0))
        return np.concatenate((np.zeros(1, np.int64), ends[:-1]))

    of_row = np.where(written, reached(written | ~written), reached(written))
    of_other = np.where(written, reached(row), reached(row & written))
    return bool(np.all(begin >= np.where(row, of_row, of_other)))
