"""
The entry points that compiled host code calls (docs/runtime.md): a method for each `__accopt_*` of
`ENTRY_POINTS` (`compiler/base/abi.py`).
"""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import cached_property
from typing import TYPE_CHECKING, Any

from ..compiler.base.abi import (
    ASYNC_ON_DEVICE,
    ASYNC_SYNC,
    LAUNCH_FORMAT,
    NOT_GIVEN,
    RECORD_BYTES,
    RECORD_DEVICE_AT,
    BorderRow,
    DeviceOperation,
    DeviceType,
    PeerUpdate,
)
from .cache_sections import outside_error
from .data.peer import PeerSection, copy_peer
from .data.quick_entry import has_cells
from .data.requests import read_request, read_shape
from .device import Queue
from .mean_trips import MeanTrips
from .state import DeviceState

if TYPE_CHECKING:
    from .program import Runtime
    from .rows_apart import RowsApart

_unpack_launch = LAUNCH_FORMAT.unpack
_string_at = ctypes.string_at
_LAUNCH_BYTES = LAUNCH_FORMAT.size
_DEVICE_FIELD = struct.Struct("=q")
_EXTENT = struct.Struct("=2q")
_extent_at = (ctypes.c_char * _EXTENT.size).from_address
_LAST_ADDRESS = (1 << 63) - 1


