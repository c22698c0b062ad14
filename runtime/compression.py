"""
Compressed arrays on a device: how they are made, moved, checked, and reported.

An `Entry` of the present table whose `packed` is set has device storage of `PackedFormat` elements.
The table keeps speaking of host bytes; only this file, and `Entry.device_address`, know the
difference. Host memory always holds plain numbers: transfers encode and decode.
"""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from .abi import Compression, CompressionFlag
from .errors import AccRuntimeError, ErrorClass, HostRange
from .packed import Code, Coefficients, PackedFormat, coefficients

if TYPE_CHECKING:
    from .codec import Codec
    from .device import Device, Queue, Strips
    from .mapping import Request
    from .present import Entry

ALIGNMENT = 16
"""Kernels load packed elements by so many bytes at a time where element 0 is aligned to them."""


@dataclass(frozen=True, slots=True)
class PackedRequest:
    """What a data record asks of a compressed array; `address` is that of its `Compression`."""

    format: PackedFormat
    decodes: bool
    range: tuple[float, float] | None
    address: int = 0

    @staticmethod
    def read(address: int) -> tuple[PackedRequest, int]:
        """The request at `address`, and the address of the section's shape."""
        given = Compression.from_address(address)
        flags = CompressionFlag(given.flags)
        limits = (given.minimum, given.maximum) if flags & CompressionFlag.HAS_RANGE else None
        request = PackedRequest(
            PackedFormat.from_word(given.format),
            bool(flags & CompressionFlag.DECODES),
            limits,
            address,
        )
        return request, given.shape


@dataclass(slots=True)
class TransferReport:
    """What compression did to one array, for `--compression-report` and `acc_compression_report`."""

    name: str
    format: PackedFormat
    minimum: float
    maximum: float
    elements: int
    absolute: float = 0.0
    relative: float = 0.0
    saturated_in: int = 0
    saturated_out: int = 0
    measured: bool = False

    def line(self) -> str:
        """One line of the report."""
        kept = self.elements * self.format.storage_bytes
        plain = self.elements * self.format.base_bytes
        text = f"{self.name}: {self.format}, {plain} bytes in {kept}"
        if self.format.code == Code.RANGE:
            text += f", range [{self.minimum:g}, {self.maximum:g}]"
        if self.measured:
            text += f", largest error {self.absolute:.3g} absolute, {100 * self.relative:.3g} % relative"
        return f"{text}, saturated {self.saturated_in} on the way in, {self.saturated_out} on the way out"


@dataclass(slots=True, eq=False)
class Packed:
    """
    The packed storage of an entry: `plane` is the size of one member's array where structures have
    become arrays; `allocation` is what to free (element 0 may stand a little
    after it, so that the address of the host pointer's element 0 is aligned).
    """

    format: PackedFormat
    coefficients: Coefficients
    allocation: int
    report: TransferReport
    plane: int = 0

    @property
    def words(self) -> bytes:
        """c0, c1, 1 / c0 and the plane, as a `Compression` ends."""
        coefs = self.coefficients
        return struct.pack("=3dq", coefs.c0, coefs.c1, coefs.inverse, self.plane)

    def bytes_of(self, host_bytes: int) -> int:
        """How far apart on the device numbers so many host bytes apart are, in one member's array."""
        return host_bytes // self.format.record_bytes * self.format.storage_bytes

    def size_of(self, host_bytes: int) -> int:
        """The packed size of so many bytes of plain numbers."""
        return host_bytes // self.format.base_bytes * self.format.storage_bytes


@dataclass(frozen=True, slots=True)
class Answer:
    """What the descriptor at `address` is told: the words that follow `shape`."""

    address: int
    words: bytes

    def give(self) -> None:
        """Writes the words."""
        ctypes.memmove(self.address, self.words, len(self.words))


def answer_for(packed: Packed, address: int) -> Answer | None:
    """
    The answer to the descriptor at `address`, of a kernel that decodes the array as it is packed;
    None for anything else, which needs a closer look.
    """
    given = Compression.from_address(address)
    if given.format != packed.format.word or not given.flags & CompressionFlag.DECODES:
        return None
    return Answer(address + Compression.c0.offset, packed.words)


