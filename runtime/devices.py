"""The devices of a program, which are opened when they are first used, and their selection by
directives."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence

from ..compiler.base.abi import DeviceType
from .device import DeviceProvider
from .errors import AccRuntimeError, ErrorClass
from .sites import Site
from .state import DeviceState


class Devices:
    """
    The opened devices of one program; the first is `number` (`ACC_DEVICE_NUM`).

    `begin` is called with each new device before it is visible to others, except for the host in a program
    for GPUs, which has no kernels to load; then `opening` is called.
    """

    def __init__(
        self,
        provider: DeviceProvider,
        number: int,
        sites: Sequence[Site],
        begin: Callable[[DeviceState], None],
    ):
        self.provider = provider
        self._initial = number
        self._sites = sites
        self.opening: Callable[[DeviceState], None] = lambda _: None
        self._begin = begin
        self._closed = False
        self._states: dict[int, DeviceState] = {}
        """The opened devices by the numbers of their rows."""
        self._lock = threading.RLock()

    def __iter__(self) -> Iterator[DeviceState]:
        return iter([] if self._closed else list(self._states.values()))

    def __len__(self) -> int:
        return len(self._states)

    def initial(self) -> DeviceState:
        """The device to begin with."""
        return self.at(self._initial)

    def at(self, number: int) -> DeviceState:
        """Device `number`, opened if need be; raises `acc_error_device_unavailable`."""
        if not 0 <= number < self.provider.count:
            raise AccRuntimeError(
                ErrorClass.DEVICE_UNAVAILABLE,
                f"there is no device {number}: {self._which()} can be used",
                remedy="use a number below acc_get_num_devices, or set their number by --devices N"
                " (ACCOPT_DEVICES=N)",
            )
        state = self._states.get(number)
        if state is not None:
            return state
        with self._lock:
            state = self._states.get(number)
            if state is None:
                state = DeviceState(number, self.provider.open(number), self._sites)
                self._begin(state)
                self._states[number] = state
                self.opening(state)
            return state

    def _which(self) -> str:
        last = self.provider.count - 1
        return f"devices 0 to {last}" if last else "device 0"

    def opened(self, row: int) -> DeviceState:
        """The device of a row, which has been opened."""
        return self._states[row]

    def host(self) -> DeviceState:
        """The host as a device of a program for GPUs; its memory is shared, so that nothing is moved."""
        with self._lock:
            row = self.provider.count
            state = self._states.get(row)
            if state is None:
                from .host.device import HostDevice, HostOptions

                device = HostDevice(HostOptions(shared_memory=True))
                state = DeviceState(0, device, self._sites, row)
                self._states[row] = state
                self.opening(state)
            return state

    def matches(self, device_type: int) -> bool:
        """Whether the program's devices are of an `acc_device_t`."""
        own = self.provider.type
        general = own != DeviceType.HOST and device_type == DeviceType.NOT_HOST
        return general or device_type in (own, DeviceType.DEFAULT, DeviceType.CURRENT)

    def select(self, device_type: int, number: int, current: DeviceState) -> DeviceState:
        """
        The device of that type and number (negative: the current or first one); raises
        `acc_error_device_type_unavailable`.
        """
        if device_type == DeviceType.HOST and self.provider.type != DeviceType.HOST:
            return self.host()
        if not self.matches(device_type):
            known = device_type in DeviceType.__members__.values()
            name = DeviceType(device_type).name.lower() if known else str(device_type)
            own = self.provider.type.name.lower()
            other = "host" if self.provider.type != DeviceType.HOST else "nvptx"
            raise AccRuntimeError(
                ErrorClass.DEVICE_TYPE_UNAVAILABLE,
                f"the program requests a device of type acc_device_{name}, but was compiled for"
                f" acc_device_{own}",
                remedy=f"request acc_device_default, or compile with --target={other}",
            )
        if number >= 0:
            return self.at(number)
        return current if device_type == DeviceType.CURRENT else self.initial()

    def of_type(self, device_type: DeviceType) -> list[DeviceState]:
        """The opened devices of a type."""
        return [state for state in self if state.device.type == device_type]

    def close(self) -> None:
        """Closes all devices, and forgets them."""
        for state in self:
            state.wait_all()
        for state in self:
            state.device.leave_peers()
        for state in self:
            state.close()
        self._closed = True
