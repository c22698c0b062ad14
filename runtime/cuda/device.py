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
from ..errors import NoDeviceError
from ..native.peers import PeerDriver, PeerWay
from ..native.queues import NativeCatchUp, NativeQueue
from .codec import KEY_BYTES, CudaPacker
from .driver import INVALID_VALUE, SUCCESS, Driver
from .memory import CopySide, CudaMemory, copy_rows
from .modules import CudaModules
from .peers import DirectPeer, StagedPeer, new_way
from .queue import CudaQueue, stream_of
from .shared_gpus import gpu_of, sharing_of
from .staging import StagingCopier

if TYPE_CHECKING:
    from ..data.present import PresentTable


def compute_capability(
    number: int, driver: Driver | None = None, *, devices: int | None = None
) -> tuple[int, int]:
    """
    The compute capability of the GPU of device `number` of `devices` (None: a device for each GPU), for
    example (9, 0) for sm_90, without creating its context. Raises `NoDeviceError`.
    """
    driver = driver or Driver()
    handle = _handle(driver, gpu_of(number, devices, CudaDevice.count(driver)))
    which = driver.api.CUdevice_attribute
    major, minor = (
        driver.attribute(attribute, handle)
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
        have = "1 GPU" if count == 1 else f"{count} GPUs"
        raise NoDeviceError(
            f"device {number} was requested, but the machine has {have}",
            f"use a number below {count}, or let devices share GPUs: --devices {max(number, 0) + 1}",
        )
    return driver.call(driver.api.cuDeviceGet, number)


class CudaDevice:
    """
    GPU number `gpu` as device number `number`, the same unless given. `sharers`: the devices that are opened
    on this GPU, which this one joins. They share the GPU's primary context and its memory pool; queues,
    modules and their variables, and buffers are their own. Raises `NoDeviceError` if there is no such GPU.
    """

    type = DeviceType.NVIDIA
    shares_memory = False
    works_in_place = False
    reuses_blocks = True
    clears_blocks = False

    def __init__(
        self,
        number: int = 0,
        driver: Driver | None = None,
        *,
        gpu: int | None = None,
        sharers: list[CudaDevice] | None = None,
    ):
        self.driver = driver or Driver()
        self.number = number
        self.gpu = number if gpu is None else gpu
        self._sharers = [] if sharers is None else sharers
        api, call = self.driver.api, self.driver.call
        self.handle = _handle(self.driver, self.gpu)
        label = call(api.cuDeviceGetName, 256, self.handle)
        self._label = label.split(b"\0")[0].decode()
        self.name = f"{number} ({self._label})"
        self.context = call(api.cuDevicePrimaryCtxRetain, self.handle)
        self._context_handle = int(self.context)
        self.make_current()
        self._queues: list[CudaQueue] = []
        self.sync_queue = CudaQueue(self, ordered=True)
        self._queues.append(self.sync_queue)
        self.memory = CudaMemory(self.driver, self.handle)
        self.modules = CudaModules(self.driver, self.handle, self.memory)
        self._staging: StagingCopier | None = None
        self._packer: CudaPacker | None = None
        self._cells: CellPage | None = None
        self._catch_up: NativeCatchUp | None = None
        self._ways: dict[int, DirectPeer | StagedPeer] = {}
        self._sharers.append(self)

    @staticmethod
    def count(driver: Driver) -> int:
        """The number of GPUs that the driver offers."""
        return driver.call(driver.api.cuDeviceGetCount)

    @property
    def compute_capability(self) -> tuple[int, int]:
        """(9, 0) for sm_90."""
        return compute_capability(self.gpu, self.driver)

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

    def cuda_device(self) -> int:
        return int(self.handle)

    def share_stream(self, queue: Queue) -> int:
        assert isinstance(queue, CudaQueue)
        return queue.share()

    def use_stream(self, queue: Queue, stream: int) -> bool:
        assert isinstance(queue, CudaQueue)
        queue.use(stream)
        return True

    def enter_function(self) -> int:
        return self.driver.address("cuCtxSetCurrent")

    def new_queue(self, *, urgent: bool = False) -> CudaQueue:
        self.make_current()
        queue = CudaQueue(self, urgent=urgent)
        self._queues.append(queue)
        return queue

    def properties(self) -> DeviceProperties:
        version = self.driver.call(self.driver.api.cuDriverGetVersion)
        memory = self.driver.call(self.driver.api.cuDeviceTotalMem, self.handle)
        driver = f"CUDA {version // 1000}.{version % 1000 // 10}"
        return DeviceProperties(self._label, "NVIDIA", driver, int(memory), False)

    def free_memory(self) -> int:
        self.make_current()
        return self.memory.available()

    def managed_memory(self, most: int) -> tuple[int, int] | None:
        """
        Address and size of memory that the host and all GPUs share, for a program's heap: at most `most`
        bytes, and at most the free memory of this GPU. None if the host cannot use such memory while
        kernels run. Its pages are zero, and allocated where they are first used.
        """
        self.make_current()
        return self.memory.managed(most)

    def allocate(self, size: int, queue: Queue) -> int:
        self.make_current()
        queues = (queue for device in list(self._sharers) for queue in list(device._queues))
        return self.memory.allocate(size, stream_of(queue), queues)

    def free(self, address: int, queue: Queue) -> None:
        self.make_current()
        if self.memory.pool is None:
            queue.wait()
            self.driver.call(self.driver.api.cuMemFree, address)
            return
        self.driver.call(self.driver.api.cuMemFreeAsync, address, stream_of(queue))

    def copy_in(self, device: int, host: int, strips: Strips, queue: Queue) -> None:
        self._copy(device, host, strips, queue, inward=True)

    def copy_out(self, host: int, device: int, strips: Strips, queue: Queue) -> None:
        self._copy(device, host, strips, queue, inward=False)

    def _copy(self, device: int, host: int, strips: Strips, queue: Queue, *, inward: bool) -> None:
        if device == host:  # managed memory
            return
        self.make_current()
        if inward:
            self._await_results(queue)
        stream, width = stream_of(queue), strips.width
        device, host = device + strips.offset, host + strips.offset
        if strips.rows > 1:
            on_device, on_host = (
                CopySide(device, strips.pitch, False),
                CopySide(host, strips.pitch, True),
            )
            target, source = (on_device, on_host) if inward else (on_host, on_device)
            copy_rows(self.driver, target, source, width, strips.rows, stream)
        elif width >= STAGED_BYTES:
            stage = self._stage()
            if inward:
                stage.copy_in(device, host, width, stream)
            else:
                stage.copy_out(host, device, width, stream)
        elif inward:
            self.driver.check(self.driver.copy_in(device, host, width, stream), "cuMemcpyHtoDAsync")
        else:
            self.driver.check(
                self.driver.copy_out(host, device, width, stream), "cuMemcpyDtoHAsync"
            )

    def write(self, device: int, host: int, count: int, how: Conversion, queue: Queue) -> None:
        self._convert(device, host, count, how, queue, out=False)

    def read(self, host: int, device: int, count: int, how: Conversion, queue: Queue) -> None:
        self._convert(device, host, count, how, queue, out=True)

    def _convert(
        self, device: int, host: int, count: int, how: Conversion, queue: Queue, *, out: bool
    ) -> None:
        self.make_current()
        if not out:
            self._await_results(queue)
        total = self._stage().move(device, host, count, how.native, stream_of(queue), out=out)
        if how.note is not None:
            how.note(total)

    def packer(self) -> DevicePacker | None:
        """The kernels that pack arrays which are transferred plain."""
        self.make_current()
        if self._packer is None:
            which = self.driver.api.CUdevice_attribute.CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT
            processors = self.driver.attribute(which, self.handle)
            keys = self.allocate(KEY_BYTES, self.sync_queue)
            self.sync_queue.wait()
            self._packer = CudaPacker(
                self.driver, self.load_ir, stream_of, processors, keys, self._stage
            )
        return self._packer

    def load_ir(self, text: str) -> Any:
        """The module of kernels in LLVM IR."""
        from ...compiler.backend.ptx import emit_ptx
        from ...compiler.base.capabilities import newest_known

        major, minor = self.compute_capability
        sm = newest_known(10 * major + minor)
        ptx = emit_ptx(text, sm=sm, cache=DiskCache.default("ptx"))
        self.make_current()
        return self.modules.load(PtxImage(ptx))

    def copy_device(self, target: int, source: int, size: int, queue: Queue) -> None:
        self.make_current()
        status = self.driver.copy_device(target, source, size, stream_of(queue))
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
        self.driver.call(self.driver.api.cuMemsetD8Async, address, 0, size, stream_of(queue))

    def store_pointer(self, address: int, value: int, queue: Queue) -> None:
        self.make_current()
        # The driver copies small pageable sources before it returns, so the word may be freed then.
        word = ctypes.c_int64(value)
        status = self.driver.copy_in(address, ctypes.addressof(word), 8, stream_of(queue))
        self.driver.check(status, "cuMemcpyHtoDAsync")

    def _await_results(self, queue: Queue) -> None:
        """
        Waits for an asynchronous queue before a copy from the host's memory, which the driver may read at
        once, if results of reductions are still to come there (`native/late_cells.py`).
        """
        if self._cells is None or queue is self.sync_queue:
            return
        if ctypes.c_int64.from_address(self._cells.host).value:
            queue.wait()

    def finishes_at_once(self, queue: Queue) -> bool:
        return False

    def call_later(self, queue: Queue, function: int, argument: int) -> None:
        self.make_current()
        status = self.driver.call_later(stream_of(queue), function, argument)
        self.driver.check(status, "cuLaunchHostFunc")

    def cells(self) -> CellPage | None:
        self.make_current()
        if self._cells is None:
            api, call = self.driver.api, self.driver.call
            host = int(call(api.cuMemHostAlloc, CELL_BYTES, api.CU_MEMHOSTALLOC_DEVICEMAP))
            device = int(call(api.cuMemHostGetDevicePointer, host, 0))
            self._cells = CellPage(host, device, CELL_BYTES)
        return self._cells

    def load(self, image: ModuleImage) -> None:
        self.make_current()
        self.modules.load(image)

    @property
    def tells(self) -> bool:
        return self.modules.tells

    def global_address(self, symbol: str) -> int:
        self.make_current()
        return self.modules.global_address(symbol)

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

    def native_driver(self) -> NativeDriver:
        address = self.driver.address
        return NativeDriver(
            address("cuLaunchKernel"),
            address("cuStreamSynchronize"),
            address("cuEventRecord"),
            address("cuStreamWaitEvent"),
            address("cuEventSynchronize"),
            address("cuStreamQuery"),
            address("cuMemcpyHtoDAsync_v2"),
            address("cuMemcpyDtoHAsync_v2"),
            address("cuMemcpy2DAsync_v2"),
            address("cuLaunchHostFunc"),
        )

    def native_stream(self) -> int:
        return stream_of(self.sync_queue)

    def native_handles(self, symbol: str, queue: Queue, *, alone: bool) -> tuple[int, int]:
        return int(self._function(symbol)), stream_of(queue)

    def peer_driver(self) -> PeerDriver:
        address = self.driver.address
        return PeerDriver(
            self.native_driver(),
            address("cuMemcpyPeerAsync"),
            address("cuMemcpy3DPeerAsync"),
            address("cuCtxSetCurrent"),
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
        self._sharers.remove(self)
        for queue in self._queues:
            queue.wait()
        if self._staging is not None:
            self._staging.close()
            self._staging = None
        if self._cells is not None:
            self.driver.call(self.driver.api.cuMemFreeHost, self._cells.host)
            self._cells = None
        self.modules.close()
        for queue in self._queues:
            queue.close()
        self._queues.clear()
        self.driver.call(self.driver.api.cuDevicePrimaryCtxRelease, self.handle)

    def _function(self, symbol: str) -> Any:
        self.make_current()
        return self.modules.function(symbol)

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
            int(function), *grid, bx, by, bz, shared, stream_of(queue), args, None
        )
        if status != SUCCESS:
            shape = f"grid {gx}x{gy}x{gz}, block {bx}x{by}x{bz}, {shared} bytes of shared memory"
            raise self.driver.failure(status, f"the launch of {symbol} ({shape})")

    def _stage(self) -> StagingCopier:
        if self._staging is None:
            self._staging = StagingCopier(self.driver, self._context_handle)
        return self._staging


def cuda_devices(count: int | None = None, driver: Driver | None = None) -> DeviceProvider:
    """
    A device for each GPU that the driver offers, or `count` devices: the first GPUs, which share their
    hardware in turn if they are fewer. Raises `NoDeviceError` when there is no GPU.
    """
    driver = driver or Driver()
    found = CudaDevice.count(driver)
    opened: list[list[CudaDevice]] = [[] for _ in range(found)]

    def open_device(number: int) -> CudaDevice:
        gpu = gpu_of(number, count, found)
        return CudaDevice(number, driver, gpu=gpu, sharers=opened[gpu])

    sharing = "" if count is None else sharing_of(count, found)
    return DeviceProvider(DeviceType.NVIDIA, count or found, open_device, sharing)
