"""
The runtime of one program: the `__accopt_*` entry points its compiled host code calls.

`Runtime` holds the devices; each entry point is a method, and `callbacks` gives their C addresses
(with those of the `acc_*` routines, `api.py`). An error ends the process with a message: nothing
can be raised through compiled C frames.
"""

from __future__ import annotations

import ctypes
import struct
import threading
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import replace
from functools import partial
from typing import Any

from ..compiler.base.abi import (
    ASYNC_DEFAULT,
    ASYNC_NOVAL,
    ASYNC_ON_DEVICE,
    ASYNC_SYNC,
    DEFAULT_QUEUE,
    ENTRY_POINTS,
    LAUNCH_FORMAT,
    NOT_GIVEN,
    RECORD_BYTES,
    RECORD_DEVICE_AT,
    DeviceOperation,
    DeviceType,
    PeerUpdate,
    entry_point_types,
)
from .api import api_callbacks
from .cache_sections import outside_error
from .data.mapping import Request, no_watch
from .data.peer import PeerSection, copy_peer
from .data.quick_entry import has_cells, is_in_place
from .data.requests import NO_REQUEST, read_request, read_shape
from .device import Device, DeviceProvider, ModuleImage, Queue
from .devices import Devices
from .errors import API_PLACE, AccRuntimeError, ErrorClass, ProgramExit, ProgramPlace
from .fatal import end_process
from .host.host_threads import PerThread
from .mean_trips import MeanTrips
from .native.devices import NativeDevices
from .native.entries import NativeEntries, address_of
from .native.guard import FaultSignal, Guard, guard
from .native.peers import Known
from .profiling.callbacks import Callbacks
from .profiling.events import Profile
from .profiling.trace import Trace, TraceOptions
from .rows_apart import RowsApart
from .sites import Site
from .state import DeviceState

_unpack_launch = LAUNCH_FORMAT.unpack
_string_at = ctypes.string_at
_LAUNCH_BYTES = LAUNCH_FORMAT.size
_DEVICE_FIELD = struct.Struct("=q")
_ENTER_DEVICE = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int32, ctypes.c_int64)


class _ThreadVariables(PerThread):
    """The internal control variables, one set per host thread (2.3)."""

    def __init__(self, devices: Devices, native: NativeDevices):
        super().__init__()
        self._devices = devices
        self._native = native
        self.default_async = DEFAULT_QUEUE

    @property
    def state(self) -> DeviceState:
        """The thread's device, which native code changes, too."""
        return self._devices.opened(self._native.current())

    @state.setter
    def state(self, state: DeviceState) -> None:
        self._native.become(state.row)


