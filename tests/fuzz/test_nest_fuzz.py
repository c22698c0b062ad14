"""Random nests in any order print what they print when gcc compiles them, without a race in the simulator."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from tools import commands

from .conftest import Rotation
from .nests import make_nests

pytestmark = pytest.mark.skipif(shutil.which("gcc") is None, reason="gcc is not installed")


def compare(program: str, target: str, folder: Path, *options: str) -> None:
    """Checks that a C program prints what it prints when gcc compiles it."""
    source, binary = folder / "nests.c", folder / "reference"
    source.write_text(program)
    subprocess.run(["gcc", "-w", "-O1", "-fwrapv", source, "-o", binary, "-lm"], check=True)
    expected = subprocess.run([binary], capture_output=True, text=True, check=True)
    command = ["accrun", "-w"]
    done = commands.run(
        [*command, f"--target={target}", *options, source],
        timeout=300,
        env={**os.environ, "XDG_CACHE_HOME": str(folder)},
    )
    assert done.returncode == 0, f"{source}\n{done.stderr}"
    assert done.stdout == expected.stdout, source


def test_of_the_day(rotation: Rotation) -> None:
    rotation.run(lambda seed, target, folder: compare(make_nests(seed, 4), target, folder))


@pytest.mark.gpu
@pytest.mark.parametrize("seed", range(100, 104))
def test_on_a_gpu(seed: int, tmp_path: Path) -> None:
    compare(make_nests(seed, 16), "nvptx", tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("sizes", ["advice", "as-written"])
@pytest.mark.parametrize("target", ["host", "sim"])
@pytest.mark.parametrize("seed", range(1000, 1020))
def test_many(seed: int, target: str, sizes: str, tmp_path: Path) -> None:
    compare(make_nests(seed, 16), target, tmp_path, f"--sizes={sizes}")
