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

SMALLER = {"jacobi": ("limit = 1000", "limit = 100")}
"""Programs that take long, and what is less for them here."""


def accrun(sources: list[Path], target: str = "sim") -> subprocess.CompletedProcess[str]:
    command = ["accrun", f"--target={target}"]
    return commands.run([*command, *map(str, sources)], timeout=120)


@pytest.mark.sampled(5)
@pytest.mark.parametrize("name", PROGRAMS)
def test_example(name: str, tmp_path: Path) -> None:
    if name in SMALLER:
        source = tmp_path / f"{name}.c"
        source.write_text(PROGRAMS[name][0].read_text().replace(*SMALLER[name]))
        expected = accrun([source], "host").stdout
        done = accrun([source])
    else:
        expected = (EXAMPLES / "expected" / f"{name}.txt").read_text()
        done = accrun(PROGRAMS[name])
    assert (done.returncode, done.stderr) == (0, ""), done.stdout + done.stderr
    assert_same_report(done.stdout, expected)
