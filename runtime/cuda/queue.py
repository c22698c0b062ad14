"""CUDA streams as queues."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..device import Queue
from ..native.queues import NativeQueue
from .driver import NOT_READY, SUCCESS

if TYPE_CHECKING:
    from .device import CudaDevice


_URGENT = -100
"""A priority of streams: the driver takes the nearest one that the GPU has."""


class CudaQueue:
    """
    A CUDA stream as a queue. One that is `ordered` takes turns with CUDA's default stream, on which
    libraries put their work unless they are told otherwise: its later work starts after that of the default
    stream (CUDA programming guide, "Implicit Synchronization").
    """

    def __init__(self, device: CudaDevice, *, urgent: bool = False, ordered: bool = False):
        self._device = device
        self._driver = device.driver
        api = self._driver.api
        known = api.CUstream_flags
        flags = int(known.CU_STREAM_DEFAULT if ordered else known.CU_STREAM_NON_BLOCKING)
        if urgent:
            self.handle = self._driver.call(api.cuStreamCreateWithPriority, flags, _URGENT)
        else:
            self.handle = self._driver.call(api.cuStreamCreate, flags)
        self._is_own = True
        self.native = NativeQueue(stream=int(self.handle))
        self._event: Any = None

    @property
    def stream(self) -> int:
        """The driver's handle, for putting work on the stream or waiting for it; the stream has caught up
        with its asides (`native/queues.py`)."""
        native = self.native
        if native.count:
            self._device.catch_up(native)
        return native.stream

    def share(self) -> int:
        """The driver's handle for the program, which may put work on the stream from now on."""
        self.native.shared = 1
        return self.stream

    def use(self, stream: int) -> None:
        """Puts later work on a stream of the program (0: CUDA's default one), after all work so far."""
        self.wait()
        if self._is_own:
            self._driver.call(self._driver.api.cuStreamDestroy, self.handle)
        self._is_own = False
        self.native.shared = 1
        self.native.stream = stream

    def wait(self) -> None:
        self._device.make_current()
        transfers, postponed = self.native.transfers, self.native.postponed
        status = self._driver.stream_synchronize(self.stream)
        if status != SUCCESS:
            self._driver.check(status, "cuStreamSynchronize")
        self.native.settled, self.native.joined = transfers, postponed

    def done(self) -> bool:
        self._device.make_current()
        status = self._driver.stream_query(self.stream)
        if status == NOT_READY:
            return False
        self._driver.check(status, "cuStreamQuery")
        return True

    def wait_for(self, other: Queue) -> None:
        assert isinstance(other, CudaQueue)
        driver = self._driver
        event = other.record()
        self._device.make_current()
        driver.check(driver.stream_wait_event(self.native.stream, event, 0), "cuStreamWaitEvent")
        if other.native.transfers != other.native.settled:
            self.native.transfers += 1

    def event(self) -> int:
        """The queue's event, made once; its device's context is current afterwards."""
        api = self._driver.api
        self._device.make_current()
        if self._event is None:
            flags = int(api.CUevent_flags.CU_EVENT_DISABLE_TIMING)
            self._event = self._driver.call(api.cuEventCreate, flags)
            self.native.event = int(self._event)
        return int(self._event)

    def record(self) -> int:
        """
        Records the queue's event after all work so far. The next call records the same event again; earlier
        waits for it are not affected.
        """
        event = self.event()  # of the current context, to which the stream must belong
        driver = self._driver
        driver.check(driver.event_record(event, self.stream), "cuEventRecord")
        return event

    def close(self) -> None:
        self._device.make_current()
        if self._event is not None:
            self._driver.call(self._driver.api.cuEventDestroy, self._event)
            self._event = None
        if self._is_own:
            self._driver.call(self._driver.api.cuStreamDestroy, self.handle)


def stream_of(queue: Queue) -> int:
    """The driver's handle of a queue's stream, which has caught up with its asides."""
    assert isinstance(queue, CudaQueue)
    return queue.stream
