"""
Tracks the queues that may still use a block of device memory, and orders work after them.

A program that frees a block, or copies it synchronously, while a kernel on another queue still uses it has
a race (OpenACC 3.4, 2.16); but the old kernel must not write to the block after it was allocated again. So
each block has its `Users`. Only asynchronous operations are recorded, so that a program without `async` has
no overhead.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from ..device import Device, Queue


@dataclass(slots=True)
class Users:
    """
    The asynchronous queues with work on a block. `any`: native code, or a program that has asked for the
    device address, may use it on any queue without a record.
    """

    queues: set[Queue] = field(default_factory=set[Queue])
    any: bool = False
    grown: Callable[[], None] = lambda: None
    """Called when a user is added."""

    def add(self, queue: Queue) -> None:
        """Records that an asynchronous queue uses the block."""
        if queue not in self.queues:
            self.queues.add(queue)
            self.grown()

    def add_all(self) -> None:
        """Records that any queue may use the block."""
        if not self.any:
            self.any = True
            self.grown()


class Ordering:
    """
    Orders work after the other users of a block. `queues` returns all queues in use on the device.

    Memory that other queues still use is freed on a separate queue, which waits for them, so that neither
    the program nor its queues wait.
    """

    def __init__(self, device: Device, queues: Callable[[], Sequence[Queue]] = tuple):
        self._device = device
        self._queues = queues
        self._frees: Queue | None = None

    def use(self, users: Users, queue: Queue) -> None:
        """Records that `queue` gets work on the block of `users`."""
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
        """Those of the other users whose work may not be finished."""
        return [q for q in self.others(users, queue) if not q.done()]

    def before_copy(self, users: Users, queue: Queue) -> None:
        """Orders a synchronous copy after the block's users; asynchronous copies are ordered by the
        program."""
        if queue is self._device.sync_queue:
            for other in self.pending(users, queue):
                queue.wait_for(other)

    def free(self, address: int, users: Users, queue: Queue) -> None:
        """Frees the block after the work of `queue` and of all its users."""
        others = self.pending(users, queue)
        if others:
            frees = self._frees = self._frees or self._device.new_queue()
            for other in (queue, *others):
                frees.wait_for(other)
            queue = frees
        self._device.free(address, queue)

    def wait(self) -> None:
        """Waits until all memory is freed."""
        if self._frees is not None:
            self._frees.wait()
