"""
Work done by copies of this process (fork(2)), each of which begins with all that this one knows.

Only commands of ours do it (`base/command.py`): a process that somebody else's code runs in may have threads,
or a device, that do not survive being copied.
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
from .kernel_processes import processors

T = TypeVar("T")

_NUMBER = struct.Struct("<I")
_HEAD = struct.Struct("<IQ")
_OF_PROCESS = 2
"""What makes a clock of the number of a process, in Linux (clock_getcpuclockid(3))."""
_MOST = 10_000
"""Numbers that fit into a pipe."""


def copies() -> int:
    """How many copies of this process may work at a time; 1 where it must do all by itself."""
    return processors() if is_command() and hasattr(os, "fork") else 1


_before: list[Callable[[], None]] = []


def before_copies(action: Callable[[], None]) -> None:
    """Has `action` called before copies are made the next time: they have none of this process's threads."""
    _before.append(action)


class ForkedCopies(Generic[T]):
    """
    Copies of this process that do `work` for each number in `order`. Whichever is ready takes the next one,
    so those that take longest should come first.
    """

    def __init__(self, work: Callable[[int], T], order: Sequence[int], number: int) -> None:
        self._work, self._wanted = work, len(order)
        self._children: list[int] = []
        self._answers: list[IO[bytes]] = []
        if len(order) > _MOST:
            return
        while _before:
            _before.pop()()
        with suppress(OSError):  # no process, pipe or file to be had: some numbers get no answer
            given, queue = os.pipe()
            try:
                os.write(queue, b"".join(map(_NUMBER.pack, order)))
                os.close(queue)
                for _ in range(min(number, len(order))):
                    # A file, as with pipes they would wait until this process reads.
                    answer = tempfile.TemporaryFile(buffering=0)  # noqa: SIM115
                    self._answers.append(answer)
                    self._children.append(self._start(given, answer.fileno()))
            finally:
                os.close(given)

    def _start(self, given: int, answer: int) -> int:
        with warnings.catch_warnings():
            # Python warns of other threads: those of a command watch the clock.
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
            os._exit(status)  # without a word: all that anybody waits for are the answers

    def finish(self) -> dict[int, T] | None:
        """
        Waits for the answers, by number. None if there is not one for each, whatever the reason: who needs
        them makes them, and finds out.
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
        """Seconds of the processor that those still at work have taken."""
        spent = 0.0
        for child in self._children:
            with suppress(OSError):
                spent += time.clock_gettime((~child << 3) | _OF_PROCESS)
        return spent

    def close(self) -> None:
        """Ends those still at work, so that a program that is run has no children it does not know."""
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
