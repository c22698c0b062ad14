"""Typed access to the numbers in an `array<i64: …>` attribute."""

from __future__ import annotations

from typing import Any, cast

from xdsl.dialects.builtin import DenseArrayBase, IntegerType


def integers(attr: DenseArrayBase[Any]) -> tuple[int, ...]:
    """The elements of an array of integers (`isinstance` does not tell a type checker that)."""
    return cast(DenseArrayBase[IntegerType], attr).get_values()
