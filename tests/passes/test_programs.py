"""Programs of the acc-level passes' corner cases on the host target; outputs are gcc's, serially."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

PROGRAMS = sorted((Path(__file__).parent / "programs").glob("*.c"))


@pytest.mark.sampled(2)
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda path: path.stem)
def test_output(program: Path):
    command = [
        sys.executable,
        "-m",
        "accopt.compiler.drivers.accrun_main",
        "--target",
        "host",
        str(program),
    ]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert done.stdout == program.with_suffix(".out").read_text()


@pytest.mark.sampled(3)
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda path: path.stem)
@pytest.mark.parametrize("stage", ["scheduled", "gpu"])
def test_ir_for_a_gpu_is_legal(program: Path, stage: str):
    command = [
        sys.executable,
        "-m",
        "accopt.compiler.drivers.accopt_main",
        "--emit",
        stage,
        "--verify",
    ]
    done = subprocess.run([*command, str(program)], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
