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
from typing import TYPE_CHECKING, TypeAlias

from ...compiler.base.abi import Compression, CompressionFlag
from ...compiler.base.packed import Coefficients, PackedFormat, member_coefficients
from ..errors import AccRuntimeError, ErrorClass, HostRange
from .report import Reports, TransferReport
from .transfers import Raw, RecordRun, Transfers

if TYPE_CHECKING:
    from ..data.mapping import Request
    from ..data.present import Entry
    from ..device import Conversion, Device, Queue, Strips
    from .codec import Codec

ALIGNMENT = 16
"""Kernels load packed elements by so many bytes at a time where element 0 is aligned to them."""


_TOLD = struct.Struct("=3q")

Ranges: TypeAlias = tuple[tuple[float, float], ...]
"""The least and greatest number of each member."""


@dataclass(frozen=True, slots=True)
class PackedRequest:
    """What a data record asks of a compressed array; `address` is that of its `Compression`."""

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
    member's array where structures have become arrays; `allocation` is what to free (element 0 may
    stand a little after it, so that the address of the host pointer's element 0 is aligned).
    """

    format: PackedFormat
    coefficients: tuple[Coefficients, ...]
    allocation: int
    report: TransferReport
    plane: int = 0
    raw: Raw | None = None
    """The numbers that the first transfer is to pack, if the device has them already."""
    encodings: tuple[Conversion, ...] = ()
    decodings: tuple[Conversion, ...] = ()
    """What the host does with the numbers of each member on their way, once it has been asked."""
    table: ctypes.Array[ctypes.c_double] = field(init=False, repr=False)
    """The coefficients, for host code to read."""

    def __post_init__(self) -> None:
        words = [word for coefs in self.coefficients for word in coefs.words]
        self.table = (ctypes.c_double * len(words))(*words)

    @property
    def words(self) -> bytes:
        """The address of the coefficients, the plane and the counter, as a `Compression` ends."""
        return _TOLD.pack(ctypes.addressof(self.table), self.plane, self.report.counters)

    def bytes_of(self, host_bytes: int) -> int:
        """How far apart on the device numbers so many host bytes apart are, in one member's array."""
        return host_bytes // self.format.record_bytes * self.format.storage_bytes

    def size_of(self, host_bytes: int) -> int:
        """The packed size of so many bytes of plain numbers."""
        return host_bytes // self.format.base_bytes * self.format.storage_bytes


@dataclass(frozen=True, slots=True)
class Answer:
    """
    What the descriptor at `address` is told, whose first word is `head`: the words that follow
    `shape`.
    """

    address: int
    head: int
    words: bytes

    @property
    def place(self) -> int:
        """Where the words go."""
        return self.address + Compression.coefficients.offset

    def agrees(self) -> bool:
        """Whether the descriptor still asks for what it asked for."""
        return ctypes.c_int64.from_address(self.address).value == self.head

    def give(self) -> None:
        """Writes the words."""
        ctypes.memmove(self.place, self.words, len(self.words))


def answer_for(packed: Packed, address: int) -> Answer | None:
    """
    The answer to the descriptor at `address`, of a kernel that decodes the array as it is packed;
    None for anything else, which needs a closer look.
    """
    given = Compression.from_address(address)
    if given.format != packed.format.word or not given.flags & CompressionFlag.DECODES:
        return None
    packed.report.counted &= not given.flags & CompressionFlag.UNCOUNTED
    return Answer(address, ctypes.c_int64.from_address(address).value, packed.words)


class Compressor:
    """
    Makes and moves the compressed arrays of one device. `measure`: find the errors of every transfer
    to the device, which costs a pass over the data.
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
        own = count // fmt.members * fmt.storage_bytes
        plane = (own + ALIGNMENT - 1) // ALIGNMENT * ALIGNMENT
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
        """The range of each member of an absent section, and its numbers if the device has them now."""
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
    """That a section has whole numbers, or whole structures where these have become arrays."""
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
    """The neighbouring records of each contiguous run of bytes."""
    for strip in strips:
        whole = strip.width == strip.pitch or strip.rows == 1
        width = strip.width * strip.rows if whole else strip.width
        for row in range(1 if whole else strip.rows):
            host = start + strip.offset + row * strip.pitch
            yield RecordRun(host, width // fmt.record_bytes, entry.device_address(host))
