"""
Room for recursion: the compiler follows the nesting of a program, and C programs nest deeply (C11 5.2.4.1
asks for 127 blocks and 63 parentheses; generated code has sums of thousands of terms).

Python counts its frames, and C code below it uses the stack of the thread. Compilations run in a thread
with a large stack, of which only the used part takes memory, and with a limit on frames that fits it. A
program that is nested more deeply ends in `RecursionError`, which `internal_error.py` reports at its line.
"""

from __future__ import annotations

import functools
import resource
import sys
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Any, ParamSpec, TypeVar

from .memory import memory_is_scarce

P = ParamSpec("P")
R = TypeVar("R")

_STACKS = (1 << 30, 1 << 28, 1 << 26)
"""
Sizes of the stack in bytes: the first that the machine grants is taken, of those that leave room where the
address space is limited (`ulimit -v`).
"""

_FRAME = 7000
"""Bytes of stack for a frame, where C code calls Python back."""

_lock = threading.Lock()
_deep = threading.local()


def with_deep_stack(function: Callable[P, R]) -> Callable[P, R]:
    """`function`, run in a thread with a large stack unless the caller is in one; its result and exceptions
    are passed on."""

    @functools.wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        if getattr(_deep, "inside", False):
            return function(*args, **kwargs)
        return _call(lambda: function(*args, **kwargs))

    return call


def _call(action: Callable[[], R]) -> R:
    done: list[R] = []
    failed: list[BaseException] = []

    def run() -> None:
        _deep.inside = True
        try:
            done.append(action())
        except BaseException as failure:
            failed.append(failure)

    with _frames():
        thread = _start(run)
        if thread is None:
            return action()
        thread.join()
    if not done and not failed:  # no memory was left for keeping the failure
        raise MemoryError
    if failed:
        try:
            raise failed[0]
        finally:
            failed.clear()
    return done[0]


def _start(run: Callable[[], Any]) -> threading.Thread | None:
    """A running thread with a large stack; None where memory is short."""
    if memory_is_scarce():
        return None
    most = resource.getrlimit(resource.RLIMIT_AS)[0]
    for size in _STACKS:
        if most != resource.RLIM_INFINITY and size * 8 > most:
            continue
        with _lock:
            limit = sys.getrecursionlimit()
            before = threading.stack_size(size)
            sys.setrecursionlimit(max(size // _FRAME, limit))
            try:
                # A daemon thread, so that an interrupted command can end.
                thread = threading.Thread(target=run, name="accopt-compiler", daemon=True)
                thread.start()
                return thread
            except (RuntimeError, MemoryError):
                sys.setrecursionlimit(limit)
            finally:
                threading.stack_size(before)
    return None


_limits: list[int] = []
"""What the limit on frames was before each compilation that runs now; it holds for all threads."""


@contextmanager
def _frames() -> Generator[None]:
    """Restores the limit when the last compilation is over."""
    with _lock:
        _limits.append(sys.getrecursionlimit())
    try:
        yield
    finally:
        with _lock:
            before = _limits[0]
            _limits.pop()
            if not _limits:
                sys.setrecursionlimit(before)