class EntryPoints:
    """The entry points of one program, for its `Runtime`; `site` is the number of the construct in the site
    table."""

    def __init__(self, runtime: Runtime):
        self._runtime = runtime
        self._mean_trips = MeanTrips()

    def data_enter(self, site: int, records: int, count: int, queue: int) -> None:
        """Entry to a data region, or `enter data`; fills in each record's `device`."""
        state = self._runtime.thread.state
        state.device.make_current()
        done = 0
        if queue == ASYNC_ON_DEVICE:  # copyin data must have been read on return
            queue = ASYNC_SYNC
        with state.lock:
            used = None
            if queue != ASYNC_SYNC:
                used = state.queue(queue, self._runtime.thread.default_async)
                state.after_filling(used)
            if self._runtime.fast:
                done = state.quick.enter(site, records, count, used)
        if done < count:
            buffer = (ctypes.c_char * (RECORD_BYTES * count)).from_address(records)
            at_once = used is not None and state.device.finishes_at_once(used)
            number = ASYNC_SYNC if at_once else queue
            self._perform(state, site, buffer, range(done, count), number, "enter")
            if at_once and used is not None:
                with state.lock:
                    state.quick.note_user(records, count, used)

    def data_exit(self, site: int, records: int, count: int, queue: int) -> None:
        """Exit from a data region (with the records of its entry), or `exit data`."""
        state = self._runtime.thread.state
        state.device.make_current()
        used = None
        if queue == ASYNC_ON_DEVICE:
            queue = ASYNC_SYNC
            if has_cells(records, count):
                state.sync_queue.wait()
        left = count
        if self._runtime.fast:
            with state.lock:
                if queue != ASYNC_SYNC:
                    used = state.queue(queue, self._runtime.thread.default_async)
                left = state.quick.exit(site, records, count, used)
        if left > 0:
            buffer = (ctypes.c_char * (RECORD_BYTES * count)).from_address(records)
            raw = bytes(buffer)
            with state.lock:
                rest = [
                    i for i in range(left) if not state.quick.is_in_place(raw, i * RECORD_BYTES)
                ]
            if used is not None and state.device.finishes_at_once(used):
                queue = ASYNC_SYNC
            self._perform(state, site, buffer, rest, queue, "exit")

    def update(self, site: int, records: int, count: int, queue: int) -> None:
        """The `update` directive."""
        buffer = (ctypes.c_char * (RECORD_BYTES * count)).from_address(records)
        self._perform(self._runtime.thread.state, site, buffer, range(count), queue, "update")

    def launch(self, site: int, launch: int) -> None:
        """Runs the site's kernel; without async, waits until it has finished."""
        thread = self._runtime.thread
        state = thread.state
        values = _unpack_launch(_string_at(launch, _LAUNCH_BYTES))
        state.device.make_current()
        launcher = state.launchers[site] or state.launcher(site)
        number = values[8]
        if not self._runtime.fast:
            self._observed_launch(state, site, values, number)
            return
        epoch = state.native.epoch
        queue = (
            state.sync_queue if number == ASYNC_SYNC else state.queue(number, thread.default_async)
        )
        scratch = state.uses_scratch(site)
        with state.lock if scratch else nullcontext():  # the memory has one user at a time
            if scratch:
                self._order_scratch(state, site, queue)
            launcher(values, queue)
            # Recorded under the lock: later, it might undo what another thread has ordered since.
            kernel = self._runtime.sites[site].kernel
            self._runtime.native.launched(
                site, kernel, state, queue, number, scratch=scratch, epoch=epoch
            )
        if number == ASYNC_ON_DEVICE:
            self._runtime.native_devices.count_construct(state.row)
        if queue is state.sync_queue and (number != ASYNC_ON_DEVICE or state.native.waits):
            queue.wait()

    def scratch(self, site: int, size: int) -> int:
        """Zeroed device memory owned by the site (see `DeviceState.scratch`)."""
        state = self._runtime.thread.state
        with state.lock:
            address, held = state.scratch(site, size)
            self._runtime.native.interrupt(site, state)
            self._runtime.native.remember_scratch(site, state, address, held)
        return address

    def mean_trip(self, start: int, end: int, rows: int, stride: int, bytes: int) -> int:
        """The mean number of iterations of a loop over rows (see `MeanTrips.mean`)."""
        return self._mean_trips.mean(self._runtime.thread.state, start, end, rows, stride, bytes)

    @cached_property
    def _row_sections(self) -> RowsApart:
        from .rows_apart import (
            RowsApart,  # needs numpy, which programs without such rows do not load
        )

        return RowsApart()

    def rows_apart(self, sections: int, size: int) -> int:
        """Whether the rows named by the `size` bytes at `sections` do not overlap (see
        `RowsApart.apart`)."""
        return self._row_sections.apart(_string_at(sections, size))

    def extent(self, host: int, result: int) -> None:
        """
        Stores the begin and end of the device memory that is mapped at a host address to the two i64 at
        `result`; if there is none, those of all memory.
        """
        state = self._runtime.thread.state
        with state.lock:
            entry = state.table.at(host) or state.table.section_of(host)
            known = None if entry is None else (entry.device, entry.device + entry.device_bytes)
        _EXTENT.pack_into(_extent_at(result), 0, *(known or (0, _LAST_ADDRESS)))

    def wait(self, site: int, queues: int, count: int, async_queue: int) -> None:
        """
        The `wait` directive or clause: on the queues given, or on all when `count` is 0. With an
        async queue, that queue waits and not the host.
        """
        thread = self._runtime.thread
        numbers = (ctypes.c_int64 * count).from_address(queues) if count else None
        waited = list(numbers) if numbers is not None else None
        with self._region("wait", site, thread.state, str(waited or "all queues")):
            self._runtime.wait_queues(
                thread.state, waited, async_queue, self._runtime.sites[site].place
            )

    def device(self, site: int, operation: int, device_type: int, number: int) -> None:
        """The `init`, `shutdown` and `set` directives."""
        place = self._runtime.sites[site].place
        match DeviceOperation(operation):
            case DeviceOperation.INIT | DeviceOperation.SET_TYPE_AND_NUMBER:
                given = DeviceType.CURRENT if device_type == NOT_GIVEN else device_type
                state = self._runtime.select(given, number)
                if operation == DeviceOperation.SET_TYPE_AND_NUMBER:
                    self._runtime.thread.state = state
                elif self._runtime.profile.active:
                    self._runtime.profile.use(place, state, implicit=False)
            case DeviceOperation.SHUTDOWN:
                given = DeviceType.CURRENT if device_type == NOT_GIVEN else device_type
                self._runtime.shutdown(given, number, place)
            case DeviceOperation.SET_DEFAULT_ASYNC:
                self._runtime.set_default_async(number)

    def enter_device(self, site: int, number: int) -> int:
        """
        Makes device `number` the thread's device, at the beginning of a construct with `deviceid(number)`,
        until `leave_device`. Returns the row of the former device. (Both are native code, which calls this
        for devices that are not open.)
        """
        former = self._runtime.native_devices.current()
        self._runtime.thread.state = self._runtime.devices.at(number)
        return former

    def leave_device(self, site: int, former: int) -> None:
        """Makes device `former` the thread's device again, at the end of the construct."""
        self._runtime.native_devices.become(former)

    def update_peer(self, site: int, update: int) -> None:
        """The `update peer` directive (a research extension)."""
        known, given = self._runtime.sites[site], PeerUpdate.from_address(update)
        to = PeerSection(
            self._runtime.state(given.to_device),
            given.to,
            given.to_bytes,
            read_shape(given.to_shape, given.to_dims),
            "to",
            known.variable(0),
        )
        origin = PeerSection(
            self._runtime.state(given.from_device),
            given.origin,
            given.from_bytes,
            read_shape(given.from_shape, given.from_dims),
            "from",
            known.variable(1),
        )
        copy_peer(self._runtime, known.place, to, origin, given.queue)

    def border_begin(self, footprint: int) -> int:
        """
        Before a construct whose border may be computed first (`passes/compute_borders_first`): how many of
        its first rows are to be computed, and in the upper half of the result how many of the last ones. For
        GPUs this is native code, except for a device's first construct, and unless the program is observed.
        """
        state = self._runtime.thread.state
        driver = state.device.native_driver()
        if driver is not None:
            if self._runtime.fast and driver.event_synchronize:
                self._runtime.native.compute_borders(driver)
                state.borders.open(footprint)
            return 0
        rows = state.borders.begin(footprint)
        if state.borders.native.event:
            state.borders.put(self._border_queue(state, footprint))
        return rows

    def border_end(self, footprint: int) -> None:
        """After the construct, and its border if there is one."""
        state = self._runtime.thread.state
        if state.device.native_driver() is None:
            state.borders.announce(self._border_queue(state, footprint))

    def _border_queue(self, state: DeviceState, footprint: int) -> Queue:
        return state.queue(
            BorderRow.from_address(footprint).queue, self._runtime.thread.default_async
        )

    def outside(self, site: int, table: int, record: int) -> None:
        """Reports an access that `--check-cache` found; always raises an error (see `outside_error`)."""
        raise outside_error(table, record)

    def on_host(self, site: int) -> int:
        """Whether the calling thread's current device is the host, in a program for GPUs."""
        own = self._runtime.thread.state.device.type
        return int(own == DeviceType.HOST and own != self._runtime.devices.provider.type)

    def _perform(
        self,
        state: DeviceState,
        site: int,
        buffer: ctypes.Array[Any],
        indices: Sequence[int],
        number: int,
        what: str,
    ) -> None:
        known = self._runtime.sites[site]
        requests = [read_request(known, buffer, index) for index in indices]
        if what == "update":
            self._runtime.perform(state, known.place, requests, number, what)
            return
        with self._region(what, site, state, known.place.construct):
            self._runtime.perform(state, known.place, requests, number, what)
        if what == "enter":
            for index, request in zip(indices, requests, strict=True):
                at = index * RECORD_BYTES + RECORD_DEVICE_AT
                _DEVICE_FIELD.pack_into(buffer, at, request.device)

    def _order_scratch(self, state: DeviceState, site: int, queue: Queue) -> None:
        with state.lock:
            self._runtime.native.interrupt(site, state)  # no launches by native code meanwhile
            state.order_scratch(site, queue)

    def _observed_launch(
        self, state: DeviceState, site: int, values: tuple[int, ...], number: int
    ) -> None:
        number = ASYNC_SYNC if number == ASYNC_ON_DEVICE else number
        queue = state.queue(number, self._runtime.thread.default_async)
        scratch = state.uses_scratch(site)
        seen = self._runtime.observation.launch(
            self._runtime.sites[site], state, values, number, queue
        )
        with state.lock if scratch else nullcontext(), seen:
            if scratch:
                self._order_scratch(state, site, queue)
            state.launcher(site)(values, queue)
            if queue is state.sync_queue:
                queue.wait()

    def _region(
        self, what: str, site: int, state: DeviceState, subject: str
    ) -> AbstractContextManager[None]:
        if self._runtime.fast:
            return nullcontext()
        return self._runtime.observation.region(what, self._runtime.sites[site], state, subject)
