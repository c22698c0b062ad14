"""Actions at the end of a C program that calls `exit`, after which no Python code of the caller runs."""

from __future__ import annotations

import ctypes
from collections.abc import Callable

Action = Callable[[int], int]
"""Takes the program's exit status, and returns the status to end with."""


class AtExit:
    """
    Runs `action` once: when this object is called, or else when the process ends by C's `exit`, after the
    program's own `atexit` handlers. Keeps the callback alive until then.
    """

    def __init__(self, action: Action):
        self._action: Action | None = action
        libc = ctypes.CDLL(None)
        register = getattr(libc, "on_exit", None)  # glibc only; others do not pass the status
        if register is None:
            return
        self._handler = ctypes.CFUNCTYPE(None, ctypes.c_int, ctypes.c_void_p)(self._on_exit)
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(self._handler))
        register(self._handler, None)
        self._flush = libc.fflush
        self._leave = libc._exit

    def __call__(self, status: int) -> int:
        """Runs the action, unless it has run."""
        action, self._action = self._action, None
        return status if action is None else action(status)

    def _on_exit(self, status: int, _: int | None) -> None:
        if self._action is None:
            return
        changed = self(status)
        if changed != status:
            self._flush(None)
            self._leave(changed)
