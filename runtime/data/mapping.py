"""
Performs data clauses (OpenACC 3.4, 2.6.3 to 2.6.8 and 2.7): their effects on the present table, the
counters and the memory of a device, at entry and at exit.

A construct's clauses are performed in two passes at entry (data, then attach), so that a pointer and its
target may be named in any order, and in reverse at exit (detach, then data). Null pointers and zero-length
sections are never mapped. On a device that shares memory with the host only data under `capture` is mapped.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import TypeAlias

from ...compiler.base.abi import DataFlag, DataKind
from ..device import Device, Queue
from ..errors import AccRuntimeError, ErrorClass, HostRange
from ..sites import origin_of
from .absent import not_present
from .actions import COPIES_IN, COPIES_OUT, DataActions
from .attachment import Attachments
from .clauses import Link, Request, read_host_pointer
from .host_pages import ENOUGH, is_mapped
from .inferred import SKIPPED, can_enter, is_inferred
from .ordering import Ordering
from .pointer_rows import parts
from .present import Entry, PresentTable
from .sections import innermost_run
from .spans import overlapping

_ALLOCATING = frozenset(
    (
        DataKind.COPY,
        DataKind.COPYIN,
        DataKind.COPYOUT,
        DataKind.CREATE,
        DataKind.DEVICE_RESIDENT,
        DataKind.LINK,
    )
)
_NOT_MAPPED = frozenset((DataKind.DEVICEPTR, DataKind.USE_DEVICE, DataKind.ATTACH, DataKind.DETACH))

Observer: TypeAlias = Callable[[Request, Entry, Queue], None]
"""Called with each entry that was added to the present table, or removed from it."""


class Mapper:
    """Performs data clauses on one device's present table and, by its `actions`, memory."""

    def __init__(
        self,
        device: Device,
        table: PresentTable,
        read_pointer: Callable[[int], int] = read_host_pointer,
        ordering: Ordering | None = None,
    ):
        self.device = device
        self.table = table
        self.links: list[Link] = []
        self.actions = DataActions(device, ordering or Ordering(device))
        self.attachments = Attachments(table, self.actions, read_pointer)
        self.expose: Callable[[], None] = lambda: None
        """Called before a device address is passed to the program, or the program uses one."""
        self.mapped: Observer | None = None
        self.unmapped: Observer | None = None
        self._read_pointer = read_pointer

    def enter(self, requests: Sequence[Request], queue: Queue) -> None:
        """
        Entry to a data construct, or `enter data`: fills in each request's `device`.

        Raises `acc_error_not_present` for `present` and `use_device` of absent data,
        `acc_error_partly_present`, and `acc_error_out_of_memory`.
        """
        if is_inferred(requests):
            self._enter_inferred(requests, queue)
            return
        self._find_staying(requests, queue)
        entered: list[Request] = []
        for request in requests:
            entered += self._enter_parts(request, queue)
        for part in entered:
            if part.pointer and part.kind not in (DataKind.DEVICEPTR, DataKind.USE_DEVICE):
                size = max(part.bytes, 0)
                self.attachments.attach(part.pointer, part.base, part.start, size, queue, part)

    def _find_staying(self, requests: Sequence[Request], queue: Queue) -> None:
        """
        Notes which requests of a region stay in the host's memory (`DataFlag.SHARED`): long ones whose copies
        would cost something, apart from all others of the region.
        """
        if not any(request.flags & DataFlag.SHARED for request in requests):
            return
        if queue is not self.device.sync_queue or not self.device.works_in_place:
            return
        spans = [(r.start, r.start + r.bytes, i) for i, r in enumerate(requests) if r.bytes > 0]
        meeting = overlapping(spans)
        for i, request in enumerate(requests):
            marked = bool(request.flags & DataFlag.SHARED) and request.bytes >= ENOUGH
            request.stays = marked and i not in meeting

    def _enter_parts(self, request: Request, queue: Queue) -> list[Request]:
        """
        Enters a request's data; the parts that were: not those for which the host's memory is used, nor any
        where that is so of the pointers to them.
        """
        entered: list[Request] = []
        for part in parts(request, self._read_pointer):
            if self._enter_data(part, queue):
                entered.append(part)
            elif not entered:
                break
        if request.flags & DataFlag.ROWS:
            request.device = self._device_address(request) if entered else request.base
        return entered

    def _enter_inferred(self, requests: Sequence[Request], queue: Queue) -> None:
        """Entry to a region that the compiler inferred: completely or not at all (`inferred.py`)."""
        for request in requests:
            request.device = SKIPPED
        if not can_enter(requests, self.table):
            return
        self._find_staying(requests, queue)
        entered: list[Request] = []
        try:
            for request in requests:
                if request.base != 0 and request.bytes > 0:
                    self._enter_data(request, queue)
                    entered.append(request)
        except AccRuntimeError as failed:
            if failed.kind is not ErrorClass.OUT_OF_MEMORY:
                raise
            for request in reversed(entered):
                self._exit_data(replace(request, kind=DataKind.CREATE), queue)
                request.device = SKIPPED

    def exit(self, requests: Sequence[Request], queue: Queue) -> None:
        """Exit of a data construct, or `exit data`: undoes `enter` in reverse order."""
        if is_inferred(requests):
            requests = [request for request in requests if request.device != SKIPPED]
        requests = [p for r in requests for p in self._leaving(r)]
        for request in reversed(requests):
            if request.pointer and request.kind not in (DataKind.DEVICEPTR, DataKind.USE_DEVICE):
                self._exit_attachment(request, queue)
        for request in reversed(requests):
            self._exit_data(request, queue)

    def _leaving(self, request: Request) -> list[Request]:
        """
        The parts of a request at exit. Each part of a section through pointers has its present device
        address; there are none if the pointers were absent at entry.
        """
        if not request.flags & DataFlag.ROWS:
            return [request]
        if not request.dynamic and request.device != self._device_address(request):
            return []
        found = parts(request, self._read_pointer, leaving=True)
        for part in found:
            part.device = self._device_address(part)
        return found

    def _device_address(self, request: Request) -> int:
        """The device address of a request's base; its host address if the data is not present."""
        entry = (
            self.table.containing(request.start, max(request.bytes, 1)) if request.base else None
        )
        return request.base if entry is None else entry.device_address(request.base)

    def update(self, requests: Iterable[Request], queue: Queue) -> None:
        """`update` (2.14.4): moves bytes without touching counters."""
        for request in (p for r in requests for p in parts(r, self._read_pointer)):
            if request.base == 0 or request.bytes <= 0:
                continue
            entry = self.table.lookup(request.start, request.bytes, request.name)
            if entry is None:
                if request.flags & DataFlag.IF_PRESENT or self.device.shares_memory:
                    continue
                raise not_present(request, self.table)
            if request.kind == DataKind.UPDATE_SELF:
                self.actions.copy("copy out", entry, request, queue)
            else:
                self.actions.copy("copy in", entry, request, queue)

    # Data, at entry

    def _entry_of(self, request: Request) -> Entry | None:
        """
        The entry with the data of a request, None if it is absent. A pointer without a section stands for
        what is present of its array: the data that it points to or, if only one section of the array is
        present (for example a device's share), that section.
        """
        entry = self.table.lookup(request.start, request.bytes, request.name)
        if entry is None and request.flags & DataFlag.UNBOUNDED:
            entry = self.table.section_of(request.base)
        return entry

    def _enter_data(self, request: Request, queue: Queue) -> bool:
        """Fills in the request's `device`; false if nothing was done, as its data is absent and stays so."""
        kind = request.kind
        if request.shape and request.bytes > 0 and innermost_run(request.shape)[1]:
            raise AccRuntimeError(
                ErrorClass.INVALID_DATA_SECTION,
                f"the section of '{request.name}' is not contiguous in memory",
                requested=HostRange(request.start, request.bytes),
                remedy="name whole rows in data clauses; only update takes parts of rows",
            )
        if kind in _NOT_MAPPED:
            request.device = self._translate(request)
            return True
        if request.base == 0:
            request.device = 0
            return True
        entry = self._entry_of(request)
        if request.bytes <= 0:
            self._enter_empty(entry, request)
            return True
        if entry is None:
            entry = self._enter_absent(request, queue)
            if entry is None:
                request.device = request.base
                return False
        elif request.flags & DataFlag.ALWAYS_IN and kind in COPIES_IN:
            self.actions.copy("copy in", entry, request, queue)
        self.actions.ordering.use(entry.users, queue)
        self.actions.compressor.check(entry, request)
        self._count(entry, request, 1)
        request.device = entry.device_address(request.base)
        self.actions.compressor.deliver(entry, request)
        return True

    def _enter_absent(self, request: Request, queue: Queue) -> Entry | None:
        """Maps absent data; None if host memory is used instead."""
        shared = self.device.shares_memory and not request.flags & DataFlag.CAPTURE
        if request.packed is not None:
            # Host memory is never packed, so the kernel needs a copy on every device.
            shared = False
            if request.kind == DataKind.NO_CREATE and request.packed.decodes:
                raise not_present(request, self.table)
        if shared or request.kind == DataKind.NO_CREATE:
            return None
        if request.kind not in _ALLOCATING:
            raise not_present(request, self.table)
        if request.kind in COPIES_IN or request.kind in COPIES_OUT:
            self._check_host_memory(request)
        entry = self.map(request, queue)
        if request.kind in COPIES_IN:
            self.actions.copy("copy in", entry, request, queue)
        elif request.flags & DataFlag.ZERO:
            self.actions.zero(entry, request, queue)
        return entry

    @staticmethod
    def _check_host_memory(request: Request) -> None:
        """Raises `AccRuntimeError` for a section that extends past the program's memory."""
        if request.bytes < ENOUGH or is_mapped(request.start, request.bytes):
            return
        raise AccRuntimeError(
            ErrorClass.INVALID_DATA_SECTION,
            f"the section of '{request.name}' reaches beyond the program's memory",
            requested=HostRange(request.start, request.bytes),
            remedy=f"name its elements, not its bytes: {request.name}[first:number of elements]",
        )

    def _enter_empty(self, entry: Entry | None, request: Request) -> None:
        """Handles a zero-length section: it is not mapped, but in a structured construct it keeps a present
        entry."""
        unknown = request.flags & DataFlag.IMPLICIT and request.flags & DataFlag.UNBOUNDED
        if entry is None:
            if unknown and request.kind == DataKind.PRESENT and not self.device.shares_memory:
                raise not_present(request, self.table)
            unmapped = self.device.shares_memory or request.kind == DataKind.NO_CREATE
            request.device = request.base if unmapped else 0
            return
        request.device = entry.device_address(request.base)
        if not request.dynamic:
            entry.structured += 1

    def map(self, request: Request, queue: Queue) -> Entry:
        """Enters an absent section, with counters at zero: in new device memory, unless it stays."""
        base = request.base
        entry = Entry(request.start, request.bytes, request.start, base=base, shared=request.stays)
        if not request.stays:
            self.actions.obtain(entry, request, queue)
        entry.origin = origin_of(request.origin, request.name)
        self.table.insert(entry)
        for link in self._links_of(entry):
            self.device.store_pointer(link.slot, entry.device_address(link.host), queue)
        if self.mapped is not None:
            self.mapped(request, entry, queue)
        return entry

    def _translate(self, request: Request) -> int:
        """The device address for clauses that look data up without counting."""
        if request.kind in (DataKind.DEVICEPTR, DataKind.USE_DEVICE):
            self.expose()
        if request.base == 0 or request.kind == DataKind.DEVICEPTR:
            self.actions.check_address(request.base, f"'{request.name}' in deviceptr")
            return request.base
        entry = self._entry_of(request)
        if entry is not None:
            entry.users.add_all()
            return entry.device_address(request.base)
        absent_is_error = request.kind == DataKind.USE_DEVICE and not (
            request.flags & DataFlag.IF_PRESENT or self.device.shares_memory
        )
        if absent_is_error:
            raise not_present(request, self.table)
        return request.base

    # Data, at exit

    def _exit_data(self, request: Request, queue: Queue) -> None:
        if request.kind in _NOT_MAPPED or request.base == 0:
            return
        if request.bytes <= 0:
            self._exit_empty(request)
            return
        entry = self._entry_of(request)
        if entry is None:
            if request.kind in COPIES_OUT and not request.dynamic and self.actions.released:
                self._check_results(request)
            return
        if not request.dynamic and request.device != entry.device_address(request.base):
            return  # at entry it was absent, and the host's memory was used
        held = entry.dynamic if request.dynamic else entry.structured
        if held > 0:
            self._count(entry, request, -1)
        dying = held > 0 and not entry.live
        always = bool(request.flags & DataFlag.ALWAYS_OUT)
        if request.kind in COPIES_OUT and (dying or always):
            self.actions.copy("copy out", entry, request, queue)
        if dying:
            self.unmap(entry, request, queue)

    def _check_results(self, request: Request) -> None:
        """Raises `acc_error_not_present` for results at the end of a region that were released before."""
        if request.device + request.offset in self.actions.released:
            raise not_present(request, self.table)

    def _exit_empty(self, request: Request) -> None:
        entry = self.table.at(request.start)
        entered = entry is not None and request.device == entry.device_address(request.base)
        if entry is not None and entered and not request.dynamic and entry.structured > 0:
            entry.structured -= 1

    def unmap(self, entry: Entry, request: Request, queue: Queue) -> None:
        """Removes an entry from the table and frees its device memory, ordered on the queue."""
        self.table.remove(entry)
        for link in self._links_of(entry):
            self.actions.ordering.before_copy(entry.users, queue)
            self.device.store_pointer(link.slot, 0, queue)
        if not entry.shared:
            self.actions.free(entry, request, queue)
        if self.unmapped is not None:
            self.unmapped(request, entry, queue)

    @staticmethod
    def _count(entry: Entry, request: Request, step: int) -> None:
        if not request.dynamic:
            entry.structured += step
        elif step < 0 and request.flags & DataFlag.FINALIZE:
            entry.dynamic = 0
        else:
            entry.dynamic += step

    def _exit_attachment(self, request: Request, queue: Queue) -> None:
        """Performs the detach of a clause, unless the clause itself does nothing."""
        finalize = bool(request.flags & DataFlag.FINALIZE)
        if request.kind not in _NOT_MAPPED and request.base != 0 and request.bytes > 0:
            entry = self.table.containing(request.start, request.bytes)
            if entry is None:
                return
            if not request.dynamic and request.device != entry.device_address(request.base):
                return  # at entry it was absent
            if (entry.dynamic if request.dynamic else entry.structured) == 0 and not finalize:
                return
        self.attachments.detach(request.pointer, finalize, queue, request)

    def _links_of(self, entry: Entry) -> list[Link]:
        return [k for k in self.links if k.host < entry.end and entry.host < k.host + k.bytes]
