"""
Large transfers between a GPU and pageable memory, through pinned buffers.

The driver moves pageable memory at 10 GB/s, pinned at 55 (docs: measured on an H200). A transfer is
cut into pieces; native threads (`native/transfer.py`) copy, encode or decode some of them to or from
pinned buffers while the DMA engine moves others.
"""

from __future__ import annotations

import ctypes
import math
import os
import threading
import time
from typing import Any, Literal

from ..device import NativeMove
from ..native.scan import EMPTY, NativeScan, native_scan, union
from ..native.threads import MAX_THREADS
from ..native.transfer import BUFFERS, NativeTransfer, TransferJob
from .driver import Driver

PIECE = 2 << 20
"""Bytes of a buffer. The driver takes 15 µs for a piece of any size, and the bus 42 µs for one of this
size."""

LEAST_PIECE = 1 << 20
"""The bytes from which handing a copy to the driver pays."""

PARTS = 8
"""The part of a piece after which a thread that scans ahead checks its buffers."""

BLOCK = 4 << 10
"""The bytes of host memory that the codec gets at a time, while the next ones are prefetched."""

FEW_THREADS = 8
"""
The number of threads above which one buffer per thread in flight keeps the bus busy until the thread has
filled its other one; more plain buffers would only wait for the bus, so the remaining numbers are scanned
and transferred packed.
"""

RECENT = 0.05
"""
The seconds for which a host thread counts as transferring after it has. Host threads that transfer at the
same time share the processors: with more threads than processors, all of them wait for each other.
"""

BYTES_PER_THREAD = 1 << 20
"""The bytes moved on the host from which another thread pays."""


_last_use: dict[int, float] = {}
"""When a host thread, by its number, last transferred data: infinity while it does."""


def _processors() -> int:
    """The calling host thread's share of the processors."""
    now, own = time.monotonic(), threading.get_ident()
    others = [t for t, last in list(_last_use.items()) if t != own and now - last < RECENT]
    return len(os.sched_getaffinity(0)) // (1 + len(others))


class StagingCopier:
    """
    Owns the pinned buffers of one device, whose `context` the threads enter. There is one transfer at a
    time, which the runtime's lock ensures.
    """

    def __init__(self, driver: Driver, context: int):
        self._driver = driver
        self._native = NativeTransfer()
        self._threads = max(1, min(MAX_THREADS, len(os.sched_getaffinity(0))))
        self._buffers = (ctypes.c_void_p * (BUFFERS * self._threads))()
        self._events = (ctypes.c_void_p * (BUFFERS * self._threads))()
        self._found = (ctypes.c_double * (2 * self._threads))()
        self._owned: list[tuple[int, Any]] = []
        self._scans: dict[int, tuple[NativeScan, object]] = {}
        self._job = TransferJob(
            context=context,
            buffers=ctypes.addressof(self._buffers),
            events=ctypes.addressof(self._events),
            found=ctypes.addressof(self._found),
            set_current=driver.address("cuCtxSetCurrent"),
            synchronize=driver.address("cuEventSynchronize"),
            query=driver.address("cuEventQuery"),
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
        As `copy_in` or `copy_out`, for `count` elements that are converted. Returns the sum of the results
        of the conversion function.
        """
        job = self._prepare(device, host, count, (how.host_step, how.device_step), 1, stream)
        job.move, job.a, job.b, job.stride = how.function, how.a, how.b, how.stride
        copies = how.host_step == how.device_step or how.stride != 1
        job.block = max(1, count if copies else BLOCK // how.host_step)
        self._run(job, "out" if out else "in")
        return int(job.total)

    def find(
        self, device: int, host: int, count: int, base_bits: int, stream: int
    ) -> tuple[int, tuple[float, float]]:
        """
        Copies the first of `count` numbers of `base_bits` bits to the device, as many as the bus can take
        while the threads scan the others. Returns their count and the range of all numbers (the smallest
        and the largest finite one; (0, 0) if none is finite).
        """
        scan = self._scan(base_bits)
        job = self._prepare(device, host, count, (scan.bytes, scan.bytes), PARTS, stream)
        job.scan, job.scan_copy = scan.scan, scan.scan_copy
        job.idle = int(job.threads > FEW_THREADS)
        self._found[:] = EMPTY * (len(self._found) // 2)
        self._run(job, "find")
        found = self._found
        return job.sent, union(zip(found[::2], found[1::2], strict=True))

    def close(self) -> None:
        """Releases the buffers and ends the threads; no transfer may be pending."""
        self._native.close()
        for buffer, event in self._owned:
            self._driver.call(self._driver.api.cuEventDestroy, event)
            self._driver.call(self._driver.api.cuMemFreeHost, buffer)
        self._owned.clear()

    def _prepare(
        self, device: int, host: int, count: int, steps: tuple[int, int], parts: int, stream: int
    ) -> TransferJob:
        """
        The job of one transfer, without its conversion: `steps` are the bytes of an element on the host and
        on the device, `parts` the units of a piece.
        """
        bytes = count * max(steps)
        threads = max(1, min(self._threads, _processors(), bytes // BYTES_PER_THREAD))
        self._allocate(threads)
        # Smaller transfers also have a few pieces per thread, so that copying and sending overlap.
        piece = min(PIECE, max(LEAST_PIECE, bytes // (BUFFERS * threads)))
        unit = max(1, piece // max(steps) // parts)
        job = self._job
        job.count, job.unit, job.most, job.threads = count, unit, parts, threads
        job.bounds = -(-count // unit) << 32
        job.workers = job.total = job.status = 0
        job.host, job.host_step = host, steps[0]
        job.device, job.device_step = device, steps[1]
        job.stream = stream
        return job

    def _run(self, job: TransferJob, worker: Literal["in", "out", "find"]) -> None:
        thread = threading.get_ident()
        _last_use[thread] = math.inf
        try:
            self._native.run(job, worker)
        finally:
            _last_use[thread] = time.monotonic()
        if job.status:
            self._driver.check(int(job.status), "a transfer through pinned memory")

    def _scan(self, base_bits: int) -> NativeScan:
        """The native functions for numbers of `base_bits` bits."""
        if base_bits not in self._scans:
            self._scans[base_bits] = native_scan(base_bits)
        return self._scans[base_bits][0]

    def _plain(self) -> NativeMove:
        return NativeMove(1, 1, self._native.memcpy)

    def _allocate(self, threads: int) -> None:
        """Allocates buffers for `threads` threads."""
        driver, api = self._driver, self._driver.api
        flags = int(api.CUevent_flags.CU_EVENT_DISABLE_TIMING)
        while len(self._owned) < BUFFERS * threads:
            buffer = int(driver.call(api.cuMemHostAlloc, PIECE, 0))
            event = driver.call(api.cuEventCreate, flags)
            slot = len(self._owned)
            self._owned.append((buffer, event))
            self._buffers[slot], self._events[slot] = buffer, int(event)
