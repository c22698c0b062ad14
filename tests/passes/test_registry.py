"""The registry lists the passes in the order in which they run, which README's table shows."""

from __future__ import annotations

import pytest
from accopt.compiler.pipeline import stages
from accopt.passes.registry import PASS_CLASSES


def _in_order(target) -> list[str]:
    return [name for stage in stages(target) for name in stage.passes]


@pytest.mark.parametrize("target", ["nvptx", "sim", "host"])
def test_registry_is_in_the_order_of_the_pipeline(target):
    running = _in_order(target)
    assert [name for name in PASS_CLASSES if name in running] == running


def test_every_pass_is_in_a_pipeline():
    assert set(PASS_CLASSES) == {*_in_order("nvptx"), *_in_order("host")}
