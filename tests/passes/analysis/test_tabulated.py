"""Which values of functions are read from tables, and what they are."""

import math

import pytest
from accopt.passes.decisions.tabulated import MOST_VALUES, as_float, computed, is_known, pays


@pytest.mark.parametrize(
    ("name", "arguments", "value"),
    [
        ("cos", [0.5], math.cos(0.5)),
        ("cosf", [0.5], as_float(math.cos(0.5))),
        ("powf", [2.0, 3.0], 8.0),
        ("atan2", [1.0, 2.0], math.atan2(1, 2)),
        ("log", [0.0], None),
        ("sqrt", [-1.0], None),
        ("expf", [100.0], None),
        ("exp", [1000.0], None),
        ("erf", [1.0], None),
    ],
)
def test_values(name: str, arguments: list[float], value: float | None):
    assert computed(name, arguments) == value


def test_names():
    assert is_known("sinf") and is_known("sin")
    assert not any(map(is_known, ("sinl", "rand", "f", "fabsff")))


def test_a_few_values_that_iterations_repeat():
    assert pays(64, repeated=True)
    assert not pays(64, repeated=False)
    assert not pays(MOST_VALUES + 1, repeated=True) and not pays(0, repeated=True)
