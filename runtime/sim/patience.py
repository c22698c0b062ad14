"""
How long a launch may take. A kernel without end would be a hang, and one that is only large looks like it:
after a while the simulator says on stderr where a kernel is, and in the end it gives up.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from time import perf_counter, thread_time

from ...compiler.base.ranks import of_rank
from .access import SourcePlace

SECONDS = 300.0
"""Of the processor, for one launch."""
TURNS = 1 << 22
"""Of a loop that does not count, whose threads wait for others that do not run."""
BETWEEN = 256
"""Turns of loops between two looks at the clock; a power of two."""
FIRST_NOTE, NEXT_NOTE = 10.0, 3.0
"""Seconds until the first message, and by how much later each of the others comes."""


_LOOK = 0.5
"""Seconds, of any clock, between two questions for the processor's, each of which is a call of the system."""


class Stopwatch:
    """
    Seconds of the processor since it was made, less what it took until the first question after `_LOOK`;
    small launches never ask for them.
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
    `turns` of a loop that does not count, None for any number; `seconds` of the processor that a launch may
    take; `clock` begins to count them; `tell`: who gets messages that a kernel still runs.
    """

    turns: int | None = TURNS
    seconds: float = SECONDS
    clock: Callable[[], Callable[[], float]] = Stopwatch
    tell: Callable[[str], None] | None = None

    @property
    def most_turns(self) -> float:
        return float("inf") if self.turns is None else self.turns


PATIENCE = Patience()


def of_seconds(seconds: float | None) -> Patience:
    """The patience of a user who has named one (loops may then turn as often as they like), or has not."""
    return PATIENCE if seconds is None else Patience(None, seconds)


class LaunchWatch:
    """The time of one launch of `kernel` in so many `batches`."""

    def __init__(self, patience: Patience, kernel: str, blocks: int):
        self._patience = patience
        self._kernel = kernel
        self._blocks = blocks
        self._spent = patience.clock()
        self._next = min(FIRST_NOTE, patience.seconds)

    def look(self, place: SourcePlace, block: int) -> str | None:
        """
        What is wrong if the launch has used up its time; a message where it is due. `place` is where the
        kernel is, `block` the first of the blocks that run now.
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
        (self._patience.tell or _print)(
            f"{place.file}:{place.line}: note: kernel {self._kernel} still runs after {spent:.0f} s in the"
            f" simulator, and is here with block {block} of {self._blocks}; it is given up after"
            f" {self._patience.seconds:g} s (--patience)"
        )
        return None


def _print(text: str) -> None:
    sys.stdout.flush()
    print(of_rank(text), file=sys.stderr, flush=True)
