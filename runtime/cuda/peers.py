"""
Copies between two GPUs: by peer access if the machine has it, otherwise through pinned memory.

Without peer access a transfer goes through two pinned buffers piece by piece, on two queues of its own, one
on each GPU: the first fills a buffer while the second empties the other. Events between the queues order
the pieces, so the host never waits.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from ..data.peer_sections import PeerStrips
from ..native.peers import RECTANGLE_BYTES, KernelCopy
from ..native.queues import NativeQueue
from .driver import PEER_ACCESS_ALREADY_ENABLED, SUCCESS
from .memory import CopySide, copy_rows
from .rows_kernel import THREADS, WORDS, kernel_name, rows_copy, rows_kernels

if TYPE_CHECKING:
    from .device import CudaDevice
    from .queue import CudaQueue

PIECE = 4 << 20
"""Bytes of a buffer."""
KERNEL_BYTES = 1 << 20
"""
The most bytes that a kernel copies if kernels run before and after the copy: that takes 5 µs less than
starting a copy engine and the kernel after it. (On an idle GPU the copy engine starts 1.6 µs sooner, and it
needs no multiprocessors.)
"""

_SIDE_WORDS = 11
_RECTANGLE_WORDS = 2 * _SIDE_WORDS + 3
_MEMORY_TYPE, _DEVICE, _CONTEXT, _PITCH, _HEIGHT = 4, 6, 8, 9, 10
"""`CUDA_MEMCPY3D_PEER` in words: so many of the source, of the target, then width, height and depth."""
_DEVICE_MEMORY = 2
assert 8 * _RECTANGLE_WORDS == RECTANGLE_BYTES


def connect(to: CudaDevice, origin: CudaDevice) -> bool:
    """Enables access of two GPUs to each other's memory; returns whether they have it."""
    driver, api = to.driver, to.driver.api
    pairs = ((to, origin), (origin, to))
    if not all(
        int(driver.call(api.cuDeviceCanAccessPeer, own.handle, other.handle))
        for own, other in pairs
    ):
        return False
    for own, other in pairs:
        own.make_current()
        (status, *_) = api.cuCtxEnablePeerAccess(other.context, 0)
        if int(status) not in (SUCCESS, PEER_ACCESS_ALREADY_ENABLED):
            return False
        if own.memory.pool is not None:  # peer access of contexts excludes the memory of pools
            access = api.CUmemAccessDesc()
            access.location.type = api.CUmemLocationType.CU_MEM_LOCATION_TYPE_DEVICE
            access.location.id = int(other.handle)
            access.flags = api.CUmemAccess_flags.CU_MEM_ACCESS_FLAGS_PROT_READWRITE
            driver.call(api.cuMemPoolSetAccess, own.memory.pool, [access], 1)
    return True


class DirectPeer:
    """Copies from device `origin` to device `to`, which have access to each other's memory: by peer access,
    or because they are on one GPU."""

    def __init__(self, to: CudaDevice, origin: CudaDevice):
        self._to, self._origin = to, origin
        self._contexts = int(to.context), int(origin.context)
        self._lane: CudaQueue | None = None
        self._kernels: dict[int, int] = {}

    def copy(
        self, target: int, source: int, strips: Iterable[PeerStrips], queues: Sequence[CudaQueue]
    ) -> None:
        """
        Copies after the work now on two queues, one of `to` and one of `origin`, whose later work comes
        after the copy; twice the same one of `to` if the other device has nothing to do.
        """
        on, other = queues
        if other is not on:
            on.wait_for(other)
        for strip in strips:
            self._copy(target + strip.target, source + strip.source, strip, on)
        if other is not on:
            other.wait_for(on)

    def _copy(self, target: int, source: int, strips: PeerStrips, queue: CudaQueue) -> None:
        driver, api = self._to.driver, self._to.driver.api
        self._to.make_current()
        if strips.rows == 1:
            to, origin = self._contexts
            status = driver.copy_peer(target, to, source, origin, strips.width, queue.stream)
            driver.check(status, "cuMemcpyPeerAsync")
            return
        copy = api.CUDA_MEMCPY3D_PEER()
        copy.srcMemoryType = copy.dstMemoryType = api.CUmemorytype.CU_MEMORYTYPE_DEVICE
        copy.srcDevice, copy.dstDevice = source, target
        copy.srcContext, copy.dstContext = self._origin.context, self._to.context
        copy.srcPitch, copy.dstPitch = strips.source_pitch, strips.target_pitch
        copy.srcHeight = copy.dstHeight = strips.rows
        copy.WidthInBytes, copy.Height, copy.Depth = strips.width, strips.rows, 1
        driver.call(api.cuMemcpy3DPeerAsync, copy, queue.stream)

    def lane(self) -> NativeQueue:
        """As `PeerWay.lane`. The queue is urgent: a copy within a GPU, and one by a kernel, would otherwise
        begin when most gangs of the kernels that run have ended."""
        if self._lane is None:
            self._lane = self._origin.new_queue(urgent=True)
        return self._origin.native_queue(self._lane)

    def rectangles(
        self, target: int, source: int, strips: Sequence[PeerStrips]
    ) -> ctypes.Array[ctypes.c_int64]:
        """As `PeerWay.rectangles`: a `CUDA_MEMCPY3D_PEER` for each."""
        words = (ctypes.c_int64 * (_RECTANGLE_WORDS * len(strips)))()
        to, origin = self._contexts
        for index, strip in enumerate(strips):
            sides = (
                (source + strip.source, origin, strip.source_pitch),
                (target + strip.target, to, strip.target_pitch),
            )
            at = index * _RECTANGLE_WORDS
            for address, context, pitch in sides:
                words[at + _MEMORY_TYPE] = _DEVICE_MEMORY
                words[at + _DEVICE] = address
                words[at + _CONTEXT] = context
                words[at + _PITCH : at + _HEIGHT + 1] = [pitch or strip.width, strip.rows]
                at += _SIDE_WORDS
            words[at : at + 3] = [strip.width, strip.rows, 1]
        return words

    def kernel(self, target: int, source: int, strips: Sequence[PeerStrips]) -> KernelCopy | None:
        """As `PeerWay.kernel`."""
        (first, *others) = strips
        if others or first.width * first.rows > KERNEL_BYTES:
            return None
        copy = rows_copy(target, source, first)
        if copy is None:
            return None
        return KernelCopy(self._rows_kernel(copy.word), copy.blocks, THREADS, copy.values)

    def _rows_kernel(self, word: int) -> int:
        """The handle of the kernel for words of `word` bytes."""
        if not self._kernels:
            driver, api = self._origin.driver, self._origin.driver.api
            module = self._origin.load_ir(rows_kernels())
            for each in WORDS:
                name = kernel_name(each).encode()
                self._kernels[each] = int(driver.call(api.cuModuleGetFunction, module, name))
        return self._kernels[word]

    def close(self) -> None:
        """Nothing to release: lane and kernels belong to the GPU."""


