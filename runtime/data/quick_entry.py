"""
The fast path for compute constructs whose data is already present: it only counts and translates addresses.

Each site remembers the records of its last entry, byte for byte, with the entries that they found. While
the present table's epoch is unchanged, equal bytes have equal answers, and only counters change. Other
records are looked up one by one; the first that needs more than counting, and all after it, are left to
`Mapper`. Constructs that can be counted in native code are handed over to `native/data.py`.

If nothing is present and only the construct could observe the difference (`DataFlag.IN_PLACE`), kernels of
the host device work in the program's memory, and nothing is moved either.
"""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from ...compiler.base.abi import RECORD_BYTES, RECORD_DEVICE_AT, RECORD_FORMAT, DataFlag, DataRecord
from ..compression.arrays import Answer
from ..device import Queue
from ..native.data import DeviceSlots, EnteredRegion, Served
from ..native.late_cells import LateCells
from .cells import Cells
from .clauses import Request
from .coming_and_going import leaving, only_counts_or_maps
from .found import FoundRecord, RecordFinder, found_in_place
from .in_place import records_in_place
from .present import Entry, PresentTable

_IN_PLACE = int(DataFlag.IN_PLACE)
_CELL = int(DataFlag.CELL)
_DEVICE = struct.Struct("=q")
_unpack = RECORD_FORMAT.unpack_from
_string_at = ctypes.string_at


def no_calls(queue: Queue, function: int, argument: int) -> None:
    """The `call_later` of a device that has no cells for asynchronous constructs."""
    raise NotImplementedError


@dataclass(slots=True)
class _Remembered:
    """The remembered records of a site: their bytes before and after entry, and their results."""

    epoch: int
    before: bytes
    after: bytes
    entries: list[Entry]
    attached: list[FoundRecord]
    """The results whose pointer object is on the device."""
    cells: list[Served]
    answers: list[Answer]
    """The answers to the descriptors of compressed arrays."""
    watched: list[tuple[int, bytes]]

    def count(self, step: int) -> None:
        """Changes the counters of all entries and attachments."""
        for entry in self.entries:
            entry.structured += step
        for found in self.attached:
            found.count_attachment(step)

    def as_region(self) -> EnteredRegion:
        """The records in the form that native code takes over."""
        attached = [
            (found.attachments, found.pointer)
            for found in self.attached
            if found.attachments is not None
        ]
        return EnteredRegion(
            self.after, self.entries, self.cells, self.answers, attached, self.watched
        )


