"""The examples in the simulator: right answers, and no faults."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from tools import commands

TESTS = Path(__file__).parent.parent
sys.path.insert(0, str(TESTS))

from test_examples import EXAMPLES, PROGRAMS, assert_same_report  # noqa: E402


def accrun(sources: list[Path]) -> subprocess.CompletedProcess[str]:
    command = ["accrun", "--target=sim"]
    return commands.run([*command, *map(str, sources)], timeout=120)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", PROGRAMS)
def test_example(name: str) -> None:
    done = accrun(PROGRAMS[name])
    assert (done.returncode, done.stderr) == (0, ""), done.stdout + done.stderr
    assert_same_report(done.stdout, (EXAMPLES / "expected" / f"{name}.txt").read_text())
