"""
Makes a Python process behave like the process of a C program:

- Signals: Python handles SIGINT later, and ignores SIGPIPE and SIGXFSZ. The program and its children get
  the default actions, except that SIGINT stays ignored if this process was started so (`nohup`, `&`).
- The stack: programs for a device often have large arrays in functions, of which the host touches little or
  nothing. They get `STACK_BYTES` of stack; a larger limit is kept.
- `fork`: it goes through Python, so that Python in the child does not wait for threads that exist only in
  the parent.
"""

from __future__ import annotations

import ctypes
import errno
import os
import resource
import signal
import warnings

STACK_BYTES = 8 << 30
"""The stack of a program's first thread. Only what is touched takes memory."""

_THREAD_STACK_BYTES = 8 << 20
"""The stack of its other threads, which would be as large as the first one's (pthread_create(3))."""


def default_signals() -> None:
    """Gives the program the signal actions of a fresh process."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    for number in (signal.SIGPIPE, signal.SIGXFSZ):
        signal.signal(number, signal.SIG_DFL)


def allow_large_stack() -> None:
    """
    Lets the stack of this process's first thread grow to `STACK_BYTES`, as far as the hard limit allows.
    The usable size depends on the address space that the kernel kept free below the stack by the limit at
    the start of the process: at least 128 MiB, and all of `STACK_BYTES` in executables
    (`linked_program.py`).
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_STACK)
    bound = [limit for limit in (STACK_BYTES, hard) if limit != resource.RLIM_INFINITY]
    if soft != resource.RLIM_INFINITY and soft < min(bound):
        resource.setrlimit(resource.RLIMIT_STACK, (min(bound), hard))
    library = ctypes.CDLL(None)
    if hasattr(library, "pthread_setattr_default_np"):
        attributes = ctypes.create_string_buffer(256)  # at least sizeof(pthread_attr_t)
        library.pthread_attr_init(attributes)
        library.pthread_attr_setstacksize(attributes, ctypes.c_size_t(_THREAD_STACK_BYTES))
        library.pthread_setattr_default_np(attributes)


def fork() -> int:
    """C's `fork` (POSIX): 0 in the child, -1 with `errno` on failure."""
    try:
        with warnings.catch_warnings():
            # Python warns that the process has several threads; C programs do not expect that.
            warnings.simplefilter("ignore", DeprecationWarning)
            return os.fork()
    except OSError as e:
        ctypes.set_errno(e.errno or errno.EAGAIN)
        return -1


_FORK = ctypes.CFUNCTYPE(ctypes.c_int, use_errno=True)(fork)


def process_symbols() -> dict[str, int]:
    """C functions by name that this module defines for the program."""
    return {"fork": ctypes.cast(_FORK, ctypes.c_void_p).value or 0}
