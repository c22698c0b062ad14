"""
Making a Python process the program's own: what differs from the process that a C compiler's program gets.

- Signals: Python notes SIGINT and looks at it later, and ignores SIGPIPE and SIGXFSZ. A program, and what it
  starts, finds their default actions, unless whoever started this process ignores SIGINT (`nohup`, `&`).
- `fork`: Python must know of it, so that the child does not wait for threads that it does not have.
"""

from __future__ import annotations

import ctypes
import errno
import os
import signal
import warnings


def default_signals() -> None:
    """Gives the program the signal actions of a fresh process."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    for number in (signal.SIGPIPE, signal.SIGXFSZ):
        signal.signal(number, signal.SIG_DFL)


def fork() -> int:
    """C's `fork` (POSIX): 0 in the child, -1 with `errno` on failure."""
    try:
        with warnings.catch_warnings():
            # The warning that the process has several threads is for programs that know them.
            warnings.simplefilter("ignore", DeprecationWarning)
            return os.fork()
    except OSError as e:
        ctypes.set_errno(e.errno or errno.EAGAIN)
        return -1


_FORK = ctypes.CFUNCTYPE(ctypes.c_int, use_errno=True)(fork)


def process_symbols() -> dict[str, int]:
    """C functions that the program gets from here, by name."""
    return {"fork": ctypes.cast(_FORK, ctypes.c_void_p).value or 0}
