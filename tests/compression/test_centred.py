"""
Properties of the code around the middle of a range: bounded error, monotone, stable, the middle exact;
ranges far from zero, down to a single number.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from accopt.compiler.base.packed import Code, Coefficients, PackedFormat, coefficients
from hypothesis import given, settings
from hypothesis import strategies as st

from .error_bounds import error_bound, offset_error
from .test_codec import codec, codes, decode, encode, real

FORMATS = [
    PackedFormat(32, Code.CENTRED, 16),
    PackedFormat(64, Code.CENTRED, 32),
    PackedFormat(64, Code.CENTRED, 16),
    PackedFormat(32, Code.CENTRED, 8),
    PackedFormat(32, Code.CENTRED, 12),
    PackedFormat(32, Code.CENTRED, 21),
    PackedFormat(64, Code.CENTRED, 9),
    PackedFormat(64, Code.CENTRED, 50),
]
DIGITS = {32: 24, 64: 53}


@st.composite
def ranges(draw: st.DrawFn) -> tuple[PackedFormat, float, float]:
    """Of every size, at every distance from zero that the base type resolves, and a little beyond."""
    fmt = draw(st.sampled_from(FORMATS))
    digits, kind = DIGITS[fmt.base_bits], real(fmt)
    low, high = (-90, 120) if fmt.base_bits == 32 else (-800, 1000)
    half = 2.0 ** draw(st.floats(low, high - digits - 3))
    distance = draw(st.floats(-2, digits + 2))
    sign = draw(st.sampled_from([-1.0, 1.0, 0.0]))
    middle = sign * half * 2.0**distance
    return fmt, float(kind(middle - half)), float(kind(middle + half))


def numbers(fmt: PackedFormat, low: float, high: float, seed: int, count: int = 500) -> np.ndarray:
    rng = np.random.default_rng(seed)
    x = (low + (high - low) * rng.uniform(0, 1, count)).astype(real(fmt))
    x[-3:] = low, high, low
    return np.clip(x, real(fmt)(low), real(fmt)(high))


def middle_of(coefs: Coefficients) -> float:
    return coefs.c1 + 1.5 * coefs.c0


@settings(max_examples=400)
@given(ranges(), st.integers(0, 2**32))
def test_round_trip(case: tuple[PackedFormat, float, float], seed: int):
    fmt, low, high = case
    coefs = coefficients(fmt, low, high)
    x = numbers(fmt, low, high, seed)
    packed, saturated = encode(fmt, x, coefs)
    y = decode(fmt, packed, coefs)
    assert saturated == 0
    assert np.abs(y.astype(np.longdouble) - x).max() <= error_bound(fmt, coefs)
    z = decode(fmt, encode(fmt, y, coefs)[0], coefs)
    assert (z == y).all(), "a number that was read is kept as it is"
    order = np.argsort(x, kind="stable")
    assert (np.diff(codes(fmt, packed)[order].astype(np.float64)) >= 0).all(), "monotone"
    middle = np.array([middle_of(coefs)], real(fmt))
    assert decode(fmt, encode(fmt, middle, coefs)[0], coefs) == middle, "the middle is kept exactly"


@settings(max_examples=200)
@given(ranges())
def test_every_code_is_stable(case: tuple[PackedFormat, float, float]):
    """
    What a code stands for is kept as it is; where codes are further apart than numbers of the base
    type, it has that code.
    """
    fmt, low, high = case
    coefs = coefficients(fmt, low, high)
    top = (1 << fmt.bits) - 1
    values = np.unique(np.linspace(0, top, 700).astype(np.uint64))
    values = values[values <= top]
    packed = np.zeros((len(values), fmt.storage_bytes), np.uint8)
    for i in range(fmt.storage_bytes):
        packed[:, i] = (values >> np.uint64(8 * i)) & np.uint64(255)
    y = decode(fmt, packed.ravel(), coefs)
    again, _ = encode(fmt, y, coefs)
    assert (decode(fmt, again, coefs) == y).all()
    if coefs.c0 * 2.0**-fmt.bits > np.spacing(np.abs(y).max()):
        assert (again == packed.ravel()).all()


@settings(max_examples=200)
@given(ranges())
def test_coefficients(case: tuple[PackedFormat, float, float]):
    """They are numbers of the base type; the middle follows from c0 and c1; the codes suffice."""
    fmt, low, high = case
    coefs = coefficients(fmt, low, high)
    assert all(float(real(fmt)(word)) == word for word in coefs.words)
    middle = Fraction(coefs.c1) + Fraction(3, 2) * Fraction(coefs.c0)
    assert float(real(fmt)(float(middle))) == middle
    half = float(max(high - middle, middle - Fraction(low)))
    assert coefs.c0 >= 2.009999 * half
    if coefs.c0:
        wrong = offset_error(coefs.c0, coefs.c1, coefs.inverse, coefs.offset)
        assert wrong <= 2.0**-3 * 2.0**-fmt.bits
    spacing = float(np.spacing(real(fmt)(max(abs(low), abs(high)))))
    if low < high and half > 2.0**-90:
        step = max(8 * spacing * 2**fmt.bits, 2.1 * half + 8 * spacing)
        assert coefs.c0 <= max(step, (2 + 2.0 ** (3 - fmt.bits)) * half * 1.001)


@pytest.mark.parametrize("fmt", FORMATS, ids=str)
@pytest.mark.parametrize("value", [0.1, 0.0, -343.15, 1e30, 1e-40])
def test_a_range_of_one_number(fmt: PackedFormat, value: float):
    """It reads back exactly, whatever is stored; only what is no number counts as saturated."""
    x = np.full(5, value, real(fmt))
    coefs = coefficients(fmt, value, value)
    packed, saturated = encode(fmt, x, coefs)
    assert saturated == 0
    assert (decode(fmt, packed, coefs) == x).all()
    x[1:3] = np.nan, np.inf
    packed, saturated = encode(fmt, x, coefs)
    assert saturated == 2
    assert (decode(fmt, packed, coefs) == x[0]).all()


@pytest.mark.parametrize("kind", [32, 64])
@pytest.mark.parametrize("start", [1.0, -1.0, 1000.5, 3.2e-5])
@pytest.mark.parametrize("count", [2, 3, 100, 65_000])
def test_neighbours_of_the_base_type(kind: int, start: float, count: int):
    """Ranges of hardly more numbers, equally far apart, than there are codes are kept without loss."""
    fmt = PackedFormat(kind, Code.CENTRED, 16)
    word = np.uint32 if kind == 32 else np.uint64
    x = (np.array([start], real(fmt)).view(word) + np.arange(count, dtype=word)).view(real(fmt))
    coefs = coefficients(fmt, float(x.min()), float(x.max()))
    packed, saturated = encode(fmt, x, coefs)
    assert saturated == 0
    assert (decode(fmt, packed, coefs) == x).all()


def test_a_range_that_the_base_type_does_not_resolve():
    """Its ends are rounded to numbers of the base type: here to one."""
    fmt = FORMATS[0]
    coefs = coefficients(fmt, 1e8, 1e8 + 1)
    assert coefs.c0 == 0 and coefs.c1 == 1e8


@pytest.mark.parametrize("fmt", FORMATS, ids=str)
def test_saturation(fmt: PackedFormat):
    coefs = coefficients(fmt, 323, 343)
    half = 10 * coefs.c0 / 20.1
    outside = [333 + 2 * half, 333 - 2 * half, 1e30, -1e30, 0.0, math.inf, -math.inf, math.nan]
    x = np.array([*outside, 343.0, 323.0, 333.0], real(fmt))
    packed, saturated = encode(fmt, x, coefs)
    assert saturated == len(outside)
    top = (1 << fmt.bits) - 1
    assert list(codes(fmt, packed)[:8]) == [top, 0, top, 0, 0, top, 0, 0], "NaN is the least"
    y = decode(fmt, packed, coefs)
    assert np.abs(y - 333).max() <= coefs.c0 / 2


def test_the_gain_over_the_code_around_zero():
    """Temperatures are kept 17 times as exactly, latitudes and longitudes barely more so."""
    rng = np.random.default_rng(1)
    for low, high, least in ((323.0, 343.0, 15.0), (7.0, 71.0, 2.1), (260.0, 359.0, 7.0)):
        x = rng.uniform(low, high, 20_000).astype(np.float32)
        worst: list[float] = []
        for code in (Code.RANGE, Code.CENTRED):
            fmt = PackedFormat(32, code, 16)
            coefs = coefficients(fmt, float(x.min()), float(x.max()))
            worst.append(codec(fmt).measure(x.ctypes.data, len(x), coefs).absolute)
        assert worst[0] / worst[1] > least


@pytest.mark.parametrize("stride", [1, 3])
def test_measure_and_scan_of_members(stride: int):
    fmt = PackedFormat(32, Code.CENTRED, 16, stride)
    x = np.random.default_rng(2).uniform(300, 310, 3000).astype(np.float32)
    x[::stride] += 1000
    ranges = codec(fmt).scan_members(x.ctypes.data, len(x) // stride)
    for member, found in enumerate(ranges):
        own = np.ascontiguousarray(x[member::stride])
        assert found == (float(own.min()), float(own.max()))
        coefs = coefficients(fmt, *found)
        measured = codec(fmt).measure(x.ctypes.data + 4 * member, len(own), coefs, stride)
        back = decode(fmt, encode(fmt.one_member, own, coefs)[0], coefs)
        assert measured.absolute == np.abs(back.astype(np.float64) - own).max()


@pytest.mark.parametrize("base", [32, 64])
@pytest.mark.parametrize("members", [2, 3, 5, 33, 127])
@pytest.mark.parametrize("count", [1, 2, 15, 16, 17, 1000, 200_003])
def test_the_range_of_each_member(base: int, members: int, count: int):
    """Whole rows, what is left of one, several threads, and what is no number."""
    if members > 5 and count > 1000:
        count = 1003
    fmt = PackedFormat(base, Code.CENTRED, 16, members)
    word = np.uint32 if base == 32 else np.uint64
    x = np.random.default_rng(count).integers(0, 2**base, count * members, word).view(real(fmt))
    x[::7], x[3::11], x[4::13] = np.nan, np.inf, -np.inf
    found = codec(fmt).scan_members(x.ctypes.data, count)
    for member, limits in enumerate(found):
        finite = x[member::members][np.isfinite(x[member::members])]
        expected = (float(finite.min()), float(finite.max())) if finite.size else (0.0, 0.0)
        assert limits == expected
