"""
The CPU as an OpenACC device: its own memory by default, gangs over threads, queues as threads.

Device memory is separate from the program's, so that a missing data clause has an effect, as on a GPU.
A kernel is a native function `void k(i64 gang_begin, i64 gang_end, i64 num_gangs, ptr args)`, which
native threads call for ranges of gangs (`native/gangs.py`).
"""

from __future__ import annotations

import ctypes
import os
import threading
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING

from ...compiler.backend.heap import ask_for_large_pages
from ...compiler.base.abi import DeviceType
from ...compiler.base.processors import usable_processors
from ..device import (
    CELL_BYTES,
    CellPage,
    Conversion,
    Device,
    DeviceProperties,
    DeviceProvider,
    Launcher,
    LaunchValues,
    ModuleImage,
    NativeDriver,
    NativeImage,
    Queue,
    Strips,
)
from ..errors import AccRuntimeError, ErrorClass
from ..native.gangs import GangKernel, gang_team

if TYPE_CHECKING:
    from ..data.peer_sections import PeerStrips
    from ..data.present import PresentTable
    from ..native.peers import PeerDriver
    from ..native.queues import NativeQueue

ALIGNMENT = 256
POISON = 0xCB
_IN_PLACE = 1
"""The handle of the synchronous queue for compiled code; launches on other queues go through Python."""


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


class InlineQueue:
    """The synchronous queue: work is done before `submit` returns."""

    def submit(self, work: Callable[[], object]) -> None:
        work()

    def wait(self) -> None:
        """Nothing is ever pending."""

    def done(self) -> bool:
        return True

    def wait_for(self, other: Queue) -> None:
        other.wait()

    def close(self) -> None:
        """Nothing to release."""


class ThreadQueue:
    """
    An async queue: a thread that executes its work in order. After a failure the rest is skipped, and the
    next wait for the queue raises the error.
    """

    def __init__(self, name: str):
        self._name = name
        self._begin()

    def _begin(self) -> None:
        self._process = os.getpid()
        self._work: deque[Callable[[], None]] = deque()
        self._changed = threading.Condition()
        self._submitted = 0
        self._finished = 0
        self._closing = False
        self._failure: BaseException | None = None
        self._thread = threading.Thread(target=self._run, name=self._name, daemon=True)
        self._thread.start()

    def _check_process(self) -> None:
        """Starts with an empty queue in a forked child, which lacks the thread; the queued work belongs to
        its parent."""
        if self._process != os.getpid():
            self._begin()

    def submit(self, work: Callable[[], None]) -> None:
        """Appends work; returns at once."""
        self._check_process()
        with self._changed:
            self._work.append(work)
            self._submitted += 1
            self._changed.notify_all()

    def wait(self) -> None:
        self._check_process()
        self._wait_until(self._submitted)
        self._raise_failure()

    def done(self) -> bool:
        self._check_process()
        finished = self._finished >= self._submitted
        if finished:
            self._raise_failure()
        return finished

    def wait_for(self, other: Queue) -> None:
        if isinstance(other, ThreadQueue) and other is not self:
            other._check_process()
            ticket = other._submitted
            self.submit(lambda: other._wait_until(ticket))

    def close(self) -> None:
        """Finishes the work and ends the thread."""
        if self._process != os.getpid():
            return
        with self._changed:
            self._closing = True
            self._changed.notify_all()
        self._thread.join()

    def _wait_until(self, ticket: int) -> None:
        with self._changed:
            while self._finished < ticket:
                self._changed.wait()

    def _raise_failure(self) -> None:
        failure, self._failure = self._failure, None
        if failure is not None:
            raise failure

    def _run(self) -> None:
        while True:
            with self._changed:
                while not self._work and not self._closing:
                    self._changed.wait()
                if not self._work:
                    return
                work = self._work.popleft()
                skip = self._failure is not None
            try:
                if not skip:
                    work()
            except Exception as failure:
                self._failure = failure
            finally:
                with self._changed:
                    self._finished += 1
                    self._changed.notify_all()


