"""
The interface of devices for the runtime. `HostDevice`, `SimDevice` and `CudaDevice` implement it; most tests
use the first.

Addresses are plain integers, sizes are bytes. An operation given a queue is ordered on it and may
complete later; `Queue.wait` joins it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
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
    """The properties that `acc_get_property` returns; memory is in bytes."""

    name: str
    vendor: str
    driver: str
    memory: int
    shared_memory: bool


@dataclass(frozen=True, slots=True)
class NativeImage:
    """
    Kernels compiled into this process; `resolve` gives the address of a symbol. `again` loads them once
    more, with their own global variables, for another device; None if the kernels have no global variables.
    """

    resolve: Callable[[str], int]
    again: Callable[[], Callable[[str], int]] | None = None


@dataclass(frozen=True, slots=True)
class PtxImage:
    """PTX text, of one module or several (`module_parts.joined_ptx`), compiled by the driver when it is
    loaded."""

    text: str


@dataclass(frozen=True, slots=True)
class CubinImage:
    """Machine code from ptxas."""

    data: bytes


STAGED_BYTES = 4 << 20
"""Transfers of pageable memory below this many bytes go straight to the driver."""

CELL_BYTES = 64 << 10
"""Memory for reduction results: 4096 of them."""


@dataclass(frozen=True, slots=True)
class CellPage:
    """
    Pinned host memory of `bytes` bytes at address `host`, which kernels access at address `device`. A
    kernel's writes are visible to the host after its queue has been waited for.
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

    def starts(self) -> Iterator[int]:
        """The offsets at which the rows begin."""
        for row in range(self.rows):
            yield self.offset + row * self.pitch


