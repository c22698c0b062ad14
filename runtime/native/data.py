"""
The data path in native code: `__accopt_data_enter` and `__accopt_data_exit` for constructs whose data
is present, as most constructs in a loop are.

Python (`quick_entry.py`) finds out what a construct's records stand for. If nothing had to move, and
the data would stay present without this construct, it *arms* the site: it leaves the records, with
the device addresses they found, in a `Slot`. From then on a native function compiled once per program
compares the records the host code brings with those of the slot, the first words of compressed
arrays' descriptors (format and flags) with those of then, and so the pointers of sections through arrays of
pointers. If they are equal it stores the device
addresses, tells the descriptors their coefficients, moves the values of reductions to or from their
cells, and counts in the slot how many regions are open. Anything else goes to the Python entry point.

The counters of the present table lack the regions open in slots. That is safe because

- a slot is armed only while Python's counters alone keep its entries present and its pointers attached,
  and Python *disarms* all slots before one of these counters falls to zero and before a clause that is
  more than counting;
- to disarm is to add the open regions to the entries' counters: their exits then come to Python.

The cells of a site serve one region at a time. A word of the site says whether they do: native code counts it
as it enters and leaves, Python claims it before it uses cells and releases it when it has emptied them.

A program that maps and frees work arrays in every step would disarm everything in every step. So a slot that
depends on nothing but its entries only *rests* while one of them may go, and takes up its work when
entries for the same host memory are there again, wherever on the device. Such a slot takes any sections of
its entries, too: programs that go through regions of different sizes bring other sections each time.

One word for each device is the lock between the two sides. Native code tries it a few times, and calls
Python if it stays taken, so it never waits.
"""

from __future__ import annotations

import ctypes
import struct
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from ...compiler.base.abi import (
    ASYNC_ON_DEVICE,
    RECORD_BYTES,
    RECORD_DEVICE_AT,
    RECORD_FORMAT,
    Compression,
)
from ..compression.arrays import Answer
from ..data.cells import Cell
from ..data.present import Entry, PresentTable
from .code import NativeCode
from .data_code import TEMPLATE
from .devices import DeviceRow, NativeDevices

WAYS = 16
"""
Slots of a site: programs that swap two or three arrays bring their records in as many versions, and those
with work arrays for regions of different sizes in more.
"""

TRIES = 64
"""For longer than these take nobody holds the lock but who has been interrupted."""

_SLOT_BYTES = 96
_WORD = struct.Struct("=q")
_POINTER_FIELD = 3
_SECTION = struct.Struct("=2q")
_SECTION_AT = 8
"""A section in a record: its offset from the base, and its bytes."""
_TOLD = struct.Struct(f"={(ctypes.sizeof(Compression) - Compression.coefficients.offset) // 8}q")
_TOLD_WORDS = _TOLD.size // 8
_ANSWER_WORDS = 2 + _TOLD_WORDS
"""An answer to a descriptor: its address, its first word, and the words it is told."""


class _Slot(ctypes.Structure):
    """What native code reads and counts; `words` of `records` are compared, as 64-bit integers."""

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
        ("any_section", ctypes.c_int64),
    )


Served = tuple[Cell, int, int]
"""A cell with the address and size of the variable it serves in a region."""


@dataclass(frozen=True, slots=True)
class EnteredRegion:
    """
    A region just entered, to be taken over: its `records` hold their device addresses; its `entries` (those
    of `cells` among them) have been counted once for each record, and so have `attached`, attachment
    counters with the pointer's place in them. `answers`: to the descriptors of compressed arrays, for as
    long as they ask for the same. `watched`: memory that all of this depends on, and what it held.
    """

    records: bytes
    entries: Sequence[Entry]
    cells: Sequence[Served] = ()
    answers: Sequence[Answer] = ()
    attached: Sequence[tuple[dict[int, int], int]] = ()
    watched: Sequence[tuple[int, bytes]] = ()


@dataclass(slots=True)
class _Armed:
    """What an armed slot stands for, and the memory it points at."""

    entries: Sequence[Entry]
    attached: Sequence[tuple[dict[int, int], int]]
    cells: Sequence[Served]
    memory: Sequence[ctypes.Array[Any]]
    plain: bool
    """Whether the answer follows from which data is present, record by record."""
    in_place: Sequence[Entry]
    """What stands for host memory that the construct works in."""

    @property
    def any_section(self) -> bool:
        """Whether it does for all sections of its entries."""
        return self.plain and not self.in_place


