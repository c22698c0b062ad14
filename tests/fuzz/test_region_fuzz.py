"""Inferred data regions change no output: random programs with and without the pass."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from tools import commands

from .conftest import Rotation
from .regions import RegionProgram

SLOW = range(1000, 1150)


def run(source: Path, target: str, enabled: str) -> tuple[int, str]:
    option = f"infer-data-regions{{enabled={enabled} runs=true}}"
    command = ["accrun", f"--target={target}", "-O0"]
    done = commands.run(
        [*command, "--verify", "--pass-option", option, str(source)],
        timeout=300,
        env={**os.environ, "XDG_CACHE_HOME": str(source.parent)},
    )
    return done.returncode, done.stdout


def compare(seed: int, target: str, folder: Path) -> None:
    source = folder / f"seed{seed}.c"
    source.write_text(RegionProgram(seed).source())
    without = run(source, target, "false")
    assert without[0] == 0
    assert run(source, target, "true") == without


def test_of_the_day(rotation: Rotation) -> None:
    rotation.run(compare)


@pytest.mark.slow
@pytest.mark.parametrize("target", ["host", "sim"])
@pytest.mark.parametrize("seed", SLOW)
def test_many(seed: int, target: str, tmp_path: Path) -> None:
    compare(seed, target, tmp_path)
