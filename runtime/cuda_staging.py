"""
Large transfers between a GPU and pageable memory, through pinned buffers.

The driver moves pageable memory at 10 GB/s, pinned at 55 (docs: measured on an H200). A transfer is
cut into pieces; native threads (`native_transfer.py`) copy, encode or decode some of them to or from
pinned buffers while the DMA engine moves others.
"""

from __future__ import annotations

import ctypes
import os
from typing import Any

from .cuda_driver import Driver
from .device import NativeMove
from .native_transfer import BUFFERS, NativeTransfer, TransferJob
from .native_transfer import MAX_THREADS as MOST

PIECE = 2 << 20
"""Bytes of a buffer."""

LEAST_PIECE = 256 << 10
"""Bytes for which handing a copy to the driver pays."""

THRESHOLD = 4 << 20
"""Transfers below this many bytes go straight to the driver."""

BYTES_PER_THREAD = 2 << 20
"""A thread pays for so many bytes to move on the host."""

MAX_THREADS = MOST


class StagingCopier:
    """
    Owns the pinned buffers of one device, whose `context` the threads enter; one transfer at a time
    (the runtime's lock sees to it).
    """

    def __init__(self, driver: Driver, context: int):
        self._driver = driver
        self._native = NativeTransfer()
        self._threads = max(1, min(MAX_THREADS, len(os.sched_getaffinity(0))))
        self._buffers = (ctypes.c_void_p * (BUFFERS * self._threads))()
        self._events = (ctypes.c_void_p * (BUFFERS * self._threads))()
        self._owned: list[tuple[int, Any]] = []
        self._job = TransferJob(
            context=context,
            buffers=ctypes.addressof(self._buffers),
            events=ctypes.addressof(self._events),
            set_current=driver.address("cuCtxSetCurrent"),
            synchronize=driver.address("cuEventSynchronize"),
            copy=driver.address("cuMemcpyAsync"),
            record=driver.address("cuEventRecord"),
        )

    def copy_in(self, device: int, host: int, size: int, stream: int) -> None:
        """Returns when the host memory may change; the last pieces may still be on their way."""
        self.move(device, host, size, self._plain(), stream, out=False)

    def copy_out(self, host: int, device: int, size: int, stream: int) -> None:
        """Returns when the host memory holds the data."""
        self.move(device, host, size, self._plain(), stream, out=True)

    def move(
        self, device: int, host: int, count: int, how: NativeMove, stream: int, *, out: bool
    ) -> int:
        """
        As `copy_in` or `copy_out`, of `count` elements that change on their way. The sum of the
        results of their function.
        """
        bytes = count * max(how.host_step, how.device_step)
        threads = max(1, min(self._threads, bytes // BYTES_PER_THREAD))
        self._allocate(threads)
        # A few pieces per thread in smaller transfers, so that copying and sending overlap there too.
        share = max(-(-count // (BUFFERS * threads)), LEAST_PIECE // how.device_step)
        piece = max(1, min(PIECE // how.device_step, share))
        job = self._job
        job.next = job.workers = job.total = job.status = 0
        job.count, job.piece, job.stream = count, piece, stream
        job.host, job.host_step = host, how.host_step
        job.device, job.device_step = device, how.device_step
        job.move, job.a, job.b, job.stride = how.function, how.a, how.b, how.stride
        self._native.run(job, threads, out=out)
        if job.status:
            self._driver.check(int(job.status), "a transfer through pinned memory")
        return int(job.total)

    def close(self) -> None:
        """Releases the buffers; no transfer may be pending."""
        for buffer, event in self._owned:
            self._driver.call(self._driver.api.cuEventDestroy, event)
            self._driver.call(self._driver.api.cuMemFreeHost, buffer)
        self._owned.clear()

    def _plain(self) -> NativeMove:
        return NativeMove(1, 1, self._native.memcpy)

    def _allocate(self, threads: int) -> None:
        """Makes buffers for so many threads."""
        driver, api = self._driver, self._driver.api
        flags = int(api.CUevent_flags.CU_EVENT_DISABLE_TIMING)
        while len(self._owned) < BUFFERS * threads:
            buffer = int(driver.call(api.cuMemHostAlloc, PIECE, 0))
            event = driver.call(api.cuEventCreate, flags)
            slot = len(self._owned)
            self._owned.append((buffer, event))
            self._buffers[slot], self._events[slot] = buffer, int(event)
