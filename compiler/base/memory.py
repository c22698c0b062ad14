"""Failures for want of memory, in the forms in which Python and its libraries report them."""

from __future__ import annotations

import errno
import resource
from contextlib import suppress

_WORDS = ("can't start new thread", "failed to map segment", "cannot allocate memory")
NEEDED = "small programs need 500 MB"
_SCARCE = 1 << 29
"""The limit of the address space below which no thread is started."""
_FOR_LLVM = 48 << 20
_FOR_CHARACTER = 64
"""Bytes that LLVM needs for code: for any, and for each character of its text."""


def memory_is_scarce() -> bool:
    """Whether the address space is limited to so little that a thread may fail while it starts, for which
    Python then waits for ever."""
    limit = resource.getrlimit(resource.RLIMIT_AS)[0]
    return limit != resource.RLIM_INFINITY and limit < _SCARCE


def require_room(characters: int = 0) -> None:
    """
    Raises `MemoryError` where a limited address space lacks the room that LLVM needs for a text of that
    many characters. LLVM ends the process when it gets no memory.
    """
    limit = resource.getrlimit(resource.RLIMIT_AS)[0]
    if limit == resource.RLIM_INFINITY:
        return
    with suppress(FileNotFoundError), open("/proc/self/statm", encoding="ascii") as sizes:
        used = int(sizes.read().split()[0]) * resource.getpagesize()
        if limit - used < _FOR_LLVM + characters * _FOR_CHARACTER:
            raise MemoryError


def memory_ran_out(failure: BaseException) -> bool:
    """Whether an exception, or what caused it, says that the system gave no memory."""
    if isinstance(failure, MemoryError):
        return True
    limited = resource.getrlimit(resource.RLIMIT_AS)[0] != resource.RLIM_INFINITY
    if limited and isinstance(
        failure, SystemError
    ):  # a C function that got no memory and does not say so
        return True
    if isinstance(failure, OSError) and failure.errno == errno.ENOMEM:
        return True
    if isinstance(failure, OSError | ImportError | RuntimeError):
        text = str(failure).lower()
        # LLVM names only the symbols of code for which it got no memory.
        if any(word in text for word in _WORDS) or (limited and "materialize" in text):
            return True
    before = failure.__cause__ or failure.__context__
    return before is not None and memory_ran_out(before)


def memory_message() -> tuple[str, str]:
    """Message and remedy for memory that ran out."""
    limit = resource.getrlimit(resource.RLIMIT_AS)[0]
    if limit == resource.RLIM_INFINITY:
        return "memory ran out", f"end other programs; {NEEDED}"
    kib = limit >> 10
    return f"memory ran out: the limit is {kib} kB (ulimit -v)", f"raise the limit; {NEEDED}"
