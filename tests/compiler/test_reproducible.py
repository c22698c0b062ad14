"""One program, one code: what is emitted must not depend on hashes or addresses in the compiler."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAMS = Path(__file__).parents[1] / "passes" / "programs"
COMPILE = """
import sys
from accopt.compiler.drivers.accopt_main import main
for path in sys.argv[1:]:
    assert main(["--emit", "nvvm", path]) == 0
"""


@pytest.mark.sampled(2)
def test_code_is_the_same_in_every_process():
    """Programs with subscripts like `i * n * m + j`: products of values known at run time only."""
    paths = [str(PROGRAMS / name) for name in ("stencils.c",)]
    running = [
        subprocess.Popen(
            [sys.executable, "-c", COMPILE, *paths],
            env={**os.environ, "PYTHONHASHSEED": seed},
            stdout=subprocess.PIPE,
        )
        for seed in ("1", "2")
    ]
    codes = {process.communicate()[0] for process in running}
    assert all(process.returncode == 0 for process in running) and len(codes) == 1
