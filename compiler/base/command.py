"""Whether this process runs one of accopt's commands. Only then may the compiler fork (`backend/forks.py`):
a program that uses accopt as a library may have threads of its own."""

from __future__ import annotations

from .standard_streams import open_standard_streams

_command = False


def begin_command() -> None:
    """Records that this process runs one of accopt's commands, and makes its standard streams usable."""
    global _command
    _command = True
    open_standard_streams()


def end_command() -> None:
    """Records that this process runs a program from now on, which may have threads."""
    global _command
    _command = False


def is_command() -> bool:
    return _command
