"""
The entry points that are compiled code (`data.py`, `launch.py`, `devices.py`), and their data for each
device.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from ..device import NativeDriver, Queue
from ..state import DeviceState
from .borders import NativeBorders
from .clocks import NativeClocks
from .data import NativeData
from .devices import NativeDevices
from .extents import NativeExtents
from .launch import NativeLauncher
from .peers import Known, NativePeers
from .queries import NativeQueries
from .updates import NativeUpdates
from .waits import NativeWaits


class NativeEntries:
    """
    The compiled entry points of one program with `sites` sites, for the devices of `devices`; they are
    compiled by the first call of `addresses`.
    """

    def __init__(self, sites: int, devices: NativeDevices):
        self._sites = sites
        self._devices = devices
        self._launcher: NativeLauncher | None = None
        self._data: NativeData | None = None
        self._peers: NativePeers | None = None
        self._waits: NativeWaits | None = None
        self._clocks: NativeClocks | None = None
        self._updates: NativeUpdates | None = None
        self._queries: NativeQueries | None = None
        self._borders: NativeBorders | None = None
        self._extents: NativeExtents | None = None
        self._keep: list[Any] = []

    def addresses(
        self,
        slow: Mapping[str, int],
        states: Iterable[DeviceState],
        failed: Callable[[int, int], None],
        *,
        copies: bool = False,
        calls: Callable[[str], bool] = lambda name: True,
    ) -> dict[str, int]:
        """
        The entry points by name, made once; `states`: the devices opened so far, one at least. `calls`:
        whether the program calls the function of a name; the others may be missing.

        `slow`: the addresses of those in Python. `failed(site, status)` is called when the driver
        refuses a launch. `copies`: the program may copy within its only device.
        """
        states = list(states)
        driver = states[0].device.native_driver()
        if self._data is None:
            self._data = NativeData(
                self._sites,
                self._devices,
                slow["__accopt_data_enter"],
                slow["__accopt_data_exit"],
                driver,
                states[0].device.enter_function(),
            )
            for state in states:
                self.serve(state)
        entries = {
            "__accopt_data_enter": self._data.enter_address,
            "__accopt_data_exit": self._data.exit_address,
        }
        if driver is not None:
            launcher = self._launcher or self._new_launcher(slow, driver, failed)
            self._launcher = launcher
            entries["__accopt_launch"] = launcher.address
            entries["__accopt_scratch"] = launcher.scratch_address
            entries |= launcher.border_addresses
            if self._extents is None:
                self._extents = NativeExtents(self._devices, slow["__accopt_extent"])
            entries |= self._extents.addresses
            if driver.event_record:
                entries |= self._of_queues(slow, driver, states[0].device.enter_function(), calls)
        peers = states[0].device.peer_driver()
        if peers is not None and (copies or self._devices.count > 1):
            if self._peers is None:
                self._peers = NativePeers(self._devices, peers, slow)
            entries |= self._peers.addresses
        return entries

    def _of_queues(
        self,
        slow: Mapping[str, int],
        driver: NativeDriver,
        enter_context: int,
        calls: Callable[[str], bool],
    ) -> dict[str, int]:
        """
        The entry points for devices whose queues have events: waits, clocks (unless the work before an event
        is finished), updates and questions. Each of these modules takes a few milliseconds to load, so it is
        made only if the program calls one of its functions.
        """
        devices = self._devices
        if self._queries is None and any(map(calls, NativeQueries.names)):
            self._queries = NativeQueries(devices, driver, enter_context, slow)
        if self._waits is None and any(map(calls, NativeWaits.names)):
            self._waits = NativeWaits(devices, driver, slow)
        if self._updates is None and any(map(calls, NativeUpdates.names)):
            self._updates = NativeUpdates(devices, driver, enter_context, slow)
        if self._clocks is None and driver.event_synchronize:
            self._clocks = NativeClocks(devices, driver, enter_context)
        made = (self._queries, self._waits, self._updates, self._clocks)
        return {
            name: address
            for part in made
            if part is not None
            for name, address in part.addresses.items()
        }

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
            (slow["__accopt_border_begin"], slow["__accopt_border_end"]),
        )

    def compute_borders(self, driver: NativeDriver) -> None:
        """Compiles the native code for constructs whose border is computed first."""
        if self._launcher is not None and self._borders is None:
            slow = self._launcher.slow_borders[0]
            self._borders = NativeBorders(self._devices, driver, slow)
            self._launcher.compute_borders(*self._borders.addresses)

    def serve(self, state: DeviceState) -> None:
        """Lets native code serve the data entries that the device's quick entry remembers."""
        if self._data is not None and state.row < self._devices.count:
            state.quick.native = self._data.of(state.row)

    def forget(self, states: Iterable[DeviceState]) -> None:
        """Lets all calls go to Python, until they are remembered again."""
        if self._launcher is not None:
            self._launcher.forget()
        if self._peers is not None:
            self._peers.forget()
        for state in states:
            with state.lock:
                state.quick.settle()
                state.mapper.actions.free_kept()
                state.quick.native = None

    def copied(self, known: Known) -> None:
        """Lets native code perform the next copy of these bytes between these devices on this queue."""
        if self._peers is not None and self._launcher is not None:
            tables = [self._launcher.of(side.row) for side in (known.to, known.origin)]
            slot = tables[0].slot(known.number)
            if slot is not None:
                self._peers.remember(known, slot)

    def forget_launches(self, state: DeviceState) -> None:
        """Lets the next launch of each site on a device go to Python."""
        if self._launcher is not None and state.row < self._devices.count:
            self._launcher.of(state.row).forget()

    def forget_default_queue(self) -> None:
        """Lets launches on the default queue go to Python."""
        if self._launcher is not None:
            self._launcher.forget_default()
        if self._peers is not None:
            self._peers.forget_default()

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
        """Lets native code perform the site's next launch on this device with this queue number."""
        if self._launcher is not None and state.row < self._devices.count:
            handles = state.device.native_handles(kernel, queue, alone=scratch)
            known = state.device.native_queue(queue)
            self._launcher.of(state.row).remember(
                site,
                *handles,
                number,
                scratch=scratch,
                epoch=epoch,
                known=0 if known is None else ctypes.addressof(known),
            )

    def interrupt(self, site: int, state: DeviceState) -> None:
        """Lets the site's next launch on a device go to Python, so that no other thread's launch comes in
        between."""
        if self._launcher is not None and state.row < self._devices.count:
            self._launcher.of(state.row).interrupt(site)

    def remember_scratch(self, site: int, state: DeviceState, address: int, held: int) -> None:
        """Registers the site's scratch memory on a device: `held` bytes at `address`."""
        if self._launcher is not None and state.row < self._devices.count:
            self._launcher.of(state.row).remember_scratch(site, address, held)


def address_of(function: Any) -> int:
    """The C address of a ctypes callback."""
    return ctypes.cast(function, ctypes.c_void_p).value or 0
