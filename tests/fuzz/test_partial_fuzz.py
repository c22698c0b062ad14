"""Random nests do what serial C does, however their arrays overlap."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from .conftest import Rotation
from .partial import make_program
from .test_overlap_fuzz import check_program


def check(seed: int, target: str, folder: Path, nests: int = 6) -> None:
    check_program(make_program(seed, nests), target, folder / f"seed{seed}.c", "--no-fma", "-w")


def test_of_the_day(rotation: Rotation) -> None:
    rotation.run(lambda seed, target, folder: check(seed, target, folder, nests=2))


@pytest.mark.slow
@pytest.mark.parametrize("target", ["host", "sim"])
@pytest.mark.parametrize("seed", range(100, 150))
def test_many(seed: int, target: str, tmp_path: Path) -> None:
    check(seed, target, tmp_path)


@pytest.mark.gpu
@pytest.mark.parametrize("seed", range(10))
def test_on_gpu(seed: int, tmp_path: Path) -> None:
    check(seed, "nvptx", tmp_path)


@pytest.mark.skipif(shutil.which("gcc") is None, reason="gcc is not installed")
def test_a_wrong_answer_would_be_seen(tmp_path: Path) -> None:
    text = make_program(1, nests=1)
    at = text.index("f0_plain(")
    wrong = text[:at] + text[at:].replace("t = 1;", "t = 1; a[i] += 1;", 1)
    for name, source in (("right", text), ("wrong", wrong)):
        (tmp_path / f"{name}.c").write_text(source)
        subprocess.run(["gcc", "-w", f"{name}.c", "-o", name, "-lm"], cwd=tmp_path, check=True)
    right, differ = (
        subprocess.run([tmp_path / name], capture_output=True, text=True, check=False).stdout
        for name in ("right", "wrong")
    )
    assert right == "ok\n"
    assert differ.startswith("f0: ")
