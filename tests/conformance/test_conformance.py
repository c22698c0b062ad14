"""
Conformance programs on devices: each on a GPU where there is one; a quarter, another one each day, in
the simulator, where work is as late as waits allow; and a sample as PTX that ptxas assembles.

Where a fault would show as a wrong result on a device, without a message, the program says so by `ALWAYS`
below its first comment: each run has it in the simulator.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from accopt.compiler.backend.ptxas import assemble
from accopt.compiler.backend.toolkit import find_ptxas
from conformance_programs import PROGRAMS, SERIAL, check
from tools import commands

ALWAYS = "/* A fault is a wrong result: always in the simulator. */\n"


def with_silent_faults(programs: list[Path]) -> list[Any]:
    """Parameters that mark the programs which each run has."""
    return [
        pytest.param(path, marks=pytest.mark.always) if ALWAYS in path.read_text() else path
        for path in programs
    ]


def test_each_run_has_those_with_silent_faults(request: pytest.FixtureRequest) -> None:
    marked = {path.stem for path in PROGRAMS if ALWAYS in path.read_text()}
    assert marked
    name = test_in_the_simulator.__name__
    items = [i for i in request.session.items if i.name.partition("[")[0] == name]
    left_out = {i.name for i in items if i.get_closest_marker("skip") is not None}
    assert not left_out & {f"{name}[{stem}]" for stem in marked}


@pytest.mark.sampled(4)
@pytest.mark.parametrize("program", with_silent_faults(PROGRAMS), ids=lambda path: path.stem)
def test_in_the_simulator(program: Path) -> None:
    check(program, "sim", "--late")  # as late as a GPU could be


@pytest.mark.sampled(4)
@pytest.mark.parametrize("target", ["sim", pytest.param("nvptx", marks=pytest.mark.gpu)])
@pytest.mark.parametrize("program", SERIAL, ids=lambda path: path.stem)
def test_as_in_serial(program: Path, target: str) -> None:
    check(program, target)


@pytest.mark.sampled(25)
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda path: path.stem)
def test_assembles(program: Path, tmp_path: Path) -> None:
    ptx = tmp_path / "kernels.ptx"
    command = ["accopt", "--emit=ptx", "--verify"]
    done = commands.run([*command, str(program), "-o", str(ptx)], timeout=300)
    assert done.returncode == 0, done.stderr
    if find_ptxas() is None:
        pytest.skip("no ptxas: install nvidia-cuda-nvcc")
    assert assemble(ptx.read_text(), sm=90).kernels


@pytest.mark.gpu
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda path: path.stem)
def test_on_gpu(program: Path) -> None:
    check(program, "nvptx")
