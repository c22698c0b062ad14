"""
An NVIDIA GPU as an OpenACC device.

Queues are non-blocking streams; memory comes from the driver's stream-ordered pool, which keeps what
is freed; kernels are launched with the parameter array that compiled host code has built.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from ...compiler.backend.cache import DiskCache
from ...compiler.base.abi import DeviceType
from ..data.peer_sections import PeerStrips
from ..device import (
    CELL_BYTES,
    STAGED_BYTES,
    CellPage,
    Conversion,
    CubinImage,
    Device,
    DevicePacker,
    DeviceProperties,
    DeviceProvider,
    Launcher,
    LaunchValues,
    ModuleImage,
    NativeDriver,
    PtxImage,
    Queue,
    Strips,
)
from ..errors import AccRuntimeError, ErrorClass, NoDeviceError
from ..native.peers import PeerDriver, PeerWay
from ..native.queues import NativeCatchUp, NativeQueue
from .codec import KEY_BYTES, CudaPacker
from .device_stack import has_recursion, heap_bytes, stack_bytes, uses_heap
from .driver import INVALID_VALUE, NOT_READY, OUT_OF_MEMORY, SUCCESS, Driver
from .peers import DirectPeer, StagedPeer, new_way
from .staging import StagingCopier

if TYPE_CHECKING:
    from ..data.present import PresentTable

_TELLING = (b"vprintf", b"__assertfail")
"""Functions of device code by which the host can observe the progress of a kernel."""
JIT_LOG_BYTES = 16 << 10


class CudaQueue:
    """A CUDA stream as a queue."""

    def __init__(self, device: CudaDevice):
        self._device = device
        self._driver = device.driver
        api = self._driver.api
        flags = int(api.CUstream_flags.CU_STREAM_NON_BLOCKING)
        self.handle = self._driver.call(api.cuStreamCreate, flags)
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
        self._driver.call(self._driver.api.cuStreamDestroy, self.handle)


def compute_capability(number: int, driver: Driver | None = None) -> tuple[int, int]:
    """The compute capability of GPU `number`, for example (9, 0) for sm_90, without creating its context.
    Raises `NoDeviceError`."""
    driver = driver or Driver()
    handle = _handle(driver, number)
    which = driver.api.CUdevice_attribute
    major, minor = (
        int(driver.call(driver.api.cuDeviceGetAttribute, attribute, handle))
        for attribute in (
            which.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR,
            which.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR,
        )
    )
    return major, minor


def _handle(driver: Driver, number: int) -> Any:
    """The driver's handle of a GPU. Raises `NoDeviceError` if there is none of this number."""
    count = driver.call(driver.api.cuDeviceGetCount)
    if not 0 <= number < count:
        raise NoDeviceError(f"device {number} was requested, but there are {count}")
    return driver.call(driver.api.cuDeviceGet, number)


