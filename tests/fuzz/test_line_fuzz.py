"""Sequential loops along the columns of threads do what serial C does."""

from __future__ import annotations

from pathlib import Path

import pytest

from .conftest import Rotation
from .lines import make_program
from .test_overlap_fuzz import check_program


def check(seed: int, target: str, folder: Path) -> None:
    check_program(make_program(seed), target, folder / f"seed{seed}.c", "-w")


@pytest.mark.parametrize("seed", [10, 17])
def test_few(seed: int, tmp_path: Path) -> None:
    """Both store to rows that later iterations load."""
    check(seed, "sim", tmp_path)


def test_of_the_day(rotation: Rotation) -> None:
    rotation.run(check)


@pytest.mark.slow
@pytest.mark.parametrize("target", ["host", "sim"])
@pytest.mark.parametrize("seed", range(100, 180))
def test_many(seed: int, target: str, tmp_path: Path) -> None:
    check(seed, target, tmp_path)


@pytest.mark.gpu
@pytest.mark.parametrize("seed", range(16))
def test_on_gpu(seed: int, tmp_path: Path) -> None:
    check(seed, "nvptx", tmp_path)
