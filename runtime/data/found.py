"""What the clauses of a construct find in one present table, if they need nothing but counting."""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Sequence
from dataclasses import dataclass

from ...compiler.base.abi import RECORD_BYTES, RECORD_FORMAT, DataFlag, DataKind
from ..compression.arrays import Answer, answer_for
from .cells import Cell, Cells
from .clauses import POINTER_BYTES, read_host_pointer
from .in_place import NOT_SIMPLE, InPlace
from .pointer_rows import Part, expand
from .present import Entry, PresentTable

_LAST_SIMPLE_KIND = int(DataKind.NO_CREATE)
_COMPRESSED = int(DataFlag.COMPRESSED)
_CELL = int(DataFlag.CELL)
_ROWS = int(DataFlag.ROWS)
_UNBOUNDED = int(DataFlag.UNBOUNDED)
_TRIPLE = struct.Struct("=qqq")
_unpack = RECORD_FORMAT.unpack_from
_string_at = ctypes.string_at


@dataclass(slots=True)
class FoundRecord:
    """The result of looking up a record: its entry, and the attachments of its pointer object."""

    entry: Entry
    attachments: dict[int, int] | None
    pointer: int
    device: int
    cell: Cell | None = None
    answer: Answer | None = None
    rows: Sequence[FoundRecord] = ()
    """The rows of a section through an array of pointers, whose array is `entry`."""
    watched: Sequence[tuple[int, bytes]] = ()
    """The memory on which the result depends (the shape of such a section, its pointers): address and
    contents."""
    tied: bool = False
    """Whether the record is in place only if other records of the construct are (`in_place.py`)."""

    def all(self) -> tuple[FoundRecord, ...]:
        """This result and those of its rows."""
        return (self, *self.rows)

    @property
    def attached(self) -> bool:
        """Whether the pointer object is already attached, or not on the device."""
        return self.attachments is None or self.attachments.get(self.pointer, 0) > 0

    @property
    def may_attach(self) -> bool:
        """Whether another record of the construct may change what this one needs: by mapping its pointer
        object, or by not being in place."""
        return self.tied or (self.pointer != 0 and self.attachments is None)

    def count(self, step: int) -> None:
        """Changes the counters of the entry and of its rows, and those of their attachments."""
        for part in self.all():
            part.entry.structured += step
            if part.attachments is not None:
                part.count_attachment(step)

    def count_attachment(self, step: int) -> None:
        """Changes the attachment counter; one that becomes zero is removed."""
        counters = self.attachments
        assert counters is not None
        count = counters.get(self.pointer, 0) + step
        if count:
            counters[self.pointer] = count
        else:
            del counters[self.pointer]


class RecordFinder:
    """Looks records up in a present table, and in the cells of scalars."""

    def __init__(self, table: PresentTable, cells: Cells):
        self._table = table
        self._cells = cells

    def find(self, raw: bytes, at: int, cells_of: int | None) -> FoundRecord | None:
        """
        The result for the record at `at`, if its clause only counts present data, or can use a cell of the
        site `cells_of`; otherwise None.
        """
        base, offset, size, pointer, _, kind, flags, _, dims, shape = _unpack(raw, at)
        if size <= 0 or base == 0 or kind > _LAST_SIMPLE_KIND or flags & NOT_SIMPLE:
            return None
        if dims:
            return self._find_rows(raw, at)
        entry = self._table.containing(base + offset, size)
        if (
            entry is None
            and flags & _UNBOUNDED
            and not self._table.overlapping(base + offset, size)
        ):
            entry = self._table.section_of(base)
        answer = None
        packed = entry.packed if entry is not None else None
        if packed is not None or flags & _COMPRESSED:
            if packed is None or not flags & _COMPRESSED:
                return None
            answer = answer_for(packed, shape)
            if answer is None:
                return None
        if entry is None:
            if cells_of is None or not flags & _CELL or offset or pointer:
                return None
            cell = self._cells.find(cells_of, at // RECORD_BYTES, base, size)
            return cell and FoundRecord(cell.entry, None, 0, cell.entry.device, cell)
        holder = self._table.containing(pointer, POINTER_BYTES) if pointer else None
        attachments = holder.attachments if holder is not None else None
        return FoundRecord(entry, attachments, pointer, entry.device_address(base), answer=answer)

    def _find_rows(self, raw: bytes, at: int) -> FoundRecord | None:
        """The result for the record at `at`, if it is a section through an array of pointers."""
        base, _, _, pointer, _, _, flags, _, dims, shape = _unpack(raw, at)
        if not flags & _ROWS or flags & _COMPRESSED:
            return None
        triples = _string_at(shape, _TRIPLE.size * dims)
        watched = [(shape, triples)]
        found: list[FoundRecord] = []
        dimensions = list(_TRIPLE.iter_unpack(triples))
        for part in expand(base, pointer, dimensions, read_host_pointer):
            answer = None if part.shape else self._find_part(part)
            if answer is None:
                return None
            found.append(answer)
            if part.is_block:
                start = part.base + part.offset
                watched.append((start, _string_at(start, part.bytes)))
        found[0].rows, found[0].watched = found[1:], watched
        return found[0]

    def _find_part(self, part: Part) -> FoundRecord | None:
        start, holder = part.base + part.offset, None
        entry = self._table.containing(start, part.bytes) if part.base and part.bytes > 0 else None
        if entry is None or entry.packed is not None:
            return None
        if part.pointer:
            holder = self._table.containing(part.pointer, POINTER_BYTES)
        attachments = holder.attachments if holder is not None else None
        return FoundRecord(entry, attachments, part.pointer, entry.device_address(part.base))


def found_in_place(known: InPlace) -> FoundRecord:
    """The result for a record in place: entries of no table, for its memory."""
    entries = [Entry(start, end - start, start, pinned=True) for start, end in known.spans]
    parts = [FoundRecord(entry, None, 0, known.base) for entry in entries]
    parts[0].rows, parts[0].watched, parts[0].tied = parts[1:], known.watched, known.tied
    return parts[0]
