"""
The data path in native code: `__accopt_data_enter` and `__accopt_data_exit` for constructs whose data
is present, as most constructs in a loop are.

Clauses that only count are looked up in the present table's rows (`present_rows.py`). For others, Python
(`quick_entry.py`) looks the construct's records up. If nothing had to move, and the data would stay present
without this construct, it *arms* the site: it leaves the records, with the device addresses they found, in
a slot. From then on a native function compiled once per program compares the records from the host code
with those of the slot, and likewise the first words of compressed arrays' descriptors (format and flags)
and the pointers of sections through arrays of pointers. If all are equal, it stores the device addresses,
writes the coefficients into the descriptors, moves the values of reductions to or from their cells, and
counts in the slot how many regions are open. Anything else goes to the Python entry point.

The counters of the present table do not include the regions that are open in slots. That is safe because

- a slot is armed only while Python's counters alone keep its entries present and its pointers attached, and
  Python *disarms* all slots before entries are added or removed and before a clause that does more than
  counting;
- disarming adds the open regions to the entries' counters, and their exits then go to Python.

The cells of a site serve one region at a time. A word of the site tells whether they are in use: native
code counts in it at entry and exit; Python claims it before it uses cells, and releases it when it has
emptied them.

A word of each device is the lock between native code and Python. Native code tries to take it a few times,
and calls Python if it is held longer, so it never blocks.
"""

from __future__ import annotations

import ctypes
import struct
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from ...compiler.base.abi import (
    RECORD_BYTES,
    RECORD_FORMAT,
    Compression,
)
from ..compression.arrays import Answer
from ..data.cells import Cell
from ..data.host_pages import check_address
from ..data.present import Entry
from ..device import NativeDriver
from .code import EVERY_CONSTRUCT, NativeCode
from .counted_regions_code import TEMPLATE as REGIONS_TEMPLATE
from .data_code import LOCK_IR, TEMPLATE
from .devices import CONTEXT_IR, ROW_IR, DeviceRow, NativeDevices
from .late_cells import LATE_IR
from .launch import NUMBER_IR, NUMBERS
from .present_rows import LAYOUT, PresentRows
from .present_rows_code import TEMPLATE as ROWS_TEMPLATE
from .queues import QUEUE_ADDRESSES, QUEUE_IR
from .record_needs_code import TEMPLATE as NEEDS_TEMPLATE
from .text import structure

WAYS = 8
"""Slots of a site: programs that swap two or three arrays have as many versions of the records."""

TRIES = 64
"""The number of tries for the lock: it is held longer only by a thread that was interrupted."""

_SLOT_BYTES = 88
_BASE_FIELD, _OFFSET_FIELD, _POINTER_FIELD = 0, 1, 3
_POINTER_BYTES = 8
_TOLD = struct.Struct(f"={(ctypes.sizeof(Compression) - Compression.coefficients.offset) // 8}q")
_TOLD_WORDS = _TOLD.size // 8


@structure("slot")
class _Slot(ctypes.Structure):
    """A slot in the memory of native code; the `words` 64-bit integers of `records` are compared."""

    _fields_ = (
        ("armed", ctypes.c_int64),
        ("open", ctypes.c_int64),
        ("words", ctypes.c_int64),
        ("cell_count", ctypes.c_int64),
        ("records", ctypes.c_void_p),
        ("cells", ctypes.c_void_p),
        ("answer_count", ctypes.c_int64),
        ("answers", ctypes.c_void_p),
        ("watch_count", ctypes.c_int64),
        ("watches", ctypes.c_void_p),
        ("asynchronous", ctypes.c_int64),
    )


@structure("answer")
class _Answer(ctypes.Structure):
    """What a compressed array's descriptor is told, if its first word is still this one."""

    _fields_ = (
        ("descriptor", ctypes.c_void_p),
        ("head", ctypes.c_int64),
        ("words", ctypes.c_int64 * _TOLD_WORDS),
    )