class Runtime:
    """
    The OpenACC runtime for one program.

    `sites`: the module attribute `accx.sites`. `devices`: an opened device, or a provider of several.
    `number`: the device to begin with (`ACC_DEVICE_NUM`). `trace`: what to report. `device_queues`: the
    host goes on after constructs with `deviceid` where it cannot tell (`docs/devices.md`).

    Life: construct; give `callbacks()` to the JIT; `start` once code is compiled; run; `finish`.
    """

    def __init__(
        self,
        sites: Sequence[Mapping[str, Any]],
        devices: Device | DeviceProvider,
        *,
        number: int = 0,
        trace: TraceOptions | None = None,
        device_queues: bool = True,
    ):
        self.sites = tuple(Site.from_dict(fields) for fields in sites)
        provider = (
            devices
            if isinstance(devices, DeviceProvider)
            else DeviceProvider(devices.type, 1, lambda _: devices)
        )
        self.trace = Trace(trace or TraceOptions())
        self._fast = not self.trace.active
        self._device_queues = device_queues
        self._shared: tuple[int, int] | None = None
        self.profile = Profile(Callbacks(self._profiling))
        self._image: ModuleImage | None = None
        self._host_address: Callable[[str], int] = _no_symbols
        self.devices = Devices(provider, number, self.sites, self._begin)
        self._slow_enter = _ENTER_DEVICE(self._guarded("deviceid", self.enter_device))
        first = self.devices.initial()
        self._native_devices = NativeDevices(
            provider.count,
            number,
            address_of(self._slow_enter),
            first.device.enter_function(),
            [int(type) for type in DeviceType if self.devices.matches(type)],
        )
        self._native = NativeEntries(len(self.sites), self._native_devices)
        self.thread = _ThreadVariables(self.devices, self._native_devices)
        self.devices.opening = self._opened
        self._opened(first)
        self._callbacks: dict[str, Any] = {}
        self._entries: dict[str, int] = {}
        self._guard: Guard | None = None
        self.raises = True
        self.locate: Callable[[str, Sequence[int]], tuple[str, int] | None] = _nowhere
        """File and line of the call of a routine, from the return addresses; None if it is not known."""
        """Errors are raised by the call from Python that led to them, instead of ending the process."""
        self.failures: dict[int, BaseException] = {}
        """What ended the last guarded call of a thread, by the thread's number."""
        self.mean_trips = MeanTrips()
        self.row_sections = RowsApart()

    @property
    def current(self) -> DeviceState:
        """The calling thread's device."""
        return self.thread.state

    def start(self, image: ModuleImage, host_address: Callable[[str], int] | None = None) -> None:
        """
        Loads the kernels and maps the declared globals; before `main` runs.

        `host_address`: the address of a global variable of the host code by its symbol.
        """
        self._image = image
        self._host_address = host_address or _no_symbols
        for state in self.devices:
            state.start(self._image, self._host_address)
            state.native.waits |= int(state.device.tells)

    def share(self, host: int, size: int) -> None:
        """
        Has all devices know `size` bytes at host address `host` as memory that they use like the host
        (`CudaDevice.managed_memory`): as data that is present at the same address for good. The host
        waits for every construct without async then, as it may read what the kernel writes.
        """
        self._shared = (host, size)
        self._device_queues = False
        for state in self.devices:
            state.share(host, size)
            state.native.waits = 1

    def on_host(self, site: int) -> int:
        """Whether the calling thread's current device is the host, in a program for GPUs."""
        own = self.thread.state.device.type
        return int(own == DeviceType.HOST and own != self.devices.provider.type)

    def _begin(self, state: DeviceState) -> None:
        """A device is used for the first time."""
        self._watch_device(state)
        state.mapper.compressor.measure = self.trace.options.compression
        if self._shared is not None:
            state.share(*self._shared)
        state.start(self._image, self._host_address)

    def _opened(self, state: DeviceState) -> None:
        """Native code may change to the device from now on, and serves it."""
        self._watch_device(state)
        if self._fast:
            self._native.serve(state)
        row = state.native = self._native_devices.rows[state.row]
        row.waits = int(not self._device_queues or state.device.tells)
        row.context = state.device.native_context()
        queue = state.device.native_queue(state.sync_queue)
        if queue is not None:
            row.sync = ctypes.addressof(queue)
        row.opened = 1
        used = [other.native for other in self.devices if other.row < self._native_devices.count]
        for other in used:
            other.postpones = int(len(used) > 1)

    def settle(self) -> None:
        """Waits for all work and prints the summary; raises what went wrong in pending work."""
        for state in self.devices:
            try:
                state.wait_all()
            except AccRuntimeError as error:
                raise error.located(
                    ProgramPlace("the end of the program"), state.device.name
                ) from None
            if self.trace.options.compression:
                for line in state.mapper.compressor.reports.lines():
                    print(line, file=self.trace.out, flush=True)
        summary = self.trace.summary()
        if summary:
            print(summary, file=self.trace.out, flush=True)
        self.profile.finish(self.devices, self.current)

    def finish(self) -> None:
        """`settle`, then closes the devices; after `main` returned."""
        self.settle()
        self._forget_native()
        self.devices.close()

    def _watch_device(self, state: DeviceState) -> None:
        """Lets the trace, and callbacks of the profiling interface, see the device's transfers."""
        mapper, profile = state.mapper, self.profile
        watched = self.trace.active or profile.active
        mapper.watch = partial(self._watch, state) if watched else no_watch
        mapper.mapped = profile.mapped if profile.active else None
        mapper.unmapped = profile.unmapped if profile.active else None

    def _profiling(self, active: bool) -> None:
        """The first callback has been registered, or the last one is gone: native code or Python."""
        self._fast = not (self.trace.active or active)
        if active:
            self._forget_native()
            self.profile.begin(self.devices)
        for state in self.devices:
            if self._fast:
                self._native.serve(state)
            self._watch_device(state)

    def _forget_native(self) -> None:
        """Everything comes to Python."""
        self._native.forget(self.devices)

    def exit(self, status: int) -> None:
        """C's `exit`: the program ends as if `main` had returned, with its device work done."""
        try:
            self.settle()
        except BaseException as error:
            self.die(error, ProgramPlace("the end of the program"))
            return
        if self.raises and self._leave_c(ProgramExit(status)):
            return
        ctypes.CDLL(None).exit(status)

    def _leave_c(self, error: BaseException) -> bool:
        """
        Has the guarded call (`native/guard.py`) that this thread is in end with `error`, which whoever made
        it finds in `failures`; False if there is none.
        """
        if self._guard is None or not self._guard.inside():
            return False
        self.failures[threading.get_ident()] = error
        self._guard.fail()
        return True

    def callbacks(self) -> dict[str, int]:
        """
        C addresses of all entry points and `acc_*` routines, and of C's `exit`, by name; alive with
        the runtime.
        """
        if not self._callbacks:
            self._guard = guard()
            for name in ENTRY_POINTS:
                method = getattr(self, name.removeprefix("__accopt_"))
                result, arguments = entry_point_types(name)
                prototype = ctypes.CFUNCTYPE(result, *arguments)
                self._callbacks[name] = prototype(self._guarded(name, method))
            self._callbacks |= api_callbacks(self)
            self._callbacks["exit"] = ctypes.CFUNCTYPE(None, ctypes.c_int)(self.exit)
        addresses = {name: address_of(function) for name, function in self._callbacks.items()}
        if self._guard is not None:
            for name, function in self._callbacks.items():
                count = len(function.argtypes)
                if name not in self._entries:
                    self._entries[name] = self._guard.callback(addresses[name], count)
            addresses |= self._entries
        addresses["__accopt_enter_device"] = self._native_devices.enter_address
        addresses["__accopt_leave_device"] = self._native_devices.leave_address
        self._native_devices.slow_set.value = addresses["acc_set_device_num"]
        addresses["acc_set_device_num"] = self._native_devices.set_device_address
        if self._fast:
            addresses |= self._native.addresses(addresses, self.devices, self._refused)
        return addresses

    def _refused(self, site: int, status: int) -> None:
        """The driver refused a launch of native code."""
        try:
            self.current.device.make_current()
            self.current.sync_queue.wait()  # raises what the status stands for
        except BaseException as error:
            self.die(error, self.sites[site].place)

    # Entry points (docs/runtime.md)

    def data_enter(self, site: int, records: int, count: int, queue: int) -> None:
        """Entry to a data region, or `enter data`; fills in each record's `device`."""
        state = self.thread.state
        state.device.make_current()
        done = 0
        if queue == ASYNC_ON_DEVICE:  # what is copied in has been read when this returns
            queue = ASYNC_SYNC
        with state.lock:
            used = None
            if queue != ASYNC_SYNC:
                used = state.queue(queue, self.thread.default_async)
                state.after_filling(used)
            if self._fast:
                done = state.quick.enter(site, records, count, used)
        if done < count:
            buffer = (ctypes.c_char * (RECORD_BYTES * count)).from_address(records)
            self._perform(state, site, buffer, range(done, count), queue, "enter")

    def data_exit(self, site: int, records: int, count: int, queue: int) -> None:
        """Exit from a data region (with the records of its entry), or `exit data`."""
        state = self.thread.state
        state.device.make_current()
        if queue == ASYNC_ON_DEVICE:
            queue = ASYNC_SYNC
            if has_cells(records, count):
                state.sync_queue.wait()
        left = count
        if self._fast:
            with state.lock:
                left = state.quick.exit(site, records, count)
        if left > 0:
            buffer = (ctypes.c_char * (RECORD_BYTES * count)).from_address(records)
            raw = bytes(buffer)
            rest = [i for i in range(left) if not is_in_place(raw, i * RECORD_BYTES)]
            self._perform(state, site, buffer, rest, queue, "exit")

    def update(self, site: int, records: int, count: int, queue: int) -> None:
        """The `update` directive."""
        buffer = (ctypes.c_char * (RECORD_BYTES * count)).from_address(records)
        self._perform(self.thread.state, site, buffer, range(count), queue, "update")

    def launch(self, site: int, launch: int) -> None:
        """Runs the site's kernel; without async, until it is done."""
        thread = self.thread
        state = thread.state
        values = _unpack_launch(_string_at(launch, _LAUNCH_BYTES))
        state.device.make_current()
        launcher = state.launchers[site] or state.launcher(site)
        number = values[8]
        if not self._fast:
            self._launch_traced(state, site, values, number)
            return
        epoch = state.native.epoch
        queue = (
            state.sync_queue if number == ASYNC_SYNC else state.queue(number, thread.default_async)
        )
        scratch = state.uses_scratch(site)
        with state.lock if scratch else nullcontext():  # one user of the memory after the other
            if scratch:
                self._order_scratch(state, site, queue)
            launcher(values, queue)
            # Told while the lock is held: what another thread has put in order since would be undone.
            kernel = self.sites[site].kernel
            self._native.launched(site, kernel, state, queue, number, scratch=scratch, epoch=epoch)
        if number == ASYNC_ON_DEVICE:
            self._native_devices.count_construct(state.row)
        if queue is state.sync_queue and (number != ASYNC_ON_DEVICE or state.native.waits):
            queue.wait()

    def scratch(self, site: int, size: int) -> int:
        """Zeroed device memory owned by the site (see `DeviceState.scratch`)."""
        state = self.thread.state
        with state.lock:
            address, held = state.scratch(site, size)
            self._native.interrupt(site, state)
            self._native.remember_scratch(site, state, address, held)
        return address

    def mean_trip(self, start: int, end: int, rows: int, stride: int, bytes: int) -> int:
        """The mean number of iterations of a loop over rows (see `MeanTrips.mean`)."""
        return self.mean_trips.mean(self.thread.state, start, end, rows, stride, bytes)

    def rows_apart(self, sections: int, size: int) -> int:
        """Whether rows that `size` bytes at `sections` name lie apart (see `RowsApart.apart`)."""
        return self.row_sections.apart(_string_at(sections, size))

    def wait(self, site: int, queues: int, count: int, async_queue: int) -> None:
        """
        The `wait` directive or clause: on the queues given, or on all when `count` is 0. With an
        async queue, that queue waits and not the host.
        """
        thread = self.thread
        numbers = (ctypes.c_int64 * count).from_address(queues) if count else None
        waited = list(numbers) if numbers is not None else None
        with self._traced("wait", site, thread.state, str(waited or "all queues")):
            self.wait_queues(thread.state, waited, async_queue, self.sites[site].place)

    def device(self, site: int, operation: int, device_type: int, number: int) -> None:
        """The `init`, `shutdown` and `set` directives."""
        place = self.sites[site].place
        match DeviceOperation(operation):
            case DeviceOperation.INIT | DeviceOperation.SET_TYPE_AND_NUMBER:
                given = DeviceType.CURRENT if device_type == NOT_GIVEN else device_type
                state = self.select(given, number)
                if operation == DeviceOperation.SET_TYPE_AND_NUMBER:
                    self.thread.state = state
                elif self.profile.active:
                    self.profile.use(place, state, implicit=False)
            case DeviceOperation.SHUTDOWN:
                given = DeviceType.CURRENT if device_type == NOT_GIVEN else device_type
                self.shutdown(given, number, place)
            case DeviceOperation.SET_DEFAULT_ASYNC:
                self.set_default_async(number)

    def enter_device(self, site: int, number: int) -> int:
        """
        A construct with `deviceid(number)` begins: the thread's device until `leave_device` (the two are
        native code, which calls this for devices that are not open). The row of the former one.
        """
        former = self._native_devices.current()
        self.thread.state = self.devices.at(number)
        return former

    def leave_device(self, site: int, former: int) -> None:
        """The construct is over."""
        self._native_devices.become(former)

    def update_peer(self, site: int, update: int) -> None:
        """The `update peer` directive (a research extension)."""
        known, given = self.sites[site], PeerUpdate.from_address(update)
        to = PeerSection(
            self.state(given.to_device),
            given.to,
            given.to_bytes,
            read_shape(given.to_shape, given.to_dims),
            "to",
            known.variable(0),
        )
        origin = PeerSection(
            self.state(given.from_device),
            given.origin,
            given.from_bytes,
            read_shape(given.from_shape, given.from_dims),
            "from",
            known.variable(1),
        )
        copy_peer(self, known.place, to, origin, given.queue)

    def copied(self, known: Known) -> None:
        """A copy between two devices has been put on their queues."""
        if self._fast:
            self._native.copied(known)

    def may_go_on(self, *states: DeviceState) -> bool:
        """Whether nobody can tell that the host does not wait for synchronous work on devices."""
        return self._fast and all(s.native.sync and not s.native.waits for s in states)

    def went_on(self, *states: DeviceState) -> None:
        """The host has not waited for work on their synchronous queues."""
        for state in dict.fromkeys(states):
            self._native_devices.count_construct(state.row)

    def outside(self, site: int, table: int, record: int) -> None:
        """What `--check-cache` found: always an error (see `outside_error`)."""
        raise outside_error(table, record)

    # Shared with the acc_* routines

    def wait_queues(
        self,
        state: DeviceState,
        numbers: Sequence[int] | None,
        async_queue: int = ASYNC_SYNC,
        place: ProgramPlace = API_PLACE,
    ) -> None:
        """Joins queues (all of the device for None) on the host, or makes a queue wait for them."""
        with self.visiting(state):
            if self.profile.active:
                number = ASYNC_SYNC if numbers is None or len(numbers) != 1 else numbers[0]
                with self.profile.waiting(place, state, number):
                    self._join(state, numbers, async_queue)
            else:
                self._join(state, numbers, async_queue)

    @contextmanager
    def visiting(self, *states: DeviceState) -> Generator[None]:
        """Work on devices that may not be the calling thread's, which is made current again."""
        try:
            yield
        finally:
            own = self.thread.state
            if any(state is not own for state in states):
                own.device.make_current()

    def _join(self, state: DeviceState, numbers: Sequence[int] | None, async_queue: int) -> None:
        default = self.thread.default_async
        if numbers is None:
            queues = state.queues()
        else:
            found = (state.existing_queue(n, default) for n in numbers)
            queues = [q for q in found if q is not None]
        waiter = state.queue(async_queue, default)
        for queue in queues:
            if waiter is state.sync_queue:
                queue.wait()
            elif queue is not waiter:
                waiter.wait_for(queue)

    def set_default_async(self, number: int) -> None:
        """The queue of a bare `async` on this thread; a negative constant resets or unsets it."""
        number = DEFAULT_QUEUE if number in (ASYNC_NOVAL, ASYNC_DEFAULT) else number
        self.current.queue(number, number)
        if number != DEFAULT_QUEUE:
            self._native.forget_default_queue()
        self.thread.default_async = number

    def state(self, number: int) -> DeviceState:
        """Device `number`, opened if need be; raises `acc_error_device_unavailable`."""
        with self._opening():
            return self.devices.at(number)

    def select(self, device_type: int, number: int = NOT_GIVEN) -> DeviceState:
        """The device of that type and number; raises `acc_error_device_type_unavailable`."""
        with self._opening():
            return self.devices.select(device_type, number, self.current)

    @contextmanager
    def _opening(self) -> Generator[None]:
        """A device that is opened becomes the driver's current one: not the thread's."""
        known = len(self.devices)
        try:
            yield
        finally:
            if len(self.devices) != known:
                self.current.device.make_current()

    def shutdown(
        self, device_type: int, number: int = NOT_GIVEN, place: ProgramPlace = API_PLACE
    ) -> None:
        """Releases the data of one device, or of all of the type."""
        states = [self.select(device_type, number)]
        if number < 0:
            states = self.devices.of_type(states[0].device.type)
        with self.visiting(*states):
            for state in states:
                over = self.profile.shutdown(place, state) if self.profile.active else nullcontext()
                with over, state.lock:
                    self._native.forget_launches(state)
                    state.release_data()
                    state.shut_down = place if place.file else self._of_caller(place)

    def perform(
        self,
        state: DeviceState,
        place: ProgramPlace,
        requests: list[Request],
        number: int,
        what: str,
    ) -> None:
        """
        Performs data clauses ("enter", "exit" or "update") on a queue. The device's lock is free while
        the host waits for what they moved.
        """
        watched = nullcontext()
        if self.profile.active:
            watched = self.profile.region(what, place, state, number, requests)
        state.device.make_current()
        with watched:
            with state.lock:
                queue = state.queue(number, self.thread.default_async)
                waits = self._clauses(state, place, requests, queue, what)
                state.filling += waits
            if waits:
                try:
                    queue.wait()
                finally:
                    with state.lock:
                        state.filling -= 1

    def _clauses(
        self,
        state: DeviceState,
        place: ProgramPlace,
        requests: list[Request],
        queue: Queue,
        what: str,
    ) -> bool:
        """Performs them; whether there is something to wait for. The lock is held."""
        state.place = place
        state.quick.before(requests, what)
        mapper = state.mapper
        mapper.moved = False
        if what == "enter":
            mapper.enter(requests, queue)
        elif what == "exit":
            mapper.exit(requests, queue)
        else:
            mapper.update(requests, queue)
        state.quick.after(requests, what)
        synchronous = queue is state.sync_queue
        if mapper.moved and not synchronous:
            state.leaves_device(queue)
        return mapper.moved and synchronous

    # Details

    def _perform(
        self,
        state: DeviceState,
        site: int,
        buffer: ctypes.Array[Any],
        indices: Sequence[int],
        number: int,
        what: str,
    ) -> None:
        known = self.sites[site]
        requests = [read_request(known, buffer, index) for index in indices]
        if what == "update":
            self.perform(state, known.place, requests, number, what)
            return
        with self._traced(what, site, state, known.place.construct):
            self.perform(state, known.place, requests, number, what)
        if what == "enter":
            for index, request in zip(indices, requests, strict=True):
                at = index * RECORD_BYTES + RECORD_DEVICE_AT
                _DEVICE_FIELD.pack_into(buffer, at, request.device)

    def _order_scratch(self, state: DeviceState, site: int, queue: Queue) -> None:
        with state.lock:
            self._native.interrupt(site, state)  # no launch of another thread in between
            state.order_scratch(site, queue)

    def _launch_traced(
        self, state: DeviceState, site: int, values: tuple[int, ...], number: int
    ) -> None:
        known = self.sites[site]
        number = ASYNC_SYNC if number == ASYNC_ON_DEVICE else number
        queue = state.queue(number, self.thread.default_async)
        name = state.device.name
        scratch = state.uses_scratch(site)
        launched = (
            self.profile.launch(known.place, state, number, known.kernel, values, queue)
            if self.profile.active
            else nullcontext()
        )
        alone = state.lock if scratch else nullcontext()
        action = self.trace.action("launch", known.kernel, known.place, 0, queue, name)
        with alone, launched, action:
            if scratch:
                self._order_scratch(state, site, queue)
            state.launcher(site)(values, queue)
            if queue is state.sync_queue:
                queue.wait()

    def _traced(
        self, what: str, site: int, state: DeviceState, subject: str
    ) -> AbstractContextManager[None]:
        if self._fast:
            return no_watch(what, NO_REQUEST, 0, state.sync_queue)
        place = self.sites[site].place
        return self.trace.action(what, subject, place, 0, None, state.device.name)

    def _watch(
        self, state: DeviceState, what: str, request: Request, size: int, queue: Queue
    ) -> AbstractContextManager[None]:
        name = state.device.name
        traced = self.trace.action(what, request.name, state.place, size, queue, name)
        if not self.profile.active:
            return traced
        return self._profiled(what, request, size, queue, traced)

    @contextmanager
    def _profiled(
        self,
        what: str,
        request: Request,
        size: int,
        queue: Queue,
        traced: AbstractContextManager[None],
    ) -> Generator[None]:
        with self.profile.transfer(what, request, size, queue), traced:
            yield

    def _guarded(self, name: str, method: Callable[..., Any]) -> Callable[..., Any]:
        """The method with errors ending the process, located at its site (the first argument)."""

        def entry(site: int, *rest: int) -> Any:
            try:
                return method(site, *rest)
            except BaseException as error:
                known = 0 <= site < len(self.sites)
                return self.die(error, self.sites[site].place if known else ProgramPlace(name))

        return entry

    def _of_caller(self, place: ProgramPlace) -> ProgramPlace:
        """The place of an `acc_*` routine with the line that calls it, if it can be told."""
        found = self.locate(place.construct, _return_addresses())
        return place if found is None else replace(place, file=found[0], line=found[1])

    def die(self, error: BaseException, place: ProgramPlace) -> int:
        """
        Tells callbacks of the error, and has the call from Python that led here raise it; where that is not
        wanted (`raises`) or not possible, ends the process with its message (`end_process`).
        """
        state = self.thread.state
        if isinstance(error, AccRuntimeError) and not place.file:
            place = self._of_caller(place)
        if isinstance(error, AccRuntimeError) and _is_late(error, state):
            error.remedy += (
                "; the construct at fault may be an earlier one:"
                " ACCOPT_DEVICE_QUEUES=0 waits for each"
            )
        if isinstance(error, AccRuntimeError) and self.profile.active:
            self.profile.error(error.place or place, state)
        if isinstance(error, AccRuntimeError):
            self._mention_shutdown(error.located(place, state.device.name))
        if (self.raises or isinstance(error, FaultSignal)) and self._leave_c(error):
            return 0
        end_process(error, place, state.device.name)

    def _mention_shutdown(self, error: AccRuntimeError) -> None:
        """Data that are not present may have been."""
        if error.kind is not ErrorClass.NOT_PRESENT:
            return
        for state in self.devices:
            if state.shut_down is not None and state.device.name == error.device:
                error.remedy = f"{state.shut_down} released what the device held; {error.remedy}"


def _nowhere(routine: str, addresses: Sequence[int]) -> None:
    """No line is known."""


def _return_addresses() -> list[int]:
    """Of the calls that this thread is in, the innermost first; as far as they can be told."""
    trace = (ctypes.c_void_p * 64)()
    count = ctypes.CDLL(None).backtrace(trace, len(trace))
    return [address for address in trace[:count] if address]


def _is_late(error: AccRuntimeError, state: DeviceState) -> bool:
    """Whether a kernel's fault may be that of a construct that nobody has waited for."""
    queued = state.native.epoch > 0 and not state.native.waits
    return queued and error.kind is ErrorClass.EXECUTION and bool(error.remedy)


def _no_symbols(symbol: str) -> int:
    raise AccRuntimeError(
        ErrorClass.OTHER, f"the address of the declared variable '{symbol}' is not known"
    )
