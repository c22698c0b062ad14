"""
Where the compiler's processor time goes: a tree of phases, each with what it took without those inside it.

A phase costs nothing but keeping its name unless a caller records (`recording`), as `--timing`
(`phase_table.py`) and `benchmarks/compile_time` do. Seconds are processor time, in user and system code of
this process, so that other programs on the machine hardly change them. A process that compiles has one
recorder; phases of other threads than the recording one are not distinguished.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from os import times
from pathlib import Path
from resource import RUSAGE_SELF, getrusage
from time import process_time

LOADING = "(loading)"
"""The phase in which Python starts and modules are loaded."""


@dataclass
class Phase:
    """
    A phase with its time. `seconds` is the total, phases inside included; `peak` is the most memory, in MB,
    that a process taking part in it had until the phase ended (the last time); `counts` is the size of the
    program (operations of the IR) before and after, where the recorder was given a counting function;
    `elsewhere` holds the sizes of parts that other processes worked on.
    """

    name: str
    seconds: float = 0.0
    peak: float = 0.0
    counts: tuple[int, int] | None = None
    elsewhere: tuple[int, int] | None = None
    inside: dict[str, Phase] = field(default_factory=dict[str, "Phase"])

    @property
    def own(self) -> float:
        """Seconds of this phase without those of the phases inside."""
        return self.seconds - sum(phase.seconds for phase in self.inside.values())

    @property
    def sizes(self) -> tuple[int, int] | None:
        """The size of the whole program before and after; None if it was not counted."""
        if self.counts is None or self.elsewhere is None:
            return self.counts or self.elsewhere
        return self.counts[0] + self.elsewhere[0], self.counts[1] + self.elsewhere[1]

    def flat(self, depth: int = 0) -> Iterator[tuple[int, Phase]]:
        """This phase and those inside with their depths, the longest first at each."""
        yield depth, self
        for phase in sorted(self.inside.values(), key=lambda p: -p.seconds):
            yield from phase.flat(depth + 1)


@dataclass
class CacheUse:
    """The use of a cache: hits, misses, bytes read, and the seconds that this took."""

    hits: int = 0
    misses: int = 0
    read: int = 0
    seconds: float = 0.0


@dataclass
class Recording(Phase):
    """
    All phases of a process, the use of its caches by kind, and the seconds of child processes that have
    ended and did not report phases of their own.
    """

    caches: dict[str, CacheUse] = field(default_factory=dict[str, CacheUse])
    others: float = 0.0


_names: list[str] = []
_stack: list[Phase] = []
_counter: list[Callable[[object], int]] = []
_recording: list[Recording] = []


@contextmanager
def recording(count: Callable[[object], int] | None = None) -> Generator[Recording]:
    """
    Records the phases inside; the time from the start of the process until now is the phase "(loading)".
    `count` returns the size of a phase's subject.
    """
    root = Recording("total", others=-_of_children())
    loaded = process_time()
    root.inside[LOADING] = Phase(LOADING, loaded, _most_memory())
    _stack.append(root)
    _recording.append(root)
    if count is not None:
        _counter.append(count)
    try:
        yield root
    finally:
        for active in (_stack, _counter, _recording):
            active.clear()
        root.others += _of_children()
        root.peak = _peak_of(root)
        root.seconds += process_time()  # minus the time of the counting


def _peak_of(phase: Phase) -> float:
    """The most memory, in MB, of a process that took part in `phase`, which ends now."""
    return max(phase.peak, _most_memory(), *(inner.peak for inner in phase.inside.values()))


def _most_memory() -> float:
    """
    The most memory that this process has had, in MB. `getrusage` counts that of the process that started
    this one, too, up to the start of Python, and is asked only where the system has no `/proc`.
    """
    try:
        status = Path("/proc/self/status").read_text()
        return next(int(line.split()[1]) for line in status.splitlines() if "VmHWM" in line) / 1024
    except (OSError, StopIteration):
        return getrusage(RUSAGE_SELF).ru_maxrss / 1024


def _of_children() -> float:
    spent = times()
    return spent.children_user + spent.children_system


@contextmanager
def asking(kind: str) -> Generator[Callable[[bytes | None], None]]:
    """Counts one request to the cache `kind`; the caller passes what it found, or None, to the function
    that is yielded."""
    if not _recording:
        yield lambda found: None
        return
    use = _recording[-1].caches.setdefault(kind, CacheUse())

    def tell(found: bytes | None) -> None:
        use.hits += found is not None
        use.misses += found is None
        use.read += len(found or b"")

    start = process_time()
    try:
        yield tell
    finally:
        use.seconds += process_time() - start


@contextmanager
def phase(name: str, subject: object = None) -> Generator[None]:
    """Counts the time inside under this name; phases of one name add up. `subject` is the IR that the phase
    changes."""
    _names.append(name)
    try:
        with _counting(name, subject):
            yield
    finally:
        _names.pop()


@contextmanager
def apart() -> Generator[Phase]:
    """Records the phases inside as a tree of their own, in a process that works for another one which
    records."""
    root = Phase("apart")
    outer = _stack[:]
    if outer:
        _stack[:] = [root]
    try:
        yield root
    finally:
        _stack[:] = outer
        root.seconds = sum(phase.seconds for phase in root.inside.values())


def add(root: Phase, *, beside: bool = False) -> None:
    """Adds the phases that another process recorded (`apart`) to the current phase; with `beside`, next to
    all current phases."""
    into = _stack[:1] if beside else _stack
    for outer in into:
        outer.seconds += root.seconds
    if into:
        _merge(into[-1], root)
        if _recording:
            _recording[-1].others -= root.seconds


def _merge(into: Phase, other: Phase) -> None:
    for name, phase in other.inside.items():
        own = into.inside.setdefault(name, Phase(name))
        own.seconds += phase.seconds
        own.peak = max(own.peak, phase.peak)
        if phase.counts is not None:
            before, after = own.elsewhere or (0, 0)
            own.elsewhere = before + phase.counts[0], after + phase.counts[1]
        _merge(own, phase)


_others: list[Callable[[], float]] = []


@contextmanager
def waiting(name: str, others: Callable[[], float]) -> Generator[None]:
    """Counts the time inside as the phase `name`, in which this process waits for others; `others` returns
    their seconds."""
    _names.append(name)
    _others.append(others)
    try:
        yield
    finally:
        _others.pop()
        _names.pop()


def seconds_at_work() -> float:
    """Seconds of the processor that this process and those that it waits for have taken."""
    return process_time() + sum(others() for others in _others)


def at_work() -> list[str]:
    """The names of the phases that the process is in, the outermost first, whether they are recorded or
    not."""
    return list(_names)


_files: list[Sequence[str]] = []


@contextmanager
def working_on(files: Sequence[str]) -> Generator[None]:
    """Has `files_at_work` return these files during the work inside."""
    _files.append(files)
    try:
        yield
    finally:
        _files.pop()


def files_at_work() -> Sequence[str]:
    """The files of the innermost `working_on`; empty outside."""
    return _files[-1] if _files else ()


@contextmanager
def _counting(name: str, subject: object) -> Generator[None]:
    if not _stack:
        yield
        return
    outer = _stack[-1]
    own = outer.inside.setdefault(name, Phase(name))
    before = _size(subject)
    _stack.append(own)
    start = process_time()
    try:
        yield
    finally:
        own.seconds += process_time() - start
        own.peak = _peak_of(own)
        if _stack:
            _stack.pop()
        if before is not None and (after := _size(subject)) is not None:
            own.counts = (before if own.counts is None else own.counts[0], after)


def _size(subject: object) -> int | None:
    """The size of `subject`; the time for counting is not charged to any phase."""
    if subject is None or not _counter:
        return None
    start = process_time()
    size = _counter[0](subject)
    spent = process_time() - start
    for outer in _stack:
        outer.seconds -= spent
    return size
