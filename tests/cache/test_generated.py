"""
Generated nests: with the directives and without them, on the host, in the simulator (which also looks
for races, and for accesses that leave what is mapped) and on the GPU, the arrays are the same.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

import pytest

QUICK = range(5)
SLOW = range(1000, 2000, 20)
GPU = range(3000, 3080, 20)
LONG = range(5000, 5200, 20)
"""Sections of thousands of elements, and while loops around directives."""
SPLIT = range(8200, 8400, 20)
"""Arrays that two sections name, accesses outside of the scope."""
PRODUCTS = 100_000
FOUND = (1023, 3004)
"""Seeds that showed errors once."""


def check(target: str, seeds: Iterable[int], folder: Path) -> None:
    script = Path(__file__).parent / "run_nests.py"
    done = subprocess.run(
        [sys.executable, str(script), target, str(folder), *map(str, seeds)],
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
        env={**os.environ, "XDG_CACHE_HOME": str(folder)},
    )
    assert done.returncode == 0, f"{done.stdout[-3000:]}{done.stderr[-3000:]}"


@pytest.mark.sampled(3)
def test_in_the_simulator(tmp_path: Path) -> None:
    check("sim", [*QUICK, *FOUND, *range(8200, 8204)], tmp_path)


@pytest.mark.sampled(3)
def test_on_the_host(tmp_path: Path) -> None:
    check("host", [*QUICK[::4], *range(PRODUCTS, PRODUCTS + 3)], tmp_path)


@pytest.mark.slow
def test_products(tmp_path: Path) -> None:
    check("sim", range(PRODUCTS, PRODUCTS + 12), tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize(
    "first", [*SLOW, *LONG, *SPLIT, *range(PRODUCTS + 1000, PRODUCTS + 1200, 20)]
)
def test_many(first: int, tmp_path: Path) -> None:
    check("sim", range(first, first + 20), tmp_path)


@pytest.mark.gpu
@pytest.mark.parametrize("first", [*GPU, LONG[0], SPLIT[0], PRODUCTS, PRODUCTS + 20])
def test_on_the_gpu(first: int, tmp_path: Path) -> None:
    check("nvptx", range(first, first + 20), tmp_path)
