"""
Integer and floating-point operations with the GPU's semantics that NumPy lacks: truncating division,
unsigned operations on signed arrays, saturating conversions, bit counts.

Every function takes and returns scalars or arrays. Operations that are undefined in C have the result of
PTX (division by zero: all ones; PTX ISA 9.7.1).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .values import Value, ndarray

_UNSIGNED: dict[Any, Any] = {
    np.dtype(np.int8): np.uint8,
    np.dtype(np.int16): np.uint16,
    np.dtype(np.int32): np.uint32,
    np.dtype(np.int64): np.uint64,
}


def unsigned(a: Value) -> Value:
    """The same bits as an unsigned integer."""
    found = _UNSIGNED.get(a.dtype)
    return a if found is None else a.view(found)


def _nonzero(b: Value) -> tuple[Value, Value]:
    """`b` with zeros replaced by ones, and where the zeros were (None if there are none)."""
    zero = b == 0
    if not np.any(zero):
        return b, None
    return select(zero, b.dtype.type(1), b), zero


def divs(a: Value, b: Value) -> Value:
    """Signed division towards zero."""
    b, zero = _nonzero(b)
    q = (a - np.fmod(a, b)) // b
    return q if zero is None else select(zero, q.dtype.type(-1), q)


def rems(a: Value, b: Value) -> Value:
    """The remainder with the sign of the dividend."""
    b, zero = _nonzero(b)
    r = np.fmod(a, b)
    return r if zero is None else select(zero, a, r)


def divu(a: Value, b: Value) -> Value:
    b, zero = _nonzero(b)
    q = (unsigned(a) // unsigned(b)).view(a.dtype)
    return q if zero is None else select(zero, q.dtype.type(-1), q)


def remu(a: Value, b: Value) -> Value:
    b, zero = _nonzero(b)
    r = (unsigned(a) % unsigned(b)).view(a.dtype)
    return r if zero is None else select(zero, a, r)


def floordivs(a: Value, b: Value) -> Value:
    return a // _nonzero(b)[0]


def ceildivs(a: Value, b: Value) -> Value:
    b = _nonzero(b)[0]
    return a // b + (a % b != 0).astype(a.dtype)


def ceildivu(a: Value, b: Value) -> Value:
    ua, ub = unsigned(a), unsigned(_nonzero(b)[0])
    return (ua // ub + (ua % ub != 0).astype(ua.dtype)).view(a.dtype)


def shl(a: Value, b: Value) -> Value:
    return np.left_shift(a, b)


def shrs(a: Value, b: Value) -> Value:
    return np.right_shift(a, b)


def shru(a: Value, b: Value) -> Value:
    return np.right_shift(unsigned(a), unsigned(b)).view(a.dtype)


def minu(a: Value, b: Value) -> Value:
    return np.minimum(unsigned(a), unsigned(b)).view(a.dtype)


def maxu(a: Value, b: Value) -> Value:
    return np.maximum(unsigned(a), unsigned(b)).view(a.dtype)


def select(condition: Value, a: Value, b: Value) -> Value:
    """`a` where the condition holds, else `b`."""
    if not isinstance(condition, ndarray):
        return a if condition else b
    if isinstance(a, tuple):
        return tuple(select(condition, x, y) for x, y in zip(a, b, strict=True))
    return np.where(condition, a, b)


def bitcast(a: Value, dtype: Any) -> Value:
    """The same bits as another type."""
    return a.view(dtype)


def to_bool(a: Value) -> Value:
    """The lowest bit."""
    return (a & a.dtype.type(1)) != 0


def extend_bool_signed(a: Value, dtype: Any) -> Value:
    """Sign extension of a boolean: -1 for true."""
    return -(a.astype(dtype))


def _saturate(a: Value, low: int, high: int, dtype: Any) -> Value:
    wide = a.astype(np.float64)
    inside = (wide >= low) & (wide < float(high) + (0.0 if high > 1 << 53 else 1.0))
    out = np.where(inside, wide, 0.0).astype(dtype)
    out = np.where(inside, out, np.where(wide > 0, dtype(high), dtype(low)))
    out = np.where(np.isnan(wide), dtype(0), out)
    return out if isinstance(a, ndarray) else out[()]


def fptosi(a: Value, dtype: Any) -> Value:
    """Towards zero, saturating; 0 for NaN (PTX ISA 9.7.9.21, cvt)."""
    info = np.iinfo(dtype)
    return _saturate(a, int(info.min), int(info.max), dtype)


def fptoui(a: Value, dtype: Any) -> Value:
    """As `fptosi` for unsigned integers."""
    wide = _UNSIGNED[np.dtype(dtype)]
    info = np.iinfo(wide)
    return _saturate(a, 0, int(info.max), wide).view(dtype)


def ext_unsigned(a: Value, dtype: Any) -> Value:
    return unsigned(a).astype(dtype)


def join_bytes(parts: Sequence[Value], dtype: Any) -> Value:
    """The number that consists of these unsigned bytes, the lowest first."""
    total = parts[0].astype(dtype)
    for number, part in enumerate(parts[1:], 1):
        total = total | part.astype(dtype) << dtype(8 * number)
    return total


def byte_of(a: Value, number: int) -> Value:
    """A byte of a number, counted from the lowest, unsigned."""
    return (a >> a.dtype.type(8 * number)).astype(np.uint8)


def popcount(a: Value) -> Value:
    return np.bitwise_count(unsigned(a)).astype(a.dtype)


def ctlz(a: Value) -> Value:
    """Leading zeros; the width for zero."""
    width = a.dtype.itemsize * 8
    u = unsigned(a)
    for shift in (1, 2, 4, 8, 16, 32):
        if shift < width:
            u = u | (u >> u.dtype.type(shift))
    return (width - np.bitwise_count(u).astype(a.dtype)).astype(a.dtype)


def cttz(a: Value) -> Value:
    """Trailing zeros; the width for zero."""
    u = unsigned(a)
    return np.bitwise_count(~u & (u - u.dtype.type(1))).astype(a.dtype)


def bswap(a: Value) -> Value:
    return a.byteswap()


def bitreverse(a: Value) -> Value:
    """The bits in the opposite order."""
    u = unsigned(a)
    out = u ^ u
    one = u.dtype.type(1)
    for _ in range(a.dtype.itemsize * 8):
        out = (out << one) | (u & one)
        u = u >> one
    return out.view(a.dtype)


def fshl(a: Value, b: Value, c: Value) -> Value:
    """The high half of `a:b` shifted left."""
    width = a.dtype.itemsize * 8
    s = c & a.dtype.type(width - 1)
    right = select(s == 0, s.dtype.type(0), shru(b, a.dtype.type(width) - s))
    return shl(a, s) | right


def fshr(a: Value, b: Value, c: Value) -> Value:
    """The low half of `a:b` shifted right."""
    width = a.dtype.itemsize * 8
    s = c & a.dtype.type(width - 1)
    left = select(s == 0, s.dtype.type(0), shl(a, a.dtype.type(width) - s))
    return left | shru(b, s)


def fpclass(a: Value, mask: int) -> Value:
    """
    `llvm.is.fpclass`: bits 0 signalling and 1 quiet NaN, then -inf, -normal, -subnormal, -0, +0,
    +subnormal, +normal, +inf.
    """
    negative = np.signbit(a)
    magnitude = np.abs(a)
    tiny = np.finfo(a.dtype).tiny
    subnormal = (magnitude > 0) & (magnitude < tiny)
    normal = (magnitude >= tiny) & np.isfinite(a)
    out = np.zeros_like(negative)
    if mask & 3:
        out = out | np.isnan(a)
    for bit, flag, sign in (
        (2, np.isinf(a), True),
        (3, normal, True),
        (4, subnormal, True),
        (5, a == 0, True),
        (6, a == 0, False),
        (7, subnormal, False),
        (8, normal, False),
        (9, np.isinf(a), False),
    ):
        if mask >> bit & 1:
            out = out | (flag & (negative if sign else ~negative))
    return out


def const_like(value: Any, dtype: Any) -> Value:
    """A constant of a type; integers wrap."""
    dtype = np.dtype(dtype)
    if dtype.kind == "i":
        bits = dtype.itemsize * 8
        value = int(value) & ((1 << bits) - 1)
        value -= (value >> (bits - 1)) << bits
    return dtype.type(value)
