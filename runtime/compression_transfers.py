"""
How plain numbers of the host become packed ones on the device, and back.

The host encodes and decodes while it copies to or from the buffers of a transfer. Where it would have
to read an array twice, for its range, or to pick members out of structures, the numbers come to the
device as they are, if it has kernels to pack them (`Device.packer`) and room.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from .device import Conversion, PackedPlace, Strips
from .errors import AccRuntimeError, ErrorClass
from .packed import Coefficients, PackedFormat

if TYPE_CHECKING:
    from .compression_report import TransferReport
    from .device import Device, DevicePacker, Queue

DEVICE_BYTES = 4 << 20
"""The host is done with fewer bytes before a kernel has been waited for."""

SCANNED_BYTES, PIECES = 64 << 20, 8
"""What has arrived is scanned in up to so many pieces of at least so many bytes, while more arrives."""

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
        self, fmt: PackedFormat, host: int, size: int, queue: Queue
    ) -> tuple[Raw, tuple[float, float]] | None:
        """
        The plain numbers in device memory, with their range. None if that does not pay, or there is
        no room.
        """
        raw, packer = self._room(fmt, size, queue)
        if raw is None or packer is None:
            return None
        piece = max(SCANNED_BYTES, -(-size // (PIECES * fmt.base_bytes)) * fmt.base_bytes)

        def pieces() -> Iterator[tuple[int, int]]:
            for at in range(0, size, piece):
                length = min(piece, size - at)
                self._device.copy_in(raw, host, Strips(at, length), queue)
                yield raw + at, length // fmt.base_bytes

        return Raw(raw, host, size), packer.scan(fmt, pieces(), queue)

    def pack(
        self,
        raw: Raw,
        run: Run,
        fmt: PackedFormat,
        coefs: Coefficients,
        plane: int,
        report: TransferReport,
        queue: Queue,
    ) -> None:
        """Packs a run of numbers that were brought; the caller frees these."""
        packer = self._device.packer()
        assert packer is not None
        place = PackedPlace(run.device, plane, run.count, report.packing_counter)
        packer.encode(fmt, coefs, place, raw.address + run.host - raw.host, queue)

    def copy_in(
        self,
        how: Conversion,
        run: Run,
        fmt: PackedFormat,
        coefs: Coefficients,
        plane: int,
        report: TransferReport,
        queue: Queue,
    ) -> None:
        """Host to device; `how` is what the host would do with the numbers of a member."""
        size = run.count * fmt.record_bytes
        if fmt.members > 1:
            raw, packer = self._room(fmt, size, queue)
            if raw is not None and packer is not None:
                self._device.copy_in(raw, run.host, Strips(0, size), queue)
                self.pack(Raw(raw, run.host, size), run, fmt, coefs, plane, report, queue)
                self._device.free(raw, queue)
                return
        for member in range(fmt.members):
            host = run.host + member * fmt.base_bytes
            self._device.write(run.device + member * plane, host, run.count, how, queue)

    def copy_out(
        self,
        how: Conversion,
        run: Run,
        fmt: PackedFormat,
        coefs: Coefficients,
        plane: int,
        queue: Queue,
    ) -> None:
        """Device to host, as `copy_in`."""
        size = run.count * fmt.record_bytes
        if fmt.members > 1:
            raw, packer = self._room(fmt, size, queue)
            if raw is not None and packer is not None:
                place = PackedPlace(run.device, plane, run.count, 0)
                packer.decode(fmt, coefs, place, raw, queue)
                self._device.copy_out(run.host, raw, Strips(0, size), queue)
                self._device.free(raw, queue)
                return
        for member in range(fmt.members):
            host = run.host + member * fmt.base_bytes
            self._device.read(host, run.device + member * plane, run.count, how, queue)

    def _room(
        self, fmt: PackedFormat, size: int, queue: Queue
    ) -> tuple[int | None, DevicePacker | None]:
        """Device memory for so many plain bytes, and the kernels; None where they are not used."""
        seen = self._seen[fmt] = self._seen.get(fmt, 0) + size
        if size < DEVICE_BYTES:
            return None, None
        gain = MEMBERS_GAIN if fmt.members > 1 else 1
        if gain * seen < BYTES_PER_CPU * len(os.sched_getaffinity(0)):
            return None, None
        packer = self._device.packer()
        if packer is None:
            return None, None
        try:
            return self._device.allocate(size, queue), packer
        except AccRuntimeError as error:
            if error.kind != ErrorClass.OUT_OF_MEMORY:
                raise
            return None, None
