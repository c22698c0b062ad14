"""The `acc_*` routines about device memory and data (OpenACC 3.4, 3.2.18 to 3.2.39)."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from typing import TYPE_CHECKING

from ..compiler.base.abi import (
    ASYNC_SYNC,
    DataFlag,
    DataKind,
)
from .data.clauses import NO_FLAGS, POINTER_BYTES, Request, read_host_pointer
from .data.ordering import Users
from .data.peer import PeerSection, copy_peer
from .data.present import MAP_DATA, Entry
from .device import Queue, Strips
from .errors import API_PLACE, AccRuntimeError, ErrorClass, HostRange
from .profiling.callbacks import Event
from .state import DeviceState

if TYPE_CHECKING:
    from .program import Runtime


class DataRoutines:
    """Methods over a `Runtime`; pointers are integers, null is 0."""

    def __init__(self, runtime: Runtime):
        self._runtime = runtime

    # Device memory (3.2.18, 3.2.19, 3.2.32 to 3.2.34)

    def malloc(self, size: int) -> int:
        state = self._runtime.current
        if size == 0:
            return 0
        address = state.allocate(size)
        if self._runtime.profile.active:
            self._runtime.profile.memory(Event.ALLOC, API_PLACE, state, address, size)
        return address

    def free(self, address: int) -> None:
        state = self._runtime.current
        if address:
            state.free(address)
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
        """`acc_memcpy_d2d`: copies between the device copies of two host addresses
        (`runtime/data/peer.py`)."""
        if 0 in (target, source) and size > 0:
            raise AccRuntimeError(ErrorClass.INVALID_NULL_POINTER, "copy to or from a null pointer")
        to = self._side(target, size, target_device, "destination")
        origin = self._side(source, size, source_device, "source")
        copy_peer(self._runtime, API_PLACE, to, origin, queue)

    def _side(self, host: int, size: int, device: int, name: str) -> PeerSection:
        return PeerSection(
            self._runtime.state_or_current(device), host, size, (), name, f"{host:#x}"
        )

    def update_peer(
        self, target: int, target_device: int, source: int, source_device: int, size: int
    ) -> None:
        """Research extension: `acc_memcpy_d2d` with arguments ordered as address, device, address,
        device."""
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
            entry = Entry(host, size, device, dynamic=1, pinned=True, origin=MAP_DATA)
            entry.users = Users(any=True)
            state.expose()
            state.table.insert(entry)

    def unmap_data(self, host: int) -> None:
        state = self._runtime.current
        with state.lock:
            entry = state.table.at(host)
            if entry is None or entry.host != host or entry.origin != MAP_DATA:
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

    # Details

    def _detach(self, pointer: int, queue: int, flags: DataFlag) -> None:
        if pointer:
            request = Request(pointer, 0, POINTER_BYTES, DataKind.DETACH, flags, pointer)
            self._perform("exit", request, queue)

    def _clause(
        self,
        what: str,
        kind: DataKind,
        host: int,
        size: int,
        queue: int,
        flags: DataFlag = NO_FLAGS,
    ) -> int:
        """Performs one data clause on `size` bytes with the dynamic counter; returns the device address."""
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
        for address in addresses[1:] if what else addresses:  # the first one is the host's
            state.mapper.actions.check_address(address, f"{address:#x}")
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
