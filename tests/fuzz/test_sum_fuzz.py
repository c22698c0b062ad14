"""Random loops that are parallel in parts do what serial C does."""

from __future__ import annotations

from pathlib import Path

import pytest

from .conftest import Rotation
from .sums import make_program
from .test_overlap_fuzz import check_program


def check(seed: int, target: str, folder: Path) -> None:
    check_program(make_program(seed), target, folder / f"seed{seed}.c", "-w")


def test_of_the_day(rotation: Rotation) -> None:
    rotation.run(check)


def test_an_array_within_another(tmp_path: Path) -> None:
    """A loop is divided, and called with arrays of which one begins within another."""
    check(11, "sim", tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("target", ["host", "sim"])
@pytest.mark.parametrize("seed", range(100, 180))
def test_many(seed: int, target: str, tmp_path: Path) -> None:
    check(seed, target, tmp_path)


@pytest.mark.gpu
@pytest.mark.parametrize("seed", range(10))
def test_on_gpu(seed: int, tmp_path: Path) -> None:
    check(seed, "nvptx", tmp_path)
