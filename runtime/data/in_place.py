"""
Finds the records of a construct that may use the program's own memory (`DataFlag.IN_PLACE`), on a device
whose kernels can access it.

The compiler has checked that only the construct could observe the difference. At run time, this module
checks that no byte of the memory is present, and that no other record's memory overlaps it. In a device
copy, a pointer object that a record attaches would hold the device address of the data; for data in place,
that is the program's own pointer. So the structure or the rows of pointers that contain it may be in place
too if all their targets are. Such records are *tied*: either all of them are in place or none.
"""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Sequence
from dataclasses import dataclass

from ...compiler.base.abi import RECORD_BYTES, RECORD_FORMAT, DataFlag, DataKind
from .clauses import POINTER_BYTES, read_host_pointer
from .pointer_rows import Part, expand
from .present import PresentTable
from .spans import overlapping

Span = tuple[int, int]
"""The first address, and the one past the last."""

_IN_PLACE = int(DataFlag.IN_PLACE)
_ROWS = int(DataFlag.ROWS)
_LAST_KIND = int(DataKind.NO_CREATE)
NOT_SIMPLE = int(
    DataFlag.ALWAYS_IN
    | DataFlag.ALWAYS_OUT
    | DataFlag.FINALIZE
    | DataFlag.DYNAMIC
    | DataFlag.INFERRED
)
"""Flags of clauses that need more than a lookup in the present table."""
_TRIPLE = struct.Struct("=qqq")
_unpack = RECORD_FORMAT.unpack_from


@dataclass(frozen=True, slots=True)
class InPlace:
    """
    A record in place: its `base`, its memory, the words on which the decision depends (`watched`: addresses
    and their contents), and whether other records must be in place too (`tied`).
    """

    base: int
    spans: Sequence[Span]
    watched: Sequence[tuple[int, bytes]]
    tied: bool


@dataclass(frozen=True, slots=True)
class _Record:
    """A record: its memory (each row separately) and the pointer object that it may attach."""

    base: int
    spans: Sequence[Span]
    pointer: int
    may_share: bool
    watched: Sequence[tuple[int, bytes]] = ()


def records_in_place(raw: bytes, table: PresentTable) -> dict[int, InPlace]:
    """The records of `raw` that may be in place, by their offsets in it."""
    if not any(_unpack(raw, at)[6] & _IN_PLACE for at in range(0, len(raw), RECORD_BYTES)):
        return {}
    records = [_read(raw, at) for at in range(0, len(raw), RECORD_BYTES)]
    if any(record is None for record in records):
        return {}
    known = [record for record in records if record is not None]
    shared = {i for i, r in enumerate(known) if r.may_share and _is_absent(r, table)}
    shared -= overlapping((*span, i) for i, record in enumerate(known) for span in record.spans)
    ties = _ties(known)
    while broken := {i for i in shared if not ties[i] <= shared}:
        shared -= broken
    return {
        i * RECORD_BYTES: InPlace(known[i].base, known[i].spans, known[i].watched, bool(ties[i]))
        for i in sorted(shared)
    }


def _read(raw: bytes, at: int) -> _Record | None:
    """The record at offset `at`; None if its memory cannot be determined."""
    base, offset, size, pointer, _, kind, flags, _, dims, shape = _unpack(raw, at)
    may_share = bool(flags & _IN_PLACE) and not flags & NOT_SIMPLE and kind <= _LAST_KIND
    if dims:
        return _read_rows(base, pointer, shape, dims, may_share) if flags & _ROWS else None
    start = base + offset
    spans = [(start, start + size)] if base and size > 0 else []
    return _Record(base, spans, pointer, may_share and bool(spans))


def _read_rows(base: int, pointer: int, shape: int, dims: int, may_share: bool) -> _Record | None:
    triples = ctypes.string_at(shape, _TRIPLE.size * dims)
    watched = [(shape, triples)]
    spans: set[Span] = set()
    parts: list[Part] = list(
        expand(base, pointer, list(_TRIPLE.iter_unpack(triples)), read_host_pointer)
    )
    for part in parts:
        start = part.base + part.offset
        if part.shape:
            return None
        if part.base and part.bytes > 0:
            spans.add((start, start + part.bytes))  # a set: pointers may share rows
            if part.is_block:
                watched.append((start, ctypes.string_at(start, part.bytes)))
    return _Record(base, sorted(spans), pointer, may_share and bool(spans), watched)


def _is_absent(record: _Record, table: PresentTable) -> bool:
    """Whether neither its memory nor the pointer object that it attaches is present."""
    if not len(table):
        return True
    if record.pointer and table.overlapping(record.pointer, POINTER_BYTES):
        return False
    return not any(table.overlapping(start, end - start) for start, end in record.spans)


def _ties(records: Sequence[_Record]) -> list[set[int]]:
    """For each record, the indices of those that must be in place if it is: pointer objects and their
    targets."""
    ties: list[set[int]] = [set() for _ in records]
    for i, record in enumerate(records):
        if not record.pointer:
            continue
        for k, other in enumerate(records):
            if k != i and any(
                start < record.pointer + POINTER_BYTES and record.pointer < end
                for start, end in other.spans
            ):
                ties[i].add(k)
                ties[k].add(i)
    return ties
