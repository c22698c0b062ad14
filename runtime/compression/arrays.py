"""
Compressed arrays on a device: creation, transfers, checks, and reports.

An `Entry` of the present table whose `packed` is set has device storage of `PackedFormat` elements. The
table counts in host bytes; only this file and `Entry.device_address` convert them. Host memory always holds
plain numbers: transfers encode and decode.
"""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

from ...compiler.base.abi import Compression, CompressionFlag
from ...compiler.base.packed import Coefficients, PackedFormat, member_coefficients
from ..errors import AccRuntimeError, ErrorClass, HostRange
from .report import Reports, TransferReport
from .transfers import Raw, RecordRun, Transfers

if TYPE_CHECKING:
    from ..data.clauses import Request
    from ..data.present import Entry
    from ..device import Conversion, Device, Queue, Strips
    from .codec import Codec

ALIGNMENT = 16
"""The bytes of packed elements that kernels load at a time, if element 0 is aligned to them."""


_TOLD = struct.Struct("=3q")

Ranges: TypeAlias = tuple[tuple[float, float], ...]
"""The smallest and the largest number of each member."""


@dataclass(frozen=True, slots=True)
class PackedRequest:
    """The request of a data record for a compressed array; `address` is that of its `Compression`."""

    format: PackedFormat
    decodes: bool
    range: tuple[float, float] | None
    address: int = 0
    counts: bool = True
    """Whether a kernel counts the numbers that saturate when it stores them."""

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
            not flags & CompressionFlag.UNCOUNTED,
        )
        return request, given.shape


@dataclass(slots=True, eq=False)
class Packed:
    """
    The packed storage of an entry: `coefficients` are those of each member; `plane` is the size of one
    member's array where structures have become arrays; `allocation` is the address to free (element 0 may
    be a little after it, so that the address of the host pointer's element 0 is aligned).
    """

    format: PackedFormat
    coefficients: tuple[Coefficients, ...]
    allocation: int
    report: TransferReport
    plane: int = 0
    raw: Raw | None = None
    """The plain numbers that the first transfer packs, if they are already on the device."""
    encodings: tuple[Conversion, ...] = ()
    decodings: tuple[Conversion, ...] = ()
    """The conversions of each member's numbers in transfers by the host, made on first use."""
    table: ctypes.Array[ctypes.c_double] = field(init=False, repr=False)
    """The coefficients, in memory that host code reads."""

    def __post_init__(self) -> None:
        words = [word for coefs in self.coefficients for word in coefs.words]
        self.table = (ctypes.c_double * len(words))(*words)

    @property
    def words(self) -> bytes:
        """The last words of a `Compression`: address of the coefficients, plane, counter."""
        return _TOLD.pack(ctypes.addressof(self.table), self.plane, self.report.counters)

    def bytes_of(self, host_bytes: int) -> int:
        """The distance on the device, in one member's array, of numbers that are `host_bytes` apart on the
        host."""
        return host_bytes // self.format.record_bytes * self.format.storage_bytes

    def size_of(self, host_bytes: int) -> int:
        """The packed size in bytes of `host_bytes` bytes of plain numbers."""
        return host_bytes // self.format.base_bytes * self.format.storage_bytes


def plane_bytes(host_bytes: int, fmt: PackedFormat) -> int:
    """The device memory of one member of `host_bytes` bytes of plain numbers, aligned for the next one's."""
    own = host_bytes // fmt.base_bytes // fmt.members * fmt.storage_bytes
    return (own + ALIGNMENT - 1) // ALIGNMENT * ALIGNMENT


@dataclass(frozen=True, slots=True)
class Answer:
    """
    The words to write into the descriptor at `address` after its `shape`; `head` is the descriptor's first
    word.
    """

    address: int
    head: int
    words: bytes

    @property
    def place(self) -> int:
        """The address to which the words are written."""
        return self.address + Compression.coefficients.offset

    def agrees(self) -> bool:
        """Whether the descriptor's first word is unchanged, so that the answer is still right."""
        return ctypes.c_int64.from_address(self.address).value == self.head

    def give(self) -> None:
        """Writes the words."""
        ctypes.memmove(self.place, self.words, len(self.words))