class NativeData:
    """
    The compiled functions (`enter_address`, `exit_address`) of one program, for the devices of `devices`.

    `slow_enter` and `slow_exit`: C addresses of the Python entry points.
    """

    def __init__(self, sites: int, devices: NativeDevices, slow_enter: int, slow_exit: int):
        self._sites = sites
        self._devices = devices
        self._code = NativeCode(
            TEMPLATE,
            {**devices.addresses, "slow_enter": slow_enter, "slow_exit": slow_exit},
            {
                **devices.constants,
                "ways": WAYS,
                "tries": TRIES,
                "on_device": ASYNC_ON_DEVICE,
                "answer_words": _ANSWER_WORDS,
                "answer_at": Compression.coefficients.offset,
                "told_words": _TOLD_WORDS,
            },
        )
        address = self._code.address
        self.enter_address: int = address("enter")
        self.exit_address: int = address("exit")
        self.try_lock = ctypes.PYFUNCTYPE(ctypes.c_int32, ctypes.c_void_p)(address("try_lock"))
        self.unlock = ctypes.PYFUNCTYPE(None, ctypes.c_void_p)(address("unlock"))
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
    The slots of one device, whose row native code reads. All methods are called with the device's lock held.
    """

    def __init__(self, sites: int, native: NativeData, row: DeviceRow, address: int):
        self._slots = (_Slot * (WAYS * max(sites, 1)))()
        self._busy = (ctypes.c_int64 * max(sites, 1))()
        self._armed: dict[int, _Armed] = {}
        self._using: dict[Entry, set[int]] = {}
        """Plain slots that are armed, by their entries."""
        self._sensitive: set[int] = set()
        """Armed slots that are not plain or work in host memory."""
        self._resting: dict[int, _Armed] = {}
        self._missing: dict[int, set[int]] = {}
        """Resting slots by the host address of an entry that they wait for."""
        self._undecided: set[int] = set()
        """Resting slots of which it is not known that an entry is missing."""
        self._next_way = [0] * max(sites, 1)
        self._native = native
        self._row = address
        row.busy = ctypes.addressof(self._busy)
        row.slots = ctypes.addressof(self._slots)

    def arm(self, site: int, region: EnteredRegion, *, asynchronous: bool = False) -> None:
        """
        Takes over the region just entered at `site`: its counts become the slot's first open region.
        `asynchronous`: any queue may enter it, as its entries' users say; else only synchronous constructs.
        """
        first = site * WAYS
        if asynchronous:
            self._forget_synchronous(site)
        ways = range(first, first + WAYS)
        free = [i for i in ways if i not in self._armed and i not in self._resting]
        free += [i for i in ways if i in self._resting]
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
            known = _Armed(
                region.entries,
                region.attached,
                region.cells,
                memory,
                _is_plain(region),
                [entry for entry in region.entries if _is_in_place(entry)],
            )
            if known.any_section:
                _widen(buffer, region.entries)
            self._watch(index, known)
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
                int(known.any_section),
            )
        finally:
            self._native.unlock(self._row)

    def _watch(self, index: int, known: _Armed) -> None:
        """Notes what an armed slot depends on."""
        self._armed[index] = known
        if known.plain:
            for entry in known.entries:
                self._using.setdefault(entry, set()).add(index)
        if not known.any_section:
            self._sensitive.add(index)

    def _unwatch(self, index: int) -> _Armed | None:
        known = self._armed.pop(index, None)
        if known is not None and known.plain:
            for entry in known.entries:
                if (users := self._using.get(entry)) is not None:
                    users.discard(index)
                    if not users:
                        del self._using[entry]
        self._sensitive.discard(index)
        return known

    def claim(self, site: int) -> bool:
        """Takes the site's cells for a region that Python enters, unless one is in them; see `release`."""
        self._take_lock()
        try:
            free = not self._busy[site]
            self._busy[site] += free
            return free
        finally:
            self._native.unlock(self._row)

    def release(self, site: int) -> None:
        """A region in the site's cells, whoever entered it, is over, as Python has found."""
        self._take_lock()
        try:
            self._busy[site] = max(self._busy[site] - 1, 0)
        finally:
            self._native.unlock(self._row)

    def settle(self, site: int) -> None:
        """Disarms the site's slots that have open regions: their next exit or entry is Python's."""
        first = site * WAYS
        indices = [i for i in range(first, first + WAYS) if i in self._armed]
        if indices:
            self._take_lock()
            try:
                for index in indices:
                    if self._slots[index].open:
                        self._disarm(index)
            finally:
                self._native.unlock(self._row)

    def _forget_synchronous(self, site: int) -> None:
        """Disarms the slots that would refuse what a new one takes."""
        self._take_lock()
        try:
            for index in range(site * WAYS, site * WAYS + WAYS):
                if index in self._armed and not self._slots[index].asynchronous:
                    self._disarm(index)
        finally:
            self._native.unlock(self._row)

    def rest(self, going: Sequence[Entry], spans: Sequence[tuple[int, int]]) -> None:
        """
        Before entries go, or come for some `spans` of host memory (start, end): disarms the slots that are
        not plain and those that work in host memory there; those with an entry of `going` rest.
        """
        resting = {index for entry in going for index in self._using.get(entry, ())}
        over = [i for i in self._sensitive if _is_over(self._armed[i], spans)]
        if over or resting:
            self._take_lock()
            try:
                for index in resting:
                    self._resting[index] = self._armed[index]
                    self._undecided.add(index)
                    self._close(index)
                for index in over:
                    self._disarm(index)
            finally:
                self._native.unlock(self._row)

    def resume(self, table: PresentTable, spans: Sequence[tuple[int, int]]) -> None:
        """
        After entries have come for `spans` of host memory (start, end): arms again what rests and has
        all its data, held by something else, on the device.
        """
        candidates, self._undecided = self._undecided, set()
        for start, _ in spans:
            entry = table.at(start)
            if entry is not None:
                candidates |= self._missing.pop(entry.host, set())
        ready: list[tuple[int, Sequence[Entry]]] = []
        for index in candidates & self._resting.keys():
            known = self._resting[index]
            entries, missing = _entries_now(known, table)
            if missing is None:
                ready.append((index, entries))
            elif known.in_place:  # what is in its way may go without anything coming
                self._undecided.add(index)
            else:
                self._missing.setdefault(missing, set()).add(index)
        if ready:
            self._take_lock()
            try:
                for index, entries in ready:
                    self._resume(index, entries)
            finally:
                self._native.unlock(self._row)

    def _resume(self, index: int, entries: Sequence[Entry]) -> None:
        known = self._resting.pop(index)
        records = known.memory[0]
        for at, entry in zip(
            range(0, RECORD_BYTES * len(entries), RECORD_BYTES), entries, strict=True
        ):
            base = _WORD.unpack_from(records, at)[0]
            _WORD.pack_into(records, at + RECORD_DEVICE_AT, entry.device_address(base))
        if self._slots[index].asynchronous:
            for entry in entries:
                entry.users.add_all()
        known.entries = entries
        if known.any_section:
            _widen(records, entries)
        self._watch(index, known)
        self._slots[index].armed = 1

    def disarm(self) -> None:
        """Disarms all slots: the counters of the present table are complete again."""
        self._resting.clear()
        self._missing.clear()
        self._undecided.clear()
        if self._armed:
            self._take_lock()
            try:
                for index in list(self._armed):
                    self._disarm(index)
            finally:
                self._native.unlock(self._row)

    @property
    def armed(self) -> int:
        """How many slots are armed."""
        return len(self._armed)

    def _disarm(self, index: int) -> None:
        self._resting.pop(index, None)
        self._close(index)

    def _close(self, index: int) -> None:
        """Takes the slot from native code: its open regions are in the counters from now on."""
        known = self._unwatch(index)
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
            time.sleep(0)  # lets a thread that holds it go on, if it waits for Python's lock


