"""
Launches of kernels on the simulated GPU: batches of blocks run together, in the order of the blocks, each
batch with shared and local memory of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import AccRuntimeError, ErrorClass
from .access import Checks
from .access_faults import AccessFaults
from .compile import SimKernel
from .counters import Counters
from .execution import Execution
from .findings import Finding, Findings
from .memories import Memories
from .memory import GlobalMemory, LocalMemory, SharedMemory
from .patience import PATIENCE, LaunchWatch, Patience
from .races import LAST_LAUNCH, LAUNCH_SHIFT, TIME_MASK, Clock
from .values import Batch, Threads
from .watches import History

MAX_BLOCK = 1024
BATCH_BYTES = 1 << 28
"""The most bytes of shared and local memory of one batch."""


@dataclass(frozen=True)
class SimOptions:
    """
    `checks`: find uninitialised reads and data races (bounds and alignment are always checked). `counters`:
    count instructions and transactions by source line. `memory`: bytes of device memory, fewer if the
    system grants less. `batch_threads`: threads that are run together. `patience`: the time limit of
    kernels. `late`: perform the work of queues as late as waits allow. `report`: called with findings that
    do not end the program; by default prints them to stderr.
    """

    checks: bool = True
    counters: bool = False
    memory: int = 8 << 30
    batch_threads: int = 1 << 16
    patience: Patience = PATIENCE
    late: bool = False
    report: Callable[[Finding], None] | None = None


class KernelRuns:
    """
    The launches of one device: of kernels on its `memory`, which report `findings` and fill `counters`.
    `describe` returns a description of an address.
    """

    def __init__(
        self,
        options: SimOptions,
        memory: GlobalMemory,
        findings: Findings,
        counters: Counters | None,
        describe: Callable[[int], str],
    ):
        self.options = options
        self.memory = memory
        self.findings = findings
        self.counters = counters
        self.describe = describe
        self._launches = 0
        self._stamps = 0
        self._batches: dict[tuple[Any, ...], Batch] = {}

    def run(
        self,
        kernel: SimKernel,
        grid: tuple[int, int, int],
        block: tuple[int, int, int],
        arguments: Sequence[Any],
    ) -> None:
        """Runs one launch until it has finished. `arguments` are NumPy scalars of the kernel's types."""
        grid = (max(grid[0], 1), max(grid[1], 1), max(grid[2], 1))
        threads = block[0] * block[1] * block[2]
        if not 0 < threads <= MAX_BLOCK:
            raise AccRuntimeError(
                ErrorClass.EXECUTION,
                f"kernel {kernel.name} is launched with {threads} threads in a block, but GPUs"
                f" allow 1 to {MAX_BLOCK}",
            )
        blocks = grid[0] * grid[1] * grid[2]
        self._watch(kernel, arguments)
        self._launches += 1
        if self.counters is not None:
            self.counters.launch(kernel.name)
        together = min(blocks, self._blocks_together(kernel, threads))
        whole, rest = divmod(blocks, together)
        with np.errstate(all="ignore"):
            runner = _Launch(self, kernel, grid, block, blocks)
            runner.batches(range(0, whole * together, together), together, arguments)
            if rest:
                runner.batches(range(whole * together, blocks, rest), rest, arguments)
        self.memory.heap.finish_launch()

    def _blocks_together(self, kernel: SimKernel, threads: int) -> int:
        each = kernel.shared.size * 6 + threads * kernel.local_bytes * 2 + 1
        return max(1, min(self.options.batch_threads // threads, BATCH_BYTES // each))

    def _watch(self, kernel: SimKernel, arguments: Sequence[Any]) -> None:
        """Marks the allocations the kernel may store to, whose reads are then watched for races."""
        if not self.options.checks:
            return
        if kernel.stored is not None:
            held = [self.memory.at(int(arguments[index])) for index in kernel.stored]
            if all(allocation is not None for allocation in held):
                for allocation in held:
                    assert allocation is not None
                    allocation.stored_by.add(kernel.name)
                return
        for allocation in self.memory.allocations:
            allocation.stored_by.add(kernel.name)

    def batch(self, grid: tuple[int, int, int], block: tuple[int, int, int], blocks: int) -> Batch:
        """The batch of a shape; made once."""
        key = (grid, block, blocks)
        found = self._batches.get(key)
        if found is None:
            if len(self._batches) > 16:
                self._batches.clear()
            found = self._batches[key] = Batch(grid, block, blocks)
        return found

    def next_stamp(self) -> int:
        """The first number of stamps for the next launch; clears the shadows when the numbers are used
        up."""
        self._stamps += 1
        if self._stamps > LAST_LAUNCH - 1:
            self._stamps = 1
            self.memory.forget_accesses()
        return self._stamps << LAUNCH_SHIFT

    @property
    def launches(self) -> int:
        """The number of kernels launched so far."""
        return self._launches

    def forget_batches(self) -> None:
        """Frees the memory of shapes that have been launched."""
        self._batches.clear()


class _Launch:
    """One launch while it runs."""

    def __init__(
        self,
        runs: KernelRuns,
        kernel: SimKernel,
        grid: tuple[int, int, int],
        block: tuple[int, int, int],
        blocks: int,
    ):
        self.runs = runs
        self.kernel = kernel
        self.grid = grid
        self.block = block
        self.blocks = blocks
        self.clock: Clock | None = None
        self.history = History()
        self.watch = LaunchWatch(runs.options.patience, kernel.name, blocks)

    def batches(self, firsts: range, blocks: int, arguments: Sequence[Any]) -> None:
        """Runs batches of one size."""
        if not firsts:
            return
        runs = self.runs
        batch = runs.batch(self.grid, self.block, blocks)
        clock = Clock(self.blocks, batch)
        if self.clock is not None:
            clock.follow(self.clock)
        else:
            clock.base = runs.next_stamp()
        self.clock = clock
        on = runs.options.checks
        shared = SharedMemory(self.kernel.shared, blocks)
        local = LocalMemory(batch.threads)
        faults = AccessFaults(
            runs.findings,
            self.kernel.name,
            batch,
            runs.memory,
            shared,
            local,
            runs.describe,
        )
        memories = Memories(
            runs.memory,
            shared,
            local,
            batch,
            clock,
            faults,
            Checks(on, on),
            runs.counters,
            runs.launches,
        )
        most_turns = runs.options.patience.most_turns
        execution = Execution(memories, most_turns, self.watch, self.history)
        for number, first in enumerate(firsts):
            batch.move_to(first)
            if number:
                shared.reset()
            clock.next_batch()
            execution.start_batch()
            threads = Threads(batch, None, batch.threads)
            execution.look(threads, self.kernel.place)
            try:
                self.kernel.run(execution, threads, *arguments)
            except RecursionError as failure:
                execution.too_deep(threads, self.kernel.places, failure)
            clock.now += 1
            if clock.now > TIME_MASK - (1 << 16):
                clock.base = runs.next_stamp()
                clock.now = 1
