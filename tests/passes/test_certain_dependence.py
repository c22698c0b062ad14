"""Subscripts of which it is certain that iterations meet, and those of which it is not."""

from __future__ import annotations

from collections.abc import Hashable

import pytest
from accopt.passes.decisions.certain_dependence import EVERY, is_met, iterations_apart
from accopt.passes.decisions.polynomials import Polynomial
from accopt.passes.decisions.ranges import LoopRange

I, J, N, K = (Polynomial.symbol(name) for name in "ijnk")
ROWS = {"j": LoopRange("j", Polynomial.constant(0), N - 1)}
TRIANGLE = {"j": LoopRange("j", Polynomial.constant(0), I)}


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
        ((I,), (I - 1,), 1, 1),
        ((I,), (I + 1,), 1, -1),
        ((I,), (I,), 1, None),
        ((I,), (I - 1,), 2, None),
        ((I,), (I - 4,), 2, 2),
        ((I * 2,), (I * 2 + 1,), 1, None),
        ((I * 2,), (I * 2 - 2,), 1, 1),
        ((N,), (N,), 1, EVERY),
        ((N,), (N + 1,), 1, None),
        ((K,), (K,), 1, None),  # may differ from iteration to iteration
        ((I, N), (I - 1, N), 1, 1),
        ((I, N), (I - 1, N + 1), 1, None),
        ((I, I), (I - 1, I - 1), 1, 1),
        ((I, I), (I - 1, I), 1, None),
        ((I * N,), (I * N - N,), 1, 1),
        ((I * N,), (I * N - 1,), 1, None),
        ((I,), (I - 1, I), 1, None),
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
    assert apart((J,), (J,), ranges=ROWS) == EVERY
    assert apart((I, J), (I - 1, J), ranges=ROWS) == 1
    assert apart((J,), (J,), ranges=TRIANGLE) is None
    assert apart((J,), (J,)) is None


def test_a_loop_must_have_both_iterations() -> None:
    assert is_met(1, None) and not is_met(19, None)
    assert is_met(19, 20) and not is_met(20, 20)
    assert is_met(EVERY, 2) and not is_met(EVERY, 1)
