"""Random programs in the style of applications print what they print when gcc compiles them."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from .conftest import Rotation
from .programs import ROUNDS, make_program
from .test_nest_fuzz import compare

pytestmark = pytest.mark.skipif(shutil.which("gcc") is None, reason="gcc is not installed")


def check(seed: int, target: str, folder: Path, rounds: int = ROUNDS) -> None:
    compare(make_program(seed, rounds), target, folder, *(["--late"] if target == "sim" else []))


def test_of_the_day(rotation: Rotation) -> None:
    rotation.run(lambda seed, target, folder: check(seed, target, folder, rounds=5))


@pytest.mark.gpu
@pytest.mark.parametrize("seed", range(100, 110))
def test_on_a_gpu(seed: int, tmp_path: Path) -> None:
    compare(make_program(seed), "nvptx", tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("target", ["host", "sim"])
@pytest.mark.parametrize("seed", range(1000, 1060))
def test_many(seed: int, target: str, tmp_path: Path) -> None:
    check(seed, target, tmp_path)
