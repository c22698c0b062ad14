"""
Detects scalars of a gang or worker whose value depends on the order of iterations.

The execution model holds such a scalar once per gang or worker; kernels hold it in every thread. Where a
partitioned loop assigns one without a clause, the compiler inserts `accx.watch` operations (`watches.py` of
`convert-acc-compute-to-gpu`), and this module records, for each thread's copy, the iteration and the loop
in which it was assigned last. The rules, for a loop that assigns the scalar:

1. an iteration that reads what another iteration assigned, or code after the loop that reads what
   some iteration assigned, gets a value that depends on the order;
2. so does an iteration that reads the value from before the loop, if another iteration assigns one.

An iteration may read the value that it has assigned itself: such a scalar could have been private.
Assigning the value that a copy already holds changes nothing.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np

from .access import SourcePlace
from .access_faults import AccessFaults
from .findings import FaultKind
from .race_checks import different
from .values import Array, Batch, Threads, Value

_NEVER = np.int64(np.iinfo(np.int64).max)


@dataclass(frozen=True, slots=True)
class WatchedLoop:
    """
    A partitioned loop. `inside`: the unit that runs an iteration (`gang`, `worker`, `thread`); `shared_by`:
    the unit over which iterations are distributed (`launch`, `gang`, `worker`); `variables`: the numbers of
    the scalars it assigns.
    """

    number: int
    line: int
    inside: str
    shared_by: str
    variables: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class WatchedScalar:
    """A watched scalar: `what` describes its copies in messages; `remedies` has the remedy for each of the
    `loops`."""

    number: int
    name: str
    what: str
    loops: tuple[int, ...]
    remedies: tuple[str, ...]


class ScalarCopies:
    """
    For each thread's copy of a scalar: the iteration of a loop in which it was last `assigned`, and that in
    which its value last `changed`; 0 outside of the loop.
    """

    def __init__(self, threads: int):
        self.assigned = np.zeros(threads, np.int64)
        self.changed = np.zeros(threads, np.int64)


class Span:
    """The iterations that did something, by instance of a loop: the lowest and the highest number, 0 for
    none."""

    def __init__(self, size: int):
        self.low = np.full(size, _NEVER)
        self.high = np.zeros(size, np.int64)

    def add(self, groups: Array, iterations: Array) -> None:
        if len(groups) and (most := int(groups.max())) >= len(self.high):
            more = 2 * most - len(self.high) + 1
            self.low = np.append(self.low, np.full(more, _NEVER))
            self.high = np.append(self.high, np.zeros(more, np.int64))
        np.minimum.at(self.low, groups, iterations)
        np.maximum.at(self.high, groups, iterations)

    def forget(self, groups: Array) -> None:
        self.low[groups] = _NEVER
        self.high[groups] = 0

    def another(self, groups: Array, iterations: Array) -> Array:
        """Where an iteration other than the given one is in the span."""
        known = groups < len(self.high)
        at = np.where(known, groups, 0)
        alone = (self.low[at] == iterations) & (self.high[at] == iterations)
        return known & (self.high[at] > 0) & ~alone


Key: TypeAlias = tuple[int, int, str]
"""Scalar, loop, and the action of iterations: `read` or `write`."""


@dataclass
class History:
    """The state that is kept between batches of blocks: the iterations so far, and those that read and
    assigned in loops over all gangs."""

    iterations: int = 0
    spans: dict[Key, Span] = field(default_factory=dict[Key, Span])
    lines: dict[Key, int] = field(default_factory=dict[Key, int])


class BatchWatches:
    """The watched loops and scalars of one batch."""

    def __init__(self, batch: Batch, faults: AccessFaults, history: History, enabled: bool):
        self.batch = batch
        self.faults = faults
        self.history = history
        self.enabled = enabled
        self.loops: dict[int, WatchedLoop] = {}
        self.spans: dict[Key, Span] = {}
        self.start_batch()

    def start_batch(self) -> None:
        """Resets the state for the next batch, except for loops that the whole launch shares."""
        self.now: dict[int, Array] = {}
        self.copies: dict[tuple[int, int], ScalarCopies] = {}
        self.instances: dict[int, Array] = {}
        self.spans.clear()

    # Loops

    def begin(self, threads: Threads, loop: WatchedLoop) -> None:
        """Records the beginning of a new instance of the loop."""
        if not self.enabled:
            return
        self.loops[loop.number] = loop
        if loop.number not in self.now:
            self.now[loop.number] = np.zeros(self.batch.threads, np.int64)
            self.instances[loop.number] = np.full(self.batch.blocks, -1)
        if loop.shared_by == "launch":
            self.instances[loop.number][np.unique(threads.blocks)] += 1
            return
        groups = np.unique(self._groups(threads, loop))
        for variable in loop.variables:
            for what in ("read", "write"):
                self._span(variable, loop, what).forget(groups)

    def iteration(self, threads: Threads, loop: WatchedLoop) -> None:
        """Records the beginning of an iteration, a different one in each thread, worker or gang."""
        if not self.enabled:
            return
        self.history.iterations += 1
        unit = self._units(threads, loop.inside)
        self.now[loop.number][threads.all_ids] = (self.history.iterations << 32) + unit + 1

    def end(self, threads: Threads, loop: WatchedLoop) -> None:
        """Records the end of the loop. Values that iterations have assigned are no longer valid as the
        gang's."""
        if not self.enabled:
            return
        ids = threads.all_ids
        self.now[loop.number][ids] = 0
        units = self._local(threads, "worker" if loop.shared_by == "worker" else "gang")
        for variable in loop.variables:
            changed = self._copies(variable, loop.number).changed
            last = np.zeros(int(units.max()) + 1, np.int64)
            np.maximum.at(last, units, changed[ids])
            changed[ids] = last[units]

    # Accesses

    def read(self, threads: Threads, scalar: WatchedScalar, place: SourcePlace) -> None:
        """Checks a read of the threads' copies."""
        if not self.enabled:
            return
        ids = threads.all_ids
        for position, number in enumerate(scalar.loops):
            now = self._now(number, threads)
            copies = self._copies(scalar.number, number)
            others = (copies.assigned[ids] != now) | (now == 0)
            changed = copies.changed[ids] != 0
            wrong = others & changed
            if wrong.any():
                self._report(threads, scalar, position, place, wrong, "read", "write")
            before = others & ~changed & (now != 0)
            if before.any():
                self._compare(threads, scalar, position, place, before, "read", "write")

    def write(
        self,
        threads: Threads,
        scalar: WatchedScalar,
        place: SourcePlace,
        old: Value | None,
        new: Value,
    ) -> None:
        """Checks an assignment to the threads' copies, which held `old` values (None: unknown)."""
        if not self.enabled:
            return
        changed = np.broadcast_to(np.True_ if old is None else different(old, new), (threads.n,))
        ids = threads.all_ids
        for position, number in enumerate(scalar.loops):
            now = self._now(number, threads)
            copies = self._copies(scalar.number, number)
            copies.assigned[ids] = now
            copies.changed[ids] = np.where(changed | (now == 0), now, copies.changed[ids])
            new_value = changed & (now != 0)
            if new_value.any():
                self._compare(threads, scalar, position, place, new_value, "write", "read")

    def _compare(
        self,
        threads: Threads,
        scalar: WatchedScalar,
        position: int,
        place: SourcePlace,
        where: Array,
        what: str,
        other: str,
    ) -> None:
        """
        Records the iterations that read the value from before the loop, or that assign, and searches for
        other iterations that do the opposite.
        """
        loop = self.loops[scalar.loops[position]]
        some = threads.sub(np.flatnonzero(where))
        groups, iterations = self._groups(some, loop), self._now(loop.number, some)
        self._span(scalar.number, loop, what).add(groups, iterations)
        self.history.lines.setdefault((scalar.number, loop.number, what), place.line)
        found = self._span(scalar.number, loop, other).another(groups, iterations)
        if found.any():
            self._report(some, scalar, position, place, found, what, other)

    def _report(
        self,
        threads: Threads,
        scalar: WatchedScalar,
        position: int,
        place: SourcePlace,
        where: Array,
        what: str,
        other: str,
    ) -> None:
        faults = self.faults
        if faults.findings.known(
            FaultKind.RACE, faults.kernel, place.file, place.line, scalar.name
        ):
            return
        loop = self.loops[scalar.loops[position]]
        line = self.history.lines.get((scalar.number, loop.number, other), place.line)
        done = {"read": "read", "write": "assigned"}
        detail = (
            f"'{scalar.name}' ({scalar.what}) is {done[what]} here and {done[other]} at line {line} by"
            f" another iteration of the loop at line {loop.line}: its value depends on their order;"
            f" {scalar.remedies[position]},"
        )
        thread = threads.in_launch(int(np.argmax(where)))
        faults.add(FaultKind.RACE, detail, place, thread, array=scalar.name)

    # Numbers

    def _now(self, loop: int, threads: Threads) -> Array:
        now = self.now.get(loop)
        return np.zeros(threads.n, np.int64) if now is None else now[threads.all_ids]

    def _copies(self, variable: int, loop: int) -> ScalarCopies:
        key = variable, loop
        if key not in self.copies:
            self.copies[key] = ScalarCopies(self.batch.threads)
        return self.copies[key]

    def _span(self, variable: int, loop: WatchedLoop, what: str) -> Span:
        key = variable, loop.number, what
        spans = self.history.spans if loop.shared_by == "launch" else self.spans
        if key not in spans:
            spans[key] = Span(self.batch.blocks * self.batch.block[1])
        return spans[key]

    def _groups(self, threads: Threads, loop: WatchedLoop) -> Array:
        """By thread: the number of the loop's instance, among which iterations are compared."""
        if loop.shared_by == "launch":
            return self.instances[loop.number][threads.blocks]
        return self._local(threads, loop.shared_by)

    def _local(self, threads: Threads, unit: str) -> Array:
        """By thread: its gang or worker within the batch."""
        if unit == "gang":
            return threads.blocks
        x, y, _ = self.batch.block
        workers = self.batch.thread // x % y
        return threads.blocks * y + workers[threads.all_ids]

    def _units(self, threads: Threads, unit: str) -> Array:
        """By thread: its number, or its gang's or worker's, within the batch."""
        return threads.all_ids if unit == "thread" else self._local(threads, unit)
