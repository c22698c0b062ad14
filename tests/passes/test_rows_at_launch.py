"""Nests whose rows are side by side, or not, as the launch chooses (`jam-outer-iterations`)."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = Path(__file__).parents[1] / "conformance/rows_at_launch.c"


@pytest.mark.parametrize("threads", [10, 30])
def test_in_the_simulator(threads: int) -> None:
    option = f"jam-outer-iterations{{threads={threads}}}"
    command = [sys.executable, "-m", "accopt.compiler.drivers.accrun_main", "--target=sim"]
    done = subprocess.run(
        [*command, "--pass-option", option, PROGRAM],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert (done.returncode, done.stdout) == (0, "0 wrong\n"), done.stdout + done.stderr
