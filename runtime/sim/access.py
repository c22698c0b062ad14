"""
Loads, stores and atomics of many threads: finding the memory, checking, doing, counting.

`Access` describes one operation of a kernel; `Memories` performs it for the active threads. The
quick way is for accesses that all lie in one allocation, which is nearly all of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from .findings import Fault, Finding, Findings, ThreadName
from .memory import (
    GLOBAL,
    GLOBAL_BASE,
    LOCAL,
    SHARED,
    SHARED_BASE,
    SPACE_SHIFT,
    STATE_VIEWS,
    WRITTEN,
    Allocation,
    Bytes,
    GlobalMemory,
    LocalMemory,
    Shadow,
    SharedMemory,
    repeated,
)
from .races import Clock, conflict_of_read, conflict_of_write
from .scattered import Scattered
from .values import Array, Batch, Threads, Value, ndarray, spread, take

if TYPE_CHECKING:
    from collections.abc import Callable

    from .counters import Counters


@dataclass(eq=False, slots=True)
class Place:
    """Where in the C source an operation comes from."""

    file: str
    line: int


PIECE = 16
"""Bytes that the device reads at a time at most, where it may read more than is wanted."""
WORD = 4
"""Races are looked for word by word, so neighbours in one word would look like one place."""


@dataclass(eq=False, slots=True)
class Access:
    """
    One load, store or atomic of a kernel. `array` is the name of the variable behind the pointer,
    `space` the memory if it is known from the IR (else 0), `checked`: whether reading uninitialised
    memory matters (not for copies of whole structs), `atomic`: whether it is indivisible, so that
    it races with plain accesses only, `speculative`: whether it may reach behind an array, in the
    16 bytes in which that ends.
    """

    place: Place
    dtype: np.dtype[Any]
    array: str
    space: int = 0
    checked: bool = True
    atomic: bool = False
    speculative: bool = False
    last: Allocation | None = None

    def __post_init__(self) -> None:
        self.dtype = np.dtype(self.dtype)

    @property
    def size(self) -> int:
        return self.dtype.itemsize


@dataclass(frozen=True)
class Checks:
    """Which detectors run besides bounds and alignment, which always do."""

    uninitialised: bool = True
    races: bool = True


@dataclass(slots=True)
class _Resolved:
    """Where an access goes: bytes, index of the elements and of the first byte, shadow."""

    bytes: Bytes
    offsets: Value
    allocation: Allocation | None
    space: int


class Memories:
    """The memories as the active threads of one batch see them."""

    def __init__(
        self,
        memory: GlobalMemory,
        shared: SharedMemory,
        local: LocalMemory,
        batch: Batch,
        clock: Clock,
        findings: Findings,
        checks: Checks,
        counters: Counters | None,
        describe: Callable[[int], str],
        launch: int,
        kernel: str,
    ):
        self.memory = memory
        self.shared = shared
        self.local = local
        self.batch = batch
        self.clock = clock
        self.findings = findings
        self.checks = checks
        self.counters = counters
        self.describe = describe
        self.launch = launch
        self.kernel = kernel

    # Loads and stores

    def load(self, threads: Threads, address: Value, access: Access) -> Value:
        """The values at these addresses."""
        try:
            at = self._resolve(threads, address, access)
        except Scattered as apart:
            return apart.gather(threads, lambda some, here: self.load(some, address[here], access))
        size = access.size
        if self.counters is not None:
            self.counters.access(threads, address, access, at.space)
        offsets = at.offsets
        index = offsets if size == 1 else offsets >> (size.bit_length() - 1)
        if self.checks.uninitialised and access.checked:
            self._check_written(threads, at, index, address, access)
        if self.checks.races and at.space != LOCAL:
            self._note_read(threads, at, address, access)
        return at.bytes.views[access.dtype][index]

    def store(self, threads: Threads, address: Value, value: Value, access: Access) -> None:
        """Writes values; where threads of one step write one place, the last one wins."""
        try:
            at = self._resolve(threads, address, access)
        except Scattered as apart:
            for some, here in apart.parts(threads):
                self.store(some, address[here], take(here, value), access)
            return
        size = access.size
        if self.counters is not None:
            self.counters.access(threads, address, access, at.space)
        offsets = at.offsets
        index = offsets if size == 1 else offsets >> (size.bit_length() - 1)
        view = at.bytes.views[access.dtype]
        watched = self.checks.races and at.space != LOCAL
        if watched:
            same = _never if access.atomic else lambda: _equal(view[index], value)
            self._note_write(threads, at, address, access, same, access.atomic)
        if isinstance(index, ndarray) or not isinstance(value, ndarray):
            view[index] = value
        else:
            view[index] = value[-1]
        if at.allocation is None or not at.allocation.written:
            at.bytes.states[size][index] = repeated(WRITTEN, size)
        if watched and threads.n > 1 and not access.atomic:
            self._check_same_step(threads, view, index, value, address, access)

    def _resolve(self, threads: Threads, address: Value, access: Access) -> _Resolved:
        size = access.size
        if isinstance(address, ndarray):
            low, high = int(address.min()), int(address.max())
            bits = int(np.bitwise_or.reduce(address))
        else:
            low = high = bits = int(address)
        if bits & (size - 1):
            self._misaligned(threads, address, access)
        last = access.last
        if last is not None and last.live and last.start <= low and high + size <= last.end:
            return _Resolved(self.memory.bytes, address - GLOBAL_BASE, last, GLOBAL)
        space = low >> SPACE_SHIFT
        if space != high >> SPACE_SHIFT:
            self._mixed(threads, address, access)
        if space == GLOBAL:
            return self._resolve_global(threads, address, access, low, high)
        if space == SHARED:
            return self._resolve_shared(threads, address, access)
        if space == LOCAL:
            return self._resolve_local(threads, address, access, low, high)
        raise self._outside(threads, address, access, np.bool_(True))

    def _resolve_global(
        self, threads: Threads, address: Value, access: Access, low: int, high: int
    ) -> _Resolved:
        size = access.size
        found = self.memory.at(low)
        offsets = address - GLOBAL_BASE
        if found is not None and high + size <= (
            -(-found.end // PIECE) * PIECE if access.speculative else found.end
        ):
            access.last = found
            return _Resolved(self.memory.bytes, offsets, found, GLOBAL)
        if low < GLOBAL_BASE or high + size > GLOBAL_BASE + self.memory.capacity:
            inside = (address >= GLOBAL_BASE) & (
                address < GLOBAL_BASE + self.memory.capacity - size
            )
            raise self._outside(threads, address, access, ~inside)
        self._check_owned(threads, self.memory.bytes, offsets, address, access)
        return _Resolved(self.memory.bytes, offsets, None, GLOBAL)

    def _resolve_shared(self, threads: Threads, address: Value, access: Access) -> _Resolved:
        window = address - SHARED_BASE
        outside = (window < 0) | (window > self.shared.stride - access.size)
        if np.any(outside):
            raise self._outside(threads, address, access, outside)
        stride = self.shared.stride
        offsets = window if self.batch.blocks == 1 else threads.blocks * stride + window
        self._check_owned(threads, self.shared.bytes, offsets, address, access)
        return _Resolved(self.shared.bytes, offsets, None, SHARED)

    def _resolve_local(
        self, threads: Threads, address: Value, access: Access, low: int, high: int
    ) -> _Resolved:
        variable = self.local.at(low)
        if variable is None or high + access.size > variable.start + variable.size:
            return self._resolve_locals(threads, address, access)
        offsets = threads.all_ids * variable.stride + (address - variable.start)
        return _Resolved(variable.bytes, offsets, None, LOCAL)

    def _resolve_locals(self, threads: Threads, address: Value, access: Access) -> _Resolved:
        """Threads access different local variables: out of bounds unless each is inside one."""
        if isinstance(address, ndarray):
            for position, one in enumerate(address):
                variable = self.local.at(int(one))
                if variable is None or int(one) + access.size > variable.start + variable.size:
                    outside = np.zeros(threads.n, np.bool_)
                    outside[position] = True
                    raise self._outside(threads, address, access, outside)
            raise Scattered(address, self.local)
        raise self._outside(threads, address, access, np.bool_(True))

    # Checks

    def _check_owned(
        self, threads: Threads, memory: Bytes, offsets: Value, address: Value, access: Access
    ) -> None:
        size = access.size
        shift = size.bit_length() - 1
        wanted = repeated(1, size)
        outside = memory.states[size][offsets >> shift] & wanted != wanted
        if np.any(outside):
            raise self._outside(threads, address, access, outside)

    def _check_written(
        self, threads: Threads, at: _Resolved, index: Value, address: Value, access: Access
    ) -> None:
        allocation = at.allocation
        if allocation is not None:
            if allocation.written:
                return
            if allocation.checked_in != self.launch:
                allocation.checked_in = self.launch
                if self.memory.whole(allocation):
                    return
        wanted = repeated(WRITTEN, access.size)
        missing = at.bytes.states[access.size][index] != wanted
        if np.any(missing):
            self._report(
                Fault.UNINITIALISED,
                "nothing was written to {where} before the access",
                threads,
                address,
                access,
                missing,
            )

    def _shadows(self, at: _Resolved, access: Access) -> list[tuple[Value, Array, Array, bool]]:
        """
        Where to look for conflicting accesses: places, last writers, last readers, and whether the access
        itself is noted there.
        """
        narrow = access.size < WORD
        wide = self.shared.shadow if at.space == SHARED else self.memory.shadow()
        places = [(at.offsets >> 2, *wide, not narrow)]
        bytes, first = self._narrow_shadow(at, make=narrow)
        if bytes is not None:
            offsets = at.offsets - first
            places += [(offsets + k, *bytes, narrow) for k in range(access.size)]
        return places

    def _narrow_shadow(self, at: _Resolved, *, make: bool) -> tuple[Shadow | None, int]:
        """The shadow of what is accessed byte by byte, and the offset it begins at."""
        if at.space == SHARED:
            if make and self.shared.narrow is None:
                size = len(self.shared.bytes.data)
                self.shared.narrow = np.zeros(size, np.int64), np.zeros(size, np.int64)
            return self.shared.narrow, 0
        allocation = at.allocation
        if allocation is None:
            return None, 0
        if make and allocation.narrow is None:
            size = allocation.size
            allocation.narrow = np.zeros(size, np.int64), np.zeros(size, np.int64)
        return allocation.narrow, allocation.start - GLOBAL_BASE

    def _note_read(self, threads: Threads, at: _Resolved, address: Value, access: Access) -> None:
        allocation = at.allocation
        if allocation is not None and self.kernel not in allocation.stored_by:
            return
        for places, writer, reader, note in self._shadows(at, access):
            found = conflict_of_read(
                self.clock,
                threads,
                places,
                writer,
                reader,
                shared=at.space == SHARED,
                atomic=access.atomic,
                note=note,
            )
            if found is not None:
                self._race(threads, address, access, found[0], found[1], "read", "written")

    def _note_write(
        self,
        threads: Threads,
        at: _Resolved,
        address: Value,
        access: Access,
        same: Callable[[], Array],
        atomic: bool = False,
    ) -> None:
        if at.allocation is not None:
            at.allocation.stored_by.add(self.kernel)
        for places, writer, reader, note in self._shadows(at, access):
            found = conflict_of_write(
                self.clock,
                threads,
                places,
                writer,
                reader,
                shared=at.space == SHARED,
                atomic=atomic,
                same=lambda: np.broadcast_to(same(), (threads.n,)),
                note=note,
            )
            if found is not None:
                position, other, what = found
                before = "written" if what == "write" else "read"
                now = "updated atomically" if atomic else "written"
                self._race(threads, address, access, position, other, now, before)

    def _check_same_step(
        self,
        threads: Threads,
        view: Array,
        index: Value,
        value: Value,
        address: Value,
        access: Access,
    ) -> None:
        """Two threads that write different values to one place in one step."""
        same = _equal(view[index], value)
        if np.all(same):
            return
        position = int(np.argmin(np.broadcast_to(same, (threads.n,))))
        addresses = spread(threads.n, address)
        others = np.flatnonzero(addresses == addresses[position])
        other = int(threads.all_ids[others[-1]]) + self.batch.first_thread
        self._race(threads, address, access, position, other, "written", "written")

    # Reports

    def _race(
        self,
        threads: Threads,
        address: Value,
        access: Access,
        position: int,
        other: int,
        now: str,
        before: str,
    ) -> None:
        where = np.zeros(threads.n, np.bool_)
        where[position] = True
        detail = f"{{where}} is {now} after it was {before}, with no synchronisation between,"
        self._report(Fault.RACE, detail, threads, address, access, where, self.name_of(other))

    def _misaligned(self, threads: Threads, address: Value, access: Access) -> None:
        wrong = np.asarray(address & (access.size - 1)) != 0
        detail = f"{{where}} is not a multiple of {access.size}"
        self._report(Fault.MISALIGNED, detail, threads, address, access, wrong)

    def _mixed(self, threads: Threads, address: Value, access: Access) -> None:
        spaces = address >> SPACE_SHIFT
        known = (spaces == GLOBAL) | (spaces == SHARED) | (spaces == LOCAL)
        if not known.all():
            raise self._outside(threads, address, access, ~known)
        raise Scattered(address, self.local)

    def _outside(
        self, threads: Threads, address: Value, access: Access, outside: Value
    ) -> BaseException:
        self._report(
            Fault.OUT_OF_BOUNDS,
            f"{access.size} bytes at {{where}}",
            threads,
            address,
            access,
            outside,
        )
        return AssertionError("a fatal fault returned")

    def _report(
        self,
        fault: Fault,
        detail: str,
        threads: Threads,
        address: Value,
        access: Access,
        where: Value,
        other: ThreadName | None = None,
    ) -> None:
        place = access.place
        if self.findings.known(fault, self.kernel, place.file, place.line, access.array):
            return
        position = int(np.argmax(where)) if isinstance(where, ndarray) and where.ndim else 0
        one = int(spread(threads.n, address)[position])
        text = detail.format(where=self._where(one, access))
        thread = self.name_of(int(threads.all_ids[position]) + self.batch.first_thread)
        self.findings.add(
            Finding(
                fault, self.kernel, place.file, place.line, text, access.array, one, thread, other
            )
        )

    def _where(self, address: int, access: Access) -> str:
        """An address in words."""
        space = address >> SPACE_SHIFT
        name = f"'{access.array}'" if access.array else "a pointer"
        if space == SHARED:
            variable = self.shared.layout.at(address - SHARED_BASE)
            return f"{name} (shared memory, near '{variable}')"
        if space == LOCAL:
            local = self.local.at(address)
            if local is None:
                return f"{name} (local memory)"
            return (
                f"{name} (local '{local.name}' of {local.size} bytes, byte {address - local.start})"
            )
        if space != GLOBAL:
            return f"{name} ({self.describe(address)})"
        found = self.memory.at(address)
        if found is not None:
            offset = f"byte {address - found.start} of the {found.size}"
            return f"{name} ({address:#x}, {offset}{self._origin(found)})"
        near = self.memory.nearest(address)
        if near is None:
            return f"{name} ({address:#x}, nothing is allocated)"
        distance = address - near.end if address >= near.end else near.start - address
        side = "after" if address >= near.end else "before"
        return (
            f"{name} ({address:#x}, {distance} bytes {side} the {near.size} bytes"
            f"{self._origin(near)})"
        )

    def _origin(self, allocation: Allocation) -> str:
        text = allocation.name or self.describe(allocation.start)
        return f" {text}" if text else ""

    def name_of(self, thread: int) -> ThreadName:
        """A thread of the launch by its number."""
        block, inside = divmod(thread, self.batch.block_threads)
        x, y, _ = self.batch.grid
        bx, by, _ = self.batch.block
        return ThreadName(
            (block % x, block // x % y, block // (x * y)),
            (inside % bx, inside // bx % by, inside // (bx * by)),
        )

    # Atomics

    def atomic(self, threads: Threads, address: Value, access: Access) -> tuple[Array, Array]:
        """The view and the indices of an atomic access, checked; an index for every thread."""
        try:
            at = self._resolve(threads, address, access)
        except Scattered:
            raise NotImplementedError(
                f"{access.place.file}:{access.place.line}: threads of one atomic update access different"
                f" kinds of memory through '{access.array}', which the simulator does not follow"
            ) from None
        size = access.size
        if self.counters is not None:
            self.counters.access(threads, address, access, at.space)
        index = at.offsets >> (size.bit_length() - 1)
        if self.checks.uninitialised:
            self._check_written(threads, at, index, address, access)
        if self.checks.races and at.space != LOCAL:
            self._note_write(threads, at, address, access, _never, atomic=True)
        if at.space == GLOBAL:
            self.clock.atomic(threads)
        if at.allocation is None or not at.allocation.written:
            at.bytes.states[size][index] = repeated(WRITTEN, size)
        return at.bytes.views[access.dtype], spread(threads.n, index)

    def state(self, threads: Threads, address: Value, access: Access) -> Value:
        """What is known of the bytes at these addresses, as one number each."""
        try:
            at = self._resolve(threads, address, access)
        except Scattered as apart:
            return apart.gather(threads, lambda some, here: self.state(some, address[here], access))
        return at.bytes.states[access.size][at.offsets >> (access.size.bit_length() - 1)]

    def set_state(self, threads: Threads, address: Value, state: Value, access: Access) -> None:
        """Sets what `state` gives."""
        try:
            at = self._resolve(threads, address, access)
        except Scattered as apart:
            for some, here in apart.parts(threads):
                self.set_state(some, address[here], take(here, state), access)
            return
        if at.allocation is None or not at.allocation.written:
            at.bytes.states[access.size][at.offsets >> (access.size.bit_length() - 1)] = state

    def text(self, address: int) -> bytes:
        """The zero-terminated string at a global address."""
        allocation = self.memory.at(address)
        if allocation is None:
            return b"(null)" if address == 0 else b"(bad pointer)"
        offset = address - GLOBAL_BASE
        end = allocation.end - GLOBAL_BASE
        return bytes(self.memory.bytes.data[offset:end]).partition(b"\0")[0]


def _never() -> Any:
    return np.bool_(False)


def _equal(a: Value, b: Value) -> Any:
    """Bitwise equality (so that NaN equals itself)."""
    bits = STATE_VIEWS[a.dtype.itemsize]
    return a.view(bits) == b.astype(a.dtype, copy=False).view(bits)
