"""Grids of more gangs than one launch may have: every iteration runs once, in any number of parts."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

SOURCE = Path(__file__).parent / "programs" / "long_grids.c"


@pytest.mark.parametrize("longest", [2, 65535])
def test_each_iteration_runs_once(longest: int) -> None:
    option = f"convert-acc-compute-to-gpu{{longest={longest}}}"
    command = [sys.executable, "-m", "accopt.compiler.drivers.accrun_main", "--target", "sim"]
    done = subprocess.run(
        [*command, "--pass-option", option, str(SOURCE)],
        capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, ""), done.stdout + done.stderr
