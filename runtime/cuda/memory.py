"""The memory of a GPU: allocations from the driver's pool, and copies of rows."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from ..device import Queue
from ..errors import AccRuntimeError, ErrorClass
from .driver import OUT_OF_MEMORY, Driver


class CudaMemory:
    """The memory of the GPU with this handle, whose context is current in all calls."""

    def __init__(self, driver: Driver, handle: Any):
        self._driver = driver
        self._handle = handle
        self.pool = self._open_pool()
        """The default memory pool, set to keep freed memory; None if the GPU has none."""

    def _open_pool(self) -> Any:
        driver, api = self._driver, self._driver.api
        supported = api.CUdevice_attribute.CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED
        if not driver.attribute(supported, self._handle):
            return None
        pool = driver.call(api.cuDeviceGetDefaultMemPool, self._handle)
        threshold = api.CUmemPool_attribute.CU_MEMPOOL_ATTR_RELEASE_THRESHOLD
        driver.call(api.cuMemPoolSetAttribute, pool, threshold, api.cuuint64_t(2**64 - 1))
        return pool

    def available(self) -> int:
        """The bytes that the program can still allocate."""
        api, call = self._driver.api, self._driver.call
        free, _ = call(api.cuMemGetInfo)
        if self.pool is None:
            return int(free)
        # The pool keeps memory that the program frees.
        which = api.CUmemPool_attribute
        kept = call(
            api.cuMemPoolGetAttribute, self.pool, which.CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT
        )
        used = call(api.cuMemPoolGetAttribute, self.pool, which.CU_MEMPOOL_ATTR_USED_MEM_CURRENT)
        return int(free) + int(kept) - int(used)

    def allocate(self, size: int, stream: int, queues: Iterable[Queue]) -> int:
        """The address of new memory, for work on `stream`; if memory is short, waits for `queues`, all of
        the GPU's. Raises `acc_error_out_of_memory`."""
        api = self._driver.api
        # Wide accesses may read the rest of the 16 bytes in which an array ends.
        size = max(-(-size // 16) * 16, 16)
        if self.pool is None:
            return int(self._driver.call(api.cuMemAlloc, size))
        status, address = api.cuMemAllocAsync(size, stream)
        if int(status) == OUT_OF_MEMORY:
            # Queues may still hold freed blocks: wait for all work and try once more.
            for queue in queues:
                queue.wait()
            self._driver.call(api.cuMemPoolTrimTo, self.pool, 0)
            status, address = api.cuMemAllocAsync(size, stream)
        if int(status) == OUT_OF_MEMORY:
            raise AccRuntimeError(
                ErrorClass.OUT_OF_MEMORY,
                f"{size} bytes do not fit on the device; {self.available()} bytes are free",
            )
        self._driver.check(int(status), "cuMemAllocAsync")
        return int(address)

    def managed(self, most: int) -> tuple[int, int] | None:
        """As `CudaDevice.managed_memory`."""
        driver, api = self._driver, self._driver.api
        concurrent = api.CUdevice_attribute.CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS
        if not driver.attribute(concurrent, self._handle):
            return None
        free, _ = driver.call(api.cuMemGetInfo)
        size = min(int(free) * 9 // 10, most) >> 21 << 21
        flags = int(api.CUmemAttach_flags.CU_MEM_ATTACH_GLOBAL)
        return int(driver.call(api.cuMemAllocManaged, size, flags)), size


@dataclass(frozen=True, slots=True)
class CopySide:
    """One side of a copy: rows from `address` on, `pitch` bytes apart, in host or device memory."""

    address: int
    pitch: int
    on_host: bool


def copy_rows(
    driver: Driver, target: CopySide, source: CopySide, width: int, rows: int, stream: int
) -> None:
    """Copies `rows` rows of `width` bytes."""
    api = driver.api
    copy = api.CUDA_MEMCPY2D()
    on_host = api.CUmemorytype.CU_MEMORYTYPE_HOST
    on_device = api.CUmemorytype.CU_MEMORYTYPE_DEVICE
    for side, given in (("src", source), ("dst", target)):
        kind, place = (on_host, "Host") if given.on_host else (on_device, "Device")
        setattr(copy, f"{side}MemoryType", kind)
        setattr(copy, f"{side}{place}", given.address)
        setattr(copy, f"{side}Pitch", given.pitch)
    copy.WidthInBytes, copy.Height = width, rows
    driver.call(api.cuMemcpy2DAsync, copy, stream)
