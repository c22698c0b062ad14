"""Creates a GPU's context, which takes the driver some tenths of a second, while a program is compiled."""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable
from contextlib import suppress

from ...compiler.backend.forks import before_copies
from .shared_gpus import gpu_of

_DRIVER = "libcuda.so.1"


class ContextAhead:
    """
    Creates the primary context of the GPU of device `number` (None: does nothing) of `devices` (as in
    `gpu_of`) in a thread from `start` on; the context is kept until the process ends. Failures are ignored
    here: the first use of the GPU reports them.
    """

    def __init__(self, number: int | None, devices: int | None = None):
        self._number, self._devices = number, devices
        self._started = False
        self._threads: list[threading.Thread] = []

    def __enter__(self) -> ContextAhead:
        return self

    def __exit__(self, *_: object) -> None:
        self.finish()

    def initialise(self) -> None:
        """Starts a thread that only initialises the driver, if there is one. Copies wait for it, too."""
        with suppress(OSError):
            driver = ctypes.CDLL(_DRIVER)
            self._run(lambda: driver.cuInit(0))

    def start(self) -> None:
        """Starts the thread for the context, once."""
        if self._number is None or self._started:
            return
        self._started = True
        self._run(self._open)

    def _run(self, work: Callable[[], object]) -> None:
        """Runs `work` in a thread, for which copies of this process wait, as they would lack it."""
        thread = threading.Thread(target=work, name="accopt-context", daemon=True)
        thread.start()
        before_copies(thread.join)
        self._threads.append(thread)

    def finish(self) -> None:
        """Waits for the threads, as the process must not end while the driver is working."""
        for thread in self._threads:
            thread.join()

    def _open(self) -> None:
        assert self._number is not None
        count, device, context = ctypes.c_int(), ctypes.c_int(), ctypes.c_void_p()
        with suppress(OSError, AttributeError):
            driver = ctypes.CDLL(_DRIVER)
            if driver.cuInit(0) or driver.cuDeviceGetCount(ctypes.byref(count)):
                return
            gpu = gpu_of(self._number, self._devices, count.value)
            if driver.cuDeviceGet(ctypes.byref(device), gpu):
                return
            driver.cuDevicePrimaryCtxRetain(ctypes.byref(context), device)
