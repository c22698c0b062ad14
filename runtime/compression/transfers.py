"""
Transfers between plain numbers on the host and packed ones on the device.

The host encodes and decodes while it copies to or from the buffers of a transfer. If it would have to
gather members of structures, the numbers are transferred plain instead, provided that the device has
kernels to pack them (`Device.packer`) and enough memory. If the range has to be found first, the first
numbers are transferred plain: the host scans the others during that transfer, and packs them once the range
is known.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ...compiler.base.packed import PackedFormat
from ..device import Conversion, PackedPlace, Strips
from ..errors import AccRuntimeError, ErrorClass

if TYPE_CHECKING:
    from ..device import Device, DevicePacker, Queue
    from .arrays import Packed

DEVICE_BYTES = 4 << 20
"""The bytes below which the host packs in less time than a kernel takes."""

BYTES_PER_CPU = 64 << 20
"""
The bytes per CPU thread that must have been packed in a format before its kernels are loaded: loading takes
milliseconds, or a tenth of a second if the driver has to compile them.
"""

MEMBERS_GAIN = 4
"""The factor by which kernels gain more where members are gathered from structures."""


@dataclass(frozen=True, slots=True)
class Raw:
    """Plain numbers in device memory: copies of host memory from `host` to `end`."""

    address: int
    host: int
    end: int


@dataclass(frozen=True, slots=True)
class RecordRun:
    """Consecutive records: `count` of them at `host`, whose packed first members are at `device`."""

    host: int
    count: int
    device: int


class Transfers:
    """Transfers runs of records of one device's arrays."""

    def __init__(self, device: Device):
        self._device = device
        self._seen: dict[PackedFormat, int] = {}
        self._packing: Queue | None = None

    def bring(
        self, fmt: PackedFormat, host: int, size: int, queue: Queue
    ) -> tuple[Raw, tuple[tuple[float, float], ...]] | None:
        """
        Copies the plain numbers, or the first of them, to device memory, and finds the range of each
        member. None if that does not pay, or if there is no memory.
        """
        room = self._room(fmt, size, queue)
        if room is None:
            return None
        raw, packer = room
        count = size // fmt.record_bytes
        if fmt.members > 1:
            self._device.copy_in(raw, host, Strips(0, size), queue)
            return Raw(raw, host, host + size), packer.scan(fmt, raw, count, queue)
        sent, limits = packer.bring(fmt, raw, host, count, queue)
        return Raw(raw, host, host + sent * fmt.base_bytes), (limits,)

    def copy_in_brought(
        self, packed: Packed, raw: Raw, how: Sequence[Conversion], run: RecordRun, queue: Queue
    ) -> None:
        """
        As `copy_in`, for a run whose first numbers `bring` has copied. The device packs these while the
        host packs and sends the others. The caller frees `raw`.
        """
        fmt = packed.format
        there = max(0, min(run.count, (raw.end - run.host) // fmt.record_bytes))
        rest = RecordRun(
            run.host + there * fmt.record_bytes,
            run.count - there,
            run.device + there * fmt.storage_bytes,
        )
        first = RecordRun(run.host, there, run.device)
        if there and rest.count:
            packing = self._packing = self._packing or self._device.new_queue()
            packing.wait_for(queue)
            self.pack(packed, raw, first, packing)
            self.copy_in(packed, how, rest, queue)
            queue.wait_for(packing)
        elif there:
            self.pack(packed, raw, first, queue)
        elif rest.count:
            self.copy_in(packed, how, rest, queue)

    def pack(self, packed: Packed, raw: Raw, run: RecordRun, queue: Queue) -> None:
        """Lets the device pack a run of numbers that are in its memory."""
        packer = self._device.packer()
        assert packer is not None
        place = PackedPlace(run.device, packed.plane, run.count, packed.report.packing_counter)
        source = raw.address + run.host - raw.host
        packer.encode(packed.format, packed.coefficients, place, source, queue)

    def copy_in(
        self, packed: Packed, how: Sequence[Conversion], run: RecordRun, queue: Queue
    ) -> None:
        """Host to device; `how` are the host's conversions for each member."""
        size = run.count * packed.format.record_bytes
        room = self._room_for_structures(packed.format, size, queue)
        if room is not None:
            address, _ = room
            self._device.copy_in(address, run.host, Strips(0, size), queue)
            self.pack(packed, Raw(address, run.host, run.host + size), run, queue)
            self._device.free(address, queue)
            return
        for host, device, own in _members(packed, how, run):
            self._device.write(device, host, run.count, own, queue)

    def copy_out(
        self, packed: Packed, how: Sequence[Conversion], run: RecordRun, queue: Queue
    ) -> None:
        """Device to host, as `copy_in`."""
        size = run.count * packed.format.record_bytes
        room = self._room_for_structures(packed.format, size, queue)
        if room is not None:
            address, packer = room
            place = PackedPlace(run.device, packed.plane, run.count, 0)
            packer.decode(packed.format, packed.coefficients, place, address, queue)
            self._device.copy_out(run.host, address, Strips(0, size), queue)
            self._device.free(address, queue)
            return
        for host, device, own in _members(packed, how, run):
            self._device.read(host, device, run.count, own, queue)

    def _room_for_structures(
        self, fmt: PackedFormat, size: int, queue: Queue
    ) -> tuple[int, DevicePacker] | None:
        """As `_room` for structures; None for plain numbers, which the host packs."""
        return self._room(fmt, size, queue) if fmt.members > 1 else None

    def _room(self, fmt: PackedFormat, size: int, queue: Queue) -> tuple[int, DevicePacker] | None:
        """Device memory for `size` plain bytes, and the kernels; None if kernels are not used."""
        seen = self._seen[fmt] = self._seen.get(fmt, 0) + size
        if size < DEVICE_BYTES:
            return None
        gain = MEMBERS_GAIN if fmt.members > 1 else 1
        if gain * seen < BYTES_PER_CPU * len(os.sched_getaffinity(0)):
            return None
        packer = self._device.packer()
        if packer is None:
            return None
        try:
            return self._device.allocate(size, queue), packer
        except AccRuntimeError as error:
            if error.kind != ErrorClass.OUT_OF_MEMORY:
                raise
            return None


def _members(
    packed: Packed, how: Sequence[Conversion], run: RecordRun
) -> Iterator[tuple[int, int, Conversion]]:
    """The host address, the device address and the conversion of each member of a run."""
    for member, own in enumerate(how):
        host = run.host + member * packed.format.base_bytes
        yield host, run.device + member * packed.plane, own
