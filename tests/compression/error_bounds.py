"""The accuracy that tests expect of compressed numbers."""

from __future__ import annotations

from fractions import Fraction

from accopt.compiler.base.packed import MANTISSA_BITS, Code, Coefficients, PackedFormat


def error_bound(fmt: PackedFormat, coefs: Coefficients) -> float:
    """The largest absolute error of a number of the range; 0, for unknown, with a code that has no
    range."""
    rounding = 2.0 ** (-1 - MANTISSA_BITS[fmt.base_bits])
    bound = coefs.c0 * (2.0 ** (-fmt.bits - 1) + 4 * rounding)
    if fmt.code != Code.CENTRED:
        return bound
    wrong = offset_error(coefs.c0, coefs.c1, coefs.inverse, coefs.offset)
    return bound + coefs.c0 * wrong + abs(coefs.c1 + 1.5 * coefs.c0) * rounding


def offset_error(c0: float, c1: float, inverse: float, offset: float) -> float:
    """The absolute error of the offset, and so of t, for these coefficients."""
    middle = Fraction(c1) + Fraction(3, 2) * Fraction(c0)
    return float(abs(Fraction(offset) + middle * Fraction(inverse) - Fraction(3, 2)))