class StagedPeer:
    """Copies from GPU `origin` to GPU `to` through the host; the methods are those of `DirectPeer`."""

    def __init__(self, to: CudaDevice, origin: CudaDevice):
        driver, api = to.driver, to.driver.api
        self._to, self._origin, self._driver = to, origin, driver
        self._out, self._into = origin.new_queue(), to.new_queue()
        flags = api.CU_MEMHOSTALLOC_PORTABLE
        self._buffers = [int(driver.call(api.cuMemHostAlloc, PIECE, flags)) for _ in range(2)]
        self._filled = [_new_event(origin) for _ in self._buffers]
        self._emptied = [_new_event(to) for _ in self._buffers]
        self._turn = 0

    def copy(
        self, target: int, source: int, strips: Iterable[PeerStrips], queues: Sequence[CudaQueue]
    ) -> None:
        """As `DirectPeer.copy`."""
        on, other = queues
        for queue in dict.fromkeys(queues):
            self._out.wait_for(queue)
            self._into.wait_for(queue)
        for strip in strips:
            for piece in strip.pieces(PIECE):
                self._move(target + piece.target, source + piece.source, piece)
        on.wait_for(self._into)
        if other is not on:
            other.wait_for(self._into)

    def _move(self, target: int, source: int, piece: PeerStrips) -> None:
        driver, api = self._driver, self._driver.api
        turn, self._turn = self._turn, 1 - self._turn
        buffer = self._buffers[turn]
        self._origin.make_current()
        driver.call(api.cuStreamWaitEvent, self._out.handle, self._emptied[turn], 0)
        self._copy_out(buffer, source, piece)
        driver.call(api.cuEventRecord, self._filled[turn], self._out.handle)
        self._to.make_current()
        driver.call(api.cuStreamWaitEvent, self._into.handle, self._filled[turn], 0)
        self._copy_in(target, buffer, piece)
        driver.call(api.cuEventRecord, self._emptied[turn], self._into.handle)

    def _copy_out(self, buffer: int, source: int, piece: PeerStrips) -> None:
        driver, stream = self._driver, self._out.stream
        if piece.rows == 1:
            driver.check(driver.copy_out(buffer, source, piece.width, stream), "cuMemcpyDtoHAsync")
            return
        target, origin = (
            CopySide(buffer, piece.width, True),
            CopySide(source, piece.source_pitch, False),
        )
        copy_rows(driver, target, origin, piece.width, piece.rows, stream)

    def _copy_in(self, target: int, buffer: int, piece: PeerStrips) -> None:
        driver, stream = self._driver, self._into.stream
        if piece.rows == 1:
            driver.check(driver.copy_in(target, buffer, piece.width, stream), "cuMemcpyHtoDAsync")
            return
        to, origin = (
            CopySide(target, piece.target_pitch, False),
            CopySide(buffer, piece.width, True),
        )
        copy_rows(driver, to, origin, piece.width, piece.rows, stream)

    def close(self) -> None:
        """Releases the buffers; no transfer may be pending. The queues belong to the GPUs."""
        driver, api = self._driver, self._driver.api
        self._out.wait()
        self._into.wait()
        for event in (*self._filled, *self._emptied):
            driver.call(api.cuEventDestroy, event)
        for buffer in self._buffers:
            driver.call(api.cuMemFreeHost, buffer)
        self._buffers.clear()


def _new_event(device: CudaDevice) -> Any:
    device.make_current()
    api = device.driver.api
    return device.driver.call(api.cuEventCreate, int(api.CUevent_flags.CU_EVENT_DISABLE_TIMING))


def new_way(to: CudaDevice, origin: CudaDevice) -> DirectPeer | StagedPeer:
    """The best object for copies from one device to another, or to itself."""
    direct = to.gpu == origin.gpu or connect(to, origin)
    return DirectPeer(to, origin) if direct else StagedPeer(to, origin)
