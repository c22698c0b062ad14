"""The `acc_*` routines about devices, queues, CUDA's streams and profiling (OpenACC 3.4, 3.2.1 to 3.2.17,
A.2.1 and 5.3)."""

from __future__ import annotations

import ctypes
import sys
import time
from typing import TYPE_CHECKING, Any

from ..compiler.base.abi import (
    ASYNC_SYNC,
    NOT_GIVEN,
    DeviceProperty,
    DeviceType,
)
from ..compiler.base.diagnostics import UNKNOWN_LOC, Diagnostic, Severity, render
from ..compiler.base.ranks import own_rank
from .errors import API_PLACE, ProgramPlace

if TYPE_CHECKING:
    from .program import Runtime


class DeviceRoutines:
    """Methods over a `Runtime`; pointers are integers, null is 0."""

    def __init__(self, runtime: Runtime):
        self._runtime = runtime
        self._strings: dict[tuple[int, int, int], Any] = {}
        self._absent: set[int] = set()

    # Devices (3.2.1 to 3.2.9)

    def get_num_devices(self, device_type: int) -> int:
        if self._runtime.devices.matches(device_type):
            return self._runtime.devices.provider.count
        if device_type == DeviceType.HOST:
            return 1
        self._say_none(device_type)
        return 0

    def _say_none(self, device_type: int) -> None:
        """Says once for each type that the program has no such devices, and why; of an MPI program, rank 0
        does."""
        rank = own_rank()
        if device_type in self._absent or (rank is not None and rank.number > 0):
            return
        self._absent.add(device_type)
        known = device_type in DeviceType.__members__.values()
        name = f"acc_device_{DeviceType(device_type).name.lower()}" if known else str(device_type)
        on_host = self._runtime.devices.provider.type == DeviceType.HOST
        why = (
            "the program runs on the host"
            if on_host
            else "the program was compiled for NVIDIA GPUs"
        )
        remedy = (
            "--target=nvptx is for GPUs, --target=sim for simulated ones"
            if on_host
            else ("acc_device_default is right for every target")
        )
        text = f"acc_get_num_devices({name}) is 0, as {why}; {remedy}"
        print(render(Diagnostic(Severity.REMARK, UNKNOWN_LOC, text)), file=sys.stderr)

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
                    state.mapper.actions.free_kept()
                state.sync_queue.wait()  # until then, memory that constructs freed is in use
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
        """`acc_on_device` in host code; in device code it is a constant."""
        return int(device_type in (DeviceType.HOST, DeviceType.NONE))

    # Queues (3.2.10 to 3.2.17)

    def async_test(self, queue: int, device: int = NOT_GIVEN) -> int:
        state = self._runtime.state_or_current(device)
        found = state.existing_queue(queue, self._runtime.thread.default_async)
        with self._runtime.visiting(state):
            return int(found is None or state.seems_done(found))

    def async_test_all(self, device: int = NOT_GIVEN) -> int:
        state = self._runtime.state_or_current(device)
        with self._runtime.visiting(state):
            return int(all(state.seems_done(queue) for queue in state.queues()))

    def wait(self, queue: int, device: int = NOT_GIVEN) -> None:
        self._runtime.wait_queues(self._runtime.state_or_current(device), [queue])

    def wait_all(self, device: int = NOT_GIVEN) -> None:
        self._runtime.wait_queues(self._runtime.state_or_current(device), None)

    def wait_async(self, queue: int, waiter: int, device: int = NOT_GIVEN) -> None:
        self._runtime.wait_queues(self._runtime.state_or_current(device), [queue], waiter)

    def wait_all_async(self, waiter: int, device: int = NOT_GIVEN) -> None:
        self._runtime.wait_queues(self._runtime.state_or_current(device), None, waiter)

    def wait_any(self, count: int, queues: int, device: int = NOT_GIVEN) -> int:
        """Waits until one of the queues is finished, and returns its index; -1 if none is given besides
        `acc_async_sync`."""
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

    # CUDA (appendix A.2.1); null on other devices

    def get_current_cuda_device(self) -> int:
        return self._runtime.current.device.cuda_device()

    def get_current_cuda_context(self) -> int:
        return self._runtime.current.device.native_context()

    def get_cuda_stream(self, queue: int) -> int:
        """`acc_get_cuda_stream`: from now on the host waits after each synchronous construct, as for device
        addresses."""
        state = self._runtime.current
        with self._runtime.visiting(state):
            return state.share_stream(queue, self._runtime.thread.default_async)

    def set_cuda_stream(self, queue: int, stream: int) -> int:
        """`acc_set_cuda_stream`: 1 if the queue uses the stream from now on, 0 on devices without streams."""
        state = self._runtime.current
        with self._runtime.visiting(state):
            used = state.use_stream(queue, self._runtime.thread.default_async, stream)
        self._runtime.native.forget_launches(state)
        return int(used)

    # Profiling (5.3)

    def prof_register(self, event: int, callback: int, mode: int) -> None:
        self._runtime.profile.callbacks.register(event, callback, mode)

    def prof_unregister(self, event: int, callback: int, mode: int) -> None:
        self._runtime.profile.callbacks.unregister(event, callback, mode)

    def prof_lookup(self, name: int) -> int:
        """`acc_prof_lookup`: null for every name, as there are no inquiry functions beyond the
        standard's."""
        return 0
