"""
The 80-bit format of `long double` on x86-64 (Intel SDM volume 1, 4.2.2), for code that has only f64.

A number is 64 bits of significand, whose first bit is 1 for all but zero and subnormals, then 16 bits: the
sign and an exponent biased by 16383. In memory it takes 16 bytes, of which the last six are unused.
"""

from __future__ import annotations

import struct
from collections.abc import Callable

from xdsl.dialects import arith, llvm
from xdsl.dialects.builtin import LocationAttr, f64, i16, i64
from xdsl.ir import Attribute, Block, Region, SSAValue

from ..ops.building import Cursor

FROM_X87 = "__accopt_from_x87"
SIGNIFICAND = "__accopt_x87_significand"
SIGN_EXPONENT = "__accopt_x87_sign_exponent"

_BIAS = 16383 - 1023
_FRACTION = (1 << 52) - 1
_INFINITY = 0x7FF << 52
_TWO_TO_64 = 18446744073709551616.0


def x87_bits(value: float) -> int:
    """The 80 bits of a double, exactly."""
    bits = struct.unpack("<Q", struct.pack("<d", value))[0]
    exponent, fraction = bits >> 52 & 0x7FF, bits & _FRACTION
    if exponent == 0x7FF:
        exponent, significand = 0x7FFF, 1 << 63 | fraction << 11
    elif exponent:
        exponent, significand = exponent + _BIAS, 1 << 63 | fraction << 11
    elif fraction:
        exponent, significand = _BIAS - 52 + fraction.bit_length(), fraction
        significand <<= 64 - fraction.bit_length()
    else:
        significand = 0
    return (bits >> 63) << 79 | exponent << 64 | significand


def _select(c: Cursor, condition: SSAValue, a: SSAValue, b: SSAValue) -> SSAValue:
    return c.value(arith.SelectOp(condition, a, b))


def _compare(c: Cursor, predicate: str, a: SSAValue, b: int | SSAValue) -> SSAValue:
    return c.value(arith.CmpiOp(a, c.i64(b) if isinstance(b, int) else b, predicate))


def _and(c: Cursor, a: SSAValue, mask: int) -> SSAValue:
    return c.value(arith.AndIOp(a, c.i64(mask)))


def _or(c: Cursor, a: SSAValue, b: SSAValue) -> SSAValue:
    return c.value(arith.OrIOp(a, b))


def _right(c: Cursor, a: SSAValue, by: int | SSAValue) -> SSAValue:
    return c.value(arith.ShRUIOp(a, c.i64(by) if isinstance(by, int) else by))


def _left(c: Cursor, a: SSAValue, by: int | SSAValue) -> SSAValue:
    return c.value(arith.ShLIOp(a, c.i64(by) if isinstance(by, int) else by))


def _to_double(c: Cursor, significand: SSAValue, top: SSAValue) -> SSAValue:
    """
    The nearest f64, ties to even, of a significand (i64) and sign and exponent (i16).

    The significand loses its low 11 bits, more for a subnormal result, and all of them for a result below
    half of the smallest subnormal. Two bits are first folded into a sticky bit, so that no shift is by 64.
    """
    wide = c.value(arith.ExtUIOp(top, i64))
    sign = _left(c, _right(c, wide, 15), 63)
    stored = _and(c, wide, 0x7FFF)
    exponent = c.sub(stored, c.i64(_BIAS), "exponent")
    one, zero = c.i64(1), c.i64(0)
    lost = c.value(arith.MaxSIOp(c.i64(9), c.sub(c.i64(10), exponent)))
    lost = c.value(arith.MinSIOp(lost, c.i64(63)), "lost")
    sticky = _compare(c, "ne", _and(c, significand, 3), 0)
    short = _or(c, _right(c, significand, 2), c.value(arith.ExtUIOp(sticky, i64)))
    kept = _right(c, short, lost)
    rest = c.sub(short, _left(c, kept, lost), "rest")
    half = _left(c, one, c.sub(lost, one))
    odd = _compare(c, "ne", _and(c, kept, 1), 0)
    tie = c.value(arith.AndIOp(_compare(c, "eq", rest, half), odd))
    up = c.value(arith.OrIOp(_compare(c, "ugt", rest, half), tie))
    kept = c.add(kept, c.value(arith.ExtUIOp(up, i64)), "rounded")
    # The significand's first bit adds one to the exponent, as does a carry out of it.
    field = c.value(arith.MaxSIOp(c.sub(exponent, one), zero))
    finite = c.add(_left(c, field, 52), kept, "finite")
    infinity = c.i64(_INFINITY)
    number = _select(c, _compare(c, "sge", exponent, 0x7FF), infinity, finite)
    fraction = _and(c, _right(c, significand, 11), _FRACTION)
    nan = _or(c, fraction, c.i64(0x7FF8 << 48))
    is_nan = c.value(
        arith.AndIOp(
            _compare(c, "eq", stored, 0x7FFF), _compare(c, "ne", _left(c, significand, 1), 0)
        )
    )
    bits = _or(c, sign, _select(c, is_nan, nan, number))
    return c.value(arith.BitcastOp(bits, f64))