class QuickEntry:
    """Entry to and exit from regions whose data stays in one present table."""

    def __init__(
        self,
        table: PresentTable,
        cells: Cells,
        works_in_place: bool = False,
        reuses_blocks: bool = False,
        stream: int = 0,
        *,
        clears_blocks: bool = False,
        origin: Callable[[int, int], str] = lambda site, variable: "",
        call_later: Callable[[Queue, int, int], None] = no_calls,
    ):
        self._table = table
        self._works_in_place = works_in_place
        self._reuses_blocks = reuses_blocks
        self._clears_blocks = clears_blocks
        self._origin = origin
        self._stream = stream
        self._cells = cells
        self._late = LateCells(cells.page if cells.has_late else None)
        self._call_later = call_later
        self._finder = RecordFinder(table, cells)
        self._remembered: dict[int, _Remembered] = {}
        self._native: DeviceSlots | None = None

    @property
    def native(self) -> DeviceSlots | None:
        """The native code that takes over repeated constructs; None if the device has none."""
        return self._native

    @native.setter
    def native(self, native: DeviceSlots | None) -> None:
        if native is self._native:
            return
        if self._native is not None:
            self.settle()
            self._native.rows.detach()
        self._native = native
        if native is not None:
            native.rows.attach(
                self._table,
                in_place=self._works_in_place,
                creates=self._reuses_blocks,
                clears=self._clears_blocks,
                stream=self._stream,
                late=self._late if native.late_fetch else None,
                origin=self._origin,
            )

    def follow(self, stream: int) -> None:
        """Makes `stream` that of synchronous constructs."""
        self._stream = stream
        if self._native is not None:
            self._native.rows.follow(stream)

    def settle(self) -> None:
        """Adds native code's counts to the table's counters, before other code reads them."""
        if self._native is not None:
            self._native.disarm()
            self._native.rows.absorb_all()

    def before(self, requests: Sequence[Request], what: str) -> None:
        """
        Prepares for `requests` to be performed (`what`: "enter" or "exit"): completes the counters that may
        become zero, and takes back from native code what depends on entries that are added or removed.
        """
        native = self._native
        if native is None:
            return
        native.rows.open()
        if what == "update":
            return
        if not all(only_counts_or_maps(request) for request in requests):
            self.settle()
            return
        native.disarm()
        if what == "exit":
            native.rows.absorb(leaving(requests, self._table))

    def forget_addresses(self) -> None:
        """Addresses that the program has may be invalid: constructs with `deviceptr` come to Python."""
        if self._native is not None:
            self._native.rows.forget_addresses()

    def updated(self, requests: Iterable[Request]) -> None:
        """After an asynchronous update: the next one of these data may be native, on any queue."""
        for request in requests if self._native is not None else ():
            entry = self._table.at(request.start)
            if entry is not None:
                entry.users.add_all()

    def after(self) -> None:
        """After `requests` were performed: lets native code use the new entries, too."""
        if self._native is not None:
            self._native.rows.publish()

    def enter(self, site: int, records: int, count: int, queue: Queue | None = None) -> int:
        """
        Enters the leading records for which nothing has to be moved, and returns their number. `queue`:
        that of an asynchronous construct, None for a synchronous one, which has finished at its exit, so
        that its reductions may use cells.
        """
        if self._native is None:
            return self._enter(site, records, count, queue)
        self._native.rows.open()
        self._native.settle(site)
        done = self._enter(site, records, count, queue)
        if done == count:
            self._hand_over(site, self._remembered[site], queue)
        elif queue is not None and has_cells(records, count):
            self._let_count(records, count)
        self._native.rows.publish()
        return done

    def note_user(self, records: int, count: int, queue: Queue) -> None:
        """Records that an asynchronous queue uses the present data of these records."""
        for record in (DataRecord * count).from_address(records):
            entry = self._table.containing(record.base + record.offset, max(record.bytes, 1))
            if entry is not None:
                entry.users.add(queue)

    def _let_count(self, records: int, count: int) -> None:
        """Lets native code enter an asynchronous construct the next time: its scalars can be in `LateCell`s,
        and what is present of its other data is counted for any queue."""
        assert self._native is not None
        for record in (DataRecord * count).from_address(records):
            entry = self._table.containing(record.base + record.offset, max(record.bytes, 1))
            if entry is not None:
                self._native.rows.count_asynchronous([entry])

    def _hand_over(self, site: int, known: _Remembered, queue: Queue | None) -> None:
        """Lets native code perform this entry the next time."""
        native = self._native
        assert native is not None
        region = known.as_region()
        if region.only_counts:
            if queue is not None:
                native.rows.count_asynchronous(known.entries)
            elif known.cells:
                native.rows.offer_cells(site, self._cells.of(site))
        elif _stays_present(known):
            if queue is not None:
                for entry in known.entries:  # native code may use any queue for the region
                    entry.users.add_all()
            native.arm(site, region, asynchronous=queue is not None)

    def _enter(self, site: int, records: int, count: int, queue: Queue | None) -> int:
        synchronous = queue is None
        raw = _string_at(records, RECORD_BYTES * count)
        known = self._remembered.get(site)
        if (
            known is None
            or known.epoch != self._table.epoch
            or (raw != known.before and raw != known.after)
            or not all(found.attached for found in known.attached)
            or not all(answer.agrees() for answer in known.answers)
            or any(_string_at(address, len(held)) != held for address, held in known.watched)
            or (known.cells and not (synchronous and _free(known.cells) and self._claim(site)))
        ):
            done = self._enter_each(site, records, count, raw, queue)
            if done < count:
                return done
            known = self._remembered[site]
        else:
            for cell, base, size in known.cells:
                cell.serve(base, size)
                cell.store()
            known.count(1)
            ctypes.memmove(records, known.after, len(raw))
            for answer in known.answers:
                answer.give()
        if queue is not None:
            for entry in known.entries:
                entry.users.add(queue)
        return count

    def exit(self, site: int, records: int, count: int, queue: Queue | None = None) -> int:
        """
        The exit for `enter`, from the last record backwards; returns the number of remaining records.
        `queue`: that of an asynchronous construct, which gets the results of cells that native code has
        entered.
        """
        if queue is not None:
            self._leave_late(records, count, queue)
        if self._native is None:
            return self._exit(site, records, count)
        self._native.rows.open()
        self._native.settle(site)
        self._native.rows.adopt_cells(site)
        left = self._exit(site, records, count)
        self._native.rows.publish()
        return left

    def _exit(self, site: int, records: int, count: int) -> int:
        raw = _string_at(records, RECORD_BYTES * count)
        known = self._remembered.get(site)
        same = known is not None and known.epoch == self._table.epoch and raw == known.after
        if known is not None and same:
            known.count(-1)
            held = all(found.attached for found in known.attached)
            for entry in known.entries:
                if entry.structured < 0 or not (
                    entry.structured > 0 or entry.dynamic > 0 or entry.pinned
                ):
                    held = False
            if held:
                for cell, _, _ in known.cells:
                    cell.fetch()
                if known.cells:
                    self._release(site)
                return 0
            known.count(1)
        return self._exit_each(site, raw, count)

    def take_block(self, size: int) -> int | None:
        """As in `Blocks` (`actions.py`); native code may take these blocks, too."""
        return None if self._native is None else self._native.rows.take_block(size)

    def keep_block(self, address: int, size: int) -> int | None:
        return address if self._native is None else self._native.rows.keep_block(address, size)

    def drain(self) -> Sequence[int]:
        return () if self._native is None else self._native.rows.drain()

    def _claim(self, site: int) -> bool:
        """Claims the site's cells for Python; false if a region of native code uses them."""
        return self._native is None or self._native.claim(site)

    def _release(self, site: int) -> None:
        if self._native is not None:
            self._native.release(site)

    def _enter_each(
        self, site: int, records: int, count: int, raw: bytes, queue: Queue | None
    ) -> int:
        after = bytearray(raw)
        all_found: list[FoundRecord] = []
        shared = self._shared(raw) if queue is None and self._works_in_place else {}
        claimed = queue is None and _has_cells(raw) and self._claim(site)
        for at in range(0, RECORD_BYTES * count, RECORD_BYTES):
            found = shared.get(at) or self._finder.find(raw, at, site if claimed else None)
            if found is None or not all(part.attached for part in found.all()):
                break
            if found.cell is not None:
                found.cell.store()
            if found.answer is not None:
                found.answer.give()
            found.count(1)
            if queue is not None:
                for part in found.all():
                    part.entry.users.add(queue)
            all_found.append(found)
            _DEVICE.pack_into(after, at + RECORD_DEVICE_AT, found.device)
        if len(all_found) < count:
            # A later record may map a pointer object that an earlier one attaches, or tied data.
            keep = next((i for i, f in enumerate(all_found) if f.may_attach), len(all_found))
            for found in all_found[keep:]:
                found.count(-1)
            del all_found[keep:]
        if claimed and not any(found.cell is not None for found in all_found):
            self._release(site)
        if all_found:
            ctypes.memmove(records, bytes(after), RECORD_BYTES * len(all_found))
        if len(all_found) == count:
            parts = [part for found in all_found for part in found.all()]
            entries = [part.entry for part in parts]
            attached = [part for part in parts if part.attachments is not None]
            watched = [watch for found in all_found for watch in found.watched]
            cells = [(c, c.base, c.size) for found in all_found if (c := found.cell) is not None]
            answers = [found.answer for found in all_found if found.answer is not None]
            epoch = self._table.epoch
            self._remembered[site] = _Remembered(
                epoch, raw, bytes(after), entries, attached, cells, answers, watched
            )
        return len(all_found)

    def _exit_each(self, site: int, raw: bytes, count: int) -> int:
        # Only this class knows of cells, so it leaves them here, even if it stops at another record.
        in_cells = [index for index in range(count) if self._leave_cell(site, raw, index)]
        if in_cells:
            self._release(site)
        for index in range(count - 1, -1, -1):
            at = index * RECORD_BYTES
            if (
                index in in_cells
                or self.is_in_place(raw, at)
                or self._late.has(_device_of(raw, at))
            ):
                continue
            found = self._finder.find(raw, at, None)
            if found is None or _device_of(raw, at) != found.device:
                return index + 1
            found.count(-1)
            if any(
                part.entry.structured < 0 or not part.entry.live or not part.attached
                for part in found.all()
            ):
                found.count(1)
                return index + 1
        return 0

    def is_in_place(self, records: bytes, at: int) -> bool:
        """
        Whether the entered record at `at` is in place, so that its exit does nothing. Data of a region that
        shares memory (`DataFlag.SHARED`) is at its host address, too, but present and counted.
        """
        base, offset, _, _, device, _, flags, *_ = _unpack(records, at)
        return bool(flags & _IN_PLACE) and device == base and not self._table.at(base + offset)

    def _shared(self, raw: bytes) -> dict[int, FoundRecord]:
        """The results of records that may be in place, by their offsets in `raw`."""
        return {
            at: found_in_place(known) for at, known in records_in_place(raw, self._table).items()
        }

    def _leave_late(self, records: int, count: int, queue: Queue) -> None:
        """Lets an asynchronous queue fetch the results that native code has not left to it."""
        for record in (DataRecord * count).from_address(records):
            cell = self._late.holding(record.device, record.base)
            if cell is not None and self._native is not None:
                self._late.leave(cell)
                self._call_later(queue, self._native.late_fetch, ctypes.addressof(cell))

    def _leave_cell(self, site: int, raw: bytes, index: int) -> bool:
        """Fetches the value of a record's variable from its cell; false if it is not in a cell."""
        device = _device_of(raw, index * RECORD_BYTES)
        cell = self._cells.holding(site, index, device)
        if cell is None:
            return False
        cell.fetch()
        cell.entry.structured -= 1
        return True


