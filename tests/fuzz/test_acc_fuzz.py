"""Random OpenACC programs: what a construct leaves in memory is what its serial code leaves."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from tools import commands

from .conftest import Rotation
from .generator import make_program

SLOW = range(1000, 1200)
GPU = range(40)


def run(seed: int, target: str, folder: Path, *, verify: bool = False) -> None:
    source = folder / f"seed{seed}.c"
    source.write_text(make_program(seed))
    command = ["accrun", f"--target={target}"]
    done = commands.run(
        [*command, *(["--verify"] if verify else []), str(source)],
        timeout=300,
        env={**os.environ, "XDG_CACHE_HOME": str(folder)},
    )
    assert (done.returncode, done.stdout) == (0, "ok\n"), f"{source}\n{done.stdout}{done.stderr}"


def test_of_the_day(rotation: Rotation) -> None:
    rotation.run(lambda seed, target, folder: run(seed, target, folder, verify=target == "host"))


@pytest.mark.slow
@pytest.mark.parametrize("target", ["host", "sim"])
@pytest.mark.parametrize("seed", SLOW)
def test_many(seed: int, target: str, tmp_path: Path) -> None:
    run(seed, target, tmp_path)


@pytest.mark.gpu
@pytest.mark.parametrize("seed", GPU)
def test_on_gpu(seed: int, tmp_path: Path) -> None:
    run(seed, "nvptx", tmp_path)


def test_a_wrong_answer_would_be_seen(tmp_path: Path) -> None:
    source = tmp_path / "wrong.c"
    text = make_program(0, constructs=1)
    at = text.index("static void g0")
    brace = text.index("{", at)
    source.write_text(text[: brace + 1] + " A[3] += 1; Y[1][2][3] += 0.5; " + text[brace + 1 :])
    command = ["accrun", "--target=host"]
    done = commands.run([*command, str(source)])
    assert done.returncode == 1
    assert "f0: A[3] is" in done.stdout and "f0: Y[" in done.stdout
