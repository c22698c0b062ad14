"""
Reports on the compressed arrays of a device, and the counters in its memory.

Kernels count the numbers that saturate when they store them in words of device memory. These exist as long
as the device, so that nothing has to be fetched when an array is removed. A report has many such words, so
that threads need not wait for one another where many numbers saturate: a kernel chooses a word by the
address of the store.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ...compiler.base.packed import COUNTER_WORDS, Code, PackedFormat
from ..device import Device, Strips

if TYPE_CHECKING:
    from .codec import Measured

SLOT_WORDS = COUNTER_WORDS + 2
SLOT_BYTES = 8 * SLOT_WORDS
SLOTS = 64
"""The number of reports whose counters are allocated together."""


@dataclass(slots=True)
class TransferReport:
    """
    The report on one array, for `--compression-report` and `acc_compression_report`. `ranges` are those of
    the members; `counters` is the address of `COUNTER_WORDS` words, whose sum is the number of values that
    saturated in stores of kernels, and of one more word for values that the device packed. `counted`:
    whether all kernels count.
    """

    name: str
    format: PackedFormat
    ranges: tuple[tuple[float, float], ...]
    elements: int
    counters: int
    absolute: float = 0.0
    relative: float = 0.0
    saturated_in: int = 0
    saturated_packing: int = 0
    saturated_stores: int = 0
    counted: bool = True
    measured: bool = False

    def line(self) -> str:
        """One line of the report."""
        kept = self.elements * self.format.storage_bytes
        plain = self.elements * self.format.base_bytes
        text = f"{self.name}: {self.format}, {plain} bytes in {kept}"
        if self.format.needs_range:
            ranges = [f"[{low:g}, {high:g}]" for low, high in self.ranges]
            if len(set(ranges)) == 1:
                ranges = ranges[:1]
            text += f", range{'s' if len(ranges) > 1 else ''} {', '.join(ranges)}"
        if self.measured:
            text += f", largest error {self.absolute:.3g} absolute, {100 * self.relative:.3g} % relative"
        if self.format.code == Code.PLAIN:
            return text
        stores = str(self.saturated_stores) if self.counted else "uncounted"
        saturated = self.saturated_in + self.saturated_packing
        return f"{text}, saturated {saturated} on the way in, {stores} in stores"

    @property
    def minimum(self) -> float:
        """The least number of all members."""
        return min(low for low, _ in self.ranges)

    @property
    def maximum(self) -> float:
        """The greatest number of all members."""
        return max(high for _, high in self.ranges)

    def note_errors(self, measured: Measured) -> None:
        """Adds the errors of a transfer to the device to the report."""
        self.absolute = max(self.absolute, measured.absolute)
        self.relative = max(self.relative, measured.relative)
        self.measured = True

    def note_incoming(self, saturated: int) -> None:
        """Adds the number of values that saturated when the host packed them."""
        self.saturated_in += saturated

    @property
    def packing_counter(self) -> int:
        """The address of the counter for values that the device packs, which is the last one."""
        return self.counters + 8 * COUNTER_WORDS


class Reports:
    """The reports of one device by name and format; an array that is mapped several times has one
    report."""

    def __init__(self, device: Device):
        self._device = device
        self._reports: dict[tuple[str, PackedFormat], TransferReport] = {}
        self._page = 0

    def find(
        self,
        name: str,
        fmt: PackedFormat,
        ranges: tuple[tuple[float, float], ...],
        count: int,
    ) -> TransferReport:
        """The report of an array that is mapped, updated with its new ranges and size."""
        report = self._reports.get((name, fmt))
        if report is None:
            report = TransferReport(name, fmt, ranges, count, self._slot())
            self._reports[name, fmt] = report
        report.ranges, report.elements = ranges, count
        return report

    def settle(self, reports: Sequence[TransferReport]) -> None:
        """Fetches the device's counters for `reports`, for work that has finished."""
        device, queue = self._device, self._device.sync_queue
        words = (ctypes.c_int64 * SLOT_WORDS)()
        for report in reports:
            device.copy_out(ctypes.addressof(words), report.counters, Strips(0, SLOT_BYTES), queue)
            queue.wait()
            report.saturated_stores = sum(words[:COUNTER_WORDS])
            report.saturated_packing = words[COUNTER_WORDS]

    def lines(self) -> list[str]:
        """A line for each array, in the order in which they were first mapped."""
        reports = list(self._reports.values())
        self.settle(reports)
        return [f"compression: {report.line()}" for report in reports]

    def _slot(self) -> int:
        """The address of new counters, which are zero."""
        number = len(self._reports) % SLOTS
        if number == 0:
            queue = self._device.sync_queue
            self._page = self._device.allocate(SLOTS * SLOT_BYTES, queue)
            self._device.zero(self._page, SLOTS * SLOT_BYTES, queue)
            queue.wait()
        return self._page + number * SLOT_BYTES
