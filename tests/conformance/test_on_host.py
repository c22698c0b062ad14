"""
All conformance programs on CPU threads. LLVM optimises a third of them, another third each day, and compiles
the others quickly: our own passes are the same for all.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from conformance_programs import HOST_ONLY, PROGRAMS, SERIAL, check

ALL = [*PROGRAMS, *SERIAL, *HOST_ONLY]


@pytest.mark.parametrize("program", ALL, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_on_host(program: Path, request: pytest.FixtureRequest) -> None:
    optimised = (ALL.index(program) + request.config.getoption("--rotation")) % 3 == 0
    check(program, "host", "-O3" if optimised or program in HOST_ONLY else "-O0")
