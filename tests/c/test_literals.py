"""Floating constants whose type has no number near them, and those that are what they say."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from accopt.compiler.base.diagnostics import UNKNOWN_LOC
from accopt.compiler.c.sema.constants import convert_constant
from accopt.compiler.c.sema.literals import beyond, floating_literal, to_single
from accopt.compiler.c.sema.long_doubles import Extended
from accopt.compiler.c.types import DOUBLE, FLOAT, HALF, LDOUBLE

ZERO = (
    "0.0f",
    "0f",
    ".0F",
    "0.0",
    "0e5f",
    "0.L",
    "0x0p0f",
    "0X0.0P1",
    "0x.0p-7F",
    "00.00f",
    "0.0e-400",
    "0.0f16",
    "0x0p0F64x",
)
SMALL = (
    "1e-40f",
    "1e-30f16",
    "1e-300F64",
    "9e-46F",
    "1e-8f",
    "5e-324",
    "0x1p-149f",
    "0xap-9999L",
    "0.00000001f",
)
GONE = ("1e-9999f", "0.1e-99999", "1.e-60f", ".5E-70F", "0x1p-300f", "0XaP-9999", "0x0.8p-151f")
LARGE = ("1e999f", "1e39f16", "1e39f32", "1e309f32x", "1e39F", "1e309", "0x1p1024", "0x1p128f")


@pytest.mark.parametrize(
    ("texts", "taken"), [(ZERO, None), (SMALL, None), (GONE, "0"), (LARGE, "infinity")]
)
def test_what_is_beyond_a_type(texts: tuple[str, ...], taken: str | None) -> None:
    for text in texts:
        value, _ = floating_literal(text, UNKNOWN_LOC)
        assert beyond(text, value) == taken, text


def test_suffixes_of_interchange_formats() -> None:
    types = {
        "0.1f16": HALF,
        "0.1F32": FLOAT,
        "0.1f32x": DOUBLE,
        "0x1p0f64": DOUBLE,
        "1.F64x": LDOUBLE,
    }
    for text, t in types.items():
        assert floating_literal(text, UNKNOWN_LOC)[1] == t
    assert floating_literal("0.1f16", UNKNOWN_LOC)[0] == to_single(0.1)  # as it is evaluated


def test_constants_are_rounded_once_to_half() -> None:
    tie = 1 + Fraction(1, 1 << 11)
    for exact, rounded in (
        (tie, 1.0),
        (tie + Fraction(1, 1 << 40), 1 + 2**-10),
        (tie + Fraction(1, 1 << 63), 1 + 2**-10),
        (tie - Fraction(1, 1 << 63), 1.0),
        (-tie - Fraction(1, 1 << 63), -1 - 2**-10),
        (Fraction(65520) - Fraction(1, 1 << 40), 65504.0),
        (Fraction(65520), math.inf),
        (Fraction(1, 1 << 25), 0.0),
        (Fraction(1, 1 << 25) + Fraction(1, 1 << 80), 2**-24),
    ):
        assert convert_constant(Extended.of(exact), HALF) == rounded, exact
