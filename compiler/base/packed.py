"""
The packed number formats of compressed arrays: their widths and coefficients.

A number x of a range with greatest magnitude M is kept as the leading `bits` mantissa bits of
t = x / c0 + 1.5, which is in (1, 2), and read back as t · c0 + c1 with c1 = -1.5 · c0 (Salehi,
Lashgar and Baniasadi, HIPS 2016). We round where the papers truncate, which halves the error, and
round c0 up until c1 is exact, so that zero stays zero. The code `centred` keeps the distance from the
middle of the range instead of that from zero (`centred.py`). `half` and `bfloat16` are the other
codes: they need no range.

This file is arithmetic only: the compiler and the runtime share it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum

from .centred import Range, to_base

MAX_MEMBERS = 127
MIN_BITS = 8
MAX_BITS = {32: 21, 64: 50}
"""
Base width → most kept bits for which encoding a decoded number gives the same bits again: the
arithmetic of the code itself has errors of about one unit in the last place.
"""

MANTISSA_BITS = {32: 23, 64: 52}
EXPONENT_OF_ONE = {32: 127 << 23, 64: 1023 << 52}
"""Base width → the bits of 1.0."""

HALF_NAN, BFLOAT16_NAN = 0x7E00, 0x7FC0
"""The code of every NaN; one code for all, since processors convert them differently."""

_EXACT_BITS = {32: 22, 64: 51}
"""Significant bits of c0: two fewer than the base type has, so that 1.5 · c0 is exact."""

_LEAST_MAGNITUDE = {32: 2.0**-100, 64: 2.0**-900}
"""A smaller range is treated as one of this size, since 1 / c0 must be finite."""

_GREATEST_MAGNITUDE = {32: 2.0**126, 64: 2.0**1022}
"""Above this, 1.5 · c0 overflows."""


COUNTER_WORDS = 256
"""Words among which stores of one array that saturate are counted (a power of two)."""


class Code(IntEnum):
    """The ways in which a number is encoded as bits."""

    RANGE = 0
    HALF = 1
    BFLOAT16 = 2
    PLAIN = 3  # not encoded: a structure of arrays without compression
    CENTRED = 4  # as RANGE, relative to the middle of the range


@dataclass(frozen=True, slots=True)
class PackedFormat:
    """
    `bits` of a number whose plain form has `base_bits` (32 or 64). With `members` above 1, an array of
    structures of `members` numbers each is a structure of arrays on the device.
    """

    base_bits: int
    code: Code
    bits: int
    members: int = 1

    @property
    def base_bytes(self) -> int:
        return self.base_bits // 8

    @property
    def record_bytes(self) -> int:
        """Bytes of host memory from one element of a device array to the next."""
        return self.base_bytes * self.members

    @property
    def storage_bytes(self) -> int:
        """Bytes of device memory per element, a whole number, since different threads write elements."""
        return (self.bits + 7) // 8

    @property
    def needs_range(self) -> bool:
        return self.code in (Code.RANGE, Code.CENTRED)

    @property
    def one_member(self) -> PackedFormat:
        """The format of one member's array."""
        return PackedFormat(self.base_bits, self.code, self.bits)

    @property
    def word(self) -> int:
        """The format as an i32 of the runtime interface."""
        return self.base_bits | self.bits << 8 | int(self.code) << 16 | self.members << 24

    @staticmethod
    def from_word(word: int) -> PackedFormat:
        code = Code(word >> 16 & 0xFF)
        return PackedFormat(word & 0xFF, code, word >> 8 & 0xFF, word >> 24 & 0x7F)

    def __str__(self) -> str:
        base = "float" if self.base_bits == 32 else "double"
        how = f"{self.bits} bits" if self.needs_range else self.code.name.lower()
        how += ", centred" if self.code == Code.CENTRED else ""
        arrays = f", {self.members} arrays" if self.members > 1 else ""
        return f"{base} as {how}{arrays}"


def check_format(fmt: PackedFormat) -> str | None:
    """The reason why a format is not supported, or None."""
    if not fmt.needs_range:
        return None
    most = MAX_BITS[fmt.base_bits]
    if MIN_BITS <= fmt.bits <= most:
        return None
    base = "float" if fmt.base_bits == 32 else "double"
    return f"{base} can be kept in {MIN_BITS} to {most} bits, not {fmt.bits}"


@dataclass(frozen=True, slots=True)
class Coefficients:
    """
    c0, c1, 1 / c0, and the offset of encoding (1.5 around zero), as numbers of the base type. c0 is
    zero where all numbers are the same.
    """

    c0: float = 0.0
    c1: float = 0.0
    inverse: float = 0.0
    offset: float = 1.5

    @property
    def words(self) -> tuple[float, float, float, float]:
        """The four coefficients in the order of the table that host code reads (`abi.Compression`)."""
        return self.c0, self.c1, self.inverse, self.offset


def coefficients(fmt: PackedFormat, minimum: float, maximum: float) -> Coefficients:
    """
    The coefficients for numbers from `minimum` to `maximum`.

    Raises `ValueError`, with the reason, if the range is empty, not finite, or too large for c1.
    """
    if not fmt.needs_range:
        return Coefficients()
    if not (math.isfinite(minimum) and math.isfinite(maximum)):
        raise ValueError(f"the range [{minimum:g}, {maximum:g}] is not finite")
    if minimum > maximum:
        raise ValueError(f"the range's minimum {minimum:g} is greater than its maximum {maximum:g}")
    magnitude = max(abs(minimum), abs(maximum))
    base = fmt.base_bits
    if magnitude > _GREATEST_MAGNITUDE[base]:
        raise ValueError(
            f"the range [{minimum:g}, {maximum:g}] exceeds ±{_GREATEST_MAGNITUDE[base]:g}"
        )
    # Slightly more than 2: numbers in the range never get the first or last code, so those mark
    # saturated numbers.
    factor = max(2.01, 2 + 2.0 ** (3 - fmt.bits))
    if fmt.code == Code.CENTRED:
        return _centred(fmt, to_base(base, minimum), to_base(base, maximum), factor)
    if magnitude == 0:
        return Coefficients()
    magnitude = max(magnitude, _LEAST_MAGNITUDE[base])
    fraction, exponent = math.frexp(factor * magnitude)
    digits = _EXACT_BITS[base]
    c0 = math.ldexp(math.ceil(math.ldexp(fraction, digits)), exponent - digits)
    return Coefficients(c0, -1.5 * c0, to_base(base, 1.0 / c0))


def _centred(fmt: PackedFormat, low: float, high: float, factor: float) -> Coefficients:
    base = fmt.base_bits
    if low == high:
        return Coefficients(0.0, low)
    found = Range(base, fmt.bits, low, high, factor, _LEAST_MAGNITUDE[base]).code()
    c1 = found.middle - 1.5 * found.c0
    return Coefficients(found.c0, c1, found.inverse, found.offset)


def member_coefficients(
    fmt: PackedFormat, ranges: Sequence[tuple[float, float]]
) -> tuple[Coefficients, ...]:
    """The coefficients of each member, from its range. Raises as `coefficients`."""
    return tuple(coefficients(fmt, low, high) for low, high in ranges)
