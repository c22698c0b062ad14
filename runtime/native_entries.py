"""
The entry points that are compiled code (`native_data.py`, `native_launch.py`), and what they are told.

They do not know one device from another: as soon as a program opens a second one, everything comes to
Python.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from .device import NativeDriver, Queue
from .native_data import NativeData
from .native_launch import NativeLauncher
from .state import DeviceState


class NativeEntries:
    """The compiled entry points of one program with so many sites; none until `addresses` is asked for."""

    def __init__(self, sites: int):
        self._sites = sites
        self._launcher: NativeLauncher | None = None
        self._data: NativeData | None = None
        self._keep: list[Any] = []

    def addresses(
        self,
        slow: Mapping[str, int],
        state: DeviceState,
        alone: bool,
        failed: Callable[[int, int], None],
    ) -> dict[str, int]:
        """
        The entry points by name, made once, for the device of the beginning.

        `slow`: the addresses of those in Python. `alone`: the program has opened no other device.
        `failed(site, status)` is called when the driver refuses a launch.
        """
        if self._data is None:
            self._data = NativeData(
                self._sites, slow["__accopt_data_enter"], slow["__accopt_data_exit"]
            )
            if alone:
                self.serve(state)
        entries = {
            "__accopt_data_enter": self._data.enter_address,
            "__accopt_data_exit": self._data.exit_address,
        }
        driver = state.device.native_driver()
        if driver is not None:
            launcher = self._launcher or self._new_launcher(slow, driver, failed)
            self._launcher = launcher
            entries["__accopt_launch"] = launcher.address
            entries["__accopt_scratch"] = launcher.scratch_address
        return entries

    def _new_launcher(
        self, slow: Mapping[str, int], driver: NativeDriver, failed: Callable[[int, int], None]
    ) -> NativeLauncher:
        callback = ctypes.CFUNCTYPE(None, ctypes.c_int32, ctypes.c_int32)(failed)
        self._keep.append(callback)
        return NativeLauncher(
            self._sites,
            driver,
            slow["__accopt_launch"],
            address_of(callback),
            slow["__accopt_scratch"],
        )

    def serve(self, state: DeviceState) -> None:
        """Data entries that the device's quick entry knows are native code's from now on."""
        state.quick.native = self._data

    def forget(self, states: Iterable[DeviceState]) -> None:
        """Everything comes to Python."""
        self.forget_launches()
        for state in states:
            state.quick.settle()
            state.quick.native = None

    def forget_launches(self) -> None:
        """Launches come to Python once more."""
        if self._launcher is not None:
            self._launcher.forget()

    def forget_default_queue(self) -> None:
        """Launches on the default queue come to Python once more."""
        if self._launcher is not None:
            self._launcher.forget_default()

    def launched(
        self, site: int, kernel: str, state: DeviceState, queue: Queue, number: int, scratch: bool
    ) -> None:
        """The site's next launch with this queue number needs no Python."""
        if self._launcher is not None:
            handles = state.device.native_handles(kernel, queue, alone=scratch)
            self._launcher.remember(site, *handles, number, scratch=scratch)

    def interrupt(self, site: int) -> None:
        """The site's next launch comes to Python, so that no other thread's goes in between."""
        if self._launcher is not None:
            self._launcher.interrupt(site)

    def remember_scratch(self, site: int, address: int, held: int) -> None:
        """The site's scratch memory: `held` bytes at `address`."""
        if self._launcher is not None:
            self._launcher.remember_scratch(site, address, held)


def address_of(function: Any) -> int:
    """The C address of a ctypes callback."""
    return ctypes.cast(function, ctypes.c_void_p).value or 0
