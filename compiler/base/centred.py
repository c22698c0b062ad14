"""
The coefficients of a code around the middle of a range (docs/compression.md, "Codec").

A number x of [lo, hi] becomes t = x / c0 + (1.5 - m / c0), and is read back as t · c0 + c1, with the middle
m and c1 = m - 1.5 · c0: both one fused multiply-add. What could go wrong are the roundings:

- m and c1 have to be numbers of the base type, so that the middle code is exactly m, and what is read
  back is rounded once. They are multiples of a *grid*: the distance of neighbouring numbers of the
  base type at the size of c1.
- 1 / c0 is rarely a number of the base type, and multiplying it by m would enlarge its error. So the
  *offset*, which is used as 1.5 - m / c0, is computed from the rounded inverse. Rounding the offset may
  cost up to half a step of the code: among the middles close to the best one, the search takes one for
  which that error is small.
- Where m is many times larger than hi - lo, the codes may be as close to each other as the numbers of
  the base type are. Then reading a code rounds away from it, perhaps to where another code is nearer.
  A c0 that is a power of two avoids that: every code is a number of the base type, or every number
  of the base type has a code, and nothing but the rounding to a code errs.
"""

from __future__ import annotations

import math
import struct
from dataclasses import dataclass

DIGITS = {32: 24, 64: 53}
"""Base width → significant bits of a number."""

_FARTHEST = 16
"""How many grid steps the middle may be moved to make the offset's rounding error small."""

_GOOD = 2.0**-5
"""Part of a step of the code by which an offset may err without looking further."""


@dataclass(frozen=True, slots=True)
class Centred:
    """c0, m, and the rounded 1 / c0 and 1.5 - m / c0, all of them numbers of the base type."""

    c0: float
    middle: float
    inverse: float
    offset: float

    @staticmethod
    def of(base: int, c0: float, middle: float) -> Centred:
        """`c0` and `middle` with the inverse and the offset computed from them, rounded to `base` bits."""
        inverse = to_base(base, 1.0 / c0)
        top, bottom = _offset(middle, inverse)
        return Centred(c0, middle, inverse, to_base(base, top / bottom))

    @property
    def rounding(self) -> float:
        """The largest error of t that comes from the rounding of the offset and of the inverse, without the
        rounding of t itself."""
        top, bottom = _offset(self.middle, self.inverse)
        return (
            abs(_over(self.offset, top, bottom))
            + abs(_over(1.0, *_ratio(self.inverse, self.c0))) / 2
        )


def to_base(base: int, number: float) -> float:
    """The nearest number of the base type."""
    return struct.unpack("f", struct.pack("f", number))[0] if base == 32 else number


def _ratio(a: float, b: float) -> tuple[int, int]:
    """a · b, exactly, as numerator and denominator."""
    (top, bottom), (top_b, bottom_b) = a.as_integer_ratio(), b.as_integer_ratio()
    return top * top_b, bottom * bottom_b


def _offset(middle: float, inverse: float) -> tuple[int, int]:
    """1.5 - middle · inverse, exactly, as numerator and denominator."""
    top, bottom = _ratio(middle, inverse)
    return 3 * bottom - 2 * top, 2 * bottom


def _over(number: float, top: int, bottom: int) -> float:
    """`number` - top / bottom."""
    own, unit = number.as_integer_ratio()
    return (own * bottom - top * unit) / (bottom * unit)


@dataclass(frozen=True, slots=True)
class Range:
    """
    Numbers of `base` bits from `low` to `high`, which are such numbers and differ, to be kept in
    `bits`. c0 is at least `factor` times half of their distance, which counts as `least` if it is
    smaller.
    """

    base: int
    bits: int
    low: float
    high: float
    factor: float
    least: float

    def code(self) -> Centred:
        """The best code for the range."""
        half = max(self.high / 2 - self.low / 2, self.least)
        # Slightly more than the largest magnitude in the computation, |c1|.
        size = abs(self._middle) + 1.5 * self.factor * half
        grid = math.ulp(size) * 2.0 ** (DIGITS[64] - DIGITS[self.base])
        while True:
            found = self._on(grid)
            if abs(found.middle) + 1.5 * found.c0 < grid * 2.0 ** DIGITS[self.base]:
                return found
            grid *= 2

    @property
    def _middle(self) -> float:
        return self.low / 2 + self.high / 2

    def _needed(self, middle: float) -> float:
        return self.factor * max(self.high - middle, middle - self.low, self.least)

    def _on(self, grid: float) -> Centred:
        """The code with the smallest error among those whose m and c1 are multiples of `grid`."""
        best: Centred | None = None
        lost = 0.0
        step = 2.0**-self.bits
        first = round(self._middle / grid)
        for number in range(2 * _FARTHEST + 1):
            away = (number + 1) // 2 * (1 if number % 2 else -1)
            middle = (first + away) * grid
            # An even multiple, so that 1.5 · c0 is a multiple too.
            c0 = math.ceil(self._needed(middle) / (2 * grid)) * (2 * grid)
            found = Centred.of(self.base, c0, middle)
            rounding = found.rounding
            if grid / (2 * c0) + rounding + 2.0 ** -DIGITS[self.base] >= step / 2:
                # A code would be read as a number that is nearer to another code's.
                continue
            error = c0 * (step / 2 + rounding)
            if best is None or error < lost:
                best, lost = found, error
            if rounding <= _GOOD * step:
                break
        return best if best is not None else self._power(grid)

    def _power(self, grid: float) -> Centred:
        """The code with a power of two as c0, and m and c1 multiples of `grid`."""
        c0 = _power_of_two(self._needed(self._middle))
        while True:
            unit = max(grid, c0 * 2.0**-self.bits)
            middle = round(self._middle / unit) * unit
            if self._needed(middle) <= c0 and c0 >= 2 * grid:
                return Centred.of(self.base, c0, middle)
            c0 *= 2


def _power_of_two(size: float) -> float:
    """The smallest power of two that is at least `size`."""
    fraction, exponent = math.frexp(size)
    return math.ldexp(1.0, exponent - 1 if fraction == 0.5 else exponent)
