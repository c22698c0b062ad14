"""Programs with `cache` directives on a GPU: as on the CPU without them, and `--check-cache` there."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from test_cache_shapes import CASES, Argument, call, program
from test_check_sections import CASES as CHECKS
from test_check_sections import PROGRAM

pytestmark = pytest.mark.gpu


@pytest.mark.parametrize("options", ["promote=always", ""])
@pytest.mark.parametrize("case", CASES, ids=lambda c: c[0])
def test_same_output(case: tuple[str, list[Argument], str], options: str) -> None:
    kernel, arguments, _ = case
    expected = call(program("host", "", ("NO_CACHE",)), kernel, arguments)
    for want, have in zip(
        expected, call(program("nvptx", options), kernel, arguments), strict=True
    ):
        np.testing.assert_allclose(have, want, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("case", CHECKS, ids=str)
def test_accesses_outside_end_the_program(
    tmp_path: Path, case: tuple[int, int, tuple[str, ...] | None]
) -> None:
    which, width, expected = case
    source = tmp_path / "p.c"
    source.write_text(PROGRAM)
    command = (sys.executable, "-m", "accopt.compiler.drivers.accrun_main", "--target=nvptx")
    run = subprocess.run(
        [*command, "--check-cache", str(source), "--", str(which), str(width)],
        capture_output=True,
        text=True,
        check=False,
    )
    if expected is None:
        assert (run.returncode, run.stdout) == (0, "done\n"), run.stderr
    else:
        assert run.returncode == 1 and "outside of the section" in run.stderr, run.stderr
