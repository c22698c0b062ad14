"""
The entry points that are compiled code (`native_data.py`, `native_launch.py`, `native_devices.py`), and what
they are told of each device.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from ..device import NativeDriver, Queue
from ..state import DeviceState
from .clocks import NativeClocks
from .data import NativeData
from .devices import NativeDevices
from .launch import NativeLauncher
from .peers import Known, NativePeers


class NativeEntries:
    """
    The compiled entry points of one program with so many sites, for the devices of `devices`; none until
    `addresses` is asked for.
    """

    def __init__(self, sites: int, devices: NativeDevices):
        self._sites = sites
        self._devices = devices
        self._launcher: NativeLauncher | None = None
        self._data: NativeData | None = None
        self._peers: NativePeers | None = None
        self._clocks: NativeClocks | None = None
        self._keep: list[Any] = []

    def addresses(
        self,
        slow: Mapping[str, int],
        states: Iterable[DeviceState],
        failed: Callable[[int, int], None],
    ) -> dict[str, int]:
        """
        The entry points by name, made once; `states`: the devices opened so far, one at least.

        `slow`: the addresses of those in Python. `failed(site, status)` is called when the driver
        refuses a launch.
        """
        states = list(states)
        if self._data is None:
            self._data = NativeData(
                self._sites,
                self._devices,
                slow["__accopt_data_enter"],
                slow["__accopt_data_exit"],
            )
            for state in states:
                self.serve(state)
        entries = {
            "__accopt_data_enter": self._data.enter_address,
            "__accopt_data_exit": self._data.exit_address,
        }
        driver = states[0].device.native_driver()
        if driver is not None:
            launcher = self._launcher or self._new_launcher(slow, driver, failed)
            self._launcher = launcher
            entries["__accopt_launch"] = launcher.address
            entries["__accopt_scratch"] = launcher.scratch_address
            launcher.slow_waits[:] = [slow["acc_wait"], slow["__accopt_wait"]]
            entries |= launcher.wait_addresses
            if self._clocks is None and driver.event_record:
                enter = states[0].device.enter_function()
                self._clocks = NativeClocks(self._devices, driver, enter)
            if self._clocks is not None:
                entries |= self._clocks.addresses
        peers = states[0].device.peer_driver()
        if peers is not None and self._devices.count > 1:
            if self._peers is None:
                self._peers = NativePeers(
                    self._devices, peers, slow["acc_memcpy_d2d"], slow["__accopt_update_peer"]
                )
            entries |= self._peers.addresses
        return entries

    def _new_launcher(
        self, slow: Mapping[str, int], driver: NativeDriver, failed: Callable[[int, int], None]
    ) -> NativeLauncher:
        callback = ctypes.CFUNCTYPE(None, ctypes.c_int32, ctypes.c_int32)(failed)
        self._keep.append(callback)
        return NativeLauncher(
            self._sites,
            self._devices,
            driver,
            slow["__accopt_launch"],
            address_of(callback),
            slow["__accopt_scratch"],
        )

    def serve(self, state: DeviceState) -> None:
        """Data entries that the device's quick entry knows are native code's from now on."""
        if self._data is not None and state.row < self._devices.count:
            state.quick.native = self._data.of(state.row)

    def forget(self, states: Iterable[DeviceState]) -> None:
        """Everything comes to Python."""
        if self._launcher is not None:
            self._launcher.forget()
        if self._peers is not None:
            self._peers.forget()
        for state in states:
            with state.lock:
                state.quick.settle()
                state.quick.native = None

    def copied(self, known: Known, to_streams: Sequence[int]) -> None:
        """The next copy of these bytes between these devices needs no Python."""
        if self._peers is not None:
            self._peers.remember(known, to_streams)

    def forget_launches(self, state: DeviceState) -> None:
        """Launches on a device come to Python once more."""
        if self._launcher is not None and state.row < self._devices.count:
            self._launcher.of(state.row).forget()

    def forget_default_queue(self) -> None:
        """Launches on the default queue come to Python once more."""
        if self._launcher is not None:
            self._launcher.forget_default()

    def launched(
        self,
        site: int,
        kernel: str,
        state: DeviceState,
        queue: Queue,
        number: int,
        *,
        scratch: bool,
        epoch: int,
    ) -> None:
        """The site's next launch on this device with this queue number needs no Python."""
        if self._launcher is not None and state.row < self._devices.count:
            handles = state.device.native_handles(kernel, queue, alone=scratch)
            self._launcher.of(state.row).remember(
                site, *handles, number, scratch=scratch, epoch=epoch
            )

    def interrupt(self, site: int, state: DeviceState) -> None:
        """The site's next launch on a device comes to Python: no other thread's goes in between."""
        if self._launcher is not None and state.row < self._devices.count:
            self._launcher.of(state.row).interrupt(site)

    def remember_scratch(self, site: int, state: DeviceState, address: int, held: int) -> None:
        """The site's scratch memory on a device: `held` bytes at `address`."""
        if self._launcher is not None and state.row < self._devices.count:
            self._launcher.of(state.row).remember_scratch(site, address, held)


def address_of(function: Any) -> int:
    """The C address of a ctypes callback."""
    return ctypes.cast(function, ctypes.c_void_p).value or 0
