"""
IEEE 754's binary128, the format of `long double` on AArch64, for code that has only f64. Conversions go
through the 80-bit format (`x87.py`), which has the same exponents and 64 of the 113 digits.

In memory a number is two 64-bit words: the low 64 bits of the fraction; then sign, exponent and the high 48
bits of the fraction.
"""

from __future__ import annotations

import math
from fractions import Fraction

from xdsl.dialects import arith, llvm
from xdsl.dialects.builtin import LocationAttr, f64, i16, i64
from xdsl.ir import SSAValue

from ..ops.building import Cursor
from .x87 import FROM_X87, SIGN_EXPONENT, SIGNIFICAND, function, x87_bits
from .x87 import conversions as x87_conversions

FROM_BINARY128 = "__accopt_from_binary128"
LOW = "__accopt_binary128_low"
HIGH = "__accopt_binary128_high"

_HIGH_BITS = 48
_LOST = 49
"""The binary digits that the 80-bit format lacks."""


def binary128_bits(value: float) -> int:
    """The 128 bits of a double, exactly."""
    bits = x87_bits(value)
    return bits >> 64 << 112 | (bits & (1 << 63) - 1) << _LOST


def nearest_double(bits: int, width: int) -> float:
    """The double nearest to the finite number whose 80 or 128 (`width`) bits are `bits`."""
    field = width - 16
    fraction, biased = bits & (1 << field) - 1, bits >> field & 0x7FFF
    if width == 128 and biased:
        fraction |= 1 << field
    digits = 64 if width == 80 else 113
    size = fraction * Fraction(2) ** (max(biased, 1) - 16382 - digits)
    try:
        value = float(size)
    except OverflowError:
        value = math.inf
    return -value if bits >> width - 1 else value


def _and(c: Cursor, value: SSAValue, mask: int) -> SSAValue:
    return c.value(arith.AndIOp(value, c.i64(mask)))


def _or(c: Cursor, a: SSAValue, b: SSAValue) -> SSAValue:
    return c.value(arith.OrIOp(a, b))


def _left(c: Cursor, value: SSAValue, by: int) -> SSAValue:
    return c.value(arith.ShLIOp(value, c.i64(by)))


def _right(c: Cursor, value: SSAValue, by: int) -> SSAValue:
    return c.value(arith.ShRUIOp(value, c.i64(by)))


def _is_set(c: Cursor, value: SSAValue) -> SSAValue:
    """1 if any bit of `value` is set, else 0."""
    return c.value(arith.ExtUIOp(c.value(arith.CmpiOp(value, c.i64(0), "ne")), i64))


def _to_double(c: Cursor, low: SSAValue, high: SSAValue) -> SSAValue:
    """
    The f64 of a binary128: the digits lost on the way leave a sticky bit, so that the result is rounded
    once.
    """
    fraction = _left(c, _and(c, high, (1 << _HIGH_BITS) - 1), 63 - _HIGH_BITS)
    fraction = _or(c, fraction, _right(c, low, _LOST))
    fraction = _or(c, fraction, _is_set(c, _and(c, low, (1 << _LOST) - 1)))
    top = _right(c, high, _HIGH_BITS)
    first = _left(c, _is_set(c, _and(c, top, 0x7FFF)), 63)
    short = c.value(arith.TruncIOp(top, i16))
    return c.value(llvm.CallOp(FROM_X87, _or(c, fraction, first), short, return_type=f64))


def _fraction(c: Cursor, value: SSAValue) -> SSAValue:
    return c.value(llvm.CallOp(SIGNIFICAND, value, return_type=i64))


def _low(c: Cursor, value: SSAValue) -> SSAValue:
    return _left(c, _fraction(c, value), _LOST)


def _high(c: Cursor, value: SSAValue) -> SSAValue:
    top = c.value(llvm.CallOp(SIGN_EXPONENT, value, return_type=i16))
    wide = _left(c, c.value(arith.ExtUIOp(top, i64)), _HIGH_BITS)
    fraction = _and(c, _fraction(c, value), (1 << 63) - 1)
    return _or(c, wide, _right(c, fraction, 63 - _HIGH_BITS))


def conversions(loc: LocationAttr) -> tuple[llvm.FuncOp, ...]:
    """
    The functions between the two formats, and those of `x87.py` that they call: `FROM_BINARY128` (i64 low,
    i64 high) -> f64, rounded to nearest even; `LOW` (f64) -> i64 and `HIGH` (f64) -> i64, exact.
    """
    return (
        *x87_conversions(loc),
        function(FROM_BINARY128, [i64, i64], f64, _to_double, loc),
        function(LOW, [f64], i64, _low, loc),
        function(HIGH, [f64], i64, _high, loc),
    )
