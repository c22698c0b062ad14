"""
The simulated memories. Addresses are 64-bit with the memory in the top byte, so that they are never
host addresses: 1 global, 2 shared (one window for all blocks), 3 local (one window for all threads),
4 functions.

Every byte has a state: bit 0 means that it belongs to a variable, bit 1 that it has been written. Between
allocations there are bytes that belong to none (red zones).
"""

from __future__ import annotations

import mmap
import resource
import sys
from bisect import bisect_right, insort
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..errors import AccRuntimeError, ErrorClass
from .heap import DeviceHeap
from .values import Array

SPACE_SHIFT = 56
GLOBAL, SHARED, LOCAL, CODE = 1, 2, 3, 4
GLOBAL_BASE = (GLOBAL << SPACE_SHIFT) + (1 << 40)
"""Space below the first allocation, so that the address for an array's start may be before its section on
the device."""
DEVICE_SHIFT = 44
"""The size of a device's range of global addresses; the ranges of devices do not overlap."""
SHARED_BASE = SHARED << SPACE_SHIFT
LOCAL_BASE = LOCAL << SPACE_SHIFT
CODE_BASE = CODE << SPACE_SHIFT
"""The addresses of functions, which cannot be read."""

LOCAL_LIMIT = 2 << 30
"""The most bytes for variables of all threads of a batch; a GPU has at most 512 MiB for the 1024 threads of
a block."""

REDZONE = 256
ALIGNMENT = 256
LEAST_CAPACITY = 1 << 22
"""The least bytes of global memory of a device."""

OWNED = 1
WRITTEN = 3

_VIEWS = (
    np.bool_, np.uint8, np.int8, np.int16, np.int32, np.int64, np.float16, np.float32, np.float64
)  # fmt: skip
STATE_VIEWS = {1: np.uint8, 2: np.uint16, 4: np.uint32, 8: np.uint64}


def repeated(state: int, size: int) -> Any:
    """The state of `size` bytes that are all in `state`, as one unsigned integer."""
    return STATE_VIEWS[size](int.from_bytes(bytes([state]) * size, "little"))


