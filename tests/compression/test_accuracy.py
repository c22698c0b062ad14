"""
What the page on compression says of results' errors (the host gives the same bits as the GPU): the bar
of the papers, where it is met and where no code of 16 bits meets it, and what centring gains.
"""

from __future__ import annotations

import functools
import sys
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parents[2]))

from benchmarks.compression import accuracy

MEAN, LARGEST = 3e-5, 1.8e-4
"""The papers' errors of nearest neighbour: geometric mean and maximum."""


USED = (
    *(f"float→16, {text}" for text in ("one range", "a range each", "centred, each")),
    "float→21, centred, each",
)


@functools.cache
def found() -> dict[tuple[str, str], dict[str, Any]]:
    formats = [(kernel, fmt) for kernel, fmt in accuracy.NEIGHBOURS if fmt.label in USED]
    rows = accuracy.neighbours("host", formats)
    return {(row["places"], row["format"]): row for row in rows}


@pytest.mark.sampled(4)
def test_records_of_one_basin_meet_the_papers_errors():
    for fmt in ("float→16, one range", "float→16, a range each", "float→16, centred, each"):
        row = found()["North Atlantic", fmt]
        assert row["mean"] <= MEAN and row["largest"] <= LARGEST / 4


@pytest.mark.sampled(3)
def test_records_all_over_the_globe_meet_the_mean():
    """Next to the target a step of any code with 2^16 equal steps is too much."""
    for fmt in ("float→16, one range", "float→16, centred, each"):
        row = found()["globe", fmt]
        assert row["mean"] <= MEAN and row["largest"] > 10 * LARGEST
        half_a_step = 358.9 / 2**17
        assert half_a_step / row["nearest"] > 10 * LARGEST
    assert found()["globe", "float→16, centred, each"]["far"] <= LARGEST
    assert found()["globe", "float→21, centred, each"]["largest"] <= 1.2 * LARGEST


@pytest.mark.sampled(3)
def test_centring_and_ranges_of_members_gain():
    one, each, centred = (
        found()["North Atlantic", f"float→16, {text}"]["mean"]
        for text in ("one range", "a range each", "centred, each")
    )
    assert each <= one and centred < each / 6


@pytest.mark.sampled(4)
def test_temperatures_gain_by_centring():
    rows = {row["format"]: row for row in accuracy.temperatures("host", side=130)}
    for fmt in ("float→16", "double→16", "double→32"):
        for error in ("mean", "largest", "absolute"):
            assert rows[f"{fmt}, centred"][error] < rows[fmt][error] / 15
