"""
The `acc_*` routines of `openacc.h` (OpenACC 3.4, section 3), with the C calling convention.

`ROUTINES` is the table of all of them: name → signature and the method of `Routines` behind it. In a
signature `i` is an int (also enumerations), `p` a pointer, `z` a size_t, `v` nothing; the result
stands first. A routine whose name ends in `_async` takes one more int and returns nothing.
"""

from __future__ import annotations

import ctypes
import time
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from ..compiler.base.abi import (
    ASYNC_SYNC,
    NOT_GIVEN,
    DataFlag,
    DataKind,
    DeviceProperty,
    DeviceType,
)
from .compression.api import SIGNATURES as COMPRESSION_ROUTINES
from .compression.api import CompressionRoutines
from .data.mapping import NO_FLAGS, POINTER_BYTES, Request, read_host_pointer
from .data.ordering import Users
from .data.peer import PeerSection, copy_peer
from .data.present import Entry
from .device import Queue, Strips
from .errors import API_PLACE, AccRuntimeError, ErrorClass, HostRange, ProgramPlace
from .profiling.callbacks import Event
from .state import DeviceState

if TYPE_CHECKING:
    from .program import Runtime

_C_TYPES: dict[str, Any] = {
    "v": None,
    "i": ctypes.c_int,
    "p": ctypes.c_int64,
    "z": ctypes.c_size_t,
    "d": ctypes.c_double,
    "f": ctypes.c_float,
}


@dataclass(frozen=True, slots=True)
class Routine:
    """C signature (result first) and the name of the method that performs the routine."""

    signature: str
    method: str


ROUTINES: dict[str, Routine] = {
    "acc_get_num_devices": Routine("ii", "get_num_devices"),
    "acc_set_device_type": Routine("vi", "set_device_type"),
    "acc_get_device_type": Routine("i", "get_device_type"),
    "acc_set_device_num": Routine("vii", "set_device_num"),
    "acc_get_device_num": Routine("ii", "get_device_num"),
    "acc_get_property": Routine("ziii", "get_property"),
    "acc_get_property_string": Routine("piii", "get_property_string"),
    "acc_init": Routine("vi", "init"),
    "acc_init_device": Routine("vii", "init_device"),
    "acc_shutdown": Routine("vi", "shutdown"),
    "acc_shutdown_device": Routine("vii", "shutdown_device"),
    "acc_async_test": Routine("ii", "async_test"),
    "acc_async_test_device": Routine("iii", "async_test"),
    "acc_async_test_all": Routine("i", "async_test_all"),
    "acc_async_test_all_device": Routine("ii", "async_test_all"),
    "acc_wait": Routine("vi", "wait"),
    "acc_wait_device": Routine("vii", "wait"),
    "acc_wait_all": Routine("v", "wait_all"),
    "acc_wait_all_device": Routine("vi", "wait_all"),
    "acc_wait_async": Routine("vii", "wait_async"),
    "acc_wait_device_async": Routine("viii", "wait_async"),
    "acc_wait_all_async": Routine("vi", "wait_all_async"),
    "acc_wait_all_device_async": Routine("vii", "wait_all_async"),
    "acc_wait_any": Routine("iip", "wait_any"),
    "acc_wait_any_device": Routine("iipi", "wait_any"),
    "acc_get_default_async": Routine("i", "get_default_async"),
    "acc_set_default_async": Routine("vi", "set_default_async"),
    "acc_on_device": Routine("ii", "on_device"),
    "acc_malloc": Routine("pz", "malloc"),
    "acc_free": Routine("vp", "free"),
    "acc_copyin": Routine("ppz", "copyin"),
    "acc_copyin_async": Routine("vpzi", "copyin_async"),
    "acc_present_or_copyin": Routine("ppz", "copyin"),
    "acc_pcopyin": Routine("ppz", "copyin"),
    "acc_create": Routine("ppz", "create"),
    "acc_create_async": Routine("vpzi", "create_async"),
    "acc_present_or_create": Routine("ppz", "create"),
    "acc_pcreate": Routine("ppz", "create"),
    "acc_copyout": Routine("vpz", "copyout"),
    "acc_copyout_async": Routine("vpzi", "copyout"),
    "acc_copyout_finalize": Routine("vpz", "copyout_finalize"),
    "acc_copyout_finalize_async": Routine("vpzi", "copyout_finalize"),
    "acc_delete": Routine("vpz", "delete"),
    "acc_delete_async": Routine("vpzi", "delete"),
    "acc_delete_finalize": Routine("vpz", "delete_finalize"),
    "acc_delete_finalize_async": Routine("vpzi", "delete_finalize"),
    "acc_update_device": Routine("vpz", "update_device"),
    "acc_update_device_async": Routine("vpzi", "update_device"),
    "acc_update_self": Routine("vpz", "update_self"),
    "acc_update_self_async": Routine("vpzi", "update_self"),
    "acc_map_data": Routine("vppz", "map_data"),
    "acc_unmap_data": Routine("vp", "unmap_data"),
    "acc_deviceptr": Routine("pp", "deviceptr"),
    "acc_hostptr": Routine("pp", "hostptr"),
    "acc_is_present": Routine("ipz", "is_present"),
    "acc_memcpy_to_device": Routine("vppz", "memcpy_to_device"),
    "acc_memcpy_to_device_async": Routine("vppzi", "memcpy_to_device"),
    "acc_memcpy_from_device": Routine("vppz", "memcpy_from_device"),
    "acc_memcpy_from_device_async": Routine("vppzi", "memcpy_from_device"),
    "acc_memcpy_device": Routine("vppz", "memcpy_device"),
    "acc_memcpy_device_async": Routine("vppzi", "memcpy_device"),
    "acc_memcpy_d2d": Routine("vppzii", "memcpy_d2d"),
    "acc_memcpy_d2d_async": Routine("vppziii", "memcpy_d2d"),
    "acc_update_peer": Routine("vpipiz", "update_peer"),
    "acc_attach": Routine("vp", "attach"),
    "acc_attach_async": Routine("vpi", "attach"),
    "acc_detach": Routine("vp", "detach"),
    "acc_detach_async": Routine("vpi", "detach"),
    "acc_detach_finalize": Routine("vp", "detach_finalize"),
    "acc_detach_finalize_async": Routine("vpi", "detach_finalize"),
    "acc_prof_register": Routine("vipi", "prof_register"),
    "acc_prof_unregister": Routine("vipi", "prof_unregister"),
    "acc_prof_lookup": Routine("pp", "prof_lookup"),
}


