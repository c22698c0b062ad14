"""
Which queues may still use a block of device memory, and what waits for them.

A program that frees a block, or copies it synchronously, while a kernel on another queue still uses it
has a race by the letter (OpenACC 3.4, 2.16); a block that then belongs to somebody else must not be
written by the old kernel all the same. So each block has its `Users`. Only asynchronous operations are
recorded: a program without `async` pays nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from ..device import Device, Queue


@dataclass(slots=True)
class Users:
    """
    The asynchronous queues that were given work on a block. `any`: native code, or a device address
    that the program has asked for, may use it on any queue, and nobody is told.
    """

    queues: set[Queue] = field(default_factory=set[Queue])
    any: bool = False
    grown: Callable[[], None] = lambda: None
    """Called when there are more of them."""

    def add(self, queue: Queue) -> None:
        """An asynchronous queue uses the block."""
        if queue not in self.queues:
            self.queues.add(queue)
            self.grown()

    def add_all(self) -> None:
        """Any queue may use it."""
        if not self.any:
            self.any = True
            self.grown()


class Ordering:
    """
    Puts work after the other users of a block. `queues` gives all queues of the device in use.

    What frees memory that other queues still use is a queue of its own, which waits for them: neither
    the program nor its queues do.
    """

    def __init__(self, device: Device, queues: Callable[[], Sequence[Queue]] = tuple):
        self._device = device
        self._queues = queues
        self._frees: Queue | None = None

    def use(self, users: Users, queue: Queue) -> None:
        """Records work on `queue`."""
        if queue is not self._device.sync_queue:
            users.add(queue)

    def others(self, users: Users, queue: Queue) -> list[Queue]:
        """The other asynchronous queues that may use the block."""
        if not users.queues and not users.any:
            return []
        sync = self._device.sync_queue
        asked = self._queues() if users.any else users.queues
        return [q for q in asked if q is not queue and q is not sync]

    def pending(self, users: Users, queue: Queue) -> list[Queue]:
        """Those of them whose work may not be done."""
        return [q for q in self.others(users, queue) if not q.done()]

    def before_copy(self, users: Users, queue: Queue) -> None:
        """Puts a synchronous copy after the block's users; asynchronous ones are ordered by the program."""
        if queue is self._device.sync_queue:
            for other in self.pending(users, queue):
                queue.wait_for(other)

    def free(self, address: int, users: Users, queue: Queue) -> None:
        """Gives the block back after the work of `queue`, and of all its users."""
        others = self.pending(users, queue)
        if others:
            frees = self._frees = self._frees or self._device.new_queue()
            for other in (queue, *others):
                frees.wait_for(other)
            queue = frees
        self._device.free(address, queue)

    def wait(self) -> None:
        """Waits until all memory is given back."""
        if self._frees is not None:
            self._frees.wait()