def _room(size: int) -> int:
    """The bytes that a variable of `size` bytes takes, with the red zone after it."""
    return -(-max(size, 1) // ALIGNMENT) * ALIGNMENT + REDZONE


class Bytes:
    """Memory with the state of each byte and typed views of both."""

    def __init__(self, data: Array, state: Array):
        self.data = data
        self.state = state
        self.views: dict[np.dtype[Any], Array] = {np.dtype(t): data.view(t) for t in _VIEWS}
        self.states: dict[int, Array] = {s: state.view(t) for s, t in STATE_VIEWS.items()}


@dataclass(eq=False, slots=True)
class Allocation:
    """
    Bytes `[start, start + size)` of global memory. `written`: every byte has been written, so reads need no
    check. `stored_by`: the kernels that store to it, whose reads of it are checked for races. `narrow`: the
    last accesses to its bytes of less than 4 bytes; None if there were none.
    """

    start: int
    size: int
    name: str = ""
    written: bool = False
    checked_in: int = -1
    stored_by: set[str] = field(default_factory=set[str])
    narrow: tuple[Array, Array] | None = None
    live: bool = True

    @property
    def end(self) -> int:
        return self.start + self.size


def _lazy(size: int) -> Array:
    """Zeroed memory that occupies physical memory only where it is accessed."""
    flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS
    if sys.platform == "linux":
        flags |= getattr(mmap, "MAP_NORESERVE", 0x4000)  # which Python knows from 3.13 on
    return np.frombuffer(mmap.mmap(-1, size, flags=flags), np.uint8)


def _wanted(size: int) -> Array:
    """As `_lazy`; raises `acc_error_out_of_memory` if the system does not grant it."""
    try:
        return _lazy(size)
    except OSError as failure:
        raise _refused(size, failure) from None


def _refused(size: int, failure: OSError) -> AccRuntimeError:
    text = f"the simulated device cannot have {size} bytes: {failure.strerror}"
    limit = resource.getrlimit(resource.RLIMIT_AS)[0]
    if limit != resource.RLIM_INFINITY:
        text += f", the limit is {limit >> 10} kB (ulimit -v)"
    return AccRuntimeError(ErrorClass.OUT_OF_MEMORY, text)


def _reserved(capacity: int) -> Bytes:
    """
    Lazy memory of `capacity` bytes, or of the largest half, quarter, … that the system grants; with its
    shadow it needs six times as much, and as much again is left to the program.
    """
    while True:
        try:
            _lazy(capacity * 12)
            return Bytes(_lazy(capacity), _lazy(capacity))
        except OSError as failure:
            if capacity <= LEAST_CAPACITY:
                raise _refused(capacity, failure) from None
            capacity //= 2


Shadow = tuple[Array, Array]
"""The last writers and last readers of memory (`races.py`), for each 4 bytes or each byte."""


def device_of(address: int) -> int:
    """The number of the device to which a global address belongs."""
    return (address - (GLOBAL << SPACE_SHIFT)) >> DEVICE_SHIFT


class GlobalMemory:
    """
    Memory of device `number` with `capacity` bytes, the first at address `base`: first fit, with red zones
    between allocations. `capacity` is the requested size, or less if the process's address space is limited
    (`ulimit -v`).
    """

    def __init__(self, capacity: int, number: int = 0):
        self.bytes = _reserved(capacity)
        self.capacity = capacity = len(self.bytes.data)
        self.base = GLOBAL_BASE + (number << DEVICE_SHIFT)
        self.allocations: list[Allocation] = []
        self.used = 0
        self._holes: list[tuple[int, int]] = [(REDZONE, capacity - REDZONE)]
        self._shadow: Shadow | None = None
        self.heap = DeviceHeap(self)

    def shadow(self) -> Shadow:
        """The last writer and reader of every 4 bytes, by accesses of at least 4 bytes."""
        if self._shadow is None:
            size = self.capacity * 2
            self._shadow = _wanted(size).view(np.int64), _wanted(size).view(np.int64)
        return self._shadow

    def forget_accesses(self) -> None:
        """Clears the record of accesses."""
        self._shadow = None
        for allocation in self.allocations:
            allocation.narrow = None

    def allocate(self, size: int, name: str = "") -> Allocation:
        """Uninitialised memory aligned to 256 bytes; raises `acc_error_out_of_memory`."""
        room = _room(size)
        index = next((i for i, hole in enumerate(self._holes) if hole[1] >= room), None)
        if index is None:
            raise AccRuntimeError(
                ErrorClass.OUT_OF_MEMORY,
                f"the simulated device cannot allocate {size} bytes: {self.used} of {self.capacity}"
                " are in use",
            )
        offset, length = self._holes[index]
        if length == room:
            del self._holes[index]
        else:
            self._holes[index] = (offset + room, length - room)
        found = Allocation(self.base + offset, size, name)
        self._states(found)[:] = OWNED
        insort(self.allocations, found, key=lambda a: a.start)
        self.used += size
        return found

    def free(self, address: int) -> Allocation | None:
        """Frees an allocation, and returns it; None if none starts there."""
        found = self.retire(address)
        if found is not None:
            self.reuse(found)
        return found

    def clear(self, allocation: Allocation) -> None:
        """Fills an allocation with zeros."""
        offset = allocation.start - self.base
        self.bytes.data[offset : offset + allocation.size] = 0
        self._states(allocation)[:] = WRITTEN

    def retire(self, address: int) -> Allocation | None:
        """Ends an allocation, whose bytes are not allocated again until `reuse`; None if none starts
        there."""
        index = self._below(address)
        if index < 0 or self.allocations[index].start != address:
            return None
        found = self.allocations.pop(index)
        found.live = False
        self._states(found)[:] = 0
        self.used -= found.size
        return found

    def reuse(self, found: Allocation) -> None:
        """Lets the bytes of an allocation that ended be allocated again."""
        offset = found.start - self.base
        room = _room(found.size)
        insort(self._holes, (offset, room))
        self._join_holes()

    def _join_holes(self) -> None:
        joined: list[tuple[int, int]] = []
        for offset, length in self._holes:
            if joined and sum(joined[-1]) == offset:
                joined[-1] = (joined[-1][0], joined[-1][1] + length)
            else:
                joined.append((offset, length))
        self._holes = joined

    def at(self, address: int) -> Allocation | None:
        """The allocation that contains a byte."""
        index = self._below(address)
        found = self.allocations[index] if index >= 0 else None
        return found if found is not None and address < found.end else None

    def _below(self, address: int) -> int:
        """The index of the last allocation that begins at an address or below it; -1 if there is none."""
        return bisect_right(self.allocations, address, key=lambda a: a.start) - 1

    def nearest(self, address: int) -> Allocation | None:
        """The allocation before or after an address that is nearest to it."""
        index = self._below(address)
        around = self.allocations[max(index, 0) : index + 2]
        return min(around, key=lambda a: max(a.start - address, address - a.end), default=None)

    def whole(self, allocation: Allocation) -> bool:
        """Whether every byte of an allocation has been written, which its `written` then says."""
        allocation.written = bool((self._states(allocation) == WRITTEN).all())
        return allocation.written

    def _states(self, allocation: Allocation) -> Array:
        """The states of an allocation's bytes."""
        offset = allocation.start - self.base
        return self.bytes.state[offset : offset + allocation.size]


@dataclass(slots=True)
class SharedVariable:
    """A variable in the shared window at `offset` from its start."""

    name: str
    offset: int
    size: int


class SharedLayout:
    """The offsets of a module's shared variables in a block's window, with red zones between them."""

    def __init__(self) -> None:
        self.variables: list[SharedVariable] = []
        self.size = REDZONE
        self.offsets: dict[str, int] = {}

    def add(self, name: str, size: int) -> None:
        """Allocates a variable, aligned to at least a row of banks."""
        self.variables.append(SharedVariable(name, self.size, size))
        self.offsets[name] = self.size
        self.size += -(-size // 128) * 128 + REDZONE

    def template(self) -> Array:
        """The states of one block's bytes when it starts."""
        state = np.zeros(self.size, np.uint8)
        for variable in self.variables:
            state[variable.offset : variable.offset + variable.size] = OWNED
        return state

    def at(self, offset: int) -> str:
        """The variable at or nearest to an offset."""
        nearest = min(
            self.variables,
            key=lambda v: max(v.offset - offset, offset - v.offset - v.size + 1, 0),
            default=None,
        )
        return nearest.name if nearest is not None else ""


class SharedMemory:
    """The shared memory of the blocks of one batch, one window after the other."""

    def __init__(self, layout: SharedLayout, blocks: int):
        self.layout = layout
        self.stride = layout.size
        self._template = layout.template()
        self._blocks = blocks
        data = np.zeros(self.stride * blocks, np.uint8)
        self.bytes = Bytes(data, np.tile(self._template, blocks))
        words = self.stride * blocks // 4
        self.shadow: Shadow = np.zeros(words, np.int64), np.zeros(words, np.int64)
        self.narrow: Shadow | None = None

    def reset(self) -> None:
        """Marks all bytes as uninitialised, for the next blocks."""
        self.bytes.state[:] = np.tile(self._template, self._blocks)
        for words in (*self.shadow, *(self.narrow or ())):
            words[:] = 0


class LocalVariable:
    """One variable of every thread of a batch, `stride` bytes apart."""

    __slots__ = ("bytes", "name", "size", "start", "stride")

    def __init__(self, start: int, size: int, threads: int, name: str):
        self.start = start
        self.size = size
        self.stride = -(-max(size, 1) // 16) * 16
        self.name = name
        data = np.zeros(self.stride * threads, np.uint8)
        state = np.zeros((threads, self.stride), np.uint8)
        state[:, :size] = OWNED
        self.bytes = Bytes(data, state.reshape(-1))


class LocalMemory:
    """The stacks of all threads of a batch; they grow and shrink together."""

    def __init__(self, threads: int):
        self.threads = threads
        self.variables: list[LocalVariable] = []
        self._starts: list[int] = []
        self._top = LOCAL_BASE + REDZONE

    def push(self, size: int, name: str) -> int:
        """
        Allocates a variable of every thread, and returns its address. Raises `acc_error_out_of_memory` if
        the threads' variables exceed `LOCAL_LIMIT`.
        """
        start = self._top
        if (start - LOCAL_BASE + size) * self.threads > LOCAL_LIMIT:
            raise AccRuntimeError(
                ErrorClass.OUT_OF_MEMORY,
                f"'{name}' is {size} bytes for each of {self.threads} threads that run together, whose own"
                f" variables may be {LOCAL_LIMIT >> 30} GiB in the simulator (a GPU has 512 KiB a thread);"
                " make it a 'private' array of the gangs, or allocate it on the host",
            )
        self.variables.append(LocalVariable(start, size, self.threads, name))
        self._starts.append(start)
        self._top += _room(size)
        return start

    @property
    def depth(self) -> int:
        """A mark for `pop`."""
        return len(self.variables)

    def pop(self, depth: int) -> None:
        """Removes the variables allocated since `depth` returned this mark."""
        del self.variables[depth:]
        del self._starts[depth:]
        last = self.variables[-1] if self.variables else None
        self._top = last.start + _room(last.size) if last else LOCAL_BASE + REDZONE

    def at(self, address: int) -> LocalVariable | None:
        """The variable that contains an address, or the nearest one below it."""
        index = bisect_right(self._starts, address) - 1
        return self.variables[index] if index >= 0 else None
