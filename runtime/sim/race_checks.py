"""
Selects the accesses to check for data races, and the shadows to compare with (see `races.py` for the
definition of a race).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .access import Access, Resolved
from .access_faults import AccessFaults
from .memory import SHARED, STATE_VIEWS, GlobalMemory, Shadow, SharedMemory
from .races import Clock, conflict_of_read, conflict_of_write
from .values import Array, Threads, Value, spread

WORD = 4
"""Races are detected by words, so accesses to different bytes of a word would look like accesses to one
place."""


class RaceChecks:
    """Compares every access of a batch of blocks with those before it, and reports races."""

    def __init__(
        self,
        memory: GlobalMemory,
        shared: SharedMemory,
        clock: Clock,
        faults: AccessFaults,
    ):
        self.memory = memory
        self.shared = shared
        self.clock = clock
        self.faults = faults

    def read(self, threads: Threads, at: Resolved, address: Value, access: Access) -> None:
        """Checks a read, and records it for later accesses."""
        allocation = at.allocation
        if allocation is not None and self.faults.kernel not in allocation.stored_by:
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
                self.faults.race(threads, address, access, found[0], found[1], "read", "written")

    def write(
        self,
        threads: Threads,
        at: Resolved,
        index: Value,
        value: Value | None,
        address: Value,
        access: Access,
    ) -> None:
        """Checks a store of `value` to elements `index`, before it is performed; None for an atomic
        update."""
        atomic = value is None
        view = at.bytes.views[access.dtype]

        def same() -> Array:
            equal = np.bool_(False) if value is None else _equal(view[index], value)
            return np.broadcast_to(equal, (threads.n,))

        if at.allocation is not None:
            at.allocation.stored_by.add(self.faults.kernel)
        for places, writer, reader, note in self._shadows(at, access):
            found = conflict_of_write(
                self.clock,
                threads,
                places,
                writer,
                reader,
                shared=at.space == SHARED,
                atomic=atomic,
                same=same,
                note=note,
            )
            if found is not None:
                position, other, what = found
                before = "written" if what == "write" else "read"
                now = "updated atomically" if atomic else "written"
                self.faults.race(threads, address, access, position, other, now, before)

    def same_step(
        self,
        threads: Threads,
        at: Resolved,
        index: Value,
        value: Value,
        address: Value,
        access: Access,
    ) -> None:
        """Reports two threads that write different values to one place in one step."""
        same = _equal(at.bytes.views[access.dtype][index], value)
        if np.all(same):
            return
        position = int(np.argmin(np.broadcast_to(same, (threads.n,))))
        addresses = spread(threads.n, address)
        others = np.flatnonzero(addresses == addresses[position])
        other = threads.in_launch(int(others[-1]))
        self.faults.race(threads, address, access, position, other, "written", "written")

    def _shadows(self, at: Resolved, access: Access) -> list[tuple[Value, Array, Array, bool]]:
        """
        The shadows to search for conflicting accesses: places, last writers, last readers, and whether the
        access itself is recorded there.
        """
        narrow = access.size < WORD
        wide = self.shared.shadow if at.space == SHARED else self.memory.shadow()
        places = [(at.offsets >> 2, *wide, not narrow)]
        bytes, first = self._narrow_shadow(at, make=narrow)
        if bytes is not None:
            offsets = at.offsets - first
            places += [(offsets + k, *bytes, narrow) for k in range(access.size)]
        return places

    def _narrow_shadow(self, at: Resolved, *, make: bool) -> tuple[Shadow | None, int]:
        """The shadow of accesses by bytes, and the offset at which it begins."""
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
        return allocation.narrow, allocation.start - self.memory.base


def different(a: Value, b: Value) -> Any:
    """Where two values of one type differ in their bits."""
    return ~_equal(a, b)


def _equal(a: Value, b: Value) -> Any:
    """Bitwise equality (so that NaN equals itself)."""
    bits = STATE_VIEWS[a.dtype.itemsize]
    return a.view(bits) == b.astype(a.dtype, copy=False).view(bits)