@dataclass(slots=True)
class Compressor:
    """
    Makes and moves the compressed arrays of one device. `measure`: find the errors of every transfer
    to the device, which costs a pass over the data. `reports` keeps those of arrays that are gone, by
    name and format.
    """

    device: Device
    measure: bool = False
    reports: dict[tuple[str, PackedFormat], TransferReport] = field(
        default_factory=dict[tuple[str, PackedFormat], TransferReport]
    )
    _codecs: dict[PackedFormat, Codec] = field(default_factory=dict["PackedFormat", "Codec"])

    def codec(self, fmt: PackedFormat) -> Codec:
        """The codec of a format, compiled on first use."""
        found = self._codecs.get(fmt)
        if found is None:
            from .codec import Codec

            found = self._codecs[fmt] = Codec(fmt)
        return found

    def lines(self) -> list[str]:
        """The report: a line per array, in the order they came."""
        return [f"compression: {report.line()}" for report in self.reports.values()]

    # Entries

    def check(self, entry: Entry, request: Request) -> None:
        """
        That a compute construct and the array on the device agree. Raises
        `acc_error_invalid_argument` where a kernel would misread the data.
        """
        wanted, held = request.packed, entry.packed
        if not request.kernel or (wanted is None and held is None):
            return
        if wanted is None and held is not None:
            raise self._mismatch(
                entry,
                request,
                f"'{request.name}' is compressed on the device, and this construct reads plain numbers",
                f"add compression({request.name}) to the construct, or map the array without"
                " compression",
            )
        if wanted is None or not wanted.decodes:
            return
        if held is None:
            raise self._mismatch(
                entry,
                request,
                f"this construct decodes '{request.name}', which is not compressed on the device",
                f"map it with compression_copyin({request.name}[…]), or leave out"
                f" compression({request.name})",
            )
        if wanted.format != held.format:
            raise self._mismatch(
                entry,
                request,
                f"this construct decodes '{request.name}' as {wanted.format}, and it is on the device"
                f" as {held.format}",
                "give both clauses the same format",
            )

    @staticmethod
    def _mismatch(entry: Entry, request: Request, message: str, remedy: str) -> AccRuntimeError:
        return AccRuntimeError(
            ErrorClass.INVALID_ARGUMENT,
            message,
            requested=HostRange(request.start, request.bytes),
            overlapping=(entry.range(),),
            remedy=remedy,
        )

    def create(self, request: Request, copies_in: bool, queue: Queue) -> Packed:
        """
        Storage for an absent section, with its coefficients. Raises `acc_error_invalid_argument`
        without a range where nothing can be scanned, and for ranges that cannot be used.
        """
        wanted = request.packed
        assert wanted is not None
        fmt = wanted.format
        check_whole(request, fmt)
        count = request.bytes // fmt.base_bytes
        low, high = self._range(request, copies_in, count)
        try:
            coefs = coefficients(fmt, low, high)
        except ValueError as reason:
            raise AccRuntimeError(
                ErrorClass.INVALID_ARGUMENT,
                f"'{request.name}' cannot be compressed: {reason}",
                requested=HostRange(request.start, request.bytes),
                remedy="give a range [start:length:min:max]",
            ) from None
        own = count // fmt.members * fmt.storage_bytes
        plane = (own + ALIGNMENT - 1) // ALIGNMENT * ALIGNMENT
        allocation = self.device.allocate(plane * fmt.members + ALIGNMENT, queue)
        report = self._report(request.name, fmt, low, high, count)
        return Packed(fmt, coefs, allocation, report, plane)

    def _report(
        self, name: str, fmt: PackedFormat, low: float, high: float, count: int
    ) -> TransferReport:
        """The report of an array: one for all times that it comes and goes, with its last range."""
        report = self.reports.get((name, fmt))
        if report is None:
            report = self.reports[name, fmt] = TransferReport(name, fmt, low, high, count)
        report.minimum, report.maximum, report.elements = low, high, count
        return report

    def _range(self, request: Request, copies_in: bool, count: int) -> tuple[float, float]:
        wanted = request.packed
        assert wanted is not None
        if wanted.range is not None or not wanted.format.needs_range:
            return wanted.range or (0.0, 0.0)
        if not copies_in:
            raise AccRuntimeError(
                ErrorClass.INVALID_ARGUMENT,
                f"'{request.name}' is compressed without a range, and there is no data to find it in",
                requested=HostRange(request.start, request.bytes),
                remedy=f"write {request.name}[start:length:min:max]",
            )
        return self.codec(wanted.format).scan(request.start, count)

    def place(self, packed: Packed, request: Request) -> int:
        """
        The device address of the section's first element: such that the element at the host base
        is aligned, as long as the section starts at a whole element from there.
        """
        fmt = packed.format
        ahead = request.offset // fmt.record_bytes * fmt.storage_bytes
        return packed.allocation + ahead % ALIGNMENT

    def deliver(self, entry: Entry, request: Request) -> None:
        """Writes what the kernel needs into the request's descriptor."""
        wanted, packed = request.packed, entry.packed
        if wanted is None or packed is None or not wanted.address:
            return
        Answer(wanted.address + Compression.c0.offset, packed.words).give()

    # Transfers

    def copy_in(self, entry: Entry, start: int, strips: Iterable[Strips], queue: Queue) -> None:
        """Encodes host numbers on their way to the device; `strips` count from `start`."""
        packed = entry.packed
        assert packed is not None
        fmt, coefs, codec = packed.format, packed.coefficients, self.codec(packed.format)
        for host, count in _runs(start, strips, fmt):
            if self.measure:
                measured = codec.measure(host, count, coefs)
                packed.report.absolute = max(packed.report.absolute, measured.absolute)
                packed.report.relative = max(packed.report.relative, measured.relative)
                packed.report.measured = True

            for member in range(fmt.members):

                def produce(
                    target: int, at: int, size: int, start: int = host + member * fmt.base_bytes
                ) -> None:
                    source = start + at // fmt.storage_bytes * fmt.record_bytes
                    packed.report.saturated_in += codec.encode(
                        target, source, size // fmt.storage_bytes, coefs, fmt.members
                    )

                size = count // fmt.members * fmt.storage_bytes
                device = entry.device_address(host) + member * packed.plane
                self.device.write(device, size, fmt.storage_bytes, produce, queue)

    def copy_out(self, entry: Entry, start: int, strips: Iterable[Strips], queue: Queue) -> None:
        """Decodes device numbers on their way to the host."""
        packed = entry.packed
        assert packed is not None
        fmt, coefs, codec = packed.format, packed.coefficients, self.codec(packed.format)
        for host, count in _runs(start, strips, fmt):
            for member in range(fmt.members):

                def consume(
                    source: int, at: int, size: int, start: int = host + member * fmt.base_bytes
                ) -> None:
                    target = start + at // fmt.storage_bytes * fmt.record_bytes
                    packed.report.saturated_out += codec.decode(
                        target, source, size // fmt.storage_bytes, coefs, fmt.members
                    )

                size = count // fmt.members * fmt.storage_bytes
                device = entry.device_address(host) + member * packed.plane
                self.device.read(device, size, fmt.storage_bytes, consume, queue)


def check_whole(request: Request, fmt: PackedFormat) -> None:
    """That a section has whole numbers, or whole structures where these have become arrays."""
    if request.bytes % fmt.record_bytes or request.offset % fmt.record_bytes:
        what = "numbers" if fmt.members == 1 else "structures"
        raise AccRuntimeError(
            ErrorClass.INVALID_DATA_SECTION,
            f"the section of '{request.name}' has no whole {what} of {fmt.record_bytes} bytes",
            requested=HostRange(request.start, request.bytes),
        )


def _runs(start: int, strips: Iterable[Strips], fmt: PackedFormat) -> Iterable[tuple[int, int]]:
    """Host address and number of elements of each contiguous run."""
    for strip in strips:
        if strip.width == strip.pitch:
            yield start + strip.offset, strip.width * strip.rows // fmt.base_bytes
            continue
        for row in range(strip.rows):
            yield start + strip.offset + row * strip.pitch, strip.width // fmt.base_bytes
