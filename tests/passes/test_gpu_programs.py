"""Every program of `gpu_programs.py`: lowers to PTX that ptxas accepts, and is right on a GPU."""

from __future__ import annotations

import subprocess
from pathlib import Path

import numpy as np
import pytest
from accopt.compiler.backend.toolkit import find_ptxas
from gpu_device import build, lower, run
from gpu_program import Program
from gpu_programs import programs

PROGRAMS = {program.name: program for program in programs()}
SAMPLE = list(PROGRAMS.values())[::17]


@pytest.mark.parametrize("part", range(0, len(PROGRAMS), 50))
@pytest.mark.sampled(3)
def test_lower_and_verify(part: int) -> None:
    for program in list(PROGRAMS.values())[part : part + 50]:
        lower(program.text)


@pytest.mark.parametrize("program", SAMPLE, ids=[program.name for program in SAMPLE])
def test_ptxas_accepts(program: Program, tmp_path: Path) -> None:
    ptxas = find_ptxas()
    if ptxas is None:
        pytest.skip("ptxas is not installed")
    source = tmp_path / "kernel.ptx"
    source.write_text(build(program).ptx)
    done = subprocess.run(
        [ptxas, "-arch=sm_90", source, "-o", tmp_path / "kernel.cubin"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr


@pytest.mark.gpu
@pytest.mark.parametrize(
    "options",
    [{}, {"reduction_strategy": "atomic", "redux": True}, {"exchange": "shared"}],
    ids=["default", "atomic", "shared"],
)
@pytest.mark.parametrize("program", PROGRAMS.values(), ids=PROGRAMS.keys())
def test_runs(program: Program, options: dict[str, object]) -> None:
    found = run(build(program, **options), program)
    for name, expected in program.expected.items():
        np.testing.assert_allclose(
            found[name].view(expected.dtype),
            expected,
            rtol=program.tolerance,
            atol=program.tolerance,
        )
