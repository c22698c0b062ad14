"""The functions that the code of a kernel calls while it runs: one `Execution` for each batch of blocks."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np

from . import atomics, copies
from .access import Access, SourcePlace
from .bulk import BulkBarriers
from .findings import FaultKind
from .memories import Memories
from .patience import LaunchWatch
from .values import Array, Threads, Value, ndarray, put, spread, takes
from .warps import Warps
from .watches import BatchWatches, History


@dataclass(frozen=True, slots=True)
class Function:
    """The function at a function's address."""

    code: Callable[..., Value]
    parameters: int


class Execution:
    """One batch of blocks of one launch."""

    def __init__(
        self,
        memories: Memories,
        most_turns: float,
        watch: LaunchWatch,
        history: History,
    ):
        self.memories = memories
        self.batch = memories.batch
        self.local = memories.local
        self.clock = memories.clock
        self.counters = memories.counters
        self.warps = Warps(memories.batch, memories.faults)
        self.most_turns = most_turns
        self.turns = 0
        """The number of turns of all loops."""
        self._watch = watch
        self.load = memories.load
        self.store = memories.store
        self.copy = partial(copies.copy, memories)
        self.fill = partial(copies.fill, memories)
        self.bulk = BulkBarriers(self)
        races = memories.checks.races
        self.watches = BatchWatches(memories.batch, memories.faults, history, races)
        self._exited: Array | None = None
        self._block_ids: dict[int, Value] = {}

    def start_batch(self) -> None:
        """Resets all state for the next batch."""
        self._exited = None
        self.bulk.clear()
        self.watches.start_batch()
        self._block_ids.clear()
        self.local.pop(0)

    # Indices

    @cached_property
    def _thread_ids(self) -> tuple[Value, Value, Value]:
        return self.batch.thread_id(0), self.batch.thread_id(1), self.batch.thread_id(2)

    def thread_id(self, dimension: int) -> Value:
        return self._thread_ids[dimension]

    def block_id(self, dimension: int) -> Value:
        found = self._block_ids.get(dimension)
        if found is None:
            found = self._block_ids[dimension] = self.batch.block_id(dimension)
        return found

    # Local memory

    def alloca(self, size: int, count: Value, name: str) -> Value:
        """Allocates a variable of every thread, with the size for the largest count."""
        most = int(count.max()) if isinstance(count, ndarray) else int(count)
        return np.int64(self.local.push(size * most, name))

    def check_cell(self, threads: Threads, written: Value, place: SourcePlace, name: str) -> None:
        """Reports a variable in registers that is read before it is written."""
        if not self.memories.checks.uninitialised or np.all(written):
            return
        missing = ~np.broadcast_to(written, (threads.n,))
        detail = f"nothing was written to '{name}' before"
        self.fault(
            FaultKind.UNINITIALISED, detail, threads, place, int(np.argmax(missing)), array=name
        )

    def handed_over(self, threads: Threads, written: Value) -> Value:
        """
        Whether a variable in registers is set in each thread after one thread of its block gave the others
        its value: where any of them has set it.
        """
        if not isinstance(written, ndarray):
            return written
        blocks = threads.blocks
        return np.bincount(blocks, weights=written)[blocks] > 0

    # Calls through pointers

    def call(
        self,
        threads: Threads,
        functions: Mapping[int, Function],
        pointer: Value,
        place: SourcePlace,
        *arguments: Value,
    ) -> Value:
        """Calls the functions at addresses; threads with the same address call together."""
        if not isinstance(pointer, ndarray):
            return self._function(threads, functions, int(pointer), place, arguments)(
                self, threads, *arguments
            )
        result: Value = None
        for address in np.unique(pointer):
            here = np.flatnonzero(pointer == address)
            some = threads.sub(here)
            function = self._function(some, functions, int(address), place, arguments)
            value = function(self, some, *takes(here, *arguments))
            if value is not None:
                result = put(threads.n, result, here, value)
        return result

    def _function(
        self,
        threads: Threads,
        functions: Mapping[int, Function],
        address: int,
        place: SourcePlace,
        arguments: Sequence[Value],
    ) -> Callable[..., Value]:
        found = functions.get(address)
        if found is not None and found.parameters == len(arguments):
            return found.code
        detail = f"{address:#x} is not the address of a function of the device"
        if found is not None:
            detail = f"a function of {found.parameters} parameters gets {len(arguments)} arguments"
        self.fault(FaultKind.NO_FUNCTION, detail, threads, place)
        raise AssertionError("a fatal fault returned")

    # Synchronisation

    def retire(self, threads: Threads) -> None:
        """Marks these threads as returned from the kernel."""
        if self._exited is None:
            self._exited = np.zeros(self.batch.threads, np.bool_)
        self._exited[threads.all_ids] = True

    def barrier(self, threads: Threads, place: SourcePlace) -> None:
        """A barrier: reports a fault unless all threads of a block that have not returned are here."""
        if threads.ids is not None:
            blocks = threads.blocks
            here = np.bincount(blocks, minlength=self.batch.blocks)
            alive = np.full(self.batch.blocks, self.batch.block_threads)
            if self._exited is not None:
                alive -= self._exited.reshape(self.batch.blocks, -1).sum(axis=1)
            wrong = (here > 0) & (here != alive)
            if wrong.any():
                block = int(np.argmax(wrong))
                self.fault(
                    FaultKind.DIVERGENT_BARRIER,
                    f"{here[block]} of {alive[block]} threads of the block wait",
                    threads,
                    place,
                    int(np.argmax(blocks == block)),
                )
        self.clock.barrier(threads)

    def part_barrier(
        self, threads: Threads, number: Value, count: Value, place: SourcePlace
    ) -> None:
        """A named barrier: reports a fault unless `count` threads of a block are here, for each barrier
        `number`."""
        numbers, counts = spread(threads.n, number), spread(threads.n, count)
        keys = threads.blocks * 16 + numbers
        groups, first, here = np.unique(keys, return_index=True, return_counts=True)
        wrong = here != counts[first]
        if wrong.any():
            at = int(np.argmax(wrong))
            self.fault(
                FaultKind.DIVERGENT_BARRIER,
                f"{here[at]} of {counts[first[at]]} threads wait at barrier {groups[at] % 16}",
                threads,
                place,
                int(first[at]),
            )
        self.clock.barrier(threads)

    # Atomics

    def atomic_update(
        self,
        threads: Threads,
        kind: str,
        address: Value,
        value: Value,
        wanted: bool,
        access: Access,
    ) -> Value:
        """`atomicrmw`; returns None if the result is not `wanted`."""
        view, index = self.memories.atomic(threads, address, access)
        return atomics.update(kind, view, index, value, wanted)

    def compare_exchange(
        self, threads: Threads, address: Value, expected: Value, new: Value, access: Access
    ) -> tuple[Value, Value]:
        """`cmpxchg`: returns the old values and whether they were replaced."""
        view, index = self.memories.atomic(threads, address, access)
        if access.dtype.kind == "f":
            bits = np.dtype(f"i{access.size}")
            old, done = atomics.compare_exchange(
                view.view(bits), index, expected.view(bits), new.view(bits)
            )
            return old.view(access.dtype), done
        return atomics.compare_exchange(view, index, expected, new)

    # Faults

    def fault(
        self,
        fault: FaultKind,
        detail: str,
        threads: Threads,
        place: SourcePlace,
        position: int = 0,
        array: str = "",
    ) -> None:
        """Records a fault of the active thread at a position."""
        thread = threads.in_launch(position)
        self.memories.faults.add(fault, detail, place, thread, array=array)

    def trap(self, threads: Threads, place: SourcePlace) -> None:
        self.fault(FaultKind.TRAP, "the kernel aborts", threads, place)

    def endless(self, threads: Threads, place: SourcePlace) -> None:
        detail = (
            f"it was still running after {self.most_turns} turns; a thread that waits for another"
            " one's progress (a lock) cannot be simulated, and --patience=SECONDS (ACCOPT_PATIENCE) lets"
            " other loops turn for so long; waiting"
        )
        self.fault(FaultKind.ENDLESS, detail, threads, place)

    def too_deep(
        self, threads: Threads, places: Mapping[str, SourcePlace], failure: RecursionError
    ) -> None:
        """Reports the function in which calls have exhausted the stack; `places` are the C places of
        functions by name."""
        names = [frame.name for frame in traceback.extract_tb(failure.__traceback__)]
        calls = [name for name in names if name in places]
        detail = f"{len(calls)} calls are nested; endless recursion, or more than the simulator's stack holds"
        self.fault(FaultKind.RECURSION, detail, threads, places[calls[-1]])

    def look(self, threads: Threads, place: SourcePlace) -> None:
        """Ends a launch that exceeds its time limit."""
        wrong = self._watch.look(place, self.batch.first_thread // self.batch.block_threads)
        if wrong is not None:
            self.fault(FaultKind.TIME, wrong, threads, place)