def _normalised(c: Cursor, value: SSAValue) -> tuple[SSAValue, SSAValue]:
    """
    The bits of a double (for a subnormal or zero, of 2^64 times it), and whether it is subnormal or zero.
    """
    bits = c.value(arith.BitcastOp(value, i64))
    small = _compare(c, "eq", _and(c, bits, _INFINITY), 0)
    scaled = c.value(arith.MulfOp(value, c.constant(_TWO_TO_64, f64)))
    return _select(c, small, c.value(arith.BitcastOp(scaled, i64)), bits), small


def _significand(c: Cursor, value: SSAValue) -> SSAValue:
    bits, _ = _normalised(c, value)
    whole = _or(c, _left(c, bits, 11), c.i64(1 << 63))
    is_zero = _compare(c, "eq", _left(c, bits, 1), 0)
    return _select(c, is_zero, c.i64(0), whole)


def _sign_exponent(c: Cursor, value: SSAValue) -> SSAValue:
    bits, small = _normalised(c, value)
    exponent = _and(c, _right(c, bits, 52), 0x7FF)
    bias = _select(c, small, c.i64(_BIAS - 64), c.i64(_BIAS))
    biased = c.add(exponent, bias)
    biased = _select(c, _compare(c, "eq", exponent, 0x7FF), c.i64(0x7FFF), biased)
    is_zero = _compare(c, "eq", _left(c, bits, 1), 0)
    biased = _select(c, is_zero, c.i64(0), biased)
    sign = _left(c, _right(c, bits, 63), 15)
    return c.value(arith.TruncIOp(_or(c, sign, biased), i16))


def function(
    name: str,
    inputs: list[Attribute],
    result: Attribute,
    body: Callable[..., SSAValue],
    loc: LocationAttr,
) -> llvm.FuncOp:
    """An internal function whose result `body` computes from its arguments."""
    block = Block(arg_types=inputs)
    cursor = Cursor.at_end(block, loc)
    cursor.insert(llvm.ReturnOp(body(cursor, *block.args)))
    type = llvm.LLVMFunctionType(inputs, result)
    func = llvm.FuncOp(name, type, llvm.LinkageAttr("internal"), body=Region(block))
    func.location = loc
    return func


def conversions(loc: LocationAttr) -> tuple[llvm.FuncOp, ...]:
    """
    The functions between the two formats: `FROM_X87` (i64 significand, i16 sign and exponent) -> f64,
    rounded to nearest even; `SIGNIFICAND` (f64) -> i64 and `SIGN_EXPONENT` (f64) -> i16, exact.
    """
    return (
        function(FROM_X87, [i64, i16], f64, _to_double, loc),
        function(SIGNIFICAND, [f64], i64, _significand, loc),
        function(SIGN_EXPONENT, [f64], i16, _sign_exponent, loc),
    )
