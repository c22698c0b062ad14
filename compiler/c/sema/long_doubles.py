"""
Exact constants of type `long double`, in the machine's format: 80 bits on x86-64 (Intel SDM volume 1,
4.2.2), IEEE 754's binary128 on AArch64. A Python float can only approximate them.
"""

from __future__ import annotations

import math
from fractions import Fraction

from ..types import LDOUBLE

_DIGITS = 64 if LDOUBLE.bits == 80 else 113
"""Binary digits of the significand."""
_BIAS = 16383
_LEAST = 1 - _BIAS - (_DIGITS - 1)
"""The exponent of the last digit of the smallest numbers."""
_FRACTION_BITS = LDOUBLE.bits - 16
"""The bits of the significand in memory: binary128 leaves out the first one."""


class Extended(float):
    """
    A `long double` constant that is not exactly a double. As a float it is the nearest double, which may be
    zero or infinite; `exact` is its value, which is neither.
    """

    exact: Fraction

    @staticmethod
    def of(exact: Fraction) -> float:
        """The `long double` nearest to `exact`, ties to even: an `Extended` unless it is a double."""
        mantissa, exponent = _rounded(exact)
        value = mantissa * Fraction(2) ** exponent
        if abs(value) >= 1 << _BIAS + 1:
            return math.inf if value > 0 else -math.inf
        try:
            nearest = float(value)
        except OverflowError:
            nearest = math.inf if value > 0 else -math.inf
        if math.isfinite(nearest) and Fraction(nearest) == value:
            return nearest
        made = Extended(nearest)
        made.exact = value
        return made

    @staticmethod
    def of_bits(bits: int) -> Extended:
        """The constant whose bits are `bits` (`bits` gives them)."""
        fraction = bits & (1 << _FRACTION_BITS) - 1
        exponent = bits >> _FRACTION_BITS & 0x7FFF
        if _DIGITS > _FRACTION_BITS and exponent:
            fraction |= 1 << _FRACTION_BITS
        sign = -1 if bits >> LDOUBLE.bits - 1 else 1
        made = Extended.of(sign * fraction * Fraction(2) ** (max(exponent, 1) - 1 + _LEAST))
        assert isinstance(made, Extended)
        return made

    @property
    def bits(self) -> int:
        """The bits of the constant in memory."""
        return bits_of(self)

    def __neg__(self) -> float:
        return Extended.of(-self.exact)


def _rounded(exact: Fraction) -> tuple[int, int]:
    """`exact` rounded to a significand of at most `_DIGITS` bits, and the exponent of the power of two that
    multiplies it."""
    if not exact:
        return 0, _LEAST
    size = abs(exact)
    exponent = size.numerator.bit_length() - size.denominator.bit_length()
    exponent -= size < Fraction(2) ** exponent
    last = max(exponent - _DIGITS + 1, _LEAST)
    mantissa = round(exact / Fraction(2) ** last)
    return (mantissa // 2, last + 1) if abs(mantissa) >> _DIGITS else (mantissa, last)


def bits_of(value: float) -> int:
    """Sign, biased exponent and significand of a constant as they are in memory."""
    first = 1 << _DIGITS - 1
    if is_finite(value):
        mantissa, exponent = _rounded(abs(exact_value(value)))
        while mantissa and mantissa < first and exponent > _LEAST:
            mantissa, exponent = mantissa << 1, exponent - 1
        biased = exponent - _LEAST + 1 if mantissa >= first else 0
    else:
        mantissa, biased = first | int(math.isnan(value)) * first >> 1, 0x7FFF
    sign = int(math.copysign(1.0, value) < 0) << LDOUBLE.bits - 1
    return sign | biased << _FRACTION_BITS | mantissa & (1 << _FRACTION_BITS) - 1


def odd_double(value: Extended) -> float:
    """The double next to a `long double` of which the last digit is odd, which a narrower type rounds alike
    (rounding to odd, Boldo and Melquiond 2008)."""
    nearest = float(value)
    if math.frexp(nearest)[0] * 2**53 % 2:
        return nearest
    return math.nextafter(
        nearest, math.inf if value.exact > exact_value(float(nearest)) else -math.inf
    )


def is_finite(value: float) -> bool:
    """Whether a constant is finite."""
    return isinstance(value, Extended) or math.isfinite(value)


def exact_value(value: float) -> Fraction:
    """The exact value of a finite constant."""
    return value.exact if isinstance(value, Extended) else Fraction(value)
