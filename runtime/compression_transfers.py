"""
How plain numbers of the host become packed ones on the device, and back.

The host encodes and decodes while it copies to or from the buffers of a transfer. Where it would have
to read an array twice, for its range, or to pick members out of structures, the numbers come to the
device as they are, if it has kernels to pack them (`Device.packer`) and room.

The bus is what such an array waits for, and the host is not busy. So the host keeps the last part of
a large one back: it scans it while the device receives and scans the rest, and packs it while the
device packs the rest.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from .device import Conversion, PackedPlace, Strips
from .errors import AccRuntimeError, ErrorClass
from .packed import PackedFormat

if TYPE_CHECKING:
    from .codec import Codec
    from .compression import Packed
    from .device import Device, DevicePacker, Queue

DEVICE_BYTES = 4 << 20
"""The host is done with fewer bytes before a kernel has been waited for."""

SHARED_BYTES = 64 << 20
HOST_SHARE = 8
HOST_CPUS = 12
"""
Of arrays of at least so many bytes, so many CPUs keep one part in `HOST_SHARE`: what they can scan
while the last buffers are on their way. Fewer CPUs are busy with copying.
"""

BYTES_PER_CPU = 64 << 20
"""
Kernels are loaded when so many bytes for each CPU have been packed in a format that they pack faster:
loading takes milliseconds, or a tenth of a second where the driver has to compile them.
"""

MEMBERS_GAIN = 4
"""How much more they gain where members are picked out of structures."""


@dataclass(frozen=True, slots=True)
class Raw:
    """Plain numbers in device memory, those of `bytes` of host memory at `host`."""

    address: int
    host: int
    bytes: int


@dataclass(frozen=True, slots=True)
class Run:
    """Neighbouring records: `count` of them at `host`; packed, their first members at `device`."""

    host: int
    count: int
    device: int


class Transfers:
    """Moves runs of records of one device's arrays."""

    def __init__(self, device: Device):
        self._device = device
        self._seen: dict[PackedFormat, int] = {}

    def bring(
        self,
        fmt: PackedFormat,
        codec: Callable[[], Codec],
        host: int,
        size: int,
        queue: Queue,
    ) -> tuple[Raw, tuple[float, float]] | None:
        """
        The plain numbers in device memory, or most of them, with the range of all. None if that does
        not pay, or there is no room.
        """
        kept = size // HOST_SHARE // fmt.record_bytes * fmt.record_bytes
        if size < SHARED_BYTES or fmt.members > 1 or cpus() < HOST_CPUS:
            kept = 0
        sent = size - kept
        raw, packer = self._room(fmt, size, sent, queue)
        if raw is None or packer is None:
            return None
        found: list[tuple[float, float]] = []

        def pieces() -> Iterator[tuple[int, int]]:
            self._device.copy_in(raw, host, Strips(0, sent), queue)
            yield raw, sent // fmt.base_bytes
            if kept:
                found.append(codec().extremes(host + sent, kept // fmt.base_bytes))

        found.append(packer.scan(fmt, pieces(), queue))
        low, high = min(f[0] for f in found), max(f[1] for f in found)
        return Raw(raw, host, sent), (low, high) if low <= high else (0.0, 0.0)

    def pack(self, packed: Packed, raw: Raw, how: Conversion, run: Run, queue: Queue) -> None:
        """As `copy_in` of a run of numbers that were brought; the caller frees these."""
        packer, fmt = self._device.packer(), packed.format
        assert packer is not None
        ahead = run.host - raw.host
        inside = min(run.count, max(0, (raw.bytes - ahead) // fmt.record_bytes))
        if inside:
            place = PackedPlace(run.device, packed.plane, inside, packed.report.packing_counter)
            packer.encode(fmt, packed.coefficients, place, raw.address + ahead, queue)
        if inside < run.count:
            host = run.host + inside * fmt.record_bytes
            device = run.device + inside * fmt.storage_bytes
            self._write(packed, how, Run(host, run.count - inside, device), queue)

    def copy_in(self, packed: Packed, how: Conversion, run: Run, queue: Queue) -> None:
        """Host to device; `how` is what the host would do with the numbers of a member."""
        fmt = packed.format
        size = run.count * fmt.record_bytes
        if fmt.members > 1:
            address, packer = self._room(fmt, size, size, queue)
            if address is not None and packer is not None:
                self._device.copy_in(address, run.host, Strips(0, size), queue)
                self.pack(packed, Raw(address, run.host, size), how, run, queue)
                self._device.free(address, queue)
                return
        self._write(packed, how, run, queue)

    def copy_out(self, packed: Packed, how: Conversion, run: Run, queue: Queue) -> None:
        """Device to host, as `copy_in`."""
        fmt = packed.format
        size = run.count * fmt.record_bytes
        if fmt.members > 1:
            address, packer = self._room(fmt, size, size, queue)
            if address is not None and packer is not None:
                place = PackedPlace(run.device, packed.plane, run.count, 0)
                packer.decode(fmt, packed.coefficients, place, address, queue)
                self._device.copy_out(run.host, address, Strips(0, size), queue)
                self._device.free(address, queue)
                return
        for member in range(fmt.members):
            host = run.host + member * fmt.base_bytes
            self._device.read(host, run.device + member * packed.plane, run.count, how, queue)

    def _write(self, packed: Packed, how: Conversion, run: Run, queue: Queue) -> None:
        """The host packs."""
        for member in range(packed.format.members):
            host = run.host + member * packed.format.base_bytes
            self._device.write(run.device + member * packed.plane, host, run.count, how, queue)

    def _room(
        self, fmt: PackedFormat, size: int, sent: int, queue: Queue
    ) -> tuple[int | None, DevicePacker | None]:
        """
        Device memory for the `sent` of an array's plain bytes, and the kernels; None where they are
        not used.
        """
        seen = self._seen[fmt] = self._seen.get(fmt, 0) + size
        if size < DEVICE_BYTES:
            return None, None
        gain = MEMBERS_GAIN if fmt.members > 1 else 1
        if gain * seen < BYTES_PER_CPU * cpus():
            return None, None
        packer = self._device.packer()
        if packer is None:
            return None, None
        try:
            return self._device.allocate(sent, queue), packer
        except AccRuntimeError as error:
            if error.kind != ErrorClass.OUT_OF_MEMORY:
                raise
            return None, None


def cpus() -> int:
    """How many CPUs this process may use."""
    return len(os.sched_getaffinity(0))
