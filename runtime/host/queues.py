"""
The asynchronous queues of the host device. While a queue is at rest, native code does its work
(`native/gangs_queues.py`).
"""

from __future__ import annotations

import ctypes
import os
import threading
from collections import deque
from collections.abc import Callable

from ..device import Queue
from ..in_process import WorkQueue
from ..native.gangs_queues import QueueState
from ..native.queues import NativeQueue


class ThreadQueue(WorkQueue):
    """
    An async queue: a thread that executes its work in order. After a failure the rest is skipped, and the
    next wait for the queue raises the error.
    """

    def __init__(self, name: str):
        self._name = name
        self._state = QueueState()
        self.native = NativeQueue(stream=ctypes.addressof(self._state))
        self._begin()

    def _begin(self) -> None:
        self._process = os.getpid()
        self._work: deque[Callable[[], object]] = deque()
        self._changed = threading.Condition()
        self._submitted = 0
        self._finished = 0
        self._closing = False
        self._failure: BaseException | None = None
        self._state.unfinished = 0
        self._thread = threading.Thread(target=self._run, name=self._name, daemon=True)
        self._thread.start()

    def _check_process(self) -> None:
        """Starts with an empty queue in a forked child, which lacks the thread; the queued work belongs to
        its parent."""
        if self._process != os.getpid():
            self._begin()

    @property
    def native_unfinished(self) -> int:
        """What native code sees of the queue: 0 if it is at rest, without a failure to report."""
        return self._state.unfinished

    def submit(self, work: Callable[[], object]) -> None:
        """Appends work; returns at once."""
        self._check_process()
        with self._changed:
            self._state.unfinished += 1
            self._work.append(work)
            self._submitted += 1
            self._changed.notify_all()

    def wait(self) -> None:
        self._check_process()
        transfers, postponed = self.native.transfers, self.native.postponed
        self._wait_until(self._submitted)
        self._raise_failure()
        self.native.settled, self.native.joined = transfers, postponed

    def done(self) -> bool:
        self._check_process()
        finished = self._finished >= self._submitted
        if finished:
            self._raise_failure()
        return finished

    def wait_for(self, other: Queue) -> None:
        if isinstance(other, ThreadQueue) and other is not self:
            other._check_process()
            ticket = other._submitted
            self.submit(lambda: other._wait_until(ticket))
            if other.native.transfers != other.native.settled:
                self.native.transfers += 1

    def close(self) -> None:
        """Finishes the work and ends the thread."""
        if self._process != os.getpid():
            return
        with self._changed:
            self._closing = True
            self._changed.notify_all()
        self._thread.join()

    def _wait_until(self, ticket: int) -> None:
        with self._changed:
            while self._finished < ticket:
                self._changed.wait()

    def _raise_failure(self) -> None:
        with self._changed:
            failure, self._failure = self._failure, None
            if failure is None:
                return
            self._state.unfinished -= 1
        raise failure

    def _run(self) -> None:
        while True:
            with self._changed:
                while not self._work and not self._closing:
                    self._changed.wait()
                if not self._work:
                    return
                work = self._work.popleft()
                skip = self._failure is not None
            try:
                if not skip:
                    work()
            except Exception as failure:
                with self._changed:  # until a wait has raised it, the queue is not at rest
                    self._state.unfinished += 1
                    self._failure = failure
            finally:
                with self._changed:
                    self._state.unfinished -= 1
                    self._finished += 1
                    self._changed.notify_all()
