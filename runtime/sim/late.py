"""
Queues whose work is performed as late as the program's waits allow.

A GPU works while the host goes on, and a program that lacks a wait may still give right results there. With
these queues it does not: work is performed only when the program waits for it, or for work that comes after
it on another queue. A premature read by the host gets the old values.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable

from ..device import Queue
from ..in_process import WorkQueue

_ORDER = threading.RLock()
"""Held while work is performed, as the work of one queue first performs that of others which must come
before it."""


class LateQueue(WorkQueue):
    """A queue of a simulated GPU."""

    def __init__(self) -> None:
        self._left: deque[Callable[[], object]] = deque()
        self._taken = 0

    @property
    def given(self) -> int:
        """How many pieces of work the queue has ever been given."""
        return self._taken + len(self._left)

    def submit(self, work: Callable[[], object]) -> None:
        """Appends work."""
        with _ORDER:
            self._left.append(work)

    def wait(self) -> None:
        """Performs the pending work; raises an error that occurs in it, after which the rest is still
        pending."""
        with _ORDER:
            self._go_to(self._taken + len(self._left))

    def done(self) -> bool:
        """Performs the pending work and returns True, because a program that polls would otherwise never
        end."""
        self.wait()
        return True

    def wait_for(self, other: Queue) -> None:
        """Orders later work after the work that `other` has now."""
        if not isinstance(other, LateQueue):
            self.submit(other.wait)
        elif other is not self:
            with _ORDER:
                end = other._taken + len(other._left)
                self._left.append(lambda: other._go_to(end))

    def _go_to(self, end: int) -> None:
        """Performs the work of the queue up to its `end`-th piece."""
        while self._taken < end and self._left:
            self._taken += 1
            self._left.popleft()()