def api_callbacks(runtime: Runtime) -> dict[str, Any]:
    """A ctypes callback for every routine; the caller keeps them alive."""
    routines, compression = Routines(runtime), CompressionRoutines(runtime)
    result: dict[str, Any] = {}
    table = [(name, r.signature, getattr(routines, r.method)) for name, r in ROUTINES.items()]
    for name, (signature, method) in COMPRESSION_ROUTINES.items():
        table.append((name, signature, getattr(compression, method)))
    for name, signature, method in table:
        types = [_C_TYPES[letter] for letter in signature]
        result[name] = ctypes.CFUNCTYPE(*types)(partial(_call, runtime, ProgramPlace(name), method))
    return result


def _call(runtime: Runtime, place: ProgramPlace, method: Callable[..., Any], *args: int) -> Any:
    """Runs one routine; an error has the routine's name as its place."""
    try:
        return method(*args)
    except BaseException as error:
        return runtime.failures.die(error, place)


class Routines:
    """The routines, as methods over a `Runtime`; pointers are integers, null is 0."""

    def __init__(self, runtime: Runtime):
        self._runtime = runtime
        self._strings: dict[tuple[int, int, int], Any] = {}

    # Devices (3.2.1 to 3.2.9)

    def get_num_devices(self, device_type: int) -> int:
        if self._runtime.devices.matches(device_type):
            return self._runtime.devices.provider.count
        return 1 if device_type == DeviceType.HOST else 0

    def set_device_type(self, device_type: int) -> None:
        self._runtime.thread.state = self._runtime.select(device_type)

    def get_device_type(self) -> int:
        return int(self._runtime.current.device.type)

    def set_device_num(self, number: int, device_type: int) -> None:
        self._runtime.thread.state = self._runtime.select(device_type, number)

    def get_device_num(self, device_type: int) -> int:
        return self._runtime.current.number if self._runtime.devices.matches(device_type) else 0

    def get_property(self, number: int, device_type: int, which: int) -> int:
        if not self._runtime.devices.matches(device_type) and device_type != DeviceType.HOST:
            return 0
        state = self._runtime.select(device_type, number)
        device = state.device
        with self._runtime.visiting(state):
            if which == DeviceProperty.MEMORY:
                return device.properties().memory
            if which == DeviceProperty.FREE_MEMORY:
                with state.lock:
                    state.mapper.free_kept()
                state.sync_queue.wait()  # what constructs have given back is free
                return device.free_memory()
        return int(which == DeviceProperty.SHARED_MEMORY_SUPPORT and device.shares_memory)

    def get_property_string(self, number: int, device_type: int, which: int) -> int:
        if not self._runtime.devices.matches(device_type) and device_type != DeviceType.HOST:
            return 0
        state = self._runtime.select(device_type, number)
        properties = state.device.properties()
        texts = {
            DeviceProperty.NAME: properties.name,
            DeviceProperty.VENDOR: properties.vendor,
            DeviceProperty.DRIVER: properties.driver,
        }
        text = texts.get(which)  # pyright: ignore[reportArgumentType, reportCallIssue]
        if text is None:
            return 0
        key = (state.device.type, state.number, which)
        buffer = self._strings.setdefault(key, ctypes.create_string_buffer(text.encode()))
        return ctypes.addressof(buffer)

    def init(self, device_type: int) -> None:
        self.init_device(NOT_GIVEN, device_type)

    def init_device(self, number: int, device_type: int) -> None:
        state = self._runtime.select(device_type, number)
        if self._runtime.profile.active:
            self._runtime.profile.use(API_PLACE, state, implicit=False)

    def shutdown(self, device_type: int) -> None:
        self._runtime.shutdown(device_type, place=ProgramPlace("acc_shutdown"))

    def shutdown_device(self, number: int, device_type: int) -> None:
        self._runtime.shutdown(device_type, number, ProgramPlace("acc_shutdown_device"))

    def on_device(self, device_type: int) -> int:
        """Host code asks: device code has its own answer compiled in."""
        return int(device_type in (DeviceType.HOST, DeviceType.NONE))

    # Queues (3.2.10 to 3.2.17)

    def async_test(self, queue: int, device: int = NOT_GIVEN) -> int:
        state = self._state(device)
        found = state.existing_queue(queue, self._runtime.thread.default_async)
        with self._runtime.visiting(state):
            return int(found is None or state.seems_done(found))

    def async_test_all(self, device: int = NOT_GIVEN) -> int:
        state = self._state(device)
        with self._runtime.visiting(state):
            return int(all(state.seems_done(queue) for queue in state.queues()))

    def wait(self, queue: int, device: int = NOT_GIVEN) -> None:
        self._runtime.wait_queues(self._state(device), [queue])

    def wait_all(self, device: int = NOT_GIVEN) -> None:
        self._runtime.wait_queues(self._state(device), None)

    def wait_async(self, queue: int, waiter: int, device: int = NOT_GIVEN) -> None:
        self._runtime.wait_queues(self._state(device), [queue], waiter)

    def wait_all_async(self, waiter: int, device: int = NOT_GIVEN) -> None:
        self._runtime.wait_queues(self._state(device), None, waiter)

    def wait_any(self, count: int, queues: int, device: int = NOT_GIVEN) -> int:
        """The index of a finished queue; -1 if none is given besides `acc_async_sync`."""
        numbers = (ctypes.c_int * count).from_address(queues) if count > 0 else ()
        asked = [(i, number) for i, number in enumerate(numbers) if number != ASYNC_SYNC]
        if not asked:
            return -1
        while True:
            for index, number in asked:
                if self.async_test(number, device):
                    return index
            time.sleep(20e-6)

    def get_default_async(self) -> int:
        return self._runtime.thread.default_async

    def set_default_async(self, queue: int) -> None:
        self._runtime.set_default_async(queue)

    # Device memory (3.2.18, 3.2.19, 3.2.32 to 3.2.34)

    def malloc(self, size: int) -> int:
        state = self._runtime.current
        if size == 0:
            return 0
        state.expose()
        address = state.device.allocate(size, state.sync_queue)
        state.sync_queue.wait()
        if self._runtime.profile.active:
            self._runtime.profile.memory(Event.ALLOC, API_PLACE, state, address, size)
        return address

    def free(self, address: int) -> None:
        state = self._runtime.current
        if address:
            state.wait_all()
            state.device.free(address, state.sync_queue)
            state.sync_queue.wait()
            if self._runtime.profile.active:
                self._runtime.profile.memory(Event.FREE, API_PLACE, state, address, 0)

    def memcpy_to_device(self, device: int, host: int, size: int, queue: int = ASYNC_SYNC) -> None:
        def copy(state: DeviceState, on: Queue) -> None:
            state.device.copy_in(device, host, Strips(0, size), on)

        self._transfer(copy, "copy in", (host, device), size, queue)

    def memcpy_from_device(
        self, host: int, device: int, size: int, queue: int = ASYNC_SYNC
    ) -> None:
        def copy(state: DeviceState, on: Queue) -> None:
            state.device.copy_out(host, device, Strips(0, size), on)

        self._transfer(copy, "copy out", (host, device), size, queue)

    def memcpy_device(self, target: int, source: int, size: int, queue: int = ASYNC_SYNC) -> None:
        def copy(state: DeviceState, on: Queue) -> None:
            state.device.copy_device(target, source, size, on)

        self._transfer(copy, "", (target, source), size, queue)

    def memcpy_d2d(
        self,
        target: int,
        source: int,
        size: int,
        target_device: int,
        source_device: int,
        queue: int = ASYNC_SYNC,
    ) -> None:
        """Between the device copies of two host addresses (`runtime/data/peer.py`)."""
        if 0 in (target, source) and size > 0:
            raise AccRuntimeError(ErrorClass.INVALID_NULL_POINTER, "copy to or from a null pointer")
        to = self._side(target, size, target_device, "destination")
        origin = self._side(source, size, source_device, "source")
        copy_peer(self._runtime, API_PLACE, to, origin, queue)

    def _side(self, host: int, size: int, device: int, name: str) -> PeerSection:
        return PeerSection(self._state(device), host, size, (), name, f"{host:#x}")

    def update_peer(
        self, target: int, target_device: int, source: int, source_device: int, size: int
    ) -> None:
        """Research extension: `acc_memcpy_d2d` with each address beside its device."""
        self.memcpy_d2d(target, source, size, target_device, source_device)

    # Data (3.2.20 to 3.2.31, 3.2.35 to 3.2.39)

    def copyin(self, host: int, size: int) -> int:
        self._runtime.current.expose()
        return self._clause("enter", DataKind.COPYIN, host, size, ASYNC_SYNC)

    def create(self, host: int, size: int) -> int:
        self._runtime.current.expose()
        return self._clause("enter", DataKind.CREATE, host, size, ASYNC_SYNC)

    def copyin_async(self, host: int, size: int, queue: int) -> None:
        self._clause("enter", DataKind.COPYIN, host, size, queue)

    def create_async(self, host: int, size: int, queue: int) -> None:
        self._clause("enter", DataKind.CREATE, host, size, queue)

    def copyout(self, host: int, size: int, queue: int = ASYNC_SYNC) -> None:
        self._clause("exit", DataKind.COPYOUT, host, size, queue)

    def copyout_finalize(self, host: int, size: int, queue: int = ASYNC_SYNC) -> None:
        self._clause("exit", DataKind.COPYOUT, host, size, queue, DataFlag.FINALIZE)

    def delete(self, host: int, size: int, queue: int = ASYNC_SYNC) -> None:
        self._clause("exit", DataKind.DELETE, host, size, queue)

    def delete_finalize(self, host: int, size: int, queue: int = ASYNC_SYNC) -> None:
        self._clause("exit", DataKind.DELETE, host, size, queue, DataFlag.FINALIZE)

    def update_device(self, host: int, size: int, queue: int = ASYNC_SYNC) -> None:
        self._clause("update", DataKind.UPDATE_DEVICE, host, size, queue)

    def update_self(self, host: int, size: int, queue: int = ASYNC_SYNC) -> None:
        self._clause("update", DataKind.UPDATE_SELF, host, size, queue)

    def map_data(self, host: int, device: int, size: int) -> None:
        state = self._runtime.current
        if host == 0 or device == 0:
            raise AccRuntimeError(
                ErrorClass.INVALID_NULL_POINTER, "a null pointer cannot be mapped"
            )
        if size == 0:
            raise AccRuntimeError(ErrorClass.INVALID_ARGUMENT, "zero bytes cannot be mapped")
        with state.lock:
            held = state.table.overlapping(host, size)
            if held:
                raise AccRuntimeError(
                    ErrorClass.PRESENT,
                    "the host data is present on the device already",
                    requested=HostRange(host, size),
                    overlapping=tuple(entry.range() for entry in held),
                )
            entry = Entry(host, size, device, dynamic=1, pinned=True, origin="acc_map_data")
            entry.users = Users(any=True)
            state.expose()
            state.table.insert(entry)

    def unmap_data(self, host: int) -> None:
        state = self._runtime.current
        with state.lock:
            entry = state.table.at(host)
            if entry is None or entry.host != host or entry.origin != "acc_map_data":
                raise AccRuntimeError(
                    ErrorClass.NOT_PRESENT,
                    f"host address {host:#x} was not mapped with acc_map_data",
                )
            state.table.remove(entry)

    def deviceptr(self, host: int) -> int:
        state = self._runtime.current
        entry = state.table.at(host)
        if entry is None:
            return host if state.device.shares_memory else 0
        entry.users.add_all()
        state.expose()
        return entry.device_address(host)

    def hostptr(self, device: int) -> int:
        state = self._runtime.current
        entry = state.table.by_device_address(device)
        if entry is None:
            return device if state.device.shares_memory else 0
        distance = device - entry.device
        if entry.packed is not None:
            fmt = entry.packed.format
            distance = distance // fmt.storage_bytes * fmt.record_bytes
        return entry.host + distance

    def is_present(self, host: int, size: int) -> int:
        state = self._runtime.current
        return int(state.device.shares_memory or state.table.containing(host, size) is not None)

    def attach(self, pointer: int, queue: int = ASYNC_SYNC) -> None:
        if pointer == 0:
            return
        value = read_host_pointer(pointer)
        request = Request(value, 0, 0, DataKind.ATTACH, NO_FLAGS, pointer)
        self._perform("enter", request, queue)

    def detach(self, pointer: int, queue: int = ASYNC_SYNC) -> None:
        self._detach(pointer, queue, NO_FLAGS)

    def detach_finalize(self, pointer: int, queue: int = ASYNC_SYNC) -> None:
        self._detach(pointer, queue, DataFlag.FINALIZE)

    # Profiling (5.3)

    def prof_register(self, event: int, callback: int, mode: int) -> None:
        self._runtime.profile.callbacks.register(event, callback, mode)

    def prof_unregister(self, event: int, callback: int, mode: int) -> None:
        self._runtime.profile.callbacks.unregister(event, callback, mode)

    def prof_lookup(self, name: int) -> int:
        """No inquiry functions beyond the standard's are offered: null for every name."""
        return 0

    # Details

    def _detach(self, pointer: int, queue: int, flags: DataFlag) -> None:
        if pointer:
            request = Request(pointer, 0, POINTER_BYTES, DataKind.DETACH, flags, pointer)
            self._perform("exit", request, queue)

    def _state(self, number: int) -> DeviceState:
        return self._runtime.current if number < 0 else self._runtime.state(number)

    def _clause(
        self,
        what: str,
        kind: DataKind,
        host: int,
        size: int,
        queue: int,
        flags: DataFlag = NO_FLAGS,
    ) -> int:
        """One data clause on `size` bytes with the dynamic counter; its device address."""
        request = Request(host, 0, size, kind, flags | DataFlag.DYNAMIC, name=f"{host:#x}")
        self._perform(what, request, queue)
        return request.device

    def _perform(self, what: str, request: Request, queue: int) -> None:
        runtime = self._runtime
        request.origin = "an acc_ routine"
        runtime.perform(runtime.current, API_PLACE, [request], queue, what)

    def _transfer(
        self,
        copy: Callable[[DeviceState, Queue], None],
        what: str,
        addresses: tuple[int, int],
        size: int,
        queue: int,
    ) -> None:
        if size == 0:
            return
        if 0 in addresses:
            raise AccRuntimeError(ErrorClass.INVALID_NULL_POINTER, "copy to or from a null pointer")
        state = self._runtime.current
        on = state.queue(queue, self._runtime.thread.default_async)
        profile = self._runtime.profile
        watched = (
            profile.copy(API_PLACE, state, queue, what, addresses, size)
            if what and profile.active
            else nullcontext()
        )
        with state.lock, watched:
            copy(state, on)
        if on is state.sync_queue:
            on.wait()
        else:
            state.leaves_device(on)
