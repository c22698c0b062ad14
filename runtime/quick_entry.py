"""
The path of a compute construct whose data is present already: count it, translate it, nothing else.

Each site remembers the records of its last entry, byte for byte, with the entries they found. While
the present table's epoch stays the same, equal bytes mean equal answers, and only the counters
remain to be moved. Other records are looked up one by one; the first that needs more than counting
is left, with all after it, to `Mapper`.
"""

from __future__ import annotations

import ctypes
import struct
from dataclasses import dataclass

from .abi import (
    RECORD_BYTES,
    RECORD_DEVICE_AT,
    RECORD_FORMAT,
    DataFlag,
    DataKind,
)
from .present import Entry, PresentTable

_LAST_SIMPLE_KIND = int(DataKind.NO_CREATE)
_NOT_SIMPLE = int(DataFlag.ALWAYS_IN | DataFlag.ALWAYS_OUT | DataFlag.FINALIZE | DataFlag.DYNAMIC)
_DEVICE = struct.Struct("=q")
_unpack = RECORD_FORMAT.unpack_from
_string_at = ctypes.string_at


@dataclass(slots=True)
class _Remembered:
    """Records as they came, as they left, and what they stand for."""

    epoch: int
    before: bytes
    after: bytes
    entries: list[Entry]


class QuickEntry:
    """Entry to and exit from regions on data of one present table that is there to stay."""

    def __init__(self, table: PresentTable):
        self._table = table
        self._remembered: dict[int, _Remembered] = {}

    def enter(self, site: int, records: int, count: int) -> int:
        """Enters leading records of which nothing needs to move; returns how many."""
        raw = _string_at(records, RECORD_BYTES * count)
        known = self._remembered.get(site)
        if known is not None and known.epoch == self._table.epoch:
            if raw == known.after:
                for entry in known.entries:
                    entry.structured += 1
                return count
            if raw == known.before:
                for entry in known.entries:
                    entry.structured += 1
                ctypes.memmove(records, known.after, len(raw))
                return count
        return self._enter_each(site, records, count, raw)

    def exit(self, site: int, records: int, count: int) -> int:
        """The mirror of `enter`, from the last record: returns how many records remain."""
        raw = _string_at(records, RECORD_BYTES * count)
        known = self._remembered.get(site)
        if known is not None and known.epoch == self._table.epoch and raw == known.after:
            held = True
            for entry in known.entries:
                entry.structured -= 1
                held = held and (entry.structured > 0 or entry.dynamic > 0 or entry.pinned)
            if held:
                return 0
            for entry in known.entries:
                entry.structured += 1
        return self._exit_each(raw, count)

    def _enter_each(self, site: int, records: int, count: int, raw: bytes) -> int:
        containing = self._table.containing
        after = bytearray(raw)
        entries: list[Entry] = []
        for at in range(0, RECORD_BYTES * count, RECORD_BYTES):
            base, offset, size, pointer, _, kind, flags, _, dims, _ = _unpack(raw, at)
            if (
                dims
                or pointer
                or size <= 0
                or base == 0
                or kind > _LAST_SIMPLE_KIND
                or flags & _NOT_SIMPLE
            ):
                break
            entry = containing(base + offset, size)
            if entry is None:
                break
            entry.structured += 1
            entries.append(entry)
            _DEVICE.pack_into(after, at + RECORD_DEVICE_AT, entry.device_address(base))
        if entries:
            ctypes.memmove(records, bytes(after), RECORD_BYTES * len(entries))
        if len(entries) == count:
            self._remembered[site] = _Remembered(self._table.epoch, raw, bytes(after), entries)
        return len(entries)

    def _exit_each(self, raw: bytes, count: int) -> int:
        containing = self._table.containing
        for index in range(count - 1, -1, -1):
            base, offset, size, pointer, device, kind, flags, _, dims, _ = _unpack(
                raw, index * RECORD_BYTES
            )
            if (
                dims
                or pointer
                or size <= 0
                or base == 0
                or kind > _LAST_SIMPLE_KIND
                or flags & _NOT_SIMPLE
            ):
                return index + 1
            entry = containing(base + offset, size)
            if (
                entry is None
                or entry.structured == 0
                or device != entry.device_address(base)
                or not (entry.pinned or entry.structured + entry.dynamic > 1)
            ):
                return index + 1
            entry.structured -= 1
        return 0
