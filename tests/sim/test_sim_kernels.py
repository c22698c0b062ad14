"""Every benchmark kernel at its small size, against its float64 reference."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from accopt.compiler.api import Program

ROOT = Path(__file__).parent.parent.parent
sys.path.insert(0, str(ROOT))

from sim_programs import compile_sim  # noqa: E402

from benchmarks.forms import wrong_run  # noqa: E402
from benchmarks.specs import KERNELS, Kernel  # noqa: E402

FILES = ROOT / "benchmarks" / "kernels"


@pytest.fixture(scope="module")
def programs() -> Iterator[dict[str, Program]]:
    """Compiled files by name, each compiled once."""
    found: dict[str, Program] = {}
    yield found
    for program in found.values():
        program.close()


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda k: k.name)
@pytest.mark.sampled(3)
def test_kernel(kernel: Kernel, programs: dict[str, Program]) -> None:
    program = programs.get(kernel.file)
    if program is None:
        program = programs[kernel.file] = compile_sim([FILES / f"{kernel.file}.c"])
    before = len(program.simulator.findings)
    assert wrong_run(program, kernel) is None
    assert program.simulator.findings[before:] == []
