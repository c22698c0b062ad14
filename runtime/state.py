"""
The runtime's state of one device: present table, queues, kernels, scratch memory.
"""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable, Sequence

from ..compiler.base.abi import (
    ASYNC_BORDER,
    ASYNC_DEFAULT,
    ASYNC_NOVAL,
    ASYNC_ON_DEVICE,
    ASYNC_SYNC,
    DEFAULT_QUEUE,
    DataKind,
)
from .borders import DeviceBorders
from .data.cells import Cells
from .data.clauses import Link, Request
from .data.mapping import Mapper
from .data.ordering import Ordering, Users
from .data.present import MAP_DATA, Entry, PresentTable
from .data.quick_entry import QuickEntry
from .device import Device, Launcher, ModuleImage, Queue
from .errors import AccRuntimeError, ErrorClass, ProgramPlace
from .native.devices import DeviceRow
from .native.queues import NativeQueue
from .sites import Declared, Site


class DeviceState:
    """
    One opened device with everything the program has put on it. `row`: its place among the program's
    devices (`native/devices.py`). `lock` is held while its tables change, and never together with
    another device's.
    """

    def __init__(self, number: int, device: Device, sites: Sequence[Site], row: int | None = None):
        self.number = number
        self.row = number if row is None else row
        self.filling = 0
        """The number of threads that wait, without the lock, for their copies to the device."""
        self.lock = threading.RLock()
        self.place = ProgramPlace("declare")
        """The current action, for the trace and callbacks."""
        self.device = device
        self.sync_queue = device.sync_queue
        self._table = PresentTable()
        device.watch_table(self._table)
        self.mapper = Mapper(device, self._table, ordering=Ordering(device, self._program_queues))
        linked = any(declared.kind == DataKind.LINK for s in sites for declared in s.declared)
        self.quick = QuickEntry(
            self._table,
            Cells(device.cells()),
            device.works_in_place,
            device.reuses_blocks and not linked,  # mapping data for links must store addresses
            device.native_stream(),
            clears_blocks=device.clears_blocks,
            origin=lambda site, variable: sites[site].origin(variable),
            call_later=self._call_later,
        )
        self.mapper.actions.blocks = self.quick
        self.launchers: list[Launcher | None] = [None] * len(sites)
        self._sites = sites
        self.native = DeviceRow()
        """The device's row for native code."""
        self.mapper.expose = self.expose
        self.borders = DeviceBorders(self)
        self._ordered: dict[Queue, int] = {}
        self._known_queues: list[NativeQueue] = []
        self._counting = threading.Lock()
        self._queue_tables: list[ctypes.Array[ctypes.c_int64]] = []
        """The last is the one in use; other threads may still be reading the ones before."""
        self._table.changed = self._changed
        self._queues: dict[int, Queue] = {
            ASYNC_SYNC: device.sync_queue,
            ASYNC_ON_DEVICE: device.sync_queue,
        }
        self._scratch_queues: dict[int, Queue] = {}
        self._scratch: dict[int, tuple[int, int]] = {}
        self._outgrown: list[int] = []
        self._allocated: dict[int, int] = {}
        """Address → size of the memory that the program has from `acc_malloc`."""
        self.shut_down: Callable[[], ProgramPlace] | None = None
        """The place where the program last shut the device down."""

    @property
    def table(self) -> PresentTable:
        """The present table, with all its counters complete."""
        with self.lock:
            self.quick.settle()
        return self._table

    def after_filling(self, queue: Queue) -> None:
        """Orders an asynchronous construct, which finds data present, after another thread's copy of the
        data."""
        if self.filling:
            queue.wait_for(self.sync_queue)

    def queue(self, number: int, default: int) -> Queue:
        """
        The queue for a value of the async clause (2.16.1); `default` is that of a bare `async`.

        Raises `acc_error_invalid_async` for negative values that have no meaning.
        """
        if number == ASYNC_NOVAL:
            number = default
        if number == ASYNC_DEFAULT:
            number = DEFAULT_QUEUE
        queue = self._queues.get(number)
        if queue is not None:
            if queue is not self.sync_queue and self.native.epoch:
                self._after_constructs(queue)
            return queue
        if number < 0 and number != ASYNC_BORDER:
            raise AccRuntimeError(
                ErrorClass.INVALID_ASYNC,
                f"{number} is not an async value",
                remedy="use a non-negative number, acc_async_sync, acc_async_noval or"
                " acc_async_default",
            )
        queue = self._queues.setdefault(
            number, self.device.new_queue(urgent=number == ASYNC_BORDER)
        )
        self._after_constructs(queue)
        self._changed()
        self.list_queues()
        return queue

    def list_queues(self) -> None:
        """Tells native code about all queues."""
        native = {q: self.device.native_queue(q) for q in self.queues()}
        self._known_queues = [queue for queue in native.values() if queue is not None]
        for known in self._known_queues:
            known.borders = self.borders.address
        asynchronous = [k for q, k in native.items() if k is not None and q is not self.sync_queue]
        if asynchronous:
            words = [ctypes.addressof(queue) for queue in asynchronous]
            table = (ctypes.c_int64 * (1 + len(words)))(len(words), *words)
            self._queue_tables.append(table)
            self.native.asynchronous = ctypes.addressof(table)

    def count_work(self) -> None:
        """Python may have put work on any queue."""
        if self._known_queues:
            with self._counting:  # not `lock`, which other threads hold while they transfer
                for queue in self._known_queues:
                    queue.work_of_python += 1

    def _changed(self) -> None:
        """Marks native code's data about copies between devices as out of date."""
        self.native.present += 1

    def _after_constructs(self, queue: Queue) -> None:
        """Orders a queue's next work after the synchronous constructs for which the host has not waited."""
        epoch = self.native.epoch
        if epoch != self._ordered.get(queue, 0):
            self._ordered[queue] = epoch
            queue.wait_for(self.sync_queue)

    def expose(self) -> None:
        """
        Records that the program has a device address, which it may use without the runtime's knowledge:
        from now on the host waits for every construct.
        """
        if not self.native.waits:
            self.native.waits = 1
            self.sync_queue.wait()

    def share_stream(self, number: int, default: int) -> int:
        """The CUDA stream of the queue for a value of the async clause, for the program; 0 if it has none."""
        stream = self.device.share_stream(self.queue(number, default))
        self.expose()
        return stream

    def use_stream(self, number: int, default: int, stream: int) -> bool:
        """
        Puts later work for a value of the async clause on a CUDA stream of the program; False if the device
        has no streams.
        """
        queue = self.queue(number, default)
        if not self.device.use_stream(queue, stream):
            return False
        if queue is self.sync_queue:
            with self.lock:
                self.quick.follow(stream)
        self.expose()
        return True

    def leaves_device(self, queue: Queue) -> None:
        """Records that an asynchronous queue has work that accesses memory outside of this device."""
        known = self.device.native_queue(queue)
        if known is not None:
            known.transfers += 1

    def _call_later(self, queue: Queue, function: int, argument: int) -> None:
        """Lets a queue call the C function at an address, which writes to the program's memory."""
        self.device.call_later(queue, function, argument)
        self.leaves_device(queue)

    def seems_done(self, queue: Queue) -> bool:
        """
        Whether all work so far on a queue is finished as far as the program can observe; always true for
        the synchronous queue, and for work that it has waited for.
        """
        if queue is self.sync_queue:
            return True
        known = self.device.native_queue(queue)
        if known is not None and known.postponed != known.joined:
            postponed = known.postponed
            self.sync_queue.wait()
            known.joined = postponed
        return queue.done()

    def existing_queue(self, number: int, default: int) -> Queue | None:
        """As `queue`, but None if the queue was never used."""
        number = default if number == ASYNC_NOVAL else number
        if number < 0:
            return self.queue(number, default)
        return self._queues.get(number)

    def queues(self) -> list[Queue]:
        """All queues in use."""
        return list(dict.fromkeys(self._queues.values()))

    def _program_queues(self) -> list[Queue]:
        """All queues but that of borders, whose work those of their constructs wait for."""
        border = self._queues.get(ASYNC_BORDER)
        return [queue for queue in self.queues() if queue is not border]

    def wait_all(self) -> None:
        for queue in self.queues():
            queue.wait()
        self.mapper.actions.ordering.wait()

    def start(self, image: ModuleImage | None, host_address: Callable[[str], int]) -> None:
        """Loads the program's kernels and enters its declared globals into the present table."""
        if image is None:
            return
        self.device.load(image)
        for site in self._sites:
            for declared in site.declared:
                self._declare(declared, host_address(declared.host_symbol), site)
        self.sync_queue.wait()

    def share(self, host: int, size: int) -> None:
        """Enters memory that the device uses at the host's addresses."""
        if not self.device.shares_memory:
            entry = Entry(host, size, host, structured=1, pinned=True, origin="managed memory")
            entry.users = Users(any=True)
            self.table.insert(entry)

    def _declare(self, declared: Declared, host: int, site: Site) -> None:
        if self.device.shares_memory:
            return
        device = self.device.global_address(declared.device_symbol)
        if declared.kind == DataKind.LINK:
            self.mapper.links.append(Link(host, declared.bytes, device))
            return
        origin = f"declare at {site.place.file}:{site.place.line}"
        entry = Entry(host, declared.bytes, device, structured=1, pinned=True, origin=origin)
        entry.users = Users(any=True)  # kernels use it without a data clause
        self.table.insert(entry)
        if declared.kind in (DataKind.COPYIN, DataKind.COPY):
            name = declared.host_symbol
            request = Request(host, 0, declared.bytes, DataKind.UPDATE_DEVICE, name=name)
            self.mapper.update([request], self.sync_queue)

    def launcher(self, site: int) -> Launcher:
        """The launcher of the site's kernel; made once."""
        launcher = self.launchers[site]
        if launcher is None:
            known = self._sites[site]
            launcher = self.device.launcher(known.kernel, known.arg_bytes)
            self.launchers[site] = launcher
        return launcher

    def uses_scratch(self, site: int) -> bool:
        """Whether launches of the site use scratch memory."""
        return site in self._scratch

    def scratch(self, site: int, size: int) -> tuple[int, int]:
        """
        The scratch memory of a site: device address and size in bytes. It is zeroed only when it is
        allocated, as kernels leave it zeroed. A larger request at least doubles it; the old block is kept,
        as another thread may be about to launch with it.
        """
        address, held = self._scratch.get(site, (0, 0))
        if held >= size > 0:
            return address, held
        if held:
            self._outgrown.append(address)
        size = max(size, 2 * held, 1)
        address = self.device.allocate(size, self.sync_queue)
        self.device.zero(address, size, self.sync_queue)
        self.sync_queue.wait()
        self._scratch[site] = (address, size)
        return self._scratch[site]

    def order_scratch(self, site: int, queue: Queue) -> None:
        """Makes the next launch on `queue` wait for the last user of the scratch memory."""
        last = self._scratch_queues.get(site)
        if last is not None and last is not queue:
            queue.wait_for(last)
        self._scratch_queues[site] = queue

    def allocate(self, size: int) -> int:
        """`acc_malloc`: device memory for the program."""
        self.expose()
        address = self.device.allocate(size, self.sync_queue)
        self.mapper.actions.released.reuse(address, size)
        self._allocated[address] = size
        self.sync_queue.wait()
        return address

    def free(self, address: int) -> None:
        """`acc_free`; does nothing for memory that a shutdown has released."""
        self.wait_all()
        if address in self.mapper.actions.released:
            return
        self._allocated.pop(address, None)
        self.device.free(address, self.sync_queue)
        self.sync_queue.wait()

    def release_data(self) -> None:
        """`acc_shutdown`: waits for all work, then frees everything but declared globals."""
        self.wait_all()
        for address, size in self._allocated.items():
            self.device.free(address, self.sync_queue)
            self.mapper.actions.released.add(address, size)
        self._allocated.clear()
        for entry in [e for e in self.table if not e.pinned or e.origin == MAP_DATA]:
            self.table.remove(entry)
            if not entry.shared and not entry.pinned:
                self.device.free(entry.allocation, self.sync_queue)
                self.mapper.actions.released.add(entry.device, entry.device_bytes)
        self.quick.forget_addresses()
        for address in (*(address for address, _ in self._scratch.values()), *self._outgrown):
            self.device.free(address, self.sync_queue)
        self._scratch.clear()
        self._outgrown.clear()
        self._scratch_queues.clear()
        self.mapper.actions.free_kept()
        self.sync_queue.wait()

    def close(self) -> None:
        """Waits for all work and closes the device."""
        self.wait_all()
        self.mapper.actions.free_kept()
        self.device.close()
