"""
The present table of a device in the memory of native code: a row for each entry, sorted by host address.
Python and native code change it while they hold the device's lock (`DeviceRow.lock`).

A region whose clauses only count entries never calls Python, nor do such `enter data` and `exit data`: native
code looks the records up and counts them in the rows, regions and dynamic references apart. The entries'
counters do not include the rows' counts. That is safe because the counters in Python alone keep every entry
present, and Python *absorbs* the rows' counts before one of its counters falls to zero and before other code
reads them. Counters are sums, so an entry may be counted by one side and its exit by the other.

Native code also adds rows itself, for `create` of absent data and for small copies, with blocks of device
memory that were freed before (`keep_block`), and removes them when their counters are zero. Such rows are
its *own*; before Python reads the present table, it converts them to entries, and *freezes* the structure
of the rows until it has finished (`open`, `publish`). Scalars of reductions that were in cells before
(`runtime/data/cells.py`), and data that a construct uses in place (`DataFlag.IN_PLACE`), need no entry.
"""

from __future__ import annotations

import ctypes
import mmap
from bisect import bisect_left
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING

from ...compiler.base.abi import DataFlag, DataKind, DataRecord
from ..data.cells import CELL, Cell
from ..data.host_pages import ENOUGH, MS_ASYNC
from ..data.present import Entry
from ..device import STAGED_BYTES
from .late_cells import LateCells
from .text import structure

if TYPE_CHECKING:
    from ..data.present import PresentTable

KEPT = 64
"""The most blocks of device memory that are kept."""
KEPT_BYTES = 1 << 28
"""The most bytes of all kept blocks together."""
BLOCK_BYTES = 1 << 24
"""The bytes above which a block is freed instead of kept: the work on such a block takes much longer than
Python."""
SPANS = 64
"""The most reserved spans of host memory; with more, native code creates no rows."""

_MOST_APART = 128
"""The most records of a region that are compared with each other."""
_COUNTS, _ASYNCHRONOUS, _OWN, _POINTS, _QUIET = 1, 2, 4, 8, 16
"""
The flags of a row: native code counts the entry for synchronous constructs; it counts it for constructs on
any queue; native code made the entry; pointers in it are attached; no asynchronous queue uses it.
"""
_IN_PLACE, _CREATES, _COPIES, _CLEARS, _ADDRESSES, _IN_PROCESS = 1, 2, 4, 8, 16, 32
_NOT_SIMPLE = int(
    DataFlag.ALWAYS_IN
    | DataFlag.ALWAYS_OUT
    | DataFlag.FINALIZE
    | DataFlag.COMPRESSED
    | DataFlag.ROWS
)

LAYOUT: dict[str, int | str] = {
    "last_kind": int(DataKind.NO_CREATE),
    "not_simple": _NOT_SIMPLE,
    "create": int(DataKind.CREATE),
    "copy": int(DataKind.COPY),
    "copyin": int(DataKind.COPYIN),
    "copyout": int(DataKind.COPYOUT),
    "flag_cell": int(DataFlag.CELL),
    "flag_in_place": int(DataFlag.IN_PLACE),
    "flag_shared": int(DataFlag.SHARED),
    "flag_inferred": int(DataFlag.INFERRED),
    "flag_dynamic": int(DataFlag.DYNAMIC),
    "delete": int(DataKind.DELETE),
    "not_created": int(DataFlag.ZERO | DataFlag.CAPTURE | DataFlag.CELL | DataFlag.UNBOUNDED),
    "cell_bytes": CELL,
    "counts": _COUNTS,
    "counts_alone": _COUNTS | _POINTS,
    "asynchronous": _ASYNCHRONOUS,
    "used": _QUIET | _ASYNCHRONOUS,
    "counts_asynchronous": _COUNTS | _ASYNCHRONOUS,
    "own": _COUNTS | _OWN | _QUIET,
    "own_in_process": _COUNTS | _OWN | _QUIET | _ASYNCHRONOUS,
    "in_process": _IN_PROCESS,
    "is_own": _OWN,
    "in_place": _IN_PLACE,
    "creates": _CREATES,
    "copies": _COPIES,
    "clears": _CLEARS,
    "addresses": _ADDRESSES,
    "most_copied": STAGED_BYTES,
    "checked_from": ENOUGH,
    "most_apart": _MOST_APART,
    "page_bytes": mmap.PAGESIZE,
    "check_only": MS_ASYNC,
    "not_plain": int(DataFlag.COMPRESSED | DataFlag.ROWS),
    "if_present": int(DataFlag.IF_PRESENT),
    "use_device": int(DataKind.USE_DEVICE),
    "deviceptr": int(DataKind.DEVICEPTR),
}
"""Format fields of `present_rows_code.TEMPLATE`."""


