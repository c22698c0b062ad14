"""
The standard streams of a process. Some may be closed (`>&-`, as cron and daemons start programs), or cannot
be written: the device is full, or the reader of a pipe has gone. Messages are then lost, as with C's
`stderr`, and the program's status stays its own.
"""

from __future__ import annotations

import ctypes
import io
import os
import sys
from contextlib import suppress
from typing import Any


class _Messages(io.FileIO):
    """Standard error without failures: a message without a reader must not end what it is about."""

    def write(self, data: Any, /) -> int:
        with suppress(OSError):
            return super().write(data) or len(
                data
            )  # None: the reader of a pipe that must not wait is slow
        return len(data)


def open_standard_streams() -> None:
    """
    Makes Python's three streams usable in a command. A closed descriptor is taken, so that no file of ours
    gets its number and then the program's output; reading and writing it fail as before (EBADF).
    """
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            with suppress(OSError):  # without /dev/null, as before
                wrong_way = os.O_WRONLY if number == 0 else os.O_RDONLY
                os.set_inheritable(
                    os.open(os.devnull, wrong_way), True
                )  # the lowest number is free
    use_messages()
    if sys.stdin is None:
        sys.stdin = open(0, closefd=False)  # noqa: SIM115
    if sys.stdout is None:
        sys.stdout = open(1, "w", closefd=False)  # noqa: SIM115


def use_messages() -> None:
    """Replaces Python's standard error by one that does not fail, unless something else has replaced it."""
    if sys.stderr is sys.__stderr__:
        encoding = "utf-8" if sys.stderr is None else sys.stderr.encoding
        try:
            file = _Messages(2, "w", closefd=False)
        except OSError:
            file = _Messages(os.devnull, "w")
        sys.stderr = io.TextIOWrapper(
            io.BufferedWriter(file), encoding, "backslashreplace", line_buffering=True
        )


def flush_output() -> None:
    """Writes what C code, and then Python code, has printed on standard output; failures are ignored, as at
    the end of a C program."""
    ctypes.CDLL(None).fflush(None)
    if sys.stdout is not None:
        with suppress(OSError):
            sys.stdout.flush()