def _stays_present(known: _Remembered) -> bool:
    """
    Whether something else also keeps the entered data present and its pointers attached, so that the exit
    only counts.
    """
    if not known.entries or not _stay_attached(known.attached):
        return False
    held = {id(e): 0 if e.pinned else e.structured + e.dynamic for e in known.entries}
    for entry in known.entries:
        held[id(entry)] -= 1
    return all(e.pinned or held[id(e)] > 0 for e in known.entries)


def _stay_attached(attached: list[FoundRecord]) -> bool:
    counts: dict[tuple[int, int], int] = {}
    for found in attached:
        counters = found.attachments
        assert counters is not None
        place = (id(counters), found.pointer)
        counts[place] = counts.get(place, counters.get(found.pointer, 0)) - 1
    return all(count > 0 for count in counts.values())


def _device_of(raw: bytes, at: int) -> int:
    """The device address in the record at `at`."""
    return _DEVICE.unpack_from(raw, at + RECORD_DEVICE_AT)[0]


def _free(cells: list[Served]) -> bool:
    return not any(cell.in_use for cell, _, _ in cells)


def has_cells(records: int, count: int) -> bool:
    """Whether one of the `count` records at address `records` may be a scalar in a cell."""
    return _has_cells(_string_at(records, RECORD_BYTES * count))


def _has_cells(raw: bytes) -> bool:
    return any(_unpack(raw, at)[6] & _CELL for at in range(0, len(raw), RECORD_BYTES))
