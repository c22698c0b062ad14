"""
Accesses of the threads of a batch to all memories: resolves addresses, checks, performs and counts
accesses.

`Memories` performs an `Access` for the active threads. There is a fast path for accesses of all threads to
one allocation, which nearly all are.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .access import Access, Checks, Resolved
from .access_faults import AccessFaults
from .memory import (
    GLOBAL,
    LOCAL,
    OWNED,
    SHARED,
    SHARED_BASE,
    SPACE_SHIFT,
    WRITTEN,
    GlobalMemory,
    LocalMemory,
    SharedMemory,
    repeated,
)
from .race_checks import RaceChecks
from .races import Clock
from .scattered import Scattered
from .values import Array, Batch, Threads, Value, ndarray, spread, take

if TYPE_CHECKING:
    from .counters import Counters

PIECE = 16
"""The most bytes that the device reads at once, where it may read past the requested bytes."""


class Memories:
    """The memories as the active threads of one batch see them."""

    def __init__(
        self,
        memory: GlobalMemory,
        shared: SharedMemory,
        local: LocalMemory,
        batch: Batch,
        clock: Clock,
        faults: AccessFaults,
        checks: Checks,
        counters: Counters | None,
        launch: int,
    ):
        self.memory = memory
        self.shared = shared
        self.local = local
        self.batch = batch
        self.clock = clock
        self.faults = faults
        self.races = RaceChecks(memory, shared, clock, faults)
        self.checks = checks
        self.counters = counters
        self.launch = launch

    # Loads and stores

    def load(self, threads: Threads, address: Value, access: Access) -> Value:
        """The values at these addresses."""
        try:
            at = self._resolve(threads, address, access)
        except Scattered as apart:
            return apart.gather(threads, lambda some, here: self.load(some, address[here], access))
        self._count(threads, address, access, at)
        index = at.index(access.size)
        if self.checks.uninitialised and access.checked:
            self._check_written(threads, at, index, address, access)
        if self.checks.races and at.space != LOCAL:
            self.races.read(threads, at, address, access)
        return at.bytes.views[access.dtype][index]

    def store(self, threads: Threads, address: Value, value: Value, access: Access) -> None:
        """Writes values; where threads of one step write one place, the last one wins."""
        try:
            at = self._resolve(threads, address, access)
        except Scattered as apart:
            for some, here in apart.parts(threads):
                self.store(some, address[here], take(here, value), access)
            return
        self._count(threads, address, access, at)
        index = at.index(access.size)
        view = at.bytes.views[access.dtype]
        watched = self.checks.races and at.space != LOCAL
        if watched:
            written = None if access.atomic else value
            self.races.write(threads, at, index, written, address, access)
        if isinstance(index, ndarray) or not isinstance(value, ndarray):
            view[index] = value
        else:
            view[index] = value[-1]
        at.mark(access.size, repeated(WRITTEN, access.size))
        if watched and threads.n > 1 and not access.atomic:
            self.races.same_step(threads, at, index, value, address, access)

    def _count(self, threads: Threads, address: Value, access: Access, at: Resolved) -> None:
        if self.counters is not None:
            self.counters.access(threads, address, access, at.space)

    def _resolve(self, threads: Threads, address: Value, access: Access) -> Resolved:
        size = access.size
        if isinstance(address, ndarray):
            low, high = int(address.min()), int(address.max())
            bits = int(np.bitwise_or.reduce(address))
        else:
            low = high = bits = int(address)
        if bits & (size - 1):
            self.faults.misaligned(threads, address, access)
        last = access.last
        if last is not None and last.live and last.start <= low and high + size <= last.end:
            return Resolved(self.memory.bytes, address - self.memory.base, last, GLOBAL)
        space = low >> SPACE_SHIFT
        if space != high >> SPACE_SHIFT:
            self._mixed(threads, address, access)
        if space == GLOBAL:
            return self._resolve_global(threads, address, access, low, high)
        if space == SHARED:
            return self._resolve_shared(threads, address, access)
        if space == LOCAL:
            return self._resolve_local(threads, address, access, low, high)
        raise self.faults.outside(threads, address, access, np.bool_(True))

    def _resolve_global(
        self, threads: Threads, address: Value, access: Access, low: int, high: int
    ) -> Resolved:
        size = access.size
        found = self.memory.at(low)
        offsets = address - self.memory.base
        if found is not None and high + size <= (
            -(-found.end // PIECE) * PIECE if access.speculative else found.end
        ):
            access.last = found
            return Resolved(self.memory.bytes, offsets, found, GLOBAL)
        base, end = self.memory.base, self.memory.base + self.memory.capacity
        if low < base or high + size > end:
            inside = (address >= base) & (address < end - size)
            raise self.faults.outside(threads, address, access, ~inside)
        return self._owned(
            threads, Resolved(self.memory.bytes, offsets, None, GLOBAL), address, access
        )

    def _resolve_shared(self, threads: Threads, address: Value, access: Access) -> Resolved:
        window = address - SHARED_BASE
        outside = (window < 0) | (window > self.shared.stride - access.size)
        if np.any(outside):
            raise self.faults.outside(threads, address, access, outside)
        stride = self.shared.stride
        offsets = window if self.batch.blocks == 1 else threads.blocks * stride + window
        return self._owned(
            threads, Resolved(self.shared.bytes, offsets, None, SHARED), address, access
        )

    def _resolve_local(
        self, threads: Threads, address: Value, access: Access, low: int, high: int
    ) -> Resolved:
        variable = self.local.at(low)
        if variable is None or high + access.size > variable.start + variable.size:
            return self._resolve_locals(threads, address, access)
        offsets = threads.all_ids * variable.stride + (address - variable.start)
        return Resolved(variable.bytes, offsets, None, LOCAL)

    def _resolve_locals(self, threads: Threads, address: Value, access: Access) -> Resolved:
        """Resolves accesses of threads to different local variables; reports out of bounds unless each is
        inside one."""
        if not isinstance(address, ndarray):
            raise self.faults.outside(threads, address, access, np.bool_(True))
        for position, one in enumerate(map(int, address)):
            variable = self.local.at(one)
            if variable is None or one + access.size > variable.start + variable.size:
                outside = np.zeros(threads.n, np.bool_)
                outside[position] = True
                raise self.faults.outside(threads, address, access, outside)
        raise Scattered(address, self.local)

    def _mixed(self, threads: Threads, address: Value, access: Access) -> None:
        spaces = address >> SPACE_SHIFT
        known = (spaces == GLOBAL) | (spaces == SHARED) | (spaces == LOCAL)
        if not known.all():
            raise self.faults.outside(threads, address, access, ~known)
        raise Scattered(address, self.local)

    # Checks

    def _owned(self, threads: Threads, at: Resolved, address: Value, access: Access) -> Resolved:
        """Returns `at`; reports out of bounds unless all its bytes belong to variables."""
        wanted = repeated(OWNED, access.size)
        outside = at.bytes.states[access.size][at.index(access.size)] & wanted != wanted
        if np.any(outside):
            raise self.faults.outside(threads, address, access, outside)
        return at

    def _check_written(
        self, threads: Threads, at: Resolved, index: Value, address: Value, access: Access
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
            self.faults.uninitialised(threads, address, access, missing)

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
        self._count(threads, address, access, at)
        index = at.index(access.size)
        if self.checks.uninitialised:
            self._check_written(threads, at, index, address, access)
        if self.checks.races and at.space != LOCAL:
            self.races.write(threads, at, index, None, address, access)
        if at.space == GLOBAL:
            self.clock.atomic(threads)
        at.mark(access.size, repeated(WRITTEN, access.size))
        return at.bytes.views[access.dtype], spread(threads.n, index)

    def state(self, threads: Threads, address: Value, access: Access) -> Value:
        """The states of the bytes at these addresses, as one number for each address."""
        try:
            at = self._resolve(threads, address, access)
        except Scattered as apart:
            return apart.gather(threads, lambda some, here: self.state(some, address[here], access))
        return at.bytes.states[access.size][at.index(access.size)]

    def set_state(self, threads: Threads, address: Value, state: Value, access: Access) -> None:
        """Sets the states that `state` returns."""
        try:
            at = self._resolve(threads, address, access)
        except Scattered as apart:
            for some, here in apart.parts(threads):
                self.set_state(some, address[here], take(here, state), access)
            return
        at.mark(access.size, state)

    def text(self, address: int) -> bytes:
        """The zero-terminated string at a global address."""
        allocation = self.memory.at(address)
        if allocation is None:
            return b"(null)" if address == 0 else b"(bad pointer)"
        offset = address - self.memory.base
        end = allocation.end - self.memory.base
        return bytes(self.memory.bytes.data[offset:end]).partition(b"\0")[0]
