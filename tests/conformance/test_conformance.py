"""
Programs that check themselves, one per family of directives and clauses (OpenACC 3.4).

Those in `serial` print what a C compiler that knows no OpenACC makes them print, which is kept beside
them. Each runs on a GPU where there is one; a sample of them on the host target, in the simulator, where work
is as late as waits allow, and as PTX that ptxas assembles (all with `--slow`).

Where a fault would show as a wrong result on a device, without a message, the program says so by `ALWAYS`
below its first comment: each run has it in the simulator.
"""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest
from accopt.compiler.backend.ptxas import assemble
from accopt.compiler.backend.toolkit import find_ptxas
from tools import commands

PROGRAMS = sorted(Path(__file__).parent.glob("*.c"))
SERIAL = sorted((Path(__file__).parent / "serial").glob("*.c"))
HOST_ONLY = sorted((Path(__file__).parent / "host_only").glob("*.c"))
ALWAYS = "/* A fault is a wrong result: always in the simulator. */\n"


def accrun(program: Path, target: str) -> subprocess.CompletedProcess[str]:
    command = ["accrun", f"--target={target}"]
    if target == "sim":  # as late as a GPU could be
        command.append("--late")
    return commands.run([*command, str(program)], timeout=300)


@pytest.mark.sampled(6)
@pytest.mark.parametrize("program", [*PROGRAMS, *HOST_ONLY], ids=lambda path: path.stem)
def test_on_host(program: Path) -> None:
    done = accrun(program, "host")
    assert done.returncode == 0 and "failed" not in done.stdout, done.stdout + done.stderr


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


@pytest.mark.sampled(8)
@pytest.mark.parametrize("program", with_silent_faults(PROGRAMS), ids=lambda path: path.stem)
def test_in_the_simulator(program: Path) -> None:
    done = accrun(program, "sim")
    assert done.returncode == 0 and "failed" not in done.stdout, done.stdout + done.stderr


@pytest.mark.sampled(6)
@pytest.mark.parametrize("target", ["host", "sim", pytest.param("nvptx", marks=pytest.mark.gpu)])
@pytest.mark.parametrize("program", SERIAL, ids=lambda path: path.stem)
def test_as_in_serial(program: Path, target: str) -> None:
    done = accrun(program, target)
    assert done.returncode == 0, done.stderr
    assert done.stdout == program.with_suffix(".txt").read_text()


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
    done = accrun(program, "nvptx")
    assert done.returncode == 0 and "failed" not in done.stdout, done.stdout + done.stderr
