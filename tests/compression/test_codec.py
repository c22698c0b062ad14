"""Properties of the codec: bounded error, monotone, idempotent, saturating, zero exact, M = 0."""

from __future__ import annotations

import functools
import hashlib
import math

import numpy as np
import pytest
from accopt.compiler.base.packed import (
    MAX_BITS,
    Code,
    Coefficients,
    PackedFormat,
    check_format,
    coefficients,
)
from accopt.runtime.compression.codec import Codec
from hypothesis import given, settings
from hypothesis import strategies as st

from .error_bounds import error_bound

FORMATS = [
    PackedFormat(32, Code.RANGE, 16),
    PackedFormat(64, Code.RANGE, 32),
    PackedFormat(64, Code.RANGE, 16),
    PackedFormat(32, Code.RANGE, 8),
    PackedFormat(32, Code.RANGE, 11),
    PackedFormat(32, Code.RANGE, 21),
    PackedFormat(64, Code.RANGE, 9),
    PackedFormat(64, Code.RANGE, 50),
]
SMALL = [PackedFormat(b, c, 16) for b in (32, 64) for c in (Code.HALF, Code.BFLOAT16)]

codec = functools.cache(Codec)
formats = st.sampled_from(FORMATS)


def real(fmt: PackedFormat) -> type:
    return np.float32 if fmt.base_bits == 32 else np.float64


def magnitudes(fmt: PackedFormat) -> st.SearchStrategy[float]:
    """Of every order from far below the least to the greatest allowed."""
    low, high = (-149, 126) if fmt.base_bits == 32 else (-1074, 1022)
    return st.floats(low, high).map(lambda e: float(real(fmt)(2.0**e)))


def encode(fmt: PackedFormat, x: np.ndarray, coefs: Coefficients) -> tuple[np.ndarray, int]:
    packed = np.zeros(len(x) * fmt.storage_bytes + 8, np.uint8)
    packed[-8:] = 0xA5
    saturated = codec(fmt).encode(packed.ctypes.data, x.ctypes.data, len(x), coefs)
    assert (packed[-8:] == 0xA5).all(), "wrote past the end"
    return packed[:-8], saturated


def decode(fmt: PackedFormat, packed: np.ndarray, coefs: Coefficients) -> np.ndarray:
    count = len(packed) // fmt.storage_bytes
    out = np.empty(count, real(fmt))
    codec(fmt).decode(out.ctypes.data, packed.ctypes.data, count, coefs)
    return out


def codes(fmt: PackedFormat, packed: np.ndarray) -> np.ndarray:
    rows = packed.reshape(-1, fmt.storage_bytes).astype(np.uint64)
    return sum(rows[:, i] << np.uint64(8 * i) for i in range(fmt.storage_bytes))


