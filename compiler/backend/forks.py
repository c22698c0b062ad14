"""
Runs work in copies of this process (fork(2)), which begin with the memory of this one.

Only accopt's commands do this (`base/command.py`): a process that also runs other code may have threads, or
an open device, which are lost in a copy.
"""

from __future__ import annotations

import os
import pickle
import signal
import struct
import tempfile
import time
import warnings
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import IO, Generic, TypeVar

from ..base.command import is_command
from ..base.processors import usable_processors

T = TypeVar("T")

_NUMBER = struct.Struct("<I")
_HEAD = struct.Struct("<IQ")
_OF_PROCESS = 2
"""The bits that make a clock's identifier from a process number, in Linux (clock_getcpuclockid(3))."""
_MOST = 10_000
"""The number of work numbers that fit into a pipe."""


def copies() -> int:
    """The number of copies of this process that may work at the same time; 1 if it must not be copied."""
    return usable_processors() if is_command() and hasattr(os, "fork") else 1


_before: list[Callable[[], None]] = []


def before_copies(action: Callable[[], None]) -> None:
    """Registers `action` to be called once, before the next copies are made: copies have none of this
    process's threads."""
    _before.append(action)


def can_copy_now() -> bool:
    """Whether copies can be made without waiting for threads of this process."""
    return copies() > 1 and not _before


class ForkedCopies(Generic[T]):
    """
    Copies of this process that run `work` for each number in `order`. A copy that is ready takes the next
    number, so the longest work should come first.
    """

    def __init__(self, work: Callable[[int], T], order: Sequence[int], number: int) -> None:
        self._work, self._wanted = work, len(order)
        self._children: list[int] = []
        self._answers: list[IO[bytes]] = []
        if len(order) > _MOST:
            return
        while _before:
            _before.pop()()
        with suppress(OSError):  # without a process, pipe or file, some numbers get no answer
            given, queue = os.pipe()
            try:
                os.write(queue, b"".join(map(_NUMBER.pack, order)))
                os.close(queue)
                for _ in range(min(number, len(order))):
                    # Files, not pipes: into a full pipe the children would wait to write.
                    answer = tempfile.TemporaryFile(buffering=0)  # noqa: SIM115
                    self._answers.append(answer)
                    self._children.append(self._start(given, answer.fileno()))
            finally:
                os.close(given)

    def _start(self, given: int, answer: int) -> int:
        with warnings.catch_warnings():
            # Python warns if there are other threads; those of a command only watch the clock.
            warnings.simplefilter("ignore", DeprecationWarning)
            child = os.fork()
        if child:
            return child
        status = 1
        try:
            while number := os.read(given, _NUMBER.size):
                (index,) = _NUMBER.unpack(number)
                data = pickle.dumps(self._work(index), pickle.HIGHEST_PROTOCOL)
                rest = memoryview(_HEAD.pack(index, len(data)) + data)
                while rest:
                    rest = rest[os.write(answer, rest) :]
            status = 0
        finally:
            os._exit(status)  # without messages or cleaning up: only the answers are used

    def finish(self) -> dict[int, T] | None:
        """
        Waits for the results, and returns them by number; None if any is missing, for whatever reason. The
        caller then does the work itself, and so sees the error.
        """
        found: dict[int, T] = {}
        try:
            while self._children:
                _, status = os.waitpid(self._children[0], 0)
                self._children.pop(0)
                if status:
                    return None
            for answer in self._answers:
                answer.seek(0)
                found.update(_read(answer.read()))
        finally:
            self.close()
        return found if len(found) == self._wanted else None

    def seconds(self) -> float:
        """The processor seconds of the copies that are still running."""
        spent = 0.0
        for child in self._children:
            with suppress(OSError):
                spent += time.clock_gettime((~child << 3) | _OF_PROCESS)
        return spent

    def close(self) -> None:
        """Ends the copies that are still running, so that a program run in this process has no unknown
        children."""
        for child in self._children:
            with suppress(OSError):
                os.kill(child, signal.SIGKILL)
                os.waitpid(child, 0)
        for answer in self._answers:
            answer.close()
        self._children, self._answers = [], []


def _read(text: bytes) -> dict[int, T]:
    found: dict[int, T] = {}
    at = 0
    while at < len(text):
        index, length = _HEAD.unpack_from(text, at)
        at += _HEAD.size + length
        found[index] = pickle.loads(text[at - length : at])
    return found