def answer_for(packed: Packed, address: int) -> Answer | None:
    """
    The answer to the descriptor at `address` of a kernel that decodes the array's own format; None in other
    cases, which `Compressor` checks.
    """
    given = Compression.from_address(address)
    if given.format != packed.format.word or not given.flags & CompressionFlag.DECODES:
        return None
    packed.report.counted &= not given.flags & CompressionFlag.UNCOUNTED
    return Answer(address, ctypes.c_int64.from_address(address).value, packed.words)


class Compressor:
    """
    Makes and moves the compressed arrays of one device. `measure`: compute the errors of every transfer to
    the device, which takes a pass over the data.
    """

    def __init__(self, device: Device):
        self.device = device
        self.measure = False
        self.reports = Reports(device)
        self._transfers = Transfers(device)
        self._codecs: dict[PackedFormat, Codec] = {}

    def codec(self, fmt: PackedFormat) -> Codec:
        """The codec of a format, compiled on first use."""
        found = self._codecs.get(fmt)
        if found is None:
            from .codec import Codec

            found = self._codecs[fmt] = Codec(fmt)
        return found

    # Entries

    def check(self, entry: Entry, request: Request) -> None:
        """
        Checks that a compute construct and the array on the device have the same format. Raises
        `acc_error_invalid_argument` if a kernel would misread the data.
        """
        wanted, held = request.packed, entry.packed
        if not request.kernel or (wanted is None and held is None):
            return
        if wanted is None and held is not None:
            raise self._mismatch(
                entry,
                request,
                f"'{request.name}' is compressed on the device, but this construct reads plain numbers",
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
                f"this construct decodes '{request.name}' as {wanted.format}, but the array on the"
                f" device has the format {held.format}",
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
        Storage for an absent section, with its coefficients. Raises `acc_error_invalid_argument` if there
        is neither a range nor data to scan, and for invalid ranges.
        """
        wanted = request.packed
        assert wanted is not None
        fmt = wanted.format
        check_whole(request, fmt)
        count = request.bytes // fmt.base_bytes
        plane = plane_bytes(request.bytes, fmt)
        allocation = self.device.allocate(plane * fmt.members + ALIGNMENT, queue)
        raw: Raw | None = None
        try:
            raw, ranges = self._ranges(request, copies_in, queue)
            coefs = self._coefficients(request, fmt, ranges)
        except AccRuntimeError:
            for address in (allocation, *(() if raw is None else (raw.address,))):
                self.device.free(address, queue)
            raise
        report = self.reports.find(request.name, fmt, ranges, count)
        return Packed(fmt, coefs, allocation, report, plane, raw)

    @staticmethod
    def _coefficients(
        request: Request, fmt: PackedFormat, ranges: Ranges
    ) -> tuple[Coefficients, ...]:
        try:
            return member_coefficients(fmt, ranges)
        except ValueError as reason:
            raise AccRuntimeError(
                ErrorClass.INVALID_ARGUMENT,
                f"'{request.name}' cannot be compressed: {reason}",
                requested=HostRange(request.start, request.bytes),
                remedy="give a range [start:length:min:max]",
            ) from None

    def _ranges(self, request: Request, copies_in: bool, queue: Queue) -> tuple[Raw | None, Ranges]:
        """The range of each member of an absent section, and its plain numbers if the scan has copied them
        to the device."""
        wanted = request.packed
        assert wanted is not None
        if wanted.range is not None or not wanted.format.needs_range:
            return None, (wanted.range or (0.0, 0.0),) * wanted.format.members
        if not copies_in:
            raise AccRuntimeError(
                ErrorClass.INVALID_ARGUMENT,
                f"'{request.name}' is compressed without a range, and no data is copied in"
                " from which it could be computed",
                requested=HostRange(request.start, request.bytes),
                remedy=f"write {request.name}[start:length:min:max]",
            )
        fmt = wanted.format
        brought = self._transfers.bring(fmt, request.start, request.bytes, queue)
        if brought is not None:
            return brought
        return None, self.codec(fmt).scan_members(request.start, request.bytes // fmt.record_bytes)

    def place(self, packed: Packed, request: Request) -> int:
        """
        The device address of the section's first element, chosen so that the element at the host base is
        aligned, if the section starts at a whole number of elements from there.
        """
        fmt = packed.format
        ahead = request.offset // fmt.record_bytes * fmt.storage_bytes
        return packed.allocation + ahead % ALIGNMENT

    def deliver(self, entry: Entry, request: Request) -> None:
        """Writes the data that the kernel needs into the request's descriptor."""
        wanted, packed = request.packed, entry.packed
        if wanted is None or packed is None or not wanted.address:
            return
        packed.report.counted &= wanted.counts
        Answer(wanted.address, 0, packed.words).give()

    # Transfers

    def copy_in(self, entry: Entry, start: int, strips: Iterable[Strips], queue: Queue) -> None:
        """Encodes host numbers on their way to the device; `strips` count from `start`."""
        packed = entry.packed
        assert packed is not None
        fmt, coefs, report = packed.format, packed.coefficients, packed.report
        codec = self.codec(fmt)
        how = packed.encodings
        if not how:
            how = tuple(codec.encoding(c, fmt.members, report.note_incoming) for c in coefs)
            packed.encodings = how
        raw, packed.raw = packed.raw, None
        for run in _runs(entry, start, strips, fmt):
            if self.measure:
                for member, own in enumerate(coefs):
                    start = run.host + member * fmt.base_bytes
                    report.note_errors(codec.measure(start, run.count, own, fmt.members))
            if raw is not None:
                self._transfers.copy_in_brought(packed, raw, how, run, queue)
            else:
                self._transfers.copy_in(packed, how, run, queue)
        if raw is not None:
            self.device.free(raw.address, queue)

    def copy_out(self, entry: Entry, start: int, strips: Iterable[Strips], queue: Queue) -> None:
        """Decodes device numbers on their way to the host."""
        packed = entry.packed
        assert packed is not None
        fmt = packed.format
        how = packed.decodings
        if not how:
            codec = self.codec(fmt)
            how = tuple(codec.decoding(coefs, fmt.members) for coefs in packed.coefficients)
            packed.decodings = how
        for run in _runs(entry, start, strips, fmt):
            self._transfers.copy_out(packed, how, run, queue)


def check_whole(request: Request, fmt: PackedFormat) -> None:
    """Raises `acc_error_invalid_argument` unless a section consists of whole numbers, or of whole
    structures for structures of arrays."""
    if request.bytes % fmt.record_bytes or request.offset % fmt.record_bytes:
        what = "numbers" if fmt.members == 1 else "structures"
        raise AccRuntimeError(
            ErrorClass.INVALID_DATA_SECTION,
            f"the section of '{request.name}' has no whole {what} of {fmt.record_bytes} bytes",
            requested=HostRange(request.start, request.bytes),
        )


def _runs(
    entry: Entry, start: int, strips: Iterable[Strips], fmt: PackedFormat
) -> Iterable[RecordRun]:
    """The runs of consecutive records, one for each contiguous run of bytes."""
    for strip in strips:
        whole = strip.width == strip.pitch or strip.rows == 1
        width = strip.width * strip.rows if whole else strip.width
        for row in range(1 if whole else strip.rows):
            host = start + strip.offset + row * strip.pitch
            yield RecordRun(host, width // fmt.record_bytes, entry.device_address(host))
