"""A GPU's context, which takes the driver some tenths of a second, made while a program is compiled."""

from __future__ import annotations

import ctypes
import threading
from contextlib import suppress

from ...compiler.backend.forks import before_copies


class ContextAhead:
    """
    The primary context of GPU `number` (None: nothing is done), made by a thread from `start` on; it stays
    until the process ends. What fails, and where there is no driver, is told to whoever wants it.
    """

    def __init__(self, number: int | None):
        self._number = number
        self._thread: threading.Thread | None = None

    def __enter__(self) -> ContextAhead:
        return self

    def __exit__(self, *_: object) -> None:
        """Waits for the end: nobody may leave the process while the driver is at work."""
        if self._thread is not None:
            self._thread.join()

    def start(self) -> None:
        """Begins, once. Copies of this process wait for the end, as they would lack the thread."""
        if self._number is None or self._thread is not None:
            return
        self._thread = threading.Thread(target=self._open, name="accopt-context", daemon=True)
        self._thread.start()
        before_copies(self._thread.join)

    def _open(self) -> None:
        device, context = ctypes.c_int(), ctypes.c_void_p()
        with suppress(OSError, AttributeError):
            driver = ctypes.CDLL("libcuda.so.1")
            if driver.cuInit(0) or driver.cuDeviceGet(ctypes.byref(device), self._number):
                return
            driver.cuDevicePrimaryCtxRetain(ctypes.byref(context), device)