def numbers(fmt: PackedFormat, magnitude: float, seed: int, count: int = 500) -> np.ndarray:
    rng = np.random.default_rng(seed)
    x = rng.uniform(-1, 1, count) * magnitude
    x[: count // 4] *= 2.0 ** -rng.integers(0, 40, count // 4)
    x[-3:] = magnitude, -magnitude, 0
    return x.astype(real(fmt))


@settings(max_examples=150)
@given(formats.flatmap(lambda f: st.tuples(st.just(f), magnitudes(f))), st.integers(0, 2**32))
def test_round_trip(case: tuple[PackedFormat, float], seed: int):
    fmt, magnitude = case
    coefs = coefficients(fmt, -magnitude, magnitude)
    x = numbers(fmt, magnitude, seed)
    packed, saturated = encode(fmt, x, coefs)
    y = decode(fmt, packed, coefs)
    assert saturated == 0
    wrong = np.abs(y.astype(np.longdouble) - x.astype(np.longdouble)).max()
    assert wrong <= error_bound(fmt, coefs)
    assert y[-1] == 0, "zero is kept exactly"
    again, _ = encode(fmt, y, coefs)
    assert (again == packed).all(), "a decoded number has its own code"
    order = np.argsort(x, kind="stable")
    assert (np.diff(codes(fmt, packed)[order].astype(np.float64)) >= 0).all(), "monotone"


@settings(max_examples=60)
@given(formats.flatmap(lambda f: st.tuples(st.just(f), magnitudes(f))))
def test_every_code_is_stable(case: tuple[PackedFormat, float]):
    """Encoding what a code stands for gives that code, for codes all over their range."""
    fmt, magnitude = case
    coefs = coefficients(fmt, 0, magnitude)
    top = (1 << fmt.bits) - 1
    values = np.unique(np.linspace(0, top, 700).astype(np.uint64) & np.uint64(top))
    values = values[values <= top]
    packed = np.zeros((len(values), fmt.storage_bytes), np.uint8)
    for i in range(fmt.storage_bytes):
        packed[:, i] = (values >> np.uint64(8 * i)) & np.uint64(255)
    again, _ = encode(fmt, decode(fmt, packed.ravel(), coefs), coefs)
    assert (again == packed.ravel()).all()


@pytest.mark.parametrize("fmt", FORMATS, ids=str)
def test_saturation(fmt: PackedFormat):
    coefs = coefficients(fmt, -1, 2)
    outside = [2.2, -2.2, 1e30, -1e30, math.inf, -math.inf, math.nan]
    x = np.array([*outside, 2.0, -2.0, 0.5], real(fmt))
    packed, saturated = encode(fmt, x, coefs)
    assert saturated == len(outside)
    top = (1 << fmt.bits) - 1
    assert list(codes(fmt, packed)[:7]) == [top, 0, top, 0, top, 0, 0], "NaN is the least"
    y = decode(fmt, packed, coefs)
    assert np.abs(y).max() <= coefs.c0 / 2


@pytest.mark.parametrize("fmt", FORMATS, ids=str)
def test_all_zero(fmt: PackedFormat):
    coefs = coefficients(fmt, 0, 0)
    x = np.array([0.0, -0.0, 5.0], real(fmt))
    packed, saturated = encode(fmt, x, coefs)
    assert saturated == 0
    assert (decode(fmt, packed, coefs) == 0).all()


@pytest.mark.parametrize("fmt", [*FORMATS, *SMALL], ids=str)
def test_scan_ignores_what_is_not_finite(fmt: PackedFormat):
    x = np.array([math.nan, 3, -math.inf, -7.5, math.inf, 0], real(fmt))
    assert codec(fmt).scan(x.ctypes.data, len(x)) == (-7.5, 3)
    assert codec(fmt).scan(x.ctypes.data, 1) == (0, 0)
    assert codec(fmt).scan(x.ctypes.data, 0) == (0, 0)


def test_scan_and_encode_on_several_threads():
    fmt = FORMATS[0]
    x = np.random.default_rng(3).uniform(-5, 5, 1_500_001).astype(np.float32)
    assert codec(fmt).scan(x.ctypes.data, len(x)) == (float(x.min()), float(x.max()))
    coefs = coefficients(fmt, -5, 5)
    packed, _ = encode(fmt, x, coefs)
    y = decode(fmt, packed, coefs)
    assert np.abs(y - x).max() <= error_bound(fmt, coefs)
    measured = codec(fmt).measure(x.ctypes.data, len(x), coefs)
    assert measured.absolute == float(np.abs(y.astype(np.float64) - x).max())


@settings(max_examples=60)
@given(st.integers(0, 2**32))
def test_small_formats_are_those_of_numpy(seed: int):
    """half is IEEE binary16; bfloat16 the nearest with ties to even; NaN and infinity stay."""
    bits = np.random.default_rng(seed).integers(0, 2**32, 300, dtype=np.uint32)
    x = bits.view(np.float32)
    x[:3] = np.inf, -np.inf, np.nan
    with np.errstate(all="ignore"):
        half = x.astype(np.float16)
    packed, _ = encode(SMALL[0], x, Coefficients())
    ours = packed.view(np.float16)
    assert (np.isnan(ours) == np.isnan(half)).all()
    assert (ours[~np.isnan(half)].view(np.uint16) == half[~np.isnan(half)].view(np.uint16)).all()

    packed, _ = encode(SMALL[1], x, Coefficients())
    wide = (packed.view(np.uint16).astype(np.uint32) << 16).view(np.float32)
    exact = np.isnan(x)
    assert np.isnan(wide[exact]).all()
    finite = ~exact & np.isfinite(wide)
    step = np.maximum(np.abs(x[finite].astype(np.float64)) * 2.0**-8, 2.0**-134)
    assert (np.abs(wide[finite].astype(np.float64) - x[finite]) <= step).all()


def test_measure_of_zeros_and_saturated():
    fmt = FORMATS[1]
    coefs = coefficients(fmt, -1, 1)
    x = np.array([0.0, 0.25, math.nan, math.inf], np.float64)
    measured = codec(fmt).measure(x.ctypes.data, len(x), coefs)
    assert measured.absolute <= error_bound(fmt, coefs)
    assert measured.relative <= error_bound(fmt, coefs) / 0.25


@pytest.mark.parametrize(
    ("low", "high", "reason"),
    [
        (1.0, -1.0, "minimum"),
        (math.nan, 1.0, "finite"),
        (0.0, math.inf, "finite"),
        (-3e38, 3e38, "exceeds"),
    ],
)
def test_ranges_that_cannot_be_used(low: float, high: float, reason: str):
    with pytest.raises(ValueError, match=reason):
        coefficients(FORMATS[0], low, high)


def test_formats():
    for base, most in MAX_BITS.items():
        assert check_format(PackedFormat(base, Code.RANGE, most)) is None
        assert check_format(PackedFormat(base, Code.RANGE, most + 1)) is not None
        assert check_format(PackedFormat(base, Code.RANGE, 7)) is not None
    for fmt in (*FORMATS, *SMALL):
        assert PackedFormat.from_word(fmt.word) == fmt


def test_coefficients_are_numbers_of_the_base_type():
    """c1 is exactly -1.5 c0, so that the middle code is exactly zero."""
    for magnitude in (1.0, 3.7, 1e-20, 1e20, 0.1):
        coefs = coefficients(FORMATS[0], -magnitude, magnitude)
        assert float(np.float32(coefs.c0)) == coefs.c0
        assert float(np.float32(coefs.c1)) == coefs.c1 == -1.5 * coefs.c0
        assert coefs.c0 >= 2.01 * magnitude


DIGESTS = {
    (32, 16): "5500f0af4d724cda",
    (32, 8): "c5a10d3fd9d2d531",
    (32, 12): "b0b8b9b58f488981",
    (32, 21): "f5969e24c0e29cac",
    (64, 32): "ca91e2e4c1ab2e93",
    (64, 16): "ad57f98ab7d82a81",
    (64, 20): "7433cb0a94012d2a",
    (64, 50): "8a3d2847d6a0ea30",
}
"""Width and bits → what codes, numbers read back and coefficients come to."""


@pytest.mark.parametrize(("base", "bits"), DIGESTS)
def test_the_published_code_keeps_its_bits(base: int, bits: int):
    fmt, digest = PackedFormat(base, Code.RANGE, bits), hashlib.sha256()
    word = np.uint32 if base == 32 else np.uint64
    rng = np.random.Generator(np.random.PCG64(7))
    for low, high in ((-1.0, 1.0), (7.0, 71.0), (0.0, 359.0), (-3e-20, 1e-21), (0.0, 0.0)):
        c = coefficients(fmt, low, high)
        x = rng.integers(0, 2**base, 2000, dtype=word).view(real(fmt))
        part = rng.integers(-(2**20), 2**20, 1500) * 2.0**-20
        x[:1500] = (part * max(abs(low), abs(high))).astype(real(fmt))
        packed, saturated = encode(fmt, x, c)
        digest.update(packed.tobytes() + decode(fmt, packed, c).tobytes())
        digest.update(repr((saturated, c.c0, c.c1, c.inverse)).encode())
    assert digest.hexdigest()[:16] == DIGESTS[base, bits]