@structure("watch")
class _Watch(ctypes.Structure):
    """Memory that must be as it was, in words, and a copy of it."""

    _fields_ = (
        ("memory", ctypes.c_void_p),
        ("words", ctypes.c_int64),
        ("copy", ctypes.c_void_p),
    )


@structure("served")
class _Served(ctypes.Structure):
    """A variable and the cell that it is in."""

    _fields_ = (
        ("variable", ctypes.c_void_p),
        ("cell", ctypes.c_void_p),
        ("bytes", ctypes.c_int64),
    )


Served = tuple[Cell, int, int]
"""A cell, with the address and size of its variable in a region."""


@dataclass(frozen=True, slots=True)
class EnteredRegion:
    """
    A region just entered, to be taken over: its `records` hold their device addresses; its `entries` (those
    of `cells` among them) have been counted once for each record, and so have `attached`, attachment
    counters with the pointer's place in them. `answers`: to the descriptors of compressed arrays, valid
    while the descriptors are unchanged. `watched`: the memory words on which all of this depends, and their
    contents.
    """

    records: bytes
    entries: Sequence[Entry]
    cells: Sequence[Served] = ()
    answers: Sequence[Answer] = ()
    attached: Sequence[tuple[dict[int, int], int]] = ()
    watched: Sequence[tuple[int, bytes]] = ()

    @property
    def only_counts(self) -> bool:
        """Whether each record only counts one entry, which native code finds by the record's address."""
        more = self.answers or self.attached or self.watched or _pointers_of(self.records)
        if more or len(self.records) != RECORD_BYTES * len(self.entries):
            return False
        starts = map(sum, _words_of(self.records, _BASE_FIELD, _OFFSET_FIELD))
        return not any(
            entry.base and not entry.host <= start < entry.end
            for start, entry in zip(starts, self.entries, strict=True)
        )


@dataclass(slots=True)
class _Armed:
    """The region of an armed slot, and the memory that the slot points to."""

    entries: Sequence[Entry]
    attached: Sequence[tuple[dict[int, int], int]]
    cells: Sequence[Served]
    memory: Sequence[ctypes.Array[Any]]
    absent: Sequence[tuple[int, int]]
    """
    Ranges of host memory (start, end) that must remain absent: pointer objects, and memory used in place.
    """


class NativeData:
    """
    The compiled functions (`enter_address`, `exit_address`) of one program, for the devices of `devices`.

    `slow_enter` and `slow_exit`: C addresses of the Python entry points. `driver`: the driver that copies
    small data, if the devices have one; `enter_context`: as for `NativeDevices`.
    """

    def __init__(
        self,
        sites: int,
        devices: NativeDevices,
        slow_enter: int,
        slow_exit: int,
        driver: NativeDriver | None = None,
        enter_context: int = 0,
    ):
        self._sites = sites
        self._devices = devices
        self._code = NativeCode(
            ROW_IR
            + CONTEXT_IR
            + QUEUE_IR
            + ROWS_TEMPLATE
            + LATE_IR
            + NEEDS_TEMPLATE
            + REGIONS_TEMPLATE
            + LOCK_IR
            + NUMBER_IR
            + TEMPLATE,
            {
                **devices.addresses,
                **QUEUE_ADDRESSES,
                "slow_enter": slow_enter,
                "slow_exit": slow_exit,
                **(driver or NativeDriver(0, 0)).addresses,
                "enter_context": enter_context,
                "check_pages": check_address(),
            },
            {
                **devices.constants,
                **LAYOUT,
                "ways": WAYS,
                "tries": TRIES,
                **NUMBERS,
                "answer_at": Compression.coefficients.offset,
                "told_words": _TOLD_WORDS,
            },
            optimize=EVERY_CONSTRUCT,
        )
        address = self._code.address
        self.enter_address: int = address("enter")
        self.exit_address: int = address("exit")
        self.try_lock = ctypes.PYFUNCTYPE(ctypes.c_int32, ctypes.c_void_p)(address("try_lock"))
        self.unlock = ctypes.PYFUNCTYPE(None, ctypes.c_void_p)(address("unlock"))
        self.copies = driver is not None and driver.copy_in != 0
        self.in_process = driver is not None and not driver.event_synchronize and self.copies
        self.late_fetch = address("late_fetch") if driver is not None and driver.call_later else 0
        """The address of the function that ends a `LateCell`; 0 if there are none."""
        pointer, word = ctypes.c_void_p, ctypes.c_int64
        self.insert_row = ctypes.PYFUNCTYPE(None, pointer, *[word] * 5)(address("insert_row"))
        self.remove_row = ctypes.PYFUNCTYPE(None, pointer, word)(address("remove_row"))
        self._slots: dict[int, DeviceSlots] = {}

    def of(self, device: int) -> DeviceSlots:
        """The slots of a device by its number."""
        found = self._slots.get(device)
        if found is None:
            row, address = self._devices.rows[device], self._devices.row_address(device)
            found = self._slots[device] = DeviceSlots(self._sites, self, row, address)
        return found


