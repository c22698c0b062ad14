"""Floating constants whose type has no number near them, and those that are what they say."""

from __future__ import annotations

import pytest
from accopt.compiler.base.diagnostics import UNKNOWN_LOC
from accopt.compiler.c.sema.literals import beyond, floating_literal

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
)
SMALL = ("1e-40f", "9e-46F", "1e-8f", "5e-324", "0x1p-149f", "0xap-9999L", "0.00000001f")
GONE = ("1e-9999f", "0.1e-99999", "1.e-60f", ".5E-70F", "0x1p-300f", "0XaP-9999", "0x0.8p-151f")
LARGE = ("1e999f", "1e39F", "1e309", "0x1p1024", "0x1p128f")


@pytest.mark.parametrize(
    ("texts", "taken"), [(ZERO, None), (SMALL, None), (GONE, "0"), (LARGE, "infinity")]
)
def test_what_is_beyond_a_type(texts: tuple[str, ...], taken: str | None) -> None:
    for text in texts:
        value, _ = floating_literal(text, UNKNOWN_LOC)
        assert beyond(text, value) == taken, text
