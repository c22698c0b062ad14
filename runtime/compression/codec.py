"""
The codec for arrays in host memory: native code compiled once per packed format.

Large arrays are cut into pieces for several CPU threads (calls through ctypes release the
interpreter lock). Addresses are integers; counts are in elements.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from ...compiler.base.packed import Coefficients, PackedFormat
from ..device import Conversion, NativeMove
from ..native.member_scan import member_scan_ir, records_of_row
from .codec_ir import codec_ir

PIECE = 1 << 18
"""The number of elements below which a second thread does not pay."""

LONGEST = 1 << 30
"""The most elements per call, so that a 32-bit counter of saturated ones cannot overflow: a wider counter
would halve the speed."""

MAX_THREADS = 16
MOVES = ("encode", "decode", "encode_strided", "decode_strided")

_I32, _I64, _F64, _PTR = ctypes.c_int32, ctypes.c_int64, ctypes.c_double, ctypes.c_void_p


@dataclass(frozen=True, slots=True)
class Measured:
    """The errors that compression makes in an array."""

    absolute: float
    relative: float


class Codec:
    """Encodes, decodes, scans and measures arrays of one packed format."""

    def __init__(self, fmt: PackedFormat):
        from ..native.code import NativeCode

        self.format = fmt
        text = codec_ir(fmt) + (member_scan_ir(fmt) if fmt.members > 1 else "")
        self._code = NativeCode(text, optimize=3)
        types = (_I32, _PTR, _PTR, _I64, _F64, _F64, _I64)
        self._moves = {name: self._code.function(name, *types) for name in MOVES}
        self._addresses = {name: self._code.address(name) for name in MOVES}
        self._scan = self._code.function("scan", None, _PTR, _I64, _PTR)
        self._scan_strided = self._code.function("scan_strided", None, _PTR, _I64, _I64, _PTR)
        types = (None, _PTR, _I64, _F64, _F64, _F64, _F64, _I64, _PTR)
        names = ("measure", "measure_strided")
        self._measure, self._measure_strided = (self._code.function(name, *types) for name in names)
        if fmt.members > 1:
            self._scan_rows = self._code.function("scan_members", None, _PTR, _I64, _PTR)
        self._threads = max(1, min(MAX_THREADS, len(os.sched_getaffinity(0))))
        self._pool: ThreadPoolExecutor | None = None

    def encoding(
        self, coefs: Coefficients, stride: int = 1, note: Callable[[int], None] | None = None
    ) -> Conversion:
        """
        The conversion that packs numbers which are `stride` numbers apart in host memory; `note` gets the
        number of saturated ones.
        """
        return self._conversion("encode", coefs.inverse, coefs.offset, stride, note)

    def decoding(self, coefs: Coefficients, stride: int = 1) -> Conversion:
        """The conversion that unpacks numbers to places `stride` numbers apart in host memory."""
        return self._conversion("decode", coefs.c0, coefs.c1, stride, None)

    def _conversion(
        self, way: str, a: float, b: float, stride: int, note: Callable[[int], None] | None
    ) -> Conversion:
        fmt, name = self.format, way if stride == 1 else f"{way}_strided"
        function, address = self._moves[name], self._addresses[name]
        plain, packed = fmt.base_bytes * stride, fmt.storage_bytes
        to, from_ = (packed, plain) if way == "encode" else (plain, packed)

        def apply(target: int, source: int, count: int) -> int:
            def piece(at: int, length: int) -> int:
                return function(target + at * to, source + at * from_, length, a, b, stride)

            return sum(self._split(count, piece))

        return Conversion(NativeMove(plain, packed, address, a, b, stride), apply, note)

    def encode(
        self, target: int, source: int, count: int, coefs: Coefficients, stride: int = 1
    ) -> int:
        """Performs `encoding` on `count` numbers; returns the number of saturated ones."""
        return self.encoding(coefs, stride).apply(target, source, count)

    def decode(
        self, target: int, source: int, count: int, coefs: Coefficients, stride: int = 1
    ) -> None:
        """Performs `decoding` on `count` numbers."""
        self.decoding(coefs, stride).apply(target, source, count)

    def scan(self, source: int, count: int, stride: int = 1) -> tuple[float, float]:
        """
        The smallest and the largest finite number among `count` numbers, `stride` numbers apart; (0, 0) if
        none is finite.
        """

        def piece(at: int, length: int) -> tuple[float, float]:
            result = (_F64 * 2)()
            start, end = source + at * stride * self.format.base_bytes, ctypes.addressof(result)
            if stride == 1:
                self._scan(start, length, end)
            else:
                self._scan_strided(start, length, stride, end)
            return result[0], result[1]

        found = self._split(count, piece)
        low, high = min(f[0] for f in found), max(f[1] for f in found)
        return (low, high) if low <= high else (0.0, 0.0)

    def scan_members(self, source: int, count: int) -> tuple[tuple[float, float], ...]:
        """The range of each member of `count` structures."""
        fmt, together = self.format, records_of_row(self.format)
        if fmt.members == 1 or count < together:
            places = [source + m * fmt.base_bytes for m in range(fmt.members)]
            return tuple(self.scan(place, count, fmt.members) for place in places)
        lanes = together * fmt.members
        real = ctypes.c_float if fmt.base_bits == 32 else ctypes.c_double

        def rows(start: int, number: int) -> list[float]:
            result = (real * (2 * lanes))()
            self._scan_rows(start, number, ctypes.addressof(result))
            return list(result)

        def piece(at: int, length: int) -> list[float]:
            return rows(source + at * together * fmt.record_bytes, length)

        found = self._split(count // together, piece, lanes)
        # One more row for the structures after the last full row; it may overlap.
        found.append(rows(source + (count - together) * fmt.record_bytes, 1))
        ranges = [
            (
                min(min(f[m : lanes : fmt.members]) for f in found),
                max(max(f[lanes + m :: fmt.members]) for f in found),
            )
            for m in range(fmt.members)
        ]
        return tuple((low, high) if low <= high else (0.0, 0.0) for low, high in ranges)

    def measure(self, source: int, count: int, coefs: Coefficients, stride: int = 1) -> Measured:
        """
        The largest errors of a round trip of the finite numbers among `count` numbers, `stride` numbers
        apart.
        """
        measure = self._measure if stride == 1 else self._measure_strided

        def piece(at: int, length: int) -> tuple[float, float]:
            result = (_F64 * 2)()
            start = source + at * stride * self.format.base_bytes
            measure(start, length, *coefs.words, stride, ctypes.addressof(result))
            return result[0], result[1]

        found = self._split(count, piece)
        return Measured(max(f[0] for f in found), max(f[1] for f in found))

    def _split(self, count: int, piece: Callable[[int, int], Any], weight: int = 1) -> list[Any]:
        """
        The results of `piece(start, length)` for pieces that cover all elements, on several threads if that
        pays; `weight` is the numbers per element.
        """
        parts = max(min(self._threads, count * weight // PIECE), -(-count // LONGEST))
        if parts <= 1:
            return [piece(0, count)]
        if self._pool is None:
            self._pool = ThreadPoolExecutor(self._threads - 1, thread_name_prefix="accopt-codec")
        bounds = [count * i // parts for i in range(parts + 1)]
        pending = [
            self._pool.submit(piece, bounds[i], bounds[i + 1] - bounds[i]) for i in range(1, parts)
        ]
        return [piece(0, bounds[1]), *(future.result() for future in pending)]
