"""Occupancy against figures of NVIDIA's occupancy calculator and driver."""

from __future__ import annotations

import pytest
from accopt.passes.decisions.device import multiprocessor
from accopt.passes.decisions.occupancy import occupancy


@pytest.mark.parametrize(
    ("sm", "threads", "registers", "shared", "share", "limit"),
    [
        (90, 256, 32, 0, 1.0, "threads"),
        (90, 256, 40, 0, 0.75, "registers"),
        (90, 256, 127, 0, 0.25, "registers"),
        (90, 256, 125, 8192, 0.25, "registers"),
        (90, 256, 249, 12288, 0.125, "registers"),
        (90, 256, 80, 5984, 0.375, "registers"),
        (90, 64, 64, 49152, 0.125, "shared memory"),
        (90, 32, 16, 0, 0.5, "blocks"),
        (75, 1024, 64, 0, 1.0, "threads"),
        (86, 1024, 32, 0, 2 / 3, "threads"),
        (86, 128, 32, 0, 1.0, "threads"),
    ],
)
def test_share_of_a_multiprocessor(sm, threads, registers, shared, share, limit):  # pyright: ignore
    found = occupancy(sm, threads=threads, registers=registers, shared=shared)  # pyright: ignore
    assert found.share == pytest.approx(share)  # pyright: ignore
    assert found.limit == limit


def test_a_block_that_does_not_fit():
    assert occupancy(90, threads=1024, registers=128, shared=0).blocks == 0


def test_unknown_capabilities_count_as_the_newest_before():
    assert multiprocessor(91) == multiprocessor(90)
    assert multiprocessor(60) == multiprocessor(70)