structure("record")(DataRecord)


@structure("book")
class _Book(ctypes.Structure):
    """The type `%book` of the code. `followed`: native code serves the device."""

    _fields_ = (
        ("count", ctypes.c_int64),
        ("capacity", ctypes.c_int64),
        ("frozen", ctypes.c_int64),
        ("ways", ctypes.c_int64),
        ("rows", ctypes.c_void_p),
        ("kept", ctypes.c_int64),
        ("blocks", ctypes.c_void_p),
        ("span_count", ctypes.c_int64),
        ("spans", ctypes.c_void_p),
        ("cells", ctypes.c_void_p),
        ("own", ctypes.c_int64),
        ("stream", ctypes.c_int64),
        ("followed", ctypes.c_int64),
        ("late_count", ctypes.c_int64),
        ("late", ctypes.c_void_p),
        ("late_pending", ctypes.c_void_p),
    )


@structure("entry")
class _Row(ctypes.Structure):
    """The type `%entry` of the code: `open` is the number of open regions counted here, `dynamic` that of
    the dynamic references (`enter data`), `block` the size of the row's block of device memory (0: none).
    Of rows that native code made, `base` is the address of the array, `site` and `var` are the place of the
    clause."""

    _fields_ = (
        ("host", ctypes.c_int64),
        ("end", ctypes.c_int64),
        ("device", ctypes.c_int64),
        ("open", ctypes.c_int64),
        ("flags", ctypes.c_int64),
        ("block", ctypes.c_int64),
        ("dynamic", ctypes.c_int64),
        ("base", ctypes.c_int64),
        ("site", ctypes.c_int32),
        ("var", ctypes.c_int32),
    )

    def absorb_into(self, entry: Entry) -> None:
        """Moves the counts to an entry's counters."""
        entry.structured += self.open
        entry.dynamic += self.dynamic
        self.open = self.dynamic = 0


@structure("cell")
class _CellRow(ctypes.Structure):
    """The type `%cell` of the code: the cell of a record of a site, and the variable that it holds now."""

    _fields_ = (
        ("slot", ctypes.c_int64),
        ("device", ctypes.c_int64),
        ("base", ctypes.c_int64),
        ("bytes", ctypes.c_int64),
        ("open", ctypes.c_int64),
    )


@structure("block")
class _Block(ctypes.Structure):
    """A kept block of device memory."""

    _fields_ = (("device", ctypes.c_int64), ("bytes", ctypes.c_int64))


@structure("span")
class _Span(ctypes.Structure):
    """Host memory that nothing is created over."""

    _fields_ = (("first", ctypes.c_int64), ("end", ctypes.c_int64))


class _Lock:
    """The device's lock as a context manager."""

    def __init__(self, take: Callable[[], None], release: Callable[[], None]):
        self._take = take
        self._release = release

    def __enter__(self) -> None:
        self._take()

    def __exit__(self, *_: object) -> None:
        self._release()


