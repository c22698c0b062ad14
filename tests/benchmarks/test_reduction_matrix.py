"""A sample of the reduction matrix on the CPU: every position, every operator, every type somewhere."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parents[2]))

from benchmarks.reduction_matrix import (
    OPERATORS,
    POSITIONS,
    SMALL,
    TYPES,
    Entry,
    entries,
    run_matrix,
)


def _sample(type_name: str) -> list[Entry]:
    """Each position with some of the operators, so that the types together cover all of them."""
    first = list(TYPES).index(type_name)
    listed = entries(type_name)
    return [entry for at, entry in enumerate(listed) if at % 3 == first]


@pytest.mark.parametrize("type_name", list(TYPES))
def test_sample_is_right_on_the_host(type_name: str) -> None:
    sample = _sample(type_name)
    assert {entry.position.name for entry in sample} == {p.name for p in POSITIONS}
    results = run_matrix(sample, "host", SMALL)
    assert {name: problem for name, (problem, _) in results.items() if problem} == {}


@pytest.mark.parametrize(
    ("type_name", "strategy"),
    [
        ("int", "exchange=shared redux=false"),
        ("float", "exchange=shared"),
        ("double", "reduction_strategy=atomic"),
    ],
)
def test_sample_is_right_in_the_simulator(type_name: str, strategy: str) -> None:
    results = run_matrix(_sample(type_name), "sim", (3, 5, 43), strategy=strategy)
    assert {name: problem for name, (problem, _) in results.items() if problem} == {}


@pytest.mark.gpu
@pytest.mark.parametrize("type_name", list(TYPES))
@pytest.mark.parametrize("shape", [(1, 1, 1), (3, 33, 1), SMALL, (40, 9, 1000)])
def test_everything_is_right_on_a_gpu(type_name: str, shape: tuple[int, int, int]) -> None:
    results = run_matrix(entries(type_name), "nvptx", shape)
    assert {name: problem for name, (problem, _) in results.items() if problem} == {}


@pytest.mark.parametrize("operator", OPERATORS, ids=lambda o: o.name)
@pytest.mark.parametrize("position", POSITIONS, ids=lambda p: p.name)
def test_input_tells_a_lost_first_element(position, operator) -> None:
    """The data are of use only if the result depends on them and not on the start alone."""
    entry = Entry(position, operator, "int" if operator.integers_only else "float")
    a = entry.input(SMALL)
    start = np.full(1, operator.start, a.dtype)
    assert not np.array_equal(np.unique(entry.expected(a)), start)
