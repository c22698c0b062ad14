"""Random nests of the kinds that passes transform as a whole print what they print when gcc compiles them."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from .conftest import Rotation
from .kinds import KINDS, Kind, make_kinds
from .test_nest_fuzz import compare

pytestmark = pytest.mark.skipif(shutil.which("gcc") is None, reason="gcc is not installed")


def check(seed: int, target: str, folder: Path) -> None:
    compare(make_kinds(seed, 2, KINDS[seed % len(KINDS)]), target, folder, "--no-fma")


def test_of_the_day(rotation: Rotation) -> None:
    rotation.run(check)


@pytest.mark.gpu
@pytest.mark.parametrize("seed", range(100, 104))
def test_on_a_gpu(seed: int, tmp_path: Path) -> None:
    compare(make_kinds(seed, 2 * len(KINDS)), "nvptx", tmp_path, "--no-fma")


@pytest.mark.slow
@pytest.mark.parametrize("sizes", ["advice", "as-written"])
@pytest.mark.parametrize("target", ["host", "sim"])
@pytest.mark.parametrize("seed", range(1000, 1020))
def test_many(seed: int, target: str, sizes: str, tmp_path: Path) -> None:
    compare(make_kinds(seed, 2 * len(KINDS)), target, tmp_path, "--no-fma", f"--sizes={sizes}")


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("target", ["host", "sim"])
def test_one_kind(kind: Kind, target: str, tmp_path: Path) -> None:
    compare(make_kinds(7, 12, kind), target, tmp_path, "--no-fma")
