"""Subscripts that inner loops choose, and iterations that certainly meet at an element all the same."""

from __future__ import annotations

from collections.abc import Hashable

import pytest
from accopt.passes.decisions.certain_meeting import LoopPlace, meeting
from accopt.passes.decisions.polynomials import ZERO, Polynomial
from accopt.passes.decisions.ranges import LoopRange

ONE = Polynomial.constant(1)
ROW, COLUMN, OTHER, SIZE, START = (Polynomial.symbol(name) for name in "ijkns")

BELOW = LoopRange("j", ROW + 1, SIZE - 1)
ABOVE = LoopRange("k", ZERO, ROW - 1)
WHOLE = LoopRange("k", ZERO, SIZE - 1)
UNKNOWN = LoopRange("k", START, Polynomial.symbol("end"))


def invariant(symbol: Hashable) -> bool:
    return symbol in ("n", "s")


def meet(
    store: tuple[Polynomial | None, ...],
    around_store: tuple[LoopRange, ...],
    other: tuple[Polynomial | None, ...],
    around_other: tuple[LoopRange, ...],
    step: int = 1,
    trip: int | None = None,
) -> tuple[int, int] | None:
    own = LoopRange("i", ZERO, SIZE - 1)
    return meeting(
        LoopPlace(store, around_store), LoopPlace(other, around_other), own, step, trip, invariant
    )


def test_a_triangle_reads_what_earlier_rows_assigned() -> None:
    assert meet((COLUMN, ROW), (BELOW,), (ROW, OTHER), (ABOVE,)) == (0, 1)
    assert meet((COLUMN * SIZE + ROW,), (BELOW,), (ROW * SIZE + OTHER,), (ABOVE,)) == (0, 1)


def test_an_iteration_alone_does_not_count() -> None:
    assert meet((COLUMN, ROW), (BELOW,), (ROW, OTHER), (ABOVE,), trip=1) is None


@pytest.mark.parametrize(
    ("store", "around_store", "other", "around_other"),
    [
        ((ROW, COLUMN), (BELOW,), (ROW, OTHER), (ABOVE,)),  # rows of their own
        ((COLUMN, ROW), (BELOW,), (OTHER, ROW), (ABOVE,)),  # columns of their own
        ((COLUMN * 2,), (BELOW,), (OTHER * 2 + ONE,), (WHOLE,)),  # even and odd
        ((None,), (BELOW,), (ROW,), ()),  # not known
        ((ROW * ROW,), (), (ROW,), ()),  # not linear
        ((ROW,), (), (OTHER,), (UNKNOWN,)),  # perhaps no iterations
        ((ROW,), (), (ROW - SIZE,), ()),  # too far
        ((ROW, ZERO), (), (ROW,), ()),  # not comparable
    ],
)
def test_what_is_not_certain(
    store: tuple[Polynomial | None, ...],
    around_store: tuple[LoopRange, ...],
    other: tuple[Polynomial | None, ...],
    around_other: tuple[LoopRange, ...],
) -> None:
    assert meet(store, around_store, other, around_other) is None


def test_two_inner_loops_over_one_row() -> None:
    assert meet((COLUMN,), (LoopRange("j", ZERO, SIZE - 1),), (OTHER,), (WHOLE,)) is not None
    assert meet((SIZE - 1 - OTHER,), (WHOLE,), (OTHER,), (WHOLE,)) is not None


def test_steps_are_part_of_the_values() -> None:
    far = LoopRange("k", ZERO, ONE)  # elements 0 and 1 of each iteration's pair
    assert meet((ROW + OTHER,), (far,), (ROW,), (), step=2) is None
    assert meet((ROW + OTHER,), (far,), (ROW,), (), step=1) == (0, 1)