@dataclass(frozen=True, slots=True)
class NativeMove:
    """
    The conversion of elements in transfers between host memory, where an element has `host_step` bytes, and
    device memory, where it has `device_step`: the C function at address `function` is called as
    `function(target, source, count, a, b, stride)` for runs of consecutive elements, in any thread.
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
    A `NativeMove` with the same conversion for Python code: `apply(target, source, count)`. The results of
    the function are numbers of elements, and their sum is passed to `note`.
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
        """Blocks the calling thread until all work so far is finished; raises an error that occurred in
        it."""
        ...

    def done(self) -> bool:
        """Whether all work so far is finished; raises an error that occurred in it."""
        ...

    def wait_for(self, other: Queue) -> None:
        """Later work on this queue starts after the work now on `other`; does not block."""
        ...


LaunchValues: TypeAlias = tuple[int, ...]
"""An `abi.Launch` as `abi.LAUNCH_FORMAT` reads it."""

Launcher: TypeAlias = Callable[[LaunchValues, Queue], None]
"""Runs one kernel. The values that its argument pointers point to are read during the call."""


@dataclass(frozen=True, slots=True)
class NativeDriver:
    """
    A driver that compiled code may call: addresses of functions with the signatures of `cuLaunchKernel`,
    `cuStreamSynchronize`, `cuEventRecord`, `cuStreamWaitEvent`, `cuEventSynchronize` (0 if events are
    recorded after finished work only) and `cuStreamQuery`, the last four 0 if there is no asynchronous work,
    `cuMemcpyHtoDAsync`, `cuMemcpyDtoHAsync`, `cuMemcpy2DAsync` and `cuLaunchHostFunc`. A function may refuse
    (return another status than 0); Python then does the work, or reports the error.
    """

    launch_kernel: int
    stream_synchronize: int
    event_record: int = 0
    stream_wait_event: int = 0
    event_synchronize: int = 0
    stream_query: int = 0
    copy_in: int = 0
    copy_out: int = 0
    copy_rows: int = 0
    call_later: int = 0

    @property
    def addresses(self) -> dict[str, int]:
        """The addresses by these names, as format fields of native code."""
        return asdict(self)


class DevicePacker(Protocol):
    """Finds the range of plain numbers in device memory, and packs them there."""

    def bring(
        self, fmt: PackedFormat, raw: int, host: int, count: int, queue: Queue
    ) -> tuple[int, tuple[float, float]]:
        """
        Copies the first of `count` numbers at `host` to device memory at `raw`, and reads the others.
        Returns the number of copied ones, and the range of all numbers, as `scan` does.
        """
        ...

    def scan(
        self, fmt: PackedFormat, raw: int, count: int, queue: Queue
    ) -> tuple[tuple[float, float], ...]:
        """
        The smallest and the largest finite number of each member of `count` records at `raw`; (0, 0) if
        none is finite. Waits for the queue.
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
        Packs the records at `raw` into `place`, each member with its coefficients; adds the number of
        saturated values to the counter of `place`.
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
        """The name of the device in messages."""
        ...

    @property
    def shares_memory(self) -> bool:
        """Whether device addresses are host addresses, so that data clauses do nothing."""
        ...

    @property
    def works_in_place(self) -> bool:
        """Whether kernels can work on host memory, where `DataFlag.IN_PLACE` allows it."""
        ...

    @property
    def reuses_blocks(self) -> bool:
        """Whether a block of memory that a region has released may be used for another one without
        clearing."""
        ...

    @property
    def clears_blocks(self) -> bool:
        """Whether such memory is zeroed first, which the thread that enters the region can do."""
        ...

    @property
    def tells(self) -> bool:
        """Whether loaded kernels have effects that the host may observe before it waits for them, such as
        output."""
        ...

    @property
    def sync_queue(self) -> Queue:
        """The queue of constructs without async."""
        ...

    def new_queue(self, *, urgent: bool = False) -> Queue:
        """A queue independent of all others; the kernels of an `urgent` one start before those of others."""
        ...

    def properties(self) -> DeviceProperties: ...

    def watch_table(self, table: PresentTable) -> None:
        """Passes the device its present table, for messages about addresses."""
        ...

    def free_memory(self) -> int: ...

    def allocate(self, size: int, queue: Queue) -> int:
        """Device memory, aligned to 256 bytes; raises `acc_error_out_of_memory`."""
        ...

    def free(self, address: int, queue: Queue) -> None:
        """Frees memory after the work that is now on `queue`."""
        ...

    def copy_in(self, device: int, host: int, strips: Strips, queue: Queue) -> None:
        """Host to device; `strips.offset` counts from both addresses."""
        ...

    def copy_out(self, host: int, device: int, strips: Strips, queue: Queue) -> None:
        """Device to host."""
        ...

    def write(self, device: int, host: int, count: int, how: Conversion, queue: Queue) -> None:
        """
        Copies `count` elements to the device and converts them. The host's memory has been read when this
        returns, or for host queues when the queue executes it.
        """
        ...

    def read(self, host: int, device: int, count: int, how: Conversion, queue: Queue) -> None:
        """Copies `count` elements to the host and converts them."""
        ...

    def packer(self) -> DevicePacker | None:
        """The kernels that encode arrays; None if the host encodes them."""
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
        Copies from another device of this kind, `origin`. `places` are the addresses, on this device and on
        the other, to which the offsets in `strips` are relative; `queues` are queues of the two. The copy
        comes after the work now on both, and their later work after it. If the same queue of this device is
        given twice, the other device need not be waited for.
        """
        ...

    def zero(self, address: int, size: int, queue: Queue) -> None: ...

    def store_pointer(self, address: int, value: int, queue: Queue) -> None:
        """Writes the 8-byte word `value` to device memory."""
        ...

    def finishes_at_once(self, queue: Queue) -> bool:
        """Whether what data clauses do on an asynchronous queue is finished when they have done it, if this
        thread does it as on the synchronous queue: its work is finished, and done on the host."""
        ...

    def call_later(self, queue: Queue, function: int, argument: int) -> None:
        """Lets a queue call the C function at address `function`, on the host, after the work so far."""
        ...

    def cells(self) -> CellPage | None:
        """Host memory that kernels can access, for scalars; None if the device has none."""
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
        """Makes the driver's context current on the calling thread, if devices of this kind have one."""
        ...

    def native_context(self) -> int:
        """The argument with which native code calls `enter_function` to do the same; 0 if nothing has to be
        done."""
        ...

    def native_queue(self, queue: Queue) -> NativeQueue | None:
        """The state of a queue for native code; None if queues have no events."""
        ...

    def enter_function(self) -> int:
        """The C address of `status enter(context)`; 0 if there is none."""
        ...

    def native_driver(self) -> NativeDriver | None:
        """The driver for launches from compiled code; None if every launch must go through Python."""
        ...

    def peer_driver(self) -> PeerDriver | None:
        """The driver for copies between devices from compiled code; None if all copies must go through
        Python."""
        ...

    def native_way(self, origin: Device) -> PeerWay | None:
        """Copies from `origin` by the `peer_driver`; None if all copies go through Python."""
        ...

    def cuda_device(self) -> int:
        """CUDA's handle of the device; 0 also for other devices."""
        ...

    def share_stream(self, queue: Queue) -> int:
        """The CUDA stream of a queue, on which the program may put work from now on; 0 if it has none."""
        ...

    def use_stream(self, queue: Queue, stream: int) -> bool:
        """Puts the queue's later work on a CUDA stream of the program; False if the device has no streams."""
        ...

    def native_stream(self) -> int:
        """The handle of the synchronous queue for functions of the native driver."""
        ...

    def native_handles(self, symbol: str, queue: Queue, *, alone: bool) -> tuple[int, int]:
        """
        The handles of the kernel and the stream for functions of the `NativeDriver`; stream 0: launches on
        this queue go through Python. `alone`: launches of the kernel share memory, so that two must not run
        at the same time.
        """
        ...

    def leave_peers(self) -> None:
        """Releases the resources for copies from other devices, before those are closed; all work is
        finished."""
        ...

    def close(self) -> None:
        """Waits for all work and releases everything."""
        ...


@dataclass(frozen=True, slots=True)
class DeviceProvider:
    """
    The devices of one type that a program may use; each is opened when it is first used. `sharing` says
    which of them share hardware; empty if none do.
    """

    type: DeviceType
    count: int
    open: Callable[[int], Device]
    sharing: str = ""
