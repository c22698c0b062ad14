"""
Notes of long compilations: after 30 s of processor time, and whenever it has doubled since, a note on
stderr names the current phase and its files (`phases.py`).
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager, suppress

from .memory import memory_is_scarce
from .phases import LOADING, at_work, files_at_work, seconds_at_work

FIRST = 30.0
"""Seconds of the processor until the first note."""
_LOOK = 2.0
"""Seconds between two looks at the clock."""
_MOST_FILES = 3
"""The number of files from which on a note only counts them."""


class Progress:
    """Decides when notes are due; `clock` returns seconds of processor time, `tell` prints the text."""

    def __init__(
        self,
        clock: Callable[[], float] = seconds_at_work,
        tell: Callable[[str], None] | None = None,
    ):
        self._clock = clock
        self._tell = tell or _print
        self._next = FIRST

    def look(self) -> None:
        """Prints a note with the current phases if one is due."""
        spent = self._clock()
        if spent < self._next:
            return
        while self._next <= spent:
            self._next *= 2
        names = ["loading the compiler's modules" if n == LOADING else n for n in at_work()]
        phases = " > ".join(names) or "between two phases"
        self._tell(
            f"note: still compiling after {spent:.0f} s: {phases}{_of_files(files_at_work())}"
        )


@contextmanager
def telling_progress() -> Generator[None]:
    """Prints notes while the code inside compiles, if that takes long."""
    done = threading.Event()
    progress = Progress()

    def watch() -> None:
        with suppress(MemoryError):  # which the compilation reports
            while not done.wait(_LOOK):
                progress.look()

    if not memory_is_scarce():  # without a thread there are no notes
        with suppress(RuntimeError, MemoryError):
            threading.Thread(target=watch, name="accopt-progress", daemon=True).start()
    try:
        yield
    finally:
        done.set()


def _of_files(files: Sequence[str]) -> str:
    first = ", ".join(files[:_MOST_FILES])
    more = f" and {len(files) - _MOST_FILES} more" if len(files) > _MOST_FILES else ""
    return f" ({first}{more})" if files else ""


def _print(text: str) -> None:
    print(text, file=sys.stderr, flush=True)
