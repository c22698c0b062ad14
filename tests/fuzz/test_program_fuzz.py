"""Random programs in the style of applications print what they print when gcc compiles them."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from .programs import make_program
from .test_nest_fuzz import compare

pytestmark = pytest.mark.skipif(shutil.which("gcc") is None, reason="gcc is not installed")


def test_same_output_as_gcc(tmp_path: Path) -> None:
    compare(make_program(1, 5), "sim", tmp_path, "--late")


@pytest.mark.gpu
@pytest.mark.parametrize("seed", range(100, 110))
def test_on_a_gpu(seed: int, tmp_path: Path) -> None:
    compare(make_program(seed), "nvptx", tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("target", ["host", "sim"])
@pytest.mark.parametrize("seed", range(1000, 1060))
def test_many(seed: int, target: str, tmp_path: Path) -> None:
    options = ["--late"] if target == "sim" else []
    compare(make_program(seed), target, tmp_path, *options)
