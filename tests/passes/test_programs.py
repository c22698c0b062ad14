"""Programs of the acc-level passes' corner cases on the host target; outputs are gcc's, serially."""

from __future__ import annotations

from pathlib import Path

import pytest
from tools import commands

PROGRAMS = sorted((Path(__file__).parent / "programs").glob("*.c"))


@pytest.mark.sampled(3)
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda path: path.stem)
def test_output(program: Path):
    command = ["accrun", "--target", "host", str(program)]
    done = commands.run(command, timeout=120)
    assert done.returncode == 0, done.stderr
    assert done.stdout == program.with_suffix(".out").read_text()


@pytest.mark.sampled(4)
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda path: path.stem)
@pytest.mark.parametrize("stage", ["scheduled", "gpu"])
def test_ir_for_a_gpu_is_legal(program: Path, stage: str):
    command = ["accopt", "--emit", stage, "--verify"]
    done = commands.run([*command, str(program)], timeout=120)
    assert done.returncode == 0, done.stderr
