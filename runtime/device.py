"""
What the runtime needs of a device. `HostDevice` and `CudaDevice` implement it; tests use the first.

Addresses are plain integers, sizes are bytes. An operation given a queue is ordered on it and may
complete later; `Queue.wait` joins it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeAlias

from .abi import DeviceType


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
    """Kernels compiled into this process; `resolve` gives the address of a symbol."""

    resolve: Callable[[str], int]


@dataclass(frozen=True, slots=True)
class PtxImage:
    """PTX text, compiled by the driver when it is loaded."""

    text: str


@dataclass(frozen=True, slots=True)
class CubinImage:
    """A program already assembled by ptxas."""

    data: bytes


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


Transform: TypeAlias = Callable[[int, int, int], None]
"""Makes or takes bytes of a transfer: the host address of a piece, its place in all, its size."""


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
    A driver that compiled code may call: addresses of functions with the signatures of
    `cuLaunchKernel` and `cuStreamSynchronize`.
    """

    launch_kernel: int
    stream_synchronize: int


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
    def sync_queue(self) -> Queue:
        """The queue of constructs without async."""
        ...

    def new_queue(self) -> Queue:
        """A queue independent of all others."""
        ...

    def properties(self) -> DeviceProperties: ...

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

    def write(self, device: int, size: int, unit: int, produce: Transform, queue: Queue) -> None:
        """
        Fills `size` bytes of device memory with what `produce` makes, in pieces of whole `unit`s.
        `produce` has read its input when this returns, or when the queue gets there (host queues).
        """
        ...

    def read(self, device: int, size: int, unit: int, consume: Transform, queue: Queue) -> None:
        """Gives `size` bytes of device memory to `consume`, in pieces of whole `unit`s."""
        ...

    def copy_device(self, target: int, source: int, size: int, queue: Queue) -> None:
        """Device to device."""
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

    def native_driver(self) -> NativeDriver | None:
        """For launches from compiled code; None when every launch must come through Python."""
        ...

    def native_handles(self, symbol: str, queue: Queue) -> tuple[int, int]:
        """The kernel and the stream as `NativeDriver` functions take them."""
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
