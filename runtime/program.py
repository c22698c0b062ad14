"""
The runtime of one program.

`Runtime` holds the devices, and the code that entry points (`entry_points.py`) and `acc_*` routines
(`api.py`) share; `callbacks` returns the C addresses of both for compiled host code.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from typing import Any

from ..compiler.base.abi import (
    ASYNC_DEFAULT,
    ASYNC_NOVAL,
    ASYNC_SYNC,
    DEFAULT_QUEUE,
    ENTRY_POINTS,
    NOT_GIVEN,
    DeviceType,
    entry_point_types,
)
from .api import api_callbacks
from .data.clauses import Request
from .device import Device, DeviceProvider, ModuleImage, Queue
from .devices import Devices
from .entry_points import EntryPoints
from .errors import API_PLACE, AccRuntimeError, ErrorClass, ProgramPlace
from .failures import Failures
from .host.host_threads import PerThread
from .native.devices import NativeDevices
from .native.entries import NativeEntries, address_of
from .native.guard import guard
from .native.peers import Known
from .profiling.callbacks import Callbacks
from .profiling.events import Profile
from .profiling.observation import Observation
from .profiling.trace import Trace, TraceOptions
from .sites import Site
from .state import DeviceState

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
    `number`: the device to begin with (`ACC_DEVICE_NUM`). `trace`: the events to report. `device_queues`:
    the host goes on after constructs with `deviceid` wherever the program cannot observe that
    (`docs/devices.md`). `calls`: whether the program calls the runtime's function of a name.

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
        calls: Callable[[str], bool] = lambda name: True,
    ):
        self.sites = tuple(Site.from_dict(fields) for fields in sites)
        provider = (
            devices
            if isinstance(devices, DeviceProvider)
            else DeviceProvider(devices.type, 1, lambda _: devices)
        )
        self.trace = Trace(trace or TraceOptions())
        self.fast = not self.trace.active
        """Whether no trace or callback is active, so that native code may serve entry points."""
        self._device_queues = device_queues
        self._calls = calls
        self._shared: tuple[int, int] | None = None
        self.profile = Profile(Callbacks(self._profiling))
        self.observation = Observation(self.trace, self.profile)
        self.failures = Failures(self)
        self.entries = EntryPoints(self)
        self._image: ModuleImage | None = None
        self._host_address: Callable[[str], int] = _no_symbols
        self.devices = Devices(provider, number, self.sites, self._begin)
        self._slow_enter = _ENTER_DEVICE(
            self.failures.guarded("deviceid", self.entries.enter_device)
        )
        first = self.devices.initial()
        self.native_devices = NativeDevices(
            provider.count,
            number,
            address_of(self._slow_enter),
            first.device.enter_function(),
            [int(type) for type in DeviceType if self.devices.matches(type)],
        )
        self.native = NativeEntries(len(self.sites), self.native_devices)
        self.thread = _ThreadVariables(self.devices, self.native_devices)
        self.devices.opening = self._opened
        self._opened(first)
        self._callbacks: dict[str, Any] = {}
        self._entries: dict[str, int] = {}

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
        Enters `size` bytes at host address `host`, memory that all devices share with the host
        (`CudaDevice.managed_memory`), as data that is permanently present at the same address. From then
        on, the host waits for every construct without async, as it may read the kernel's results.
        """
        self._shared = (host, size)
        self._device_queues = False
        for state in self.devices:
            state.share(host, size)
            state.native.waits = 1

    def _begin(self, state: DeviceState) -> None:
        """Prepares a device at its first use."""
        self.observation.watch(state)
        state.mapper.actions.compressor.measure = self.trace.options.compression
        if self._shared is not None:
            state.share(*self._shared)
        state.start(self._image, self._host_address)

    def _opened(self, state: DeviceState) -> None:
        """Lets native code switch to the device, and serve it."""
        self.observation.watch(state)
        if self.fast:
            self.native.serve(state)
        row = state.native = self.native_devices.rows[state.row]
        row.waits = int(not self._device_queues or state.device.tells)
        row.context = state.device.native_context()
        queue = state.device.native_queue(state.sync_queue)
        if queue is not None:
            row.sync = ctypes.addressof(queue)
        state.list_queues()
        row.opened = 1
        used = [other.native for other in self.devices if other.row < self.native_devices.count]
        for other in used:
            other.postpones = int(len(used) > 1)
        for other in self.devices:
            other.borders.used(len(used))

    def settle(self) -> None:
        """Waits for all work and prints the summary; raises an error that occurred in pending work."""
        for state in self.devices:
            try:
                state.wait_all()
            except AccRuntimeError as error:
                raise error.located(
                    ProgramPlace("the end of the program"), state.device.name
                ) from None
            if self.trace.options.compression:
                for line in state.mapper.actions.compressor.reports.lines():
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

    def _profiling(self, active: bool) -> None:
        """Switches between native code and Python when the first callback is registered or the last one
        removed."""
        self.fast = not (self.trace.active or active)
        if active:
            self._forget_native()
            self.profile.begin(self.devices)
        for state in self.devices:
            if self.fast:
                self.native.serve(state)
            self.observation.watch(state)

    def _forget_native(self) -> None:
        """Sends all calls to Python, until they are remembered again."""
        self.native.forget(self.devices)

    def callbacks(self) -> dict[str, int]:
        """
        C addresses of all entry points and `acc_*` routines, and of C's `exit`, by name; alive with
        the runtime.
        """
        if not self._callbacks:
            self.failures.guard = guard()
            for name in ENTRY_POINTS:
                method = getattr(self.entries, name.removeprefix("__accopt_"))
                result, arguments = entry_point_types(name)
                prototype = ctypes.CFUNCTYPE(result, *arguments)
                self._callbacks[name] = prototype(self.failures.guarded(name, method))
            self._callbacks |= api_callbacks(self)
            self._callbacks["exit"] = ctypes.CFUNCTYPE(None, ctypes.c_int)(self.failures.exit)
        addresses = {name: address_of(function) for name, function in self._callbacks.items()}
        if self.failures.guard is not None:
            for name, function in self._callbacks.items():
                count = len(function.argtypes)
                if name not in self._entries:
                    self._entries[name] = self.failures.guard.callback(addresses[name], count, self)
            addresses |= self._entries
        addresses["__accopt_enter_device"] = self.native_devices.enter_address
        addresses["__accopt_leave_device"] = self.native_devices.leave_address
        self.native_devices.slow_set.value = addresses["acc_set_device_num"]
        addresses["acc_set_device_num"] = self.native_devices.set_device_address
        if self.fast:
            copies = any(site.place.construct == "update peer" for site in self.sites)
            addresses |= self.native.addresses(
                addresses, self.devices, self._refused, copies=copies, calls=self._calls
            )
        return addresses

    def _refused(self, site: int, status: int) -> None:
        """Reports that the driver refused a launch of native code."""
        try:
            self.current.device.make_current()
            self.current.sync_queue.wait()  # raises what the status stands for
        except BaseException as error:
            self.failures.die(error, self.sites[site].place)

    def copied(self, known: Known) -> None:
        """Registers with native code a copy between two devices that was put on their queues."""
        if self.fast:
            self.native.copied(known)

    def may_go_on(self, *states: DeviceState) -> bool:
        """Whether the host may go on without waiting for synchronous work on these devices, because the
        program cannot observe that."""
        return self.fast and all(s.native.sync and not s.native.waits for s in states)

    def count_work(self) -> None:
        """An entry point in Python is over: it may have put work on any queue (`NativeQueue.work`)."""
        for state in self.devices:
            state.count_work()

    def went_on(self, *states: DeviceState) -> None:
        """Records that the host has not waited for work on the synchronous queues of these devices."""
        for state in dict.fromkeys(states):
            self.native_devices.count_construct(state.row)

    # Shared with the acc_* routines

    def wait_queues(
        self,
        state: DeviceState,
        numbers: Sequence[int] | None,
        async_queue: int = ASYNC_SYNC,
        place: ProgramPlace = API_PLACE,
    ) -> None:
        """Waits for queues (for None, all of the device) on the host, or makes queue `async_queue` wait for
        them."""
        with self.visiting(state):
            if self.profile.active:
                number = ASYNC_SYNC if numbers is None or len(numbers) != 1 else numbers[0]
                with self.profile.waiting(place, state, number):
                    self._join(state, numbers, async_queue)
            else:
                self._join(state, numbers, async_queue)

    @contextmanager
    def visiting(self, *states: DeviceState) -> Generator[None]:
        """For work on devices other than the calling thread's; afterwards that one is current again."""
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
        """Sets the queue of a bare `async` on this thread; a negative constant resets it."""
        number = DEFAULT_QUEUE if number in (ASYNC_NOVAL, ASYNC_DEFAULT) else number
        self.current.queue(number, number)
        if number != DEFAULT_QUEUE:
            self.native.forget_default_queue()
        self.thread.default_async = number

    def state(self, number: int) -> DeviceState:
        """Device `number`, opened if need be; raises `acc_error_device_unavailable`."""
        with self._opening():
            return self.devices.at(number)

    def state_or_current(self, number: int) -> DeviceState:
        """Device `number`; the calling thread's for `NOT_GIVEN`. Raises `acc_error_device_unavailable`."""
        return self.current if number == NOT_GIVEN else self.state(number)

    def select(self, device_type: int, number: int = NOT_GIVEN) -> DeviceState:
        """The device of that type and number; raises `acc_error_device_type_unavailable`."""
        with self._opening():
            return self.devices.select(device_type, number, self.current)

    @contextmanager
    def _opening(self) -> Generator[None]:
        """Restores the thread's current device after opening another one, which becomes the driver's
        current one."""
        known = len(self.devices)
        try:
            yield
        finally:
            if len(self.devices) != known:
                self.current.device.make_current()

    def shutdown(
        self, device_type: int, number: int = NOT_GIVEN, place: ProgramPlace = API_PLACE
    ) -> None:
        """Releases the data of one device, or of all devices of the type."""
        states = [self.select(device_type, number)]
        if number < 0:
            states = self.devices.of_type(states[0].device.type)
        with self.visiting(*states):
            for state in states:
                over = self.profile.shutdown(place, state) if self.profile.active else nullcontext()
                with over, state.lock:
                    self.native.forget_launches(state)
                    state.release_data()
                    state.shut_down = self.failures.of_caller(place)

    def perform(
        self,
        state: DeviceState,
        place: ProgramPlace,
        requests: list[Request],
        number: int,
        what: str,
    ) -> None:
        """
        Performs data clauses ("enter", "exit" or "update") on a queue. The device's lock is released while
        the host waits for the transfers.
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
        """Performs the clauses with the lock held; returns whether the host has to wait."""
        state.place = place
        state.quick.before(requests, what)
        mapper, actions = state.mapper, state.mapper.actions
        actions.moved = False
        synchronous = queue is state.sync_queue
        if what == "enter":
            mapper.enter(requests, queue)
        elif what == "exit":
            mapper.exit(requests, queue)
        else:
            mapper.update(requests, queue)
            if not synchronous:
                state.quick.updated(requests)
        state.quick.after()
        if actions.moved and not synchronous:
            state.leaves_device(queue)
        return actions.moved and synchronous


def _no_symbols(symbol: str) -> int:
    raise AccRuntimeError(
        ErrorClass.OTHER, f"the address of the declared variable '{symbol}' is not known"
    )
