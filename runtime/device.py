"""
What the runtime needs of a device. `HostDevice` and `CudaDevice` implement it; tests use the first.

Addresses are plain integers, sizes are bytes. An operation given a queue is ordered on it and may
complete later; `Queue.wait` joins it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, TypeAlias

from ..compiler.base.abi import DeviceType
from ..compiler.base.packed import Coefficients, PackedFormat

if TYPE_CHECKING:
    from .data.peer_sections import PeerStrips
    from .data.present import PresentTable
    from .native.peers import PeerDriver, PeerWay
    from .native.queues import NativeQueue


@dataclass(frozen=True, slots=True)
class DeviceProperties:
    """What `acc_get_property` reports. Memory in bytes."""

    name: str
    vendor: str
    driver: str
    memory: int
    shared_memory: bool


@dataclass(frozen=True, slots=True)
class NativeImage:
    """
    Kernels compiled into this process; `resolve` gives the address of a symbol. `again` loads them once
    more, with global variables of their own, for another device; None if they have none.
    """

    resolve: Callable[[str], int]
    again: Callable[[], Callable[[str], int]] | None = None


@dataclass(frozen=True, slots=True)
class PtxImage:
    """PTX text, compiled by the driver when it is loaded."""

    text: str


@dataclass(frozen=True, slots=True)
class CubinImage:
    """A program already assembled by ptxas."""

    data: bytes


CELL_BYTES = 64 << 10
"""Memory for reduction results: 4096 of them."""


@dataclass(frozen=True, slots=True)
class CellPage:
    """
    Pinned host memory at address `host` that kernels reach at address `device`; `bytes` long.
    What a kernel wrote is there once its queue has been waited for.
    """

    host: int
    device: int
    bytes: int


@dataclass(frozen=True, slots=True)
class SimImage:
    """Kernels as a `gpu.module` of the gpu level, for the simulator."""

    module: object


ModuleImage: TypeAlias = NativeImage | PtxImage | CubinImage | SimImage


@dataclass(frozen=True, slots=True)
class Strips:
    """
    Memory of one transfer: `rows` runs of `width` bytes, `pitch` bytes apart (the same on both
    sides). A contiguous transfer has one row.
    """

    offset: int
    width: int
    rows: int = 1
    pitch: int = 0


@dataclass(frozen=True, slots=True)
class NativeMove:
    """
    What happens to elements on their way between host memory, where one has `host_step` bytes, and
    device memory, where it has `device_step`: the C function at address `function` is called as
    `function(target, source, count, a, b, stride)`, for any neighbours at a time, in any thread.
    """

    host_step: int
    device_step: int
    function: int
    a: float = 0.0
    b: float = 0.0
    stride: int = 1


@dataclass(frozen=True, slots=True)
class Conversion:
    """
    As `NativeMove`, with the same for callers that are not in a hurry: `apply(target, source, count)`.
    The results of the function are numbers of elements, and their sum is given to `note`.
    """

    native: NativeMove
    apply: Callable[[int, int, int], int]
    note: Callable[[int], None] | None = None

    def perform(self, target: int, source: int, count: int) -> None:
        """Converts `count` elements in memory of this process."""
        total = self.apply(target, source, count)
        if self.note is not None:
            self.note(total)


class Queue(Protocol):
    """An in-order queue of work on a device."""

    def wait(self) -> None:
        """Blocks the calling thread until all work so far is done; raises what went wrong in it."""
        ...

    def done(self) -> bool:
        """Whether all work so far is done; raises what went wrong in it."""
        ...

    def wait_for(self, other: Queue) -> None:
        """Later work on this queue starts after the work now on `other`; does not block."""
        ...


LaunchValues: TypeAlias = tuple[int, ...]
"""An `abi.Launch` as `abi.LAUNCH_FORMAT` reads it."""

Launcher: TypeAlias = Callable[[LaunchValues, Queue], None]
"""Runs one kernel. The values behind its argument pointers are taken at the call."""


@dataclass(frozen=True, slots=True)
class NativeDriver:
    """
    A driver that compiled code may call: addresses of functions with the signatures of `cuLaunchKernel`,
    `cuStreamSynchronize`, `cuEventRecord`, `cuStreamWaitEvent`, `cuEventSynchronize` and `cuStreamQuery`, the
    last four 0 where kernels are done when their launch returns, `cuMemcpyHtoDAsync` and `cuMemcpyDtoHAsync`.
    """

    launch_kernel: int
    stream_synchronize: int
    event_record: int = 0
    stream_wait_event: int = 0
    event_synchronize: int = 0
    stream_query: int = 0
    copy_in: int = 0
    copy_out: int = 0


class DevicePacker(Protocol):
    """Finds the range of plain numbers in device memory, and packs them there."""

    def bring(
        self, fmt: PackedFormat, raw: int, host: int, count: int, queue: Queue
    ) -> tuple[int, tuple[float, float]]:
        """
        Copies the first ones of `count` numbers at `host` to device memory at `raw`: how many, and the
        range of all of them, as `scan` gives it. The others have only been read.
        """
        ...

    def scan(
        self, fmt: PackedFormat, raw: int, count: int, queue: Queue
    ) -> tuple[tuple[float, float], ...]:
        """
        The least and greatest finite number of each member of `count` records at `raw`, (0, 0) if
        there is none. Waits for the queue.
        """
        ...

    def encode(
        self,
        fmt: PackedFormat,
        coefs: Sequence[Coefficients],
        place: PackedPlace,
        raw: int,
        queue: Queue,
    ) -> None:
        """
        Packs the records at `raw`, each member with its coefficients; adds the number of saturated ones
        to the place's counter.
        """
        ...

    def decode(
        self,
        fmt: PackedFormat,
        coefs: Sequence[Coefficients],
        place: PackedPlace,
        raw: int,
        queue: Queue,
    ) -> None:
        """Unpacks records to `raw`."""
        ...


@dataclass(frozen=True, slots=True)
class PackedPlace:
    """
    Packed records on the device: number `m` of record `i` is element `i` of the array that begins at
    `device + m * plane`. `counter`: address of an i64 for the number of saturated ones.
    """

    device: int
    plane: int
    count: int
    counter: int


class Device(Protocol):
    """One accelerator: memory, transfers, kernels."""

    @property
    def type(self) -> DeviceType: ...

    @property
    def name(self) -> str:
        """How messages call it."""
        ...

    @property
    def shares_memory(self) -> bool:
        """Whether device addresses are host addresses, so that data clauses have nothing to do."""
        ...

    @property
    def works_in_place(self) -> bool:
        """Whether kernels can work on host memory, where `DataFlag.IN_PLACE` allows it."""
        ...

    @property
    def reuses_blocks(self) -> bool:
        """Whether memory that a region has left may serve another one, whatever it holds."""
        ...

    @property
    def clears_blocks(self) -> bool:
        """Whether such memory is zeroed first, which the thread that enters the region can do."""
        ...

    @property
    def tells(self) -> bool:
        """Whether loaded kernels do what the host may notice before it waits for them, such as print."""
        ...

    @property
    def sync_queue(self) -> Queue:
        """The queue of constructs without async."""
        ...

    def new_queue(self) -> Queue:
        """A queue independent of all others."""
        ...

    def properties(self) -> DeviceProperties: ...

    def watch_table(self, table: PresentTable) -> None:
        """The present table of this device, for messages about its addresses."""
        ...

    def free_memory(self) -> int: ...

    def allocate(self, size: int, queue: Queue) -> int:
        """Device memory, aligned to 256 bytes; raises `acc_error_out_of_memory`."""
        ...

    def free(self, address: int, queue: Queue) -> None:
        """Gives memory back once the work now on `queue` is done."""
        ...

    def copy_in(self, device: int, host: int, strips: Strips, queue: Queue) -> None:
        """Host to device; `strips.offset` counts from both addresses."""
        ...

    def copy_out(self, host: int, device: int, strips: Strips, queue: Queue) -> None:
        """Device to host."""
        ...

    def write(self, device: int, host: int, count: int, how: Conversion, queue: Queue) -> None:
        """
        Host to device, of `count` elements that change on their way. The host's memory has been
        read when this returns, or when the queue gets there (host queues).
        """
        ...

    def read(self, host: int, device: int, count: int, how: Conversion, queue: Queue) -> None:
        """Device to host, of `count` elements that change on their way."""
        ...

    def packer(self) -> DevicePacker | None:
        """Kernels that encode arrays; None if the host does."""
        ...

    def copy_device(self, target: int, source: int, size: int, queue: Queue) -> None:
        """Device to device."""
        ...

    def copy_peer(
        self,
        origin: Device,
        places: tuple[int, int],
        strips: Iterable[PeerStrips],
        queues: tuple[Queue, Queue],
    ) -> None:
        """
        From another device of this kind, `origin`: `places` are the addresses, here and there, from which
        `strips` count, `queues` are queues of the two. The copy comes after the work now on both, and
        their later work after it. Twice the same queue of this device: nothing of the other one
        needs to be waited for.
        """
        ...

    def zero(self, address: int, size: int, queue: Queue) -> None: ...

    def store_pointer(self, address: int, value: int, queue: Queue) -> None:
        """Writes the 8-byte word `value` to device memory; the value is taken at the call."""
        ...

    def cells(self) -> CellPage | None:
        """Host memory that kernels can reach, for scalars; None if the device offers none."""
        ...

    def load(self, image: ModuleImage) -> None:
        """Makes the image's kernels and globals available."""
        ...

    def global_address(self, symbol: str) -> int:
        """The device address of a global variable of the loaded image."""
        ...

    def launcher(self, symbol: str, arg_bytes: Sequence[int]) -> Launcher:
        """A function that launches kernel `symbol`, whose arguments have these sizes."""
        ...

    def make_current(self) -> None:
        """Makes the driver's context that of the calling thread, if devices of this kind have one."""
        ...

    def native_context(self) -> int:
        """The same for native code: what `enter_function` takes; 0 if there is nothing to do."""
        ...

    def native_queue(self, queue: Queue) -> NativeQueue | None:
        """What native code knows of a queue; None where queues have no events."""
        ...

    def enter_function(self) -> int:
        """The C address of `status enter(context)`; 0 if there is none."""
        ...

    def native_driver(self) -> NativeDriver | None:
        """For launches from compiled code; None when every launch must come through Python."""
        ...

    def peer_driver(self) -> PeerDriver | None:
        """For copies between devices from compiled code; None when all must come through Python."""
        ...

    def native_way(self, origin: Device) -> PeerWay | None:
        """The way of copies from `origin` by the `peer_driver`; None if all come through Python."""
        ...

    def native_stream(self) -> int:
        """The synchronous queue, as functions of the native driver take it."""
        ...

    def native_handles(self, symbol: str, queue: Queue, *, alone: bool) -> tuple[int, int]:
        """
        The kernel and the stream as `NativeDriver` functions take them; stream 0: launches on this queue
        come through Python. `alone`: launches of the kernel share memory, so that no two may run at a time.
        """
        ...

    def leave_peers(self) -> None:
        """Releases what copies from other devices need, while those are still there; all work is done."""
        ...

    def close(self) -> None:
        """Waits for all work and releases everything."""
        ...


@dataclass(frozen=True, slots=True)
class DeviceProvider:
    """The devices of one type that a program may use; each is opened when it is first used."""

    type: DeviceType
    count: int
    open: Callable[[int], Device]
