"""Nests whose rows are side by side, or not, as the launch chooses (`jam-outer-iterations`)."""

from __future__ import annotations

from pathlib import Path

import pytest
from tools import commands

PROGRAM = Path(__file__).parents[1] / "conformance/rows_at_launch.c"


@pytest.mark.parametrize("threads", [10, 30])
@pytest.mark.sampled(2)
def test_in_the_simulator(threads: int) -> None:
    option = f"jam-outer-iterations{{threads={threads}}}"
    command = ["accrun", "--target=sim"]
    done = commands.run([*command, "--pass-option", option, PROGRAM], timeout=300)
    assert (done.returncode, done.stdout) == (0, "0 wrong\n"), done.stdout + done.stderr
