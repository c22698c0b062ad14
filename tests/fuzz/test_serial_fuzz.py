"""Random serial C programs print what they print when gcc compiles them."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from tools import commands

from .conftest import Rotation
from .serial import make_serial_program

pytestmark = pytest.mark.skipif(shutil.which("gcc") is None, reason="gcc is not installed")


def compare(seed: int, folder: Path) -> None:
    source, binary = folder / f"seed{seed}.c", folder / "reference"
    source.write_text(make_serial_program(seed))
    subprocess.run(["gcc", "-w", "-O0", source, "-o", binary], check=True)
    expected = subprocess.run([binary], capture_output=True, text=True, check=True)
    done = commands.run(
        ["accrun", "--target=host", source],
        timeout=120,
        env={**os.environ, "XDG_CACHE_HOME": str(folder)},
    )
    assert done.returncode == 0, f"{source}\n{done.stderr}"
    assert done.stdout == expected.stdout, source


def test_of_the_day(rotation: Rotation) -> None:
    rotation.run(lambda seed, target, folder: compare(seed, folder), targets=["host"])


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(1000, 1200))
def test_many(seed: int, tmp_path: Path) -> None:
    compare(seed, tmp_path)
