"""
The CPU as an OpenACC device: its own memory by default, gangs over threads, queues as threads.

Device memory is separate from the program's, so that a missing data clause has an effect, as on a GPU.
A kernel is a native function `void k(i64 gang_begin, i64 gang_end, i64 num_gangs, ptr args)`, which
native threads call for ranges of gangs (`native/gangs.py`).
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING

from ...compiler.backend.heap import ask_for_large_pages
from ...compiler.base.abi import DeviceType
from ...compiler.base.processors import usable_processors
from ..device import (
    CELL_BYTES,
    CellPage,
    DeviceProperties,
    DeviceProvider,
    Launcher,
    LaunchValues,
    ModuleImage,
    NativeDriver,
    NativeImage,
    Queue,
)
from ..errors import AccRuntimeError, ErrorClass
from ..in_process import InlineQueue, InProcessDevice, not_device_memory, submit
from ..native.gangs import GangKernel, gang_team
from ..native.queues import NativeQueue
from .queues import ThreadQueue

if TYPE_CHECKING:
    from ..data.present import PresentTable

ALIGNMENT = 256
POISON = 0xCB
_IN_PLACE = 1
"""The handle of the synchronous queue for compiled code (`native/gangs_queues.py`)."""


@dataclass(frozen=True, slots=True)
class HostOptions:
    """
    Options of the host device. `threads`: CPU threads per launch; 0 takes the processors that this process
    may use (`usable_processors`). `shared_memory`: device addresses are host addresses, and data clauses
    move nothing. `poison`: fill new device memory with 0xCB, so that reads of uninitialised memory have an
    effect.
    """

    threads: int = 0
    shared_memory: bool = False
    poison: bool = False


class HostDevice(InProcessDevice):
    """
    The CPU as a `Device` (see there for the methods' contracts): number `number` of `count`, each with its
    own memory, queues and global variables.
    """

    type = DeviceType.HOST
    tells = False
    """Kernels have finished when their launch returns."""
    clears_blocks = True
    """Programs rely on fresh device memory being zero, as a GPU's is in practice."""

    def __init__(self, options: HostOptions | None = None, number: int = 0, count: int = 1):
        self.options = options or HostOptions()
        self.number = number
        self.threads = self.options.threads or usable_processors()
        which = f"host {number}" if count > 1 else "host"
        self.name = f"{which} (CPU, {self.threads} threads)"
        self.shares_memory = self.options.shared_memory
        self.works_in_place = not self.options.poison
        self.reuses_blocks = not self.options.poison
        self.sync_queue = InlineQueue()
        self._sync = NativeQueue(stream=_IN_PLACE)
        self._queues: list[ThreadQueue] = []
        self._team = gang_team()
        self._kernels: dict[str, GangKernel] = {}
        self._resolve: Callable[[str], int] | None = None
        self._libc = ctypes.CDLL(None)
        self._libc.calloc.argtypes = (ctypes.c_size_t, ctypes.c_size_t)
        self._libc.calloc.restype = ctypes.c_void_p
        self._libc.free.argtypes = (ctypes.c_void_p,)
        self._free_at_start = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_AVPHYS_PAGES")
        self._held = 0
        self._live: dict[int, tuple[int, int]] = {}
        self._cells: ctypes.Array[ctypes.c_int64] | None = None

    def watch_table(self, table: PresentTable) -> None:
        """Does nothing: messages of the host device contain no addresses."""

    def new_queue(self, *, urgent: bool = False) -> Queue:
        queue = ThreadQueue(f"accopt-queue-{len(self._queues)}")
        self._queues.append(queue)
        return queue

    def properties(self) -> DeviceProperties:
        memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
        return DeviceProperties("CPU", os.uname().machine, "accopt", memory, self.shares_memory)

    def free_memory(self) -> int:
        """The memory that was free at the start minus the program's device memory, so that only the
        program's own allocations change it."""
        return max(self._free_at_start - self._held, 0)

    def allocate(self, size: int, queue: Queue) -> int:
        # Zeroed, as a GPU's memory is when a program first gets it.
        block = self._libc.calloc(size + ALIGNMENT, 1)
        if block is None:
            raise AccRuntimeError(
                ErrorClass.OUT_OF_MEMORY, f"the host device cannot allocate {size} bytes"
            )
        ask_for_large_pages(block, size)
        address = -(-block // ALIGNMENT) * ALIGNMENT
        self._live[address] = (block, size)
        self._held += size
        if self.options.poison:
            ctypes.memset(address, POISON, size)
        return address

    def free(self, address: int, queue: Queue) -> None:
        block, size = self._live.pop(address, (0, 0))
        if not block:
            raise not_device_memory(address)
        self._held -= size
        submit(queue, lambda: self._libc.free(block))

    def in_process(self, address: int, size: int) -> int:
        return address

    def transfer(self, target: int, source: int, size: int) -> None:
        self._team.copy(target, source, size, self.threads)

    def cells(self) -> CellPage | None:
        if self.shares_memory:
            return None
        if self._cells is None:
            self._cells = (ctypes.c_int64 * (CELL_BYTES // 8))()
        address = ctypes.addressof(self._cells)
        return CellPage(address, address, CELL_BYTES)

    def load(self, image: ModuleImage) -> None:
        if not isinstance(image, NativeImage):
            raise AccRuntimeError(
                ErrorClass.INVALID_ARGUMENT, f"the host device cannot load a {type(image).__name__}"
            )
        again = image.again if self.number and not self.shares_memory else None
        self._resolve = again() if again is not None else image.resolve

    def global_address(self, symbol: str) -> int:
        if self._resolve is None:
            raise AccRuntimeError(ErrorClass.EXECUTION, f"no code is loaded to find '{symbol}' in")
        return self._resolve(symbol)

    def launcher(self, symbol: str, arg_bytes: Sequence[int]) -> Launcher:
        kernel, team = self._kernel(symbol), self._team
        pack = _argument_copier(tuple(arg_bytes))

        def launch(values: LaunchValues, queue: Queue) -> None:
            x, y, z, *_, args = values
            if queue is self.sync_queue:
                team.launch(kernel, (x, y, z), args)
                return
            keep, pointers = pack(args)
            submit(queue, lambda: (team.launch(kernel, (x, y, z), pointers), keep))

        return launch

    def _kernel(self, symbol: str) -> GangKernel:
        kernel = self._kernels.get(symbol)
        if kernel is None:
            made = self._team.kernel(self.global_address(symbol), self.threads)
            kernel = self._kernels.setdefault(symbol, made)
        return kernel

    def native_driver(self) -> NativeDriver:
        return self._team.driver

    def finishes_at_once(self, queue: Queue) -> bool:
        return isinstance(queue, ThreadQueue) and not queue.native_unfinished

    def native_queue(self, queue: Queue) -> NativeQueue:
        return queue.native if isinstance(queue, ThreadQueue) else self._sync

    def native_stream(self) -> int:
        return _IN_PLACE

    def native_handles(self, symbol: str, queue: Queue, *, alone: bool) -> tuple[int, int]:
        kernel = self._kernel(symbol)
        if alone:
            kernel.alone = 1
        return ctypes.addressof(kernel), self.native_queue(queue).stream

    def close(self) -> None:
        for queue in self._queues:
            queue.close()
        self._queues.clear()
        for block, _ in self._live.values():
            self._libc.free(block)
        self._live.clear()


def _argument_copier(sizes: tuple[int, ...]) -> Callable[[int], tuple[object, int]]:
    """
    A function that copies a launch's argument values (`args`: pointers to values of these sizes)
    and returns the owner of the copy and the address of its pointer array.
    """
    count = len(sizes)
    slots = [(size + 15) // 16 * 16 for size in sizes]
    offsets = list(accumulate(slots, initial=(8 * count + 15) // 16 * 16))
    total = offsets[-1]
    pointers_type = ctypes.c_int64 * count
    buffer_type = ctypes.c_char * (total + 16)

    def copy(args: int) -> tuple[object, int]:
        buffer = buffer_type()
        start = (ctypes.addressof(buffer) + 15) // 16 * 16
        source = pointers_type.from_address(args) if count else ()
        target = pointers_type.from_address(start)
        for index, size in enumerate(sizes):
            ctypes.memmove(start + offsets[index], source[index], size)
            target[index] = start + offsets[index]
        return buffer, start

    return copy


def host_devices(options: HostOptions | None = None, count: int = 1) -> DeviceProvider:
    """The CPU as the only device, or as several."""
    return DeviceProvider(DeviceType.HOST, count, lambda number: HostDevice(options, number, count))
