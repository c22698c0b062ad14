"""Random nests do what serial C does, whichever of their arrays are the same."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from tools import commands

from .conftest import Rotation
from .overlaps import make_program

SLOW = range(100, 150)


def run(source: Path, target: str, *options: str) -> subprocess.CompletedProcess[str]:
    command = ["accrun", f"--target={target}"]
    return commands.run(
        [*command, *options, str(source)],
        timeout=300,
        env={**os.environ, "XDG_CACHE_HOME": str(source.parent)},
    )


def check_program(text: str, target: str, source: Path, *options: str) -> None:
    """Runs a program, as the file `source`, that prints `ok` if its results are right."""
    source.write_text(text)
    done = run(source, target, *options)
    assert (done.returncode, done.stdout) == (0, "ok\n"), f"{source}\n{done.stdout}{done.stderr}"


def check(seed: int, target: str, folder: Path) -> None:
    check_program(make_program(seed), target, folder / f"seed{seed}.c")


def test_of_the_day(rotation: Rotation) -> None:
    rotation.run(check)


@pytest.mark.slow
@pytest.mark.parametrize("target", ["host", "sim"])
@pytest.mark.parametrize("seed", SLOW)
def test_many(seed: int, target: str, tmp_path: Path) -> None:
    check(seed, target, tmp_path)


@pytest.mark.gpu
@pytest.mark.parametrize("seed", range(10))
def test_on_gpu(seed: int, tmp_path: Path) -> None:
    check(seed, "nvptx", tmp_path)


def test_a_wrong_answer_would_be_seen(tmp_path: Path) -> None:
    text = make_program(0)
    at = text.index("_plain(")
    wrong = text[:at] + text[at:].replace("double t = 0.5;", "double t = 0.5; a[i] += 1;", 1)
    source = tmp_path / "wrong.c"
    source.write_text(wrong)
    assert run(source, "host").stdout.startswith("f0: [")
