"""Random loops over numbered rows and reduced scalars print what they print when gcc compiles them."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from .rows_by_number import make_numbered
from .test_nest_fuzz import compare

pytestmark = pytest.mark.skipif(shutil.which("gcc") is None, reason="gcc is not installed")


def test_same_output_as_gcc(tmp_path: Path) -> None:
    compare(make_numbered(2, 4), "sim", tmp_path)


@pytest.mark.gpu
@pytest.mark.parametrize("seed", range(100, 104))
def test_on_a_gpu(seed: int, tmp_path: Path) -> None:
    compare(make_numbered(seed, 16), "nvptx", tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("target", ["host", "sim"])
@pytest.mark.parametrize("seed", range(1000, 1020))
def test_many(seed: int, target: str, tmp_path: Path) -> None:
    compare(make_numbered(seed, 16), target, tmp_path, "--verify-each")
