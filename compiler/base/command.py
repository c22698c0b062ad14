"""Whether this process is one of the commands, and so all that happens in it is ours."""

from __future__ import annotations

_command = False


def begin_command() -> None:
    """It is, from now on."""
    global _command
    _command = True


def is_command() -> bool:
    return _command
