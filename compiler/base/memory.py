"""Failures for want of memory, in the forms in which Python and its libraries report them."""

from __future__ import annotations

import errno
import resource

_WORDS = ("can't start new thread", "failed to map segment", "cannot allocate memory")
NEEDED = "small programs need 500 MB"


def memory_ran_out(failure: BaseException) -> bool:
    """Whether an exception, or what caused it, says that the system gave no memory."""
    if isinstance(failure, MemoryError):
        return True
    if isinstance(failure, OSError) and failure.errno == errno.ENOMEM:
        return True
    if isinstance(failure, OSError | ImportError | RuntimeError):
        text = str(failure).lower()
        limited = resource.getrlimit(resource.RLIMIT_AS)[0] != resource.RLIM_INFINITY
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
