"""
Queues whose work is done as late as the program's waits allow.

A GPU works while the host goes on, and a program that forgets to wait may be lucky there. With these
queues it never is: work is done when somebody waits for it, or for work that comes after it on another
queue, and not before. What the host reads too early is what was there before.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable

from ..device import Queue

_ORDER = threading.RLock()
"""Held while work is done: work of one queue does that of others which it has to come after."""


class LateQueue:
    """A queue of a simulated GPU."""

    def __init__(self) -> None:
        self._left: deque[Callable[[], object]] = deque()
        self._taken = 0

    def submit(self, work: Callable[[], object]) -> None:
        """Puts work at the end."""
        with _ORDER:
            self._left.append(work)

    def wait(self) -> None:
        """Does what is left; raises what goes wrong in it, after which the rest is still left."""
        with _ORDER:
            self._go_to(self._taken + len(self._left))

    def done(self) -> bool:
        """True: a program that asks again and again would ask for ever, so what is left is done."""
        self.wait()
        return True

    def wait_for(self, other: Queue) -> None:
        """Work that comes after this comes after what `other` has now."""
        if not isinstance(other, LateQueue):
            self.submit(other.wait)
        elif other is not self:
            with _ORDER:
                end = other._taken + len(other._left)
                self._left.append(lambda: other._go_to(end))

    def close(self) -> None:
        """Nothing to release."""

    def _go_to(self, end: int) -> None:
        """Does the work of the queue up to its `end`-th piece."""
        while self._taken < end and self._left:
            self._taken += 1
            self._left.popleft()()
