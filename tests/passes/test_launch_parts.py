"""Grids of more gangs than one launch may have: every iteration runs once, in any number of parts."""

from __future__ import annotations

from pathlib import Path

import pytest
from tools import commands

SOURCE = Path(__file__).parent / "programs" / "long_grids.c"


@pytest.mark.parametrize("longest", [2, 65535])
def test_each_iteration_runs_once(longest: int) -> None:
    option = f"convert-acc-compute-to-gpu{{longest={longest}}}"
    command = ["accrun", "--target", "sim"]
    done = commands.run([*command, "--pass-option", option, str(SOURCE)], timeout=120)
    assert (done.returncode, done.stderr) == (0, ""), done.stdout + done.stderr
