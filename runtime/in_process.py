"""
What devices have in common whose memory is in this process: the CPU (`host/device.py`) and the simulated
GPU (`sim/device.py`). Their queues take Python functions; they have no driver, so neither contexts nor
events, and copies between them go through Python.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from .device import Conversion, Device, NativeDriver, Queue, Strips
from .errors import AccRuntimeError, ErrorClass

if TYPE_CHECKING:
    from .data.peer_sections import PeerStrips
    from .native.peers import PeerDriver
    from .native.queues import NativeQueue


class WorkQueue:
    """A `Queue` of Python functions."""

    def submit(self, work: Callable[[], object]) -> None:
        """Appends work, which is done after the work so far."""
        raise NotImplementedError

    @property
    def given(self) -> int | None:
        """The number of pieces of work that it was ever given; None if it performs work immediately, or in
        a thread."""
        return None

    def close(self) -> None:
        """Releases the queue's resources; here there are none."""


class InlineQueue(WorkQueue):
    """A queue whose work is done before `submit` returns."""

    def submit(self, work: Callable[[], object]) -> None:
        work()

    def wait(self) -> None:
        """Nothing is ever pending."""

    def done(self) -> bool:
        return True

    def wait_for(self, other: Queue) -> None:
        other.wait()


def submit(queue: object, work: Callable[[], object]) -> None:
    """Appends work to a queue, which is a `WorkQueue`."""
    assert isinstance(queue, WorkQueue)
    queue.submit(work)


class InProcessDevice:
    """
    The parts of a `Device` (see there for the methods' contracts) that follow from its memory being in this
    process. A subclass says where device memory is, and what else happens when its bytes change.
    """

    def in_process(self, address: int, size: int) -> int:
        """The address in this process of `size` bytes of device memory."""
        raise NotImplementedError

    def written(self, address: int, size: int) -> None:
        """Called after the host has written `size` bytes of device memory."""

    def copied(self, target: int, origin: InProcessDevice, source: int, size: int) -> None:
        """Called after `size` bytes at `source` in `origin`'s memory were copied to `target` in this
        device's."""

    def transfer(self, target: int, source: int, size: int) -> None:
        """Copies `size` bytes of this process between host memory and device memory."""
        ctypes.memmove(target, source, size)

    # Memory

    def copy_in(self, device: int, host: int, strips: Strips, queue: Queue) -> None:
        def copy() -> None:
            for at in strips.starts():
                place = self.in_process(device + at, strips.width)
                self.transfer(place, host + at, strips.width)
                self.written(device + at, strips.width)

        submit(queue, copy)

    def copy_out(self, host: int, device: int, strips: Strips, queue: Queue) -> None:
        def copy() -> None:
            for at in strips.starts():
                place = self.in_process(device + at, strips.width)
                self.transfer(host + at, place, strips.width)

        submit(queue, copy)

    def write(self, device: int, host: int, count: int, how: Conversion, queue: Queue) -> None:
        size = count * how.native.device_step

        def convert() -> None:
            how.perform(self.in_process(device, size), host, count)
            self.written(device, size)

        submit(queue, convert)

    def read(self, host: int, device: int, count: int, how: Conversion, queue: Queue) -> None:
        size = count * how.native.device_step
        submit(queue, lambda: how.perform(host, self.in_process(device, size), count))

    def copy_device(self, target: int, source: int, size: int, queue: Queue) -> None:
        submit(queue, lambda: self._copy_from(self, target, source, size))

    def copy_peer(
        self,
        origin: Device,
        places: tuple[int, int],
        strips: Iterable[PeerStrips],
        queues: tuple[Queue, Queue],
    ) -> None:
        assert isinstance(origin, InProcessDevice)
        target, source = places
        on, other = queues
        listed = list(strips)

        def copy() -> None:
            for strip in listed:
                for row in range(strip.rows):
                    to, at = target + strip.target_of(row), source + strip.source_of(row)
                    self._copy_from(origin, to, at, strip.width)

        on.wait_for(other)
        submit(on, copy)
        other.wait_for(on)

    def _copy_from(self, origin: InProcessDevice, target: int, source: int, size: int) -> None:
        ctypes.memmove(self.in_process(target, size), origin.in_process(source, size), size)
        self.copied(target, origin, source, size)

    def zero(self, address: int, size: int, queue: Queue) -> None:
        def clear() -> None:
            ctypes.memset(self.in_process(address, size), 0, size)
            self.written(address, size)

        submit(queue, clear)

    def store_pointer(self, address: int, value: int, queue: Queue) -> None:
        def store() -> None:
            ctypes.c_int64.from_address(self.in_process(address, 8)).value = value
            self.written(address, 8)

        submit(queue, store)

    def finishes_at_once(self, queue: Queue) -> bool:
        return False

    def call_later(self, queue: Queue, function: int, argument: int) -> None:
        submit(queue, lambda: ctypes.CFUNCTYPE(None, ctypes.c_int64)(function)(argument))

    # What only a driver has

    def packer(self) -> None:
        """None: the host encodes."""

    def make_current(self) -> None:
        """Does nothing: there are no contexts."""

    def native_context(self) -> int:
        return 0

    def native_queue(self, queue: Queue) -> NativeQueue | None:
        """None: queues have no events."""

    def cuda_device(self) -> int:
        return 0

    def share_stream(self, queue: Queue) -> int:
        return 0

    def use_stream(self, queue: Queue, stream: int) -> bool:
        return False

    def enter_function(self) -> int:
        return 0

    def native_driver(self) -> NativeDriver | None:
        """None: every launch goes through Python."""

    def native_stream(self) -> int:
        return 0

    def peer_driver(self) -> PeerDriver | None:
        """None: copies go through Python."""

    def native_way(self, origin: Device) -> None:
        """None: copies go through Python."""

    def leave_peers(self) -> None:
        """Does nothing: there are no resources to release."""


def not_device_memory(address: int) -> AccRuntimeError:
    """The error for an address to free that is not the start of a block of device memory."""
    return AccRuntimeError(
        ErrorClass.INVALID_ARGUMENT,
        f"{address:#x} is not device memory of this program, or was freed before",
    )
