"""Whether an iteration loads from an array after it has loaded and stored to another one."""

import pytest
from accopt.passes.decisions.reordered_loads import (
    OrderedAccess,
    Repeated,
    Step,
    loads_after_stores,
)


def load(array: str, type: str = "f64") -> OrderedAccess:
    return OrderedAccess(array, type, writes=False)


def store(array: str, type: str = "f64") -> OrderedAccess:
    return OrderedAccess(array, type, writes=True)


@pytest.mark.parametrize(
    ("steps", "expected"),
    [
        ([], False),
        ([load("a"), store("b")], False),
        ([load("a"), store("b"), load("a")], True),
        ([load("a"), store("b"), load("b")], False),
        ([store("b"), load("a")], False),
        ([store("b"), load("a"), store("b")], False),
        ([load("a"), store("b"), store("c"), load("c")], True),
        ([load("a"), store("b", "i32"), load("a")], False),
        ([load("a"), store("b", "i32"), store("b"), load("a")], True),
        ([Repeated([load("a"), store("b")])], True),
        ([Repeated([load("b"), store("b")])], False),
        ([Repeated([store("b")]), load("a")], False),
        ([load("a"), Repeated([store("b")]), load("a")], True),
        ([Repeated([load("b"), store("b")]), load("a")], True),
        ([Repeated([load("c"), Repeated([store("b")])])], True),
        ([Repeated([load("a")]), store("b")], False),
    ],
)
def test_order(steps: list[Step], expected: bool) -> None:
    found = loads_after_stores(steps, lambda one, other: one.type == other.type)
    assert found == expected
