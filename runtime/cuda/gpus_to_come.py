"""Stand-ins for GPUs in a process that compiles the runtime's native code for them but must not use
them."""

from __future__ import annotations

from dataclasses import fields

from ...compiler.base.abi import DeviceType
from ..device import DeviceProvider, NativeDriver, Queue
from ..host.device import HostDevice
from ..in_process import InlineQueue
from ..native.peers import PeerDriver
from ..native.queues import NativeQueue


class _GpuToCome(HostDevice):
    """A stand-in for a GPU, with the properties on which native code depends: the set of the driver's
    functions. It gets no work."""

    type = DeviceType.NVIDIA
    reuses_blocks = False
    clears_blocks = False

    def __init__(self) -> None:
        self.name, self.shares_memory, self.works_in_place = "a GPU", True, False
        self.sync_queue = InlineQueue()

    def native_context(self) -> int:
        return 1

    def native_queue(self, queue: Queue) -> NativeQueue:
        return NativeQueue()

    def enter_function(self) -> int:
        return 1

    def native_driver(self) -> NativeDriver:
        return NativeDriver(*(1 for _ in fields(NativeDriver)))

    def peer_driver(self) -> PeerDriver:
        return PeerDriver(self.native_driver(), 1, 1, 1)


def gpus_to_come(count: int) -> DeviceProvider:
    """Stand-ins for `count` GPUs."""
    return DeviceProvider(DeviceType.NVIDIA, count, lambda _: _GpuToCome())