class DeviceSlots:
    """
    The slots of one device, whose row native code reads. Callers of all methods hold the device's lock.
    """

    def __init__(self, sites: int, native: NativeData, row: DeviceRow, address: int):
        self._slots = (_Slot * (WAYS * max(sites, 1)))()
        self._busy = (ctypes.c_int64 * max(sites, 1))()
        self._armed: dict[int, _Armed] = {}
        self._next_way = [0] * max(sites, 1)
        self._native = native
        self._row = address
        row.busy = ctypes.addressof(self._busy)
        row.slots = ctypes.addressof(self._slots)
        self.rows = PresentRows(
            sites,
            native.insert_row,
            native.remove_row,
            self._take_lock,
            self._release_lock,
            copies=native.copies,
            in_process=native.in_process,
        )
        self.late_fetch = native.late_fetch
        """The rows of the present table, for clauses that only count."""
        row.book = self.rows.address

    def arm(self, site: int, region: EnteredRegion, *, asynchronous: bool = False) -> None:
        """
        Takes over the region just entered at `site`: its counts become the slot's first open region.
        `asynchronous`: any queue may enter it, which its entries' users record; otherwise only synchronous
        constructs may.
        """
        first = site * WAYS
        if asynchronous:
            self._forget_synchronous(site)
        ways = range(first, first + WAYS)
        free = [i for i in ways if i not in self._armed]
        index = free[0] if free else first + self._next_way[site]
        self._next_way[site] = (index - first + 1) % WAYS
        self._take_lock()
        try:
            self._disarm(index)
            buffer = ctypes.create_string_buffer(region.records, len(region.records))
            cells = _words(w for cell, base, size in region.cells for w in (base, cell.slot, size))
            told = _answer_table(region.answers)
            copies = [ctypes.create_string_buffer(held, len(held)) for _, held in region.watched]
            watches = _words(
                word
                for (address, held), copy in zip(region.watched, copies, strict=True)
                for word in (address, len(held) // 8, ctypes.addressof(copy))
            )
            memory = (buffer, cells, told, watches, *copies)
            absent = [(place, place + _POINTER_BYTES) for place in _pointers_of(region.records)]
            absent += [(e.host, e.end) for e in region.entries if e.pinned and e.device == e.host]
            self._armed[index] = _Armed(
                region.entries, region.attached, region.cells, memory, absent
            )
            _count(region.entries, region.attached, -1)
            self._slots[index] = _Slot(
                1,
                1,
                len(region.records) // 8,
                len(region.cells),
                ctypes.addressof(buffer),
                ctypes.addressof(cells),
                len(region.answers),
                ctypes.addressof(told),
                len(region.watched),
                ctypes.addressof(watches),
                int(asynchronous),
            )
        finally:
            self._release_lock()
        self._reserve()

    def _reserve(self) -> None:
        """Reserves the memory of armed slots, so that arrays which native code creates do not affect
        them."""
        self.rows.reserve({span for known in self._armed.values() for span in known.absent})

    def claim(self, site: int) -> bool:
        """Claims the site's cells for a region that Python enters, unless another region uses them; see
        `release`."""
        self._take_lock()
        try:
            free = not self._busy[site]
            self._busy[site] += free
            return free
        finally:
            self._release_lock()

    def release(self, site: int) -> None:
        """Releases the site's cells after Python has left the region that used them, whether Python or
        native code entered it."""
        self._take_lock()
        try:
            self._busy[site] = max(self._busy[site] - 1, 0)
        finally:
            self._release_lock()

    def settle(self, site: int) -> None:
        """Disarms the site's slots with open regions: their next exit or entry goes to Python."""
        first = site * WAYS
        indices = [i for i in range(first, first + WAYS) if i in self._armed]
        if indices:
            self._take_lock()
            try:
                for index in indices:
                    if self._slots[index].open:
                        self._disarm(index)
            finally:
                self._release_lock()

    def _forget_synchronous(self, site: int) -> None:
        """Disarms the site's slots for synchronous constructs only, as a new slot accepts any queue."""
        self._take_lock()
        try:
            for index in range(site * WAYS, site * WAYS + WAYS):
                if index in self._armed and not self._slots[index].asynchronous:
                    self._disarm(index)
        finally:
            self._release_lock()

    def disarm(self) -> None:
        """Disarms all slots: the counters of the present table are complete again."""
        if self._armed:
            self._take_lock()
            try:
                for index in list(self._armed):
                    self._disarm(index)
            finally:
                self._release_lock()
            self._reserve()

    @property
    def armed(self) -> int:
        """The number of armed slots."""
        return len(self._armed)

    def _disarm(self, index: int) -> None:
        """Disarms a slot: adds its open regions to the entries' counters."""
        known = self._armed.pop(index, None)
        if known is None:
            return
        opened = self._slots[index].open
        self._slots[index].armed = 0
        self._slots[index].open = 0
        _count(known.entries, known.attached, opened)
        if opened:
            for cell, base, size in known.cells:
                cell.serve(base, size)

    def _take_lock(self) -> None:
        while not self._native.try_lock(self._row):
            time.sleep(0)  # releases Python's lock, for which the holder may wait

    def _release_lock(self) -> None:
        self._native.unlock(self._row)


def _count(
    entries: Sequence[Entry], attached: Sequence[tuple[dict[int, int], int]], step: int
) -> None:
    for entry in entries:
        entry.structured += step
    for counters, pointer in attached:
        counters[pointer] += step


def _pointers_of(records: bytes) -> list[int]:
    """The addresses of the pointer objects in records."""
    return [pointer for (pointer,) in _words_of(records, _POINTER_FIELD) if pointer]


def _words_of(records: bytes, *fields: int) -> Iterator[list[int]]:
    """The values of some fields of each record."""
    for at in range(0, len(records), RECORD_BYTES):
        values = RECORD_FORMAT.unpack_from(records, at)
        yield [values[field] for field in fields]


def _words(values: Iterable[int]) -> ctypes.Array[ctypes.c_int64]:
    """A table for native code; never of size zero, which has no address."""
    listed = list(values)
    return (ctypes.c_int64 * max(len(listed), 1))(*listed)


def _answer_table(answers: Sequence[Answer]) -> ctypes.Array[ctypes.c_int64]:
    return _words(
        word
        for answer in answers
        for word in (answer.address, answer.head, *_TOLD.unpack(answer.words))
    )


assert ctypes.sizeof(_Slot) == _SLOT_BYTES and RECORD_BYTES == 64, "as in the code above"
