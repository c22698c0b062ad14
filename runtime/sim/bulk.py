"""
Bulk copies and the barriers that count their bytes (PTX ISA 9.7.13.15). A copy is performed immediately;
the barriers' phases are simulated, so that a wait that would never end on a GPU is found.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from .access import SourcePlace
from .findings import FaultKind
from .values import Array, Threads, Value, spread

if TYPE_CHECKING:
    from .execution import Execution


@dataclass
class _Barrier:
    """A barrier of each block: the threads that a phase expects, the threads and bytes that are missing,
    and the phase's number."""

    count: Array
    missing: Array
    bytes: Array
    phase: Array


class BulkBarriers:
    """The barriers in the shared memory of one batch of blocks, by address."""

    def __init__(self, execution: Execution):
        self.execution = execution
        self.found: dict[int, _Barrier] = {}

    def clear(self) -> None:
        """Removes all barriers, for another batch of blocks."""
        self.found.clear()

    def init(self, threads: Threads, address: Value, count: Value, place: SourcePlace) -> None:
        """`mbarrier.init` by one thread of each block."""
        at, blocks = self._address(threads, address, place), threads.blocks
        barrier = self.found.get(at)
        if barrier is None:
            empty = (np.zeros(self.execution.batch.blocks, np.int64) for _ in range(4))
            barrier = self.found[at] = _Barrier(*empty)
        if barrier.count[blocks].any() or len(np.unique(blocks)) < len(blocks):
            self._fault("mbarrier.init at the address of another barrier", threads, place)
        barrier.count[blocks] = barrier.missing[blocks] = spread(threads.n, count)
        barrier.bytes[blocks] = barrier.phase[blocks] = 0

    def end(self, threads: Threads, address: Value, place: SourcePlace) -> None:
        """`mbarrier.inval` by one thread of each block."""
        barrier = self._barrier(threads, address, place)
        blocks = threads.blocks
        if (barrier.missing != barrier.count)[blocks].any() or barrier.bytes[blocks].any():
            self._fault("mbarrier.inval in the middle of a phase", threads, place)
        barrier.count[blocks] = 0

    def expect(self, threads: Threads, address: Value, bytes: Value, place: SourcePlace) -> None:
        """`mbarrier.arrive.expect_tx`."""
        barrier = self._barrier(threads, address, place)
        np.add.at(barrier.bytes, threads.blocks, spread(threads.n, bytes))
        np.subtract.at(barrier.missing, threads.blocks, 1)
        if (barrier.missing[threads.blocks] < 0).any():
            self._fault("more threads arrive than mbarrier.init specified", threads, place)
        self._complete(barrier)

    def copied(
        self,
        threads: Threads,
        to: Value,
        source: Value,
        address: Value,
        size: Value,
        place: SourcePlace,
    ) -> None:
        """Counts the bytes of a copy of `size` bytes for each thread, which was performed."""
        for what, value in (("target", to), ("source", source), ("size", size)):
            if (np.asarray(value) % 16).any():
                text = f"the {what} of a bulk copy is not a multiple of 16"
                self.execution.fault(FaultKind.MISALIGNED, text, threads, place)
        barrier = self._barrier(threads, address, place)
        np.subtract.at(barrier.bytes, threads.blocks, spread(threads.n, size))
        self._complete(barrier)

    def wait(self, threads: Threads, address: Value, parity: Value, place: SourcePlace) -> None:
        """
        `mbarrier.try_wait.parity` until it is true. As copies are performed immediately, it is either true
        for all threads of a block, or a fault.
        """
        barrier = self._barrier(threads, address, place)
        if ((barrier.phase[threads.blocks] & 1) == spread(threads.n, parity)).any():
            text = "a thread waits for a phase of an mbarrier that does not complete"
            self.execution.fault(FaultKind.ENDLESS, text, threads, place)
        self.execution.barrier(threads, place)

    def _complete(self, barrier: _Barrier) -> None:
        done = (barrier.count > 0) & (barrier.missing == 0) & (barrier.bytes == 0)
        barrier.phase[done] += 1
        barrier.missing[done] = barrier.count[done]

    def _address(self, threads: Threads, address: Value, place: SourcePlace) -> int:
        first = int(np.asarray(address).flat[0])
        if (np.asarray(address) != first).any() or first % 8:
            self._fault("threads use different mbarriers", threads, place)
        return first

    def _barrier(self, threads: Threads, address: Value, place: SourcePlace) -> _Barrier:
        barrier = self.found.get(self._address(threads, address, place))
        if barrier is None or not barrier.count[threads.blocks].all():
            self._fault("there is no mbarrier", threads, place)
        assert barrier is not None
        return barrier

    def _fault(self, detail: str, threads: Threads, place: SourcePlace) -> None:
        self.execution.fault(FaultKind.TRAP, detail, threads, place)
