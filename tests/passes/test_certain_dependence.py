"""Subscripts of which it is certain that iterations meet, and those of which it is not."""

from __future__ import annotations

from collections.abc import Hashable

import pytest
from accopt.passes.decisions.certain_dependence import EVERY, is_met, iterations_apart
from accopt.passes.decisions.polynomials import Polynomial
from accopt.passes.decisions.ranges import LoopRange

ROW, COLUMN, SIZE, OTHER = (Polynomial.symbol(name) for name in "ijnk")
ROWS = {"j": LoopRange("j", Polynomial.constant(0), SIZE - 1)}
TRIANGLE = {"j": LoopRange("j", Polynomial.constant(0), ROW)}


def apart(
    store: tuple[Polynomial, ...],
    load: tuple[Polynomial, ...],
    step: int = 1,
    ranges: dict[Hashable, LoopRange] | None = None,
) -> int | None:
    return iterations_apart(store, load, "i", step, ranges or {}, lambda symbol: symbol in ("n",))


@pytest.mark.parametrize(
    ("store", "load", "step", "expected"),
    [
        ((ROW,), (ROW - 1,), 1, 1),
        ((ROW,), (ROW + 1,), 1, -1),
        ((ROW,), (ROW,), 1, None),
        ((ROW,), (ROW - 1,), 2, None),
        ((ROW,), (ROW - 4,), 2, 2),
        ((ROW * 2,), (ROW * 2 + 1,), 1, None),
        ((ROW * 2,), (ROW * 2 - 2,), 1, 1),
        ((SIZE,), (SIZE,), 1, EVERY),
        ((SIZE,), (SIZE + 1,), 1, None),
        ((OTHER,), (OTHER,), 1, None),  # may differ from iteration to iteration
        ((ROW, SIZE), (ROW - 1, SIZE), 1, 1),
        ((ROW, SIZE), (ROW - 1, SIZE + 1), 1, None),
        ((ROW, ROW), (ROW - 1, ROW - 1), 1, 1),
        ((ROW, ROW), (ROW - 1, ROW), 1, None),
        ((ROW * SIZE,), (ROW * SIZE - SIZE,), 1, 1),
        ((ROW * SIZE,), (ROW * SIZE - 1,), 1, None),
        ((ROW,), (ROW - 1, ROW), 1, None),
    ],
)
def test_distances(
    store: tuple[Polynomial, ...],
    load: tuple[Polynomial, ...],
    step: int,
    expected: int | None,
) -> None:
    assert apart(store, load, step) == expected


def test_inner_loops_run_alike_in_all_iterations_or_nothing_is_certain() -> None:
    assert apart((COLUMN,), (COLUMN,), ranges=ROWS) == EVERY
    assert apart((ROW, COLUMN), (ROW - 1, COLUMN), ranges=ROWS) == 1
    assert apart((COLUMN,), (COLUMN,), ranges=TRIANGLE) is None
    assert apart((COLUMN,), (COLUMN,)) is None


def test_a_loop_must_have_both_iterations() -> None:
    assert is_met(1, None) and not is_met(19, None)
    assert is_met(19, 20) and not is_met(20, 20)
    assert is_met(EVERY, 2) and not is_met(EVERY, 1)