class CudaDevice:
    """GPU number `number` as a `Device`. Raises `NoDeviceError` if there is none."""

    type = DeviceType.NVIDIA
    shares_memory = False
    works_in_place = False
    reuses_blocks = True
    clears_blocks = False

    def __init__(self, number: int = 0, driver: Driver | None = None):
        self.driver = driver or Driver()
        self.number = number
        api, call = self.driver.api, self.driver.call
        self.handle = _handle(self.driver, number)
        label = call(api.cuDeviceGetName, 256, self.handle)
        self._label = label.split(b"\0")[0].decode()
        self.name = f"{number} ({self._label})"
        self.context = call(api.cuDevicePrimaryCtxRetain, self.handle)
        self._context_handle = int(self.context)
        self.make_current()
        self._queues: list[CudaQueue] = []
        self.sync_queue = self.new_queue()
        self._modules: list[Any] = []
        self.tells = False
        self._staging: StagingCopier | None = None
        self._packer: CudaPacker | None = None
        self._cells: CellPage | None = None
        self._catch_up: NativeCatchUp | None = None
        self._ways: dict[int, DirectPeer | StagedPeer] = {}
        self.pool = self._open_pool()

    @staticmethod
    def count(driver: Driver) -> int:
        """The number of GPUs that the driver offers."""
        return driver.call(driver.api.cuDeviceGetCount)

    @property
    def compute_capability(self) -> tuple[int, int]:
        """(9, 0) for sm_90."""
        return compute_capability(self.number, self.driver)

    def watch_table(self, table: PresentTable) -> None:
        """Does nothing: the driver's messages contain no addresses."""

    def make_current(self) -> None:
        """
        Makes the context current on the calling thread. Each method begins with it: the thread may be new,
        have used another device, or have been given another context by a library.
        """
        status = self.driver.set_current(self._context_handle)
        if status != SUCCESS:
            self.driver.check(status, "cuCtxSetCurrent")

    def native_context(self) -> int:
        return self._context_handle

    def catch_up(self, queue: NativeQueue) -> None:
        """Makes one of the device's queues wait for its asides."""
        self.make_current()
        if self._catch_up is None:
            self._catch_up = NativeCatchUp(self.driver.address("cuStreamWaitEvent"))
        self.driver.check(self._catch_up(queue), "cuStreamWaitEvent")

    def native_queue(self, queue: Queue) -> NativeQueue:
        assert isinstance(queue, CudaQueue)
        queue.event()
        return queue.native

    def enter_function(self) -> int:
        return self.driver.address("cuCtxSetCurrent")

    def new_queue(self) -> CudaQueue:
        self.make_current()
        queue = CudaQueue(self)
        self._queues.append(queue)
        return queue

    def properties(self) -> DeviceProperties:
        version = self.driver.call(self.driver.api.cuDriverGetVersion)
        memory = self.driver.call(self.driver.api.cuDeviceTotalMem, self.handle)
        driver = f"CUDA {version // 1000}.{version % 1000 // 10}"
        return DeviceProperties(self._label, "NVIDIA", driver, int(memory), False)

    def free_memory(self) -> int:
        self.make_current()
        api, call = self.driver.api, self.driver.call
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

    def managed_memory(self, most: int) -> tuple[int, int] | None:
        """
        Address and size of memory that the host and all GPUs share, for a program's heap: at most `most`
        bytes, and at most the free memory of this GPU. None if the host cannot use such memory while
        kernels run. Its pages are zero, and allocated where they are first used.
        """
        self.make_current()
        api, call = self.driver.api, self.driver.call
        which = api.CUdevice_attribute
        if not self._attribute(which.CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS):
            return None
        free, _ = call(api.cuMemGetInfo)
        size = min(int(free) * 9 // 10, most) >> 21 << 21
        flags = int(api.CUmemAttach_flags.CU_MEM_ATTACH_GLOBAL)
        return int(call(api.cuMemAllocManaged, size, flags)), size

    def allocate(self, size: int, queue: Queue) -> int:
        self.make_current()
        api = self.driver.api
        stream = _stream(queue)
        # Wide accesses may read the rest of the 16 bytes in which an array ends.
        size = max(-(-size // 16) * 16, 16)
        if self.pool is None:
            return int(self.driver.call(api.cuMemAlloc, size))
        status, address = api.cuMemAllocAsync(size, stream)
        if int(status) == OUT_OF_MEMORY:
            # Queues may still hold freed blocks: wait for all work and try once more.
            for other in self._queues:
                other.wait()
            self.driver.call(api.cuMemPoolTrimTo, self.pool, 0)
            status, address = api.cuMemAllocAsync(size, stream)
        if int(status) == OUT_OF_MEMORY:
            raise AccRuntimeError(
                ErrorClass.OUT_OF_MEMORY,
                f"{size} bytes do not fit on the device; {self.free_memory()} bytes are free",
            )
        self.driver.check(int(status), "cuMemAllocAsync")
        return int(address)

    def free(self, address: int, queue: Queue) -> None:
        self.make_current()
        if self.pool is None:
            queue.wait()
            self.driver.call(self.driver.api.cuMemFree, address)
            return
        self.driver.call(self.driver.api.cuMemFreeAsync, address, _stream(queue))

    def copy_in(self, device: int, host: int, strips: Strips, queue: Queue) -> None:
        if device == host:  # managed memory
            return
        self.make_current()
        stream = _stream(queue)
        device, host = device + strips.offset, host + strips.offset
        if strips.rows > 1:
            self._copy_rows(device, host, strips, stream, inward=True)
        elif strips.width >= STAGED_BYTES:
            self._stage().copy_in(device, host, strips.width, stream)
        else:
            status = self.driver.copy_in(device, host, strips.width, stream)
            self.driver.check(status, "cuMemcpyHtoDAsync")

    def copy_out(self, host: int, device: int, strips: Strips, queue: Queue) -> None:
        if device == host:
            return
        self.make_current()
        stream = _stream(queue)
        device, host = device + strips.offset, host + strips.offset
        if strips.rows > 1:
            self._copy_rows(device, host, strips, stream, inward=False)
        elif strips.width >= STAGED_BYTES:
            self._stage().copy_out(host, device, strips.width, stream)
        else:
            status = self.driver.copy_out(host, device, strips.width, stream)
            self.driver.check(status, "cuMemcpyDtoHAsync")

    def write(self, device: int, host: int, count: int, how: Conversion, queue: Queue) -> None:
        self._convert(device, host, count, how, queue, out=False)

    def read(self, host: int, device: int, count: int, how: Conversion, queue: Queue) -> None:
        self._convert(device, host, count, how, queue, out=True)

    def _convert(
        self, device: int, host: int, count: int, how: Conversion, queue: Queue, *, out: bool
    ) -> None:
        self.make_current()
        total = self._stage().move(device, host, count, how.native, _stream(queue), out=out)
        if how.note is not None:
            how.note(total)

    def packer(self) -> DevicePacker | None:
        """The kernels that pack arrays which are transferred plain."""
        self.make_current()
        if self._packer is None:
            which = self.driver.api.CUdevice_attribute.CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT
            keys = self.allocate(KEY_BYTES, self.sync_queue)
            self.sync_queue.wait()
            self._packer = CudaPacker(
                self.driver, self.load_ir, _stream, self._attribute(which), keys, self._stage
            )
        return self._packer

    def load_ir(self, text: str) -> Any:
        """The module of kernels in LLVM IR."""
        from ...compiler.backend.ptx import emit_ptx, newest_known

        major, minor = self.compute_capability
        sm = newest_known(10 * major + minor)
        ptx = emit_ptx(text, sm=sm, cache=DiskCache.default("ptx"))
        self.load(PtxImage(ptx))
        return self._modules[-1]

    def copy_device(self, target: int, source: int, size: int, queue: Queue) -> None:
        self.make_current()
        status = self.driver.copy_device(target, source, size, _stream(queue))
        self.driver.check(status, "cuMemcpyDtoDAsync")

    def copy_peer(
        self,
        origin: Device,
        places: tuple[int, int],
        strips: Iterable[PeerStrips],
        queues: tuple[Queue, Queue],
    ) -> None:
        assert isinstance(origin, CudaDevice)
        way = self._ways.get(origin.number)
        if way is None:
            way = self._ways[origin.number] = new_way(self, origin)
        on, other = queues
        assert isinstance(on, CudaQueue) and isinstance(other, CudaQueue)
        way.copy(*places, strips, (on, other))

    def zero(self, address: int, size: int, queue: Queue) -> None:
        self.make_current()
        self.driver.call(self.driver.api.cuMemsetD8Async, address, 0, size, _stream(queue))

    def store_pointer(self, address: int, value: int, queue: Queue) -> None:
        self.make_current()
        # The driver copies small pageable sources before it returns, so the word may be freed then.
        word = ctypes.c_int64(value)
        status = self.driver.copy_in(address, ctypes.addressof(word), 8, _stream(queue))
        self.driver.check(status, "cuMemcpyHtoDAsync")

    def cells(self) -> CellPage | None:
        self.make_current()
        if self._cells is None:
            api, call = self.driver.api, self.driver.call
            host = int(call(api.cuMemHostAlloc, CELL_BYTES, api.CU_MEMHOSTALLOC_DEVICEMAP))
            device = int(call(api.cuMemHostGetDevicePointer, host, 0))
            self._cells = CellPage(host, device, CELL_BYTES)
        return self._cells

    def load(self, image: ModuleImage) -> None:
        """Loads PTX (compiled by the driver, whose log is in the error on failure) or a cubin."""
        self.make_current()
        api = self.driver.api
        if isinstance(image, CubinImage | PtxImage):
            code = image.data if isinstance(image, CubinImage) else image.text.encode()
            self.tells |= any(name in code for name in _TELLING)
        if isinstance(image, CubinImage):
            self._modules.append(self.driver.call(api.cuModuleLoadData, image.data))
            return
        if not isinstance(image, PtxImage):
            raise AccRuntimeError(
                ErrorClass.INVALID_ARGUMENT, f"a GPU cannot load a {type(image).__name__}"
            )
        if has_recursion(image.text):
            self._raise_stack_limit()
        if uses_heap(image.text):
            self._raise_limit(api.CUlimit.CU_LIMIT_MALLOC_HEAP_SIZE, heap_bytes(self.free_memory()))
        log = bytearray(JIT_LOG_BYTES)
        option = api.CUjit_option
        options = [
            option.CU_JIT_ERROR_LOG_BUFFER,
            option.CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES,
        ]
        status, module = api.cuModuleLoadDataEx(
            image.text.encode() + b"\0", len(options), options, [log, len(log)]
        )
        if int(status) != SUCCESS:
            text = bytes(log).split(b"\0")[0].decode(errors="replace").strip()
            raise AccRuntimeError(
                ErrorClass.EXECUTION,
                f"the driver rejects the program's PTX: {self.driver.describe(int(status))}\n{text}",
                remedy="this is a fault in accopt, or a --target newer than this GPU",
            )
        self._modules.append(module)

    def global_address(self, symbol: str) -> int:
        self.make_current()
        api = self.driver.api
        for module in self._modules:
            status, address, _ = api.cuModuleGetGlobal(module, symbol.encode())
            if int(status) == SUCCESS:
                return int(address)
        raise AccRuntimeError(
            ErrorClass.EXECUTION, f"the loaded GPU code has no global variable '{symbol}'"
        )

    def launcher(self, symbol: str, arg_bytes: Sequence[int]) -> Launcher:
        function = self._function(symbol)
        handle = int(function)
        launch_kernel = self.driver.launch_kernel

        def launch(values: LaunchValues, queue: Any) -> None:
            gx, gy, gz, bx, by, bz, shared, _, _, args = values
            self.make_current()
            stream = queue.stream
            status = launch_kernel(handle, gx, gy, gz, bx, by, bz, shared, stream, args, None)
            if status != SUCCESS:
                self._relaunch(symbol, function, values, queue, status)

        return launch

    def native_driver(self) -> NativeDriver | None:
        return NativeDriver(
            self.driver.address("cuLaunchKernel"),
            self.driver.address("cuStreamSynchronize"),
            self.driver.address("cuEventRecord"),
            self.driver.address("cuStreamWaitEvent"),
            self.driver.address("cuEventSynchronize"),
            self.driver.address("cuStreamQuery"),
            self.driver.address("cuMemcpyHtoDAsync_v2"),
            self.driver.address("cuMemcpyDtoHAsync_v2"),
        )

    def native_stream(self) -> int:
        return _stream(self.sync_queue)

    def native_handles(self, symbol: str, queue: Queue, *, alone: bool) -> tuple[int, int]:
        return int(self._function(symbol)), _stream(queue)

    def peer_driver(self) -> PeerDriver:
        address = self.driver.address
        return PeerDriver(
            address("cuMemcpyPeerAsync"),
            address("cuMemcpy3DPeerAsync"),
            address("cuStreamQuery"),
            address("cuStreamSynchronize"),
            address("cuCtxSetCurrent"),
            address("cuEventRecord"),
            address("cuStreamWaitEvent"),
            address("cuLaunchKernel"),
        )

    def native_way(self, origin: Device) -> PeerWay | None:
        assert isinstance(origin, CudaDevice)
        way = self._ways.get(origin.number)
        return way if isinstance(way, DirectPeer) else None

    def leave_peers(self) -> None:
        for way in self._ways.values():
            way.close()
        self._ways.clear()

    def close(self) -> None:
        self.make_current()
        for queue in self._queues:
            queue.wait()
        if self._staging is not None:
            self._staging.close()
            self._staging = None
        if self._cells is not None:
            self.driver.call(self.driver.api.cuMemFreeHost, self._cells.host)
            self._cells = None
        for module in self._modules:
            self.driver.call(self.driver.api.cuModuleUnload, module)
        for queue in self._queues:
            queue.close()
        self._modules.clear()
        self._queues.clear()
        self.driver.call(self.driver.api.cuDevicePrimaryCtxRelease, self.handle)

    def _relaunch(
        self, symbol: str, function: Any, values: LaunchValues, queue: Queue, status: int
    ) -> None:
        """
        Repeats a failed launch after changing it: an empty grid becomes one gang, which runs the code
        outside the loops; for more than 48 KiB of shared memory, including what the kernel declares, the
        kernel's limit is raised.
        """
        gx, gy, gz, bx, by, bz, shared, _, _, args = values
        grid = [max(1, n) for n in (gx, gy, gz)]
        if status != INVALID_VALUE:
            raise self.driver.failure(status, f"the launch of {symbol}")
        if shared:
            which = self.driver.api.CUfunction_attribute
            attribute = which.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
            self.driver.call(self.driver.api.cuFuncSetAttribute, function, attribute, shared)
        status = self.driver.launch_kernel(
            int(function), *grid, bx, by, bz, shared, _stream(queue), args, None
        )
        if status != SUCCESS:
            shape = f"grid {gx}x{gy}x{gz}, block {bx}x{by}x{bz}, {shared} bytes of shared memory"
            raise self.driver.failure(status, f"the launch of {symbol} ({shape})")

    def _function(self, symbol: str) -> Any:
        self.make_current()
        api = self.driver.api
        for module in self._modules:
            status, function = api.cuModuleGetFunction(module, symbol.encode())
            if int(status) == SUCCESS:
                return function
        raise AccRuntimeError(ErrorClass.EXECUTION, f"the loaded GPU code has no kernel '{symbol}'")

    def _open_pool(self) -> Any:
        """The default memory pool, set to keep freed memory; None if the GPU has none."""
        api, call = self.driver.api, self.driver.call
        supported = api.CUdevice_attribute.CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED
        if not self._attribute(supported):
            return None
        pool = call(api.cuDeviceGetDefaultMemPool, self.handle)
        threshold = api.CUmemPool_attribute.CU_MEMPOOL_ATTR_RELEASE_THRESHOLD
        call(api.cuMemPoolSetAttribute, pool, threshold, api.cuuint64_t(2**64 - 1))
        return pool

    def _raise_stack_limit(self) -> None:
        api = self.driver.api
        which = api.CUdevice_attribute
        threads = self._attribute(which.CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT) * self._attribute(
            which.CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR
        )
        wanted = stack_bytes(self.free_memory(), threads)
        self._raise_limit(api.CUlimit.CU_LIMIT_STACK_SIZE, wanted)

    def _raise_limit(self, limit: Any, wanted: int) -> None:
        """Raises a limit of the context to at least `wanted`; to be called before a kernel needs it."""
        api, call = self.driver.api, self.driver.call
        if wanted > int(call(api.cuCtxGetLimit, limit)):
            call(api.cuCtxSetLimit, limit, wanted)

    def _attribute(self, which: Any) -> int:
        return int(self.driver.call(self.driver.api.cuDeviceGetAttribute, which, self.handle))

    def _stage(self) -> StagingCopier:
        if self._staging is None:
            self._staging = StagingCopier(self.driver, self._context_handle)
        return self._staging

    def _copy_rows(
        self, device: int, host: int, strips: Strips, stream: int, *, inward: bool
    ) -> None:
        api = self.driver.api
        on_host = api.CUmemorytype.CU_MEMORYTYPE_HOST
        on_device = api.CUmemorytype.CU_MEMORYTYPE_DEVICE
        copy = api.CUDA_MEMCPY2D()
        copy.srcMemoryType, copy.dstMemoryType = (
            (on_host, on_device) if inward else (on_device, on_host)
        )
        if inward:
            copy.srcHost, copy.dstDevice = host, device
        else:
            copy.srcDevice, copy.dstHost = device, host
        copy.srcPitch = copy.dstPitch = strips.pitch
        copy.WidthInBytes = strips.width
        copy.Height = strips.rows
        self.driver.call(api.cuMemcpy2DAsync, copy, stream)


def _stream(queue: Queue) -> int:
    assert isinstance(queue, CudaQueue)
    return queue.stream


def cuda_devices(count: int | None = None, driver: Driver | None = None) -> DeviceProvider:
    """
    All GPUs the driver offers, or the first `count` of them. Raises `NoDeviceError` when there are none,
    or fewer.
    """
    driver = driver or Driver()
    found = CudaDevice.count(driver)
    if count is not None and count > found:
        raise NoDeviceError(f"{count} devices were requested, but there are {found}")
    return DeviceProvider(
        DeviceType.NVIDIA, count or found, lambda number: CudaDevice(number, driver)
    )
