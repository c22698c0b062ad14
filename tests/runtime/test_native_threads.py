"""A team of native threads: every call is made, calls run at the same time, and the threads end."""

from __future__ import annotations

import ctypes
import os
import threading
import time
from collections.abc import Callable, Iterator

import pytest
from accopt.runtime.native.code import NativeCode
from accopt.runtime.native.threads import THREADS_IR, Team

WORK = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p)


class Group:
    """A team, and how to use it from Python."""

    def __init__(self) -> None:
        self.program = NativeCode(THREADS_IR.format())
        self.team = Team()
        pointer = ctypes.c_void_p
        self._perform = self.program.function(
            "perform", None, pointer, pointer, pointer, ctypes.c_int64
        )
        self._dismiss = self.program.function("dismiss", None, pointer)

    def perform(self, work: Callable[[int | None], None], argument: int, threads: int) -> None:
        def call(given: int | None) -> None:
            work(given)

        function = WORK(call)
        address = ctypes.cast(function, ctypes.c_void_p).value
        self._perform(ctypes.addressof(self.team), address, argument, threads)

    def dismiss(self) -> None:
        self._dismiss(ctypes.addressof(self.team))


def native_threads() -> int:
    return len(os.listdir("/proc/self/task"))


@pytest.fixture
def group() -> Iterator[Group]:
    made = Group()
    yield made
    made.dismiss()


@pytest.mark.parametrize("threads", [1, 2, 5, 16])
def test_calls_run_at_the_same_time(group: Group, threads: int):
    barrier = threading.Barrier(threads, timeout=20)
    arguments: list[int | None] = []

    def work(argument: int | None) -> None:
        barrier.wait()
        arguments.append(argument)

    for turn in range(1, 4):
        group.perform(work, turn, threads)
        assert arguments == [turn] * threads
        arguments.clear()


def test_all_calls_are_done_when_perform_returns(group: Group):
    running: list[int] = []

    def work(argument: int | None) -> None:
        running.append(1)
        time.sleep(0.001)
        running.pop()

    for turn in range(200):
        group.perform(work, 0, turn % 7 + 1)
        assert not running


def test_nobody_waits_for_threads_that_sleep(group: Group):
    calls: list[int | None] = []
    group.perform(calls.append, 7, 16)
    assert 1 <= len(calls) <= 16
    assert set(calls) == {7}


def test_threads_are_begun_once_and_end():
    before = native_threads()
    group = Group()
    for threads in (3, 8, 2, 8):
        group.perform(lambda argument: time.sleep(0.002), 0, threads)
    assert native_threads() == before + 7
    group.dismiss()
    assert native_threads() == before