def _count(
    entries: Sequence[Entry], attached: Sequence[tuple[dict[int, int], int]], step: int
) -> None:
    for entry in entries:
        entry.structured += step
    for counters, pointer in attached:
        counters[pointer] += step


def _is_plain(region: EnteredRegion) -> bool:
    """Whether the region's answer follows from which data is present, one entry for each record."""
    extra = region.cells or region.answers or region.attached or region.watched
    pointers = any(
        RECORD_FORMAT.unpack_from(region.records, at)[_POINTER_FIELD]
        for at in range(0, len(region.records), RECORD_BYTES)
    )
    return not extra and not pointers and len(region.records) == RECORD_BYTES * len(region.entries)


def _widen(records: ctypes.Array[Any], entries: Sequence[Entry]) -> None:
    """Makes the records' sections those of their entries."""
    for at, entry in zip(range(0, RECORD_BYTES * len(entries), RECORD_BYTES), entries, strict=True):
        base = _WORD.unpack_from(records, at)[0]
        _SECTION.pack_into(records, at + _SECTION_AT, entry.host - base, entry.bytes)


def _is_over(known: _Armed, spans: Sequence[tuple[int, int]]) -> bool:
    """Whether it is not plain, or works in host memory that one of the spans touches."""
    inside = any(e.host < end and start < e.end for e in known.in_place for start, end in spans)
    return inside or not known.plain


def _is_in_place(entry: Entry) -> bool:
    """Whether it stands for host memory that the construct works in."""
    return entry.pinned and entry.device == entry.host


def _entries_now(known: _Armed, table: PresentTable) -> tuple[Sequence[Entry], int | None]:
    """The entries for the same host memory, and the address of the first that nothing else holds there."""
    found: list[Entry] = []
    for old in known.entries:
        now = table.at(old.host)
        if now is None and old in known.in_place and not table.overlapping(old.host, old.bytes):
            now = old
        if now is None or now.host != old.host or now.packed is not None or not now.live:
            return found, old.host
        if now.bytes != old.bytes and not known.any_section:
            return found, old.host
        found.append(now)
    return found, None


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
