"""Random loops over rows print what gcc's program prints, in each version for short rows."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from .rows import make_rows
from .test_nest_fuzz import compare

pytestmark = pytest.mark.skipif(shutil.which("gcc") is None, reason="gcc is not installed")

VERSIONS = "--pass-option=keep-short-rows{threads=1}"
"""Versions for many rows run for few rows, too."""


def test_same_output_as_gcc(tmp_path: Path) -> None:
    compare(make_rows(3, 5), "sim", tmp_path, VERSIONS)


@pytest.mark.gpu
@pytest.mark.parametrize("seed", range(100, 104))
def test_on_a_gpu(seed: int, tmp_path: Path) -> None:
    compare(make_rows(seed, 16), "nvptx", tmp_path, VERSIONS)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(1000, 1020))
@pytest.mark.parametrize("target", ["host", "sim"])
def test_many(seed: int, target: str, tmp_path: Path) -> None:
    compare(make_rows(seed, 8), target, tmp_path, VERSIONS)