class HostDevice:
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

    def new_queue(self) -> Queue:
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
            raise AccRuntimeError(
                ErrorClass.INVALID_ARGUMENT,
                f"{address:#x} is not device memory of this program, or was freed before",
            )
        self._held -= size
        _submit(queue, lambda: self._libc.free(block))

    def copy_in(self, device: int, host: int, strips: Strips, queue: Queue) -> None:
        _submit(queue, lambda: self._copy_strips(device, host, strips))

    def copy_out(self, host: int, device: int, strips: Strips, queue: Queue) -> None:
        _submit(queue, lambda: self._copy_strips(host, device, strips))

    def write(self, device: int, host: int, count: int, how: Conversion, queue: Queue) -> None:
        _submit(queue, lambda: how.perform(device, host, count))

    def read(self, host: int, device: int, count: int, how: Conversion, queue: Queue) -> None:
        _submit(queue, lambda: how.perform(host, device, count))

    def packer(self) -> None:
        """None: the host encodes."""
        return None

    def copy_device(self, target: int, source: int, size: int, queue: Queue) -> None:
        _submit(queue, lambda: ctypes.memmove(target, source, size))

    def copy_peer(
        self,
        origin: Device,
        places: tuple[int, int],
        strips: Iterable[PeerStrips],
        queues: tuple[Queue, Queue],
    ) -> None:
        target, source = places
        on, other = queues
        listed = list(strips)
        on.wait_for(other)
        _submit(on, lambda: _copy_peer(target, source, listed))
        other.wait_for(on)

    def zero(self, address: int, size: int, queue: Queue) -> None:
        _submit(queue, lambda: ctypes.memset(address, 0, size))

    def store_pointer(self, address: int, value: int, queue: Queue) -> None:
        def store() -> None:
            ctypes.c_int64.from_address(address).value = value

        _submit(queue, store)

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
            _submit(queue, lambda: (team.launch(kernel, (x, y, z), pointers), keep))

        return launch

    def _kernel(self, symbol: str) -> GangKernel:
        kernel = self._kernels.get(symbol)
        if kernel is None:
            made = self._team.kernel(self.global_address(symbol), self.threads)
            kernel = self._kernels.setdefault(symbol, made)
        return kernel

    def make_current(self) -> None:
        """Does nothing: there are no contexts."""

    def native_context(self) -> int:
        return 0

    def native_queue(self, queue: Queue) -> NativeQueue | None:
        """None: queues have no events."""

    def enter_function(self) -> int:
        return 0

    def native_driver(self) -> NativeDriver:
        team = self._team
        copy = team.copy_address
        return NativeDriver(
            team.launch_address, team.synchronize_address, copy_in=copy, copy_out=copy
        )

    def native_stream(self) -> int:
        return _IN_PLACE

    def native_handles(self, symbol: str, queue: Queue, *, alone: bool) -> tuple[int, int]:
        kernel = self._kernel(symbol)
        if alone:
            kernel.alone = 1
        return ctypes.addressof(kernel), _IN_PLACE if queue is self.sync_queue else 0

    def peer_driver(self) -> PeerDriver | None:
        """None: copies go through Python."""

    def native_way(self, origin: Device) -> None:
        return None

    def leave_peers(self) -> None:
        """Does nothing: there are no resources to release."""

    def close(self) -> None:
        for queue in self._queues:
            queue.close()
        self._queues.clear()
        for block, _ in self._live.values():
            self._libc.free(block)
        self._live.clear()

    def _copy_strips(self, target: int, source: int, strips: Strips) -> None:
        for row in range(strips.rows):
            at = strips.offset + row * strips.pitch
            self._team.copy(target + at, source + at, strips.width, self.threads)


def _submit(queue: Queue, work: Callable[[], object]) -> None:
    assert isinstance(queue, InlineQueue | ThreadQueue)
    queue.submit(lambda: (work(), None)[1])


def _copy_peer(target: int, source: int, strips: Sequence[PeerStrips]) -> None:
    for strip in strips:
        for row in range(strip.rows):
            to, origin = target + strip.target_of(row), source + strip.source_of(row)
            ctypes.memmove(to, origin, strip.width)


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
