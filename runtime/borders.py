"""
Which borders are computed first: the wishes of copies between devices, and the order of simulated devices.

Each copy that Python makes is a wish to the construct that its device has launched last: that the rows which
write what is read are computed first next time, and that the copy may come early. Native code repeats the
copies, and honours the wishes (`native/borders.py`, docs/devices.md). On simulated devices the same is done
here, so that `--late` shows copies that come too early.
"""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING

from ..compiler.base.abi import ASYNC_BORDER, BorderArray, BorderRow
from ..compiler.base.border_times import border_limits
from .in_process import WorkQueue
from .native.borders import ARRAYS, FEWEST_INNER, Borders, Wish

if TYPE_CHECKING:
    from .device import Queue
    from .state import DeviceState

_ROW, _ARRAY = ctypes.sizeof(BorderRow), ctypes.sizeof(BorderArray)


def span(array: BorderArray, lower: int, upper: int) -> tuple[int, int]:
    """The memory that an array of a footprint has in the rows from `lower` up to `upper`."""
    ends = array.slope * lower, array.slope * (upper - 1)
    return array.first + min(ends), array.last + max(ends)


def _meet(a: tuple[int, int], b: tuple[int, int]) -> bool:
    return a[0] < b[1] and b[0] < a[1]


def rows_that_write(
    row: BorderRow, arrays: list[BorderArray], memory: tuple[int, int]
) -> tuple[int, int] | None:
    """The first and the last value of the outermost variable that may write to memory; None if none does."""
    found: list[int] = []
    for array in arrays:
        if not array.writes:
            continue
        low, high = row.lower, row.upper - 1
        if array.slope:
            # first + slope * i < memory[1] and memory[0] < last + slope * i
            before, after = memory[0] - array.last, memory[1] - array.first
            if array.slope < 0:
                before, after = -after, -before
            step = abs(array.slope)
            low, high = max(low, before // step + 1), min(high, -(-after // step) - 1)
        elif not _meet(span(array, row.lower, row.upper), memory):
            continue
        if low <= high:
            found += [low, high]
    return (min(found), max(found)) if found else None


def is_free(
    borders: Borders, arrays: list[BorderArray], memory: tuple[int, int], *, writes: bool
) -> bool:
    """Whether a copy that uses memory may run beside the construct, once the border is computed; as
    `EARLY_IR`."""
    row = borders.row
    lower = row.lower if writes else row.lower + borders.low
    upper = row.upper if writes else row.upper - borders.high
    return not any(
        (writes or array.writes) and _meet(span(array, lower, upper), memory) for array in arrays
    )


def _is_apart(row: BorderRow, arrays: list[BorderArray]) -> bool:
    """Whether no array that the construct writes meets one that it only reads."""
    spans = [(span(array, row.lower, row.upper), bool(array.writes)) for array in arrays]
    return not any(
        _meet(a, b) for a, written in spans if written for b, other in spans if not other
    )


def accessed_bytes(row: BorderRow, arrays: list[BorderArray]) -> int:
    """The bytes between the ends of what a construct accesses of each array."""
    spans = (span(array, row.lower, row.upper) for array in arrays)
    return sum(last - first for first, last in spans)


def why_not(row: BorderRow, arrays: list[BorderArray], wish: Wish, devices: int = 1) -> str | None:
    """Why the border of a construct is not computed first in a process that uses so many devices, although
    copies want it; None if it is."""
    if row.always:
        return None
    total = accessed_bytes(row, arrays)
    border = total // (row.upper - row.lower) * (wish.low + wish.high)
    return border_limits(wish.copied, devices).why_not(total, border)


class DeviceBorders:
    """The borders of one device."""

    def __init__(self, state: DeviceState):
        self._state = state
        self.native = Borders()
        self.address = 0
        """That of `native`, once the program has such a construct."""
        self._devices = 1
        self._queue: Queue | None = None
        """The queue of the last construct, on a simulated device."""
        self._position: int | None = None

    def _known(self) -> list[BorderArray]:
        return list(self.native.arrays[: self.native.row.count])

    def wish(self, memory: tuple[int, int], *, writes: bool) -> None:
        """A copy of another device, or to it, has used memory after the last construct."""
        row = self.native.row
        if not 0 < row.count <= ARRAYS or row.upper <= row.lower:
            return
        arrays, wish = self._known(), self.native.wishes[row.number]
        if writes:
            if is_free(self.native, arrays, memory, writes=True):
                self._grant(wish, memory)
            return
        found = rows_that_write(row, arrays, memory)
        if found is None:
            self._grant(wish, memory)
            return
        low, high = found[1] + 1 - row.lower, row.upper - found[0]
        new = Wish(low=wish.low, high=wish.high)
        if low <= high:
            new.low = max(new.low, low)
        else:
            new.high = max(new.high, high)
        if FEWEST_INNER * (new.low + new.high) <= row.upper - row.lower:
            wish.low, wish.high = new.low, new.high
            self._grant(wish, memory)

    def _grant(self, wish: Wish, memory: tuple[int, int]) -> None:
        wish.wanted, wish.missed = 1, 0
        wish.copied = max(wish.copied, memory[1] - memory[0])
        self._limit(wish)
        if not self.native.border:
            known = self._state.device.native_queue(self._state.queue(ASYNC_BORDER, 0))
            if known is not None:
                self.native.border = ctypes.addressof(known)

    def _limit(self, wish: Wish) -> None:
        limits = border_limits(wish.copied, self._devices)
        wish.least, wish.most, wish.border = limits.least, limits.most, limits.border

    def used(self, devices: int) -> None:
        """The process uses so many devices from now on."""
        self._devices = devices
        for wish in self.native.wishes:
            if wish.wanted:
                self._limit(wish)

    def open(self, footprint: int) -> None:
        """Lets native code find the borders, before the first construct."""
        self._take(footprint)
        self.address = ctypes.addressof(self.native)
        self._state.list_queues()

    # Simulated devices

    def begin(self, footprint: int) -> int:
        """As `__accopt_border_begin`."""
        native = self.native
        if not self._take(footprint):
            return 0
        row, arrays = native.row, self._known()
        wish = native.wishes[row.number]
        if (
            not wish.wanted
            or not _is_apart(row, arrays)
            or why_not(row, arrays, wish, self._devices)
        ):
            return 0
        if FEWEST_INNER * (wish.low + wish.high) <= row.upper - row.lower:
            native.low, native.high = wish.low, wish.high
        native.event = 1
        return native.low | native.high << 32

    def _take(self, footprint: int) -> bool:
        """Keeps the footprint of a construct, for wishes; returns whether it may have a border."""
        row, native = BorderRow.from_address(footprint), self.native
        native.low = native.high = native.event = native.row.count = 0
        if row.count > ARRAYS or row.upper <= row.lower:
            return False
        ctypes.memmove(ctypes.addressof(native.row), footprint, _ROW + row.count * _ARRAY)
        return True

    def put(self, queue: Queue) -> None:
        """Puts the border queue after a construct's queue, before the construct."""
        self._state.queue(ASYNC_BORDER, 0).wait_for(queue)

    def announce(self, queue: Queue) -> None:
        """Puts the construct's queue after the border queue, after the construct."""
        if self.native.event:
            queue.wait_for(self._state.queue(ASYNC_BORDER, 0))
        self._queue, self._position = queue, _position(queue)

    def early(self, queue: Queue, memory: tuple[int, int], *, writes: bool) -> Queue | None:
        """The queue after which a copy may come instead of a construct's; None if it must wait for that."""
        if (
            not self.native.event
            or queue is not self._queue
            or _position(queue) != self._position
            or not is_free(self.native, self._known(), memory, writes=writes)
        ):
            return None
        return self._state.queue(ASYNC_BORDER, 0)

    def keep(self, queue: Queue) -> None:
        """A copy that came early was put before the queue's next work: the construct is still the last."""
        self._position = _position(queue)


def _position(queue: Queue) -> int | None:
    """The amount of work that a simulated queue was ever given; None if it performs work immediately."""
    return queue.given if isinstance(queue, WorkQueue) else None
