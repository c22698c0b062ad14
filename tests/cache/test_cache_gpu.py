"""Programs with `cache` directives on a GPU: as on the CPU without them, and `--check-cache` there."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from test_cache_shapes import CASES, Argument, call, program
from test_check_sections import CASES as CHECKS
from test_check_sections import PROGRAM
from tools import commands

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
    command = ("accrun", "--target=nvptx")
    run = commands.run([*command, "--check-cache", str(source), "--", str(which), str(width)])
    if expected is None:
        assert (run.returncode, run.stdout) == (0, "done\n"), run.stderr
    else:
        assert run.returncode == 1 and "outside of the section" in run.stderr, run.stderr
