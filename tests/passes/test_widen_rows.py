"""
Stencils with 16-byte accesses: every size, offset and type gives gcc's output (serially) on the simulated
GPU, which also checks every access, and on the host with the pass forced on.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAMS = Path(__file__).parent / "programs"
SOURCE = str(PROGRAMS / "stencils.c")
EXPECTED = (PROGRAMS / "stencils.out").read_text()


def _run(module: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", f"accopt.compiler.{module}", *arguments, SOURCE]
    return subprocess.run(command, capture_output=True, text=True, timeout=120)


@pytest.mark.parametrize(
    "option",
    [
        "threads=0",
        "threads=0 workers=3 lanes=64 row_lanes=32",
        "threads=40 most_words=30",
        "most_words=0",
    ],
)
def test_on_the_simulator(option: str) -> None:
    done = _run("accrun_main", "--target", "sim", "--pass-option", f"widen-rows{{{option}}}")
    assert done.returncode == 0, done.stderr
    assert done.stdout == EXPECTED


def test_on_the_host() -> None:
    option = "widen-rows{target=nvptx threads=0}"
    done = _run("accrun_main", "--target", "host", "--pass-option", option)
    assert done.returncode == 0, done.stderr
    assert done.stdout == EXPECTED


def test_rows_are_accessed_sixteen_bytes_at_a_time() -> None:
    done = _run("accopt_main", "--emit", "ptx")
    assert done.returncode == 0, done.stderr
    kernels = {part.split("(")[0]: part for part in done.stdout.split(".visible .entry ")[1:]}
    wide = next(kernels[name] for name in kernels if re.fullmatch(r"five_\d+_kernel", name))
    other = next(kernels[name] for name in kernels if re.fullmatch(r"five_\d+_2_kernel", name))
    # Rows of a full tile, and of rows that come one by one.
    assert len(re.findall(r"ld\.global(\.nc)?\.v4\.b32", wide)) >= 6
    assert len(re.findall(r"st\.global\.v4\.b32", wide)) >= 4
    assert ".v4" not in other
    assert "bar.sync" not in wide and ".reqntid 128, 1, 1" in wide
