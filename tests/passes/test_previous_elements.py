"""Whether an iteration loads what the one before it has stored."""

from __future__ import annotations

import pytest
from accopt.passes.decisions.polynomials import Polynomial
from accopt.passes.decisions.previous_elements import is_of_previous

ROW, J = Polynomial.symbol("i"), Polynomial.symbol("j")


@pytest.mark.parametrize(
    ("load", "store", "step", "previous"),
    [
        ([ROW, J - 1], [ROW, J], 1, True),
        ([J - 2], [J], 2, True),
        ([ROW - J + 1], [ROW - J], 1, True),
        ([J * 3 - 3], [J * 3], 1, True),
        ([J - 2], [J], 1, False),
        ([J + 1], [J], 1, False),
        ([J], [J], 1, False),
        ([ROW], [ROW], 1, False),
        ([ROW - 1, J - 1], [ROW, J], 1, False),
        ([J * J], [J * J], 1, False),
        ([None, J - 1], [None, J], 1, False),
        ([J - 1], [ROW, J], 1, False),
    ],
)
def test_load_of_what_the_previous_iteration_stored(
    load: list[Polynomial | None], store: list[Polynomial | None], step: int, *, previous: bool
):
    assert is_of_previous(load, store, "j", step) is previous
