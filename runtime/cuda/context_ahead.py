"""Creates a GPU's context, which takes the driver some tenths of a second, while a program is compiled."""

from __future__ import annotations

import ctypes
import threading
from contextlib import suppress

from ...compiler.backend.forks import before_copies
from .shared_gpus import gpu_of


class ContextAhead:
    """
    Creates the primary context of the GPU of device `number` (None: does nothing) of `devices` (as in
    `gpu_of`) in a thread from `start` on; the context is kept until the process ends. Failures are ignored
    here: the first use of the GPU reports them.
    """

    def __init__(self, number: int | None, devices: int | None = None):
        self._number, self._devices = number, devices
        self._thread: threading.Thread | None = None

    def __enter__(self) -> ContextAhead:
        return self

    def __exit__(self, *_: object) -> None:
        self.finish()

    def start(self) -> None:
        """Starts the thread, once. This process is copied only after the thread has ended, as copies would
        lack it."""
        if self._number is None or self._thread is not None:
            return
        self._thread = threading.Thread(target=self._open, name="accopt-context", daemon=True)
        self._thread.start()
        before_copies(self._thread.join)

    def finish(self) -> None:
        """Waits for the thread, as the process must not end while the driver is working."""
        if self._thread is not None:
            self._thread.join()

    def _open(self) -> None:
        assert self._number is not None
        count, device, context = ctypes.c_int(), ctypes.c_int(), ctypes.c_void_p()
        with suppress(OSError, AttributeError):
            driver = ctypes.CDLL("libcuda.so.1")
            if driver.cuInit(0) or driver.cuDeviceGetCount(ctypes.byref(count)):
                return
            gpu = gpu_of(self._number, self._devices, count.value)
            if driver.cuDeviceGet(ctypes.byref(device), gpu):
                return
            driver.cuDevicePrimaryCtxRetain(ctypes.byref(context), device)
