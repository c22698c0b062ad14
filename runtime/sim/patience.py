"""
The time limit of launches. An endless kernel would hang, and a large one looks the same: after a while the
simulator prints on stderr where a kernel is, and at the limit it stops the kernel.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from time import perf_counter, thread_time

from .access import SourcePlace
from .findings import tell

SECONDS = 300.0
"""The default limit for one launch, in processor seconds."""
TURNS = 1 << 22
"""The most turns of an uncounted loop, whose threads may wait for others that do not run."""
BETWEEN = 256
"""The turns of loops between two readings of the clock; a power of two."""
FIRST_NOTE, NEXT_NOTE = 10.0, 3.0
"""Seconds until the first message, and the factor between the times of messages."""


_LOOK = 0.5
"""Seconds of a cheap clock between two readings of processor time, which need a system call."""


class Stopwatch:
    """
    Processor seconds of the calling thread since it was made, without those before the first call that is
    `_LOOK` later; small launches never read them.
    """

    def __init__(self) -> None:
        self._asked = perf_counter()
        self._began: float | None = None
        self._spent = 0.0

    def __call__(self) -> float:
        now = perf_counter()
        if now - self._asked >= _LOOK:
            self._asked, time = now, thread_time()
            if self._began is None:
                self._began = time
            self._spent = time - self._began
        return self._spent


@dataclass(frozen=True)
class Patience:
    """
    The limits of launches: `turns` of an uncounted loop, None for any number; processor `seconds` of a
    launch; `clock` makes a stopwatch; `tell` gets messages that a kernel is still running.
    """

    turns: int | None = TURNS
    seconds: float = SECONDS
    clock: Callable[[], Callable[[], float]] = Stopwatch
    tell: Callable[[str], None] = tell

    @property
    def most_turns(self) -> float:
        return float("inf") if self.turns is None else self.turns


PATIENCE = Patience()


def of_seconds(seconds: float | None) -> Patience:
    """The limits for a number of seconds that the user has set (loops may then have any number of turns),
    or the default ones for None."""
    return PATIENCE if seconds is None else Patience(None, seconds)


class LaunchWatch:
    """Measures the time of one launch of `kernel` of `blocks` blocks."""

    def __init__(self, patience: Patience, kernel: str, blocks: int):
        self._patience = patience
        self._kernel = kernel
        self._blocks = blocks
        self._spent = patience.clock()
        self._next = min(FIRST_NOTE, patience.seconds)

    def look(self, place: SourcePlace, block: int) -> str | None:
        """
        Prints a message if one is due; returns a description of the fault if the launch has exceeded its
        time. `place` is the kernel's current place, `block` the first of the blocks that run now.
        """
        spent = self._spent()
        if spent < self._next:
            return None
        if spent >= self._patience.seconds:
            return (
                f"it was still running after {self._patience.seconds:g} s, the limit that --patience=SECONDS"
                " (ACCOPT_PATIENCE) sets, executed"
            )
        self._next = min(spent * NEXT_NOTE, self._patience.seconds)
        self._patience.tell(
            f"{place.file}:{place.line}: note: kernel {self._kernel} still runs after {spent:.0f} s in the"
            f" simulator, and is here with block {block} of {self._blocks}; it is stopped after"
            f" {self._patience.seconds:g} s (--patience)"
        )
        return None
