"""
Mean trip counts of loops whose bounds are in device memory, such as the rows of a sparse matrix.

Compiled code asks before a launch which of several versions of a kernel suits its data. The answer affects
only speed, so it is computed once per address and remembered, even if the memory changes later. `mean`
reads a few bytes of device memory, after all work so far.
"""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING

from .device import Strips

if TYPE_CHECKING:
    from .state import DeviceState

MOST_SAMPLES = 16
MOST_ANSWERS = 4096
"""The most answers that are remembered; then all are discarded, as a program may allocate any number of
arrays."""


UNKNOWN = 1 << 30
"""The mean of rows whose bounds cannot be read: any length."""


class MeanTrips:
    """The answers so far, by device and address."""

    def __init__(self) -> None:
        self._answers: dict[tuple[int, ...], int] = {}

    def mean(
        self, state: DeviceState, start: int, end: int, rows: int, stride: int, bytes: int
    ) -> int:
        """
        The mean of `upper - lower` over `rows` rows, rounded up; 0 if there are none. Row r has its
        lower bound at device address `start + r * stride` (0 if `start` is 0) and its upper bound
        at `end + r * stride`; both are integers of `bytes` bytes. `UNKNOWN` if these are not all in the
        mapped part of an array, as where a program reads the bounds of some rows only.
        """
        key = (state.number, start, end, rows, stride, bytes)
        answer = self._answers.get(key)
        if answer is None:
            if len(self._answers) >= MOST_ANSWERS:
                self._answers.clear()
            answer = self._answers[key] = _measure(state, start, end, rows, stride, bytes)
        return answer


def sampled_rows(rows: int) -> list[int]:
    """Up to `MOST_SAMPLES` rows, spread evenly."""
    count = min(rows, MOST_SAMPLES)
    return [(2 * sample + 1) * rows // (2 * count) for sample in range(count)]


def _measure(state: DeviceState, start: int, end: int, rows: int, stride: int, bytes: int) -> int:
    if rows <= 0:
        return 0
    last = (rows - 1) * stride
    if not all(_is_mapped(state, low, low + last + bytes) for low in (start, end) if low):
        return UNKNOWN
    state.wait_all()

    def read(address: int) -> int:
        value = ctypes.create_string_buffer(bytes)
        queue = state.sync_queue
        state.device.copy_out(ctypes.addressof(value), address, Strips(0, bytes), queue)
        queue.wait()
        return int.from_bytes(value.raw, "little", signed=True)

    if start and end - start == stride:
        # Each row ends where the next begins, so two numbers give the total.
        total = read(end + (rows - 1) * stride) - read(start)
        return max(0, -(-total // rows))
    sample = sampled_rows(rows)
    total = sum(
        max(0, read(end + row * stride) - (read(start + row * stride) if start else 0))
        for row in sample
    )
    return -(-total // len(sample))


def _is_mapped(state: DeviceState, start: int, end: int) -> bool:
    """Whether device memory from `start` to `end` is in one mapped array, or in memory that is not mapped."""
    entry = state.table.by_device_address(start) or state.table.by_device_address(end - 1)
    if entry is None:
        return True
    return entry.device <= start and end <= entry.device + entry.device_bytes