class PresentRows:
    """
    The rows of one device. `insert_row` and `remove_row` are native functions; `take` and `release` are
    those of the lock. `copies`: native code may copy data to and from the device; `in_process`: the device is
    the CPU, whose queues do work at once if they are at rest (`gangs_queues.py`). Callers of all methods
    hold the lock of the device's state, but not that of the device.
    """

    def __init__(
        self,
        sites: int,
        insert_row: Callable[..., None],
        remove_row: Callable[..., None],
        take: Callable[[], None],
        release: Callable[[], None],
        *,
        copies: bool = False,
        in_process: bool = False,
    ):
        self._insert_row, self._remove_row = insert_row, remove_row
        self._lock = _Lock(take, release)
        self._book = _Book()
        self._blocks = (ctypes.c_int64 * (2 * KEPT))()
        self._spans = (ctypes.c_int64 * (2 * SPANS))()
        self._cells = (ctypes.c_void_p * max(sites, 1))()
        self._cell_rows: dict[int, ctypes.Array[_CellRow]] = {}
        self._cell_memory: dict[int, ctypes.Array[ctypes.c_int64]] = {}
        self._offered: dict[int, Mapping[int, Cell]] = {}
        self._book.blocks = ctypes.addressof(self._blocks)
        self._book.spans = ctypes.addressof(self._spans)
        self._book.cells = ctypes.addressof(self._cells)
        self._table: PresentTable | None = None
        self._origin: Callable[[int, int], str] = lambda site, variable: ""
        self._ways = 0
        self._addresses = True
        self._copies = copies
        self._in_process = in_process
        self._pending: set[Entry] = set()
        self._asynchronous = False
        self._frozen = True
        self._book.frozen = 1
        self._grow(64)

    @property
    def address(self) -> int:
        """The address of the book, through which native code finds all tables."""
        return ctypes.addressof(self._book)

    # The table

    def attach(
        self,
        table: PresentTable,
        *,
        in_place: bool,
        creates: bool,
        clears: bool = False,
        stream: int = 0,
        late: LateCells | None = None,
        origin: Callable[[int, int], str] = lambda site, variable: "",
    ) -> None:
        """
        Follows `table` from now on; `in_place` and `creates` tell what the device allows; `clears`: this
        thread zeroes kept blocks before they are used again; `stream` is that of the device's synchronous
        constructs; `late`: cells for asynchronous constructs; `origin` describes a variable of a site, for
        messages.
        """
        self._table = table
        self._origin = origin
        self._ways = (_IN_PLACE if in_place else 0) | (_CREATES if creates else 0)
        self._ways |= (_COPIES if self._copies else 0) | (_CLEARS if clears else 0)
        self._ways |= _ADDRESSES if self._addresses else 0
        self._ways |= _IN_PROCESS if self._in_process else 0
        self._book.stream = stream
        if late is not None:
            self._book.late = ctypes.addressof(late.cells)
            self._book.late_pending = late.pending
        for entry in table:
            self.insert(entry)
        table.mirror = self
        with self._lock:
            self._book.ways = self._ways
            self._book.followed = 1
            self._book.late_count = 0 if late is None else late.count
        self.publish()

    def follow(self, stream: int) -> None:
        """Makes `stream` that of the device's synchronous constructs."""
        self._book.stream = stream

    def detach(self) -> None:
        """Removes all rows, after their counts were added to the entries' counters."""
        if self._table is None:
            return
        self.absorb_all()
        self._table.mirror = None
        self._table = None
        self._pending.clear()
        with self._lock:
            self._book.count = self._book.ways = self._book.followed = 0
            self._book.late_count = 0

    def insert(self, entry: Entry) -> None:
        """Adds a row for a new entry; native code counts in it after `publish`."""
        with self._lock:
            if self._book.count + KEPT >= self._book.capacity:
                self._grow(2 * self._book.capacity)
            self._insert_row(self.address, entry.host, entry.bytes, entry.device, 0, 0)
        self._pending.add(entry)

    def remove(self, entry: Entry) -> None:
        """Removes the row of an entry."""
        with self._lock:
            self._remove_row(self.address, entry.host)
        self._pending.discard(entry)

    def renew(self, entry: Entry) -> None:
        """Updates the row of an entry after pointers were attached or detached in it, or its users
        changed."""
        with self._lock:
            rows = self._listed()
            index = bisect_left(rows, entry.host, key=_host_of)
            if index < len(rows) and rows[index].host == entry.host and rows[index].flags & _COUNTS:
                rows[index].flags = _flags(entry) | rows[index].flags & _OWN

    def forget_addresses(self) -> None:
        """Native code enters no more regions on addresses that the program has."""
        self._addresses = False
        self._ways &= ~_ADDRESSES
        with self._lock:
            self._book.ways &= ~_ADDRESSES

    def open(self) -> None:
        """Completes the present table before Python reads it; only Python changes it until `publish`."""
        if self._frozen or self._table is None:
            return
        with self._lock:
            self._frozen = True
            self._book.frozen = 1
            own = [row for row in self._listed() if row.flags & _OWN] if self._book.own else []
            self._book.own = 0
            for row in own:
                row.flags &= ~_OWN
                row.absorb_into(self._table.follow(self._entry_of(row)))

    def _entry_of(self, row: _Row) -> Entry:
        """The entry for a row that native code made."""
        entry = Entry(
            row.host,
            row.end - row.host,
            row.device,
            origin=self._origin(row.site, row.var),
            base=row.base,
            shared=row.host == row.device,
        )
        entry.users.any = bool(row.flags & _ASYNCHRONOUS)
        return entry

    def publish(self) -> None:
        """Ends what `open` began: native code counts in all rows, and adds rows again."""
        if self._table is None or not self._frozen:
            return
        for entry in self._pending if self._asynchronous else ():
            if entry.packed is None:
                entry.users.add_all()
        with self._lock:
            for entry in self._pending:
                row = self._row(entry)
                if row is not None and entry.packed is None:
                    row.flags = _flags(entry)
            self._pending.clear()
            self._frozen = False
            self._book.frozen = 0

    def count_asynchronous(self, entries: Iterable[Entry]) -> None:
        """Lets native code count these entries for any queue; their users record that."""
        self._asynchronous = True
        for entry in entries:
            entry.users.add_all()

    def absorb(self, entries: Iterable[Entry]) -> None:
        """Moves the rows' counts of these entries to the entries' counters. Called between `open` and
        `publish`."""
        with self._lock:
            for entry in entries:
                row = self._row(entry)
                if row is not None:
                    row.absorb_into(entry)

    def absorb_all(self) -> None:
        """`absorb` for all entries and for scalars in cells."""
        if self._table is None:
            return
        self.open()
        with self._lock:
            for row, entry in zip(self._listed(), self._table, strict=True):
                row.absorb_into(entry)
        for site in self._cell_rows:
            self.adopt_cells(site)

    # Scalars of reductions

    def offer_cells(self, site: int, cells: Mapping[int, Cell]) -> None:
        """Lets native code use these cells of a site, by the numbers of their records."""
        if len(self._offered.get(site, ())) == len(cells):
            return
        count = max(cells) + 1
        words = (ctypes.c_int64 * (1 + 5 * count))()
        words[0] = count
        rows = (_CellRow * count).from_address(ctypes.addressof(words) + 8)
        for index, cell in cells.items():
            rows[index].slot, rows[index].device = cell.slot, cell.entry.device
        self.adopt_cells(site)
        with self._lock:
            self._cells[site] = ctypes.addressof(words)
        self._cell_memory[site], self._cell_rows[site] = words, rows
        self._offered[site] = dict(cells)

    def adopt_cells(self, site: int) -> None:
        """Lets Python perform the exits of regions that native code has entered with scalars in cells of
        the site."""
        rows = self._cell_rows.get(site)
        if rows is None:
            return
        with self._lock:
            for index, cell in self._offered[site].items():
                row = rows[index]
                if row.open:
                    row.open = 0
                    cell.serve(row.base, row.bytes)
                    cell.entry.structured += 1

    # Blocks of device memory

    def keep_block(self, address: int, size: int) -> int | None:
        """
        Keeps a freed block. Returns a block to free instead, if any: this one if it is not worth keeping,
        or a smaller one that it replaces. Native code must have no own rows now.
        """
        sizes = self._blocks[1 : 2 * self._book.kept : 2]
        if not self._ways & _CREATES or size > BLOCK_BYTES or sum(sizes) + size > KEPT_BYTES:
            return address
        instead = None
        if len(sizes) == KEPT:
            if min(sizes) >= size:
                return address
            instead = self._take(sizes.index(min(sizes)))
        with self._lock:
            last = 2 * self._book.kept
            self._blocks[last], self._blocks[last + 1] = address, size
            self._book.kept += 1
        return instead

    def take_block(self, size: int) -> int | None:
        """A kept block of exactly `size` bytes, which the caller then owns; None if there is none."""
        for i in range(self._book.kept):
            if self._blocks[2 * i + 1] == size:
                return self._take(i)
        return None

    def drain(self) -> list[int]:
        """All kept blocks, which the caller then owns."""
        self.open()
        return [self._take(i) for i in reversed(range(self._book.kept))]

    def _take(self, i: int) -> int:
        with self._lock:
            address = self._blocks[2 * i]
            self._book.kept -= 1
            last = 2 * self._book.kept
            self._blocks[2 * i], self._blocks[2 * i + 1] = (
                self._blocks[last],
                self._blocks[last + 1],
            )
        return address

    def reserve(self, spans: Iterable[tuple[int, int]]) -> None:
        """Forbids native code to create rows over these spans (start, end) of host memory."""
        words = [word for span in spans for word in span]
        fit = len(words) <= 2 * SPANS
        with self._lock:
            self._book.ways = self._ways if fit else self._ways & ~_CREATES
            self._book.span_count = len(words) // 2 if fit else 0
            if fit:
                self._spans[: len(words)] = words

    def _listed(self) -> ctypes.Array[_Row]:
        return (_Row * self._book.count).from_address(self._book.rows)

    def _row(self, entry: Entry) -> _Row | None:
        """The row of an entry, if it is in the table; the structure must be frozen."""
        index = self._table.index(entry) if self._table is not None else None
        return None if index is None else self._rows[index]

    def _grow(self, capacity: int) -> None:
        rows = (_Row * capacity)()
        if self._book.count:
            ctypes.memmove(rows, self._book.rows, ctypes.sizeof(_Row) * self._book.count)
        self._rows = rows
        self._book.rows, self._book.capacity = ctypes.addressof(rows), capacity


def _flags(entry: Entry) -> int:
    """The flags of the row of an entry that is not packed."""
    flags = _COUNTS | (_POINTS if entry.attachments else 0)
    if entry.users.any:
        return flags | _ASYNCHRONOUS
    return flags | (0 if entry.users.queues else _QUIET)


def _host_of(row: _Row) -> int:
    return row.host


LAYOUT["row_bytes"] = ctypes.sizeof(_Row)

assert ctypes.sizeof(_Row) == 72 and ctypes.sizeof(_CellRow) == 40
