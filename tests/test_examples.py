"""
The examples, whole programs from C to exit code, against what `gcc -O2` prints for them.

`examples/expected` holds gcc's output; numbers may differ in the last digit printed, because a
reduction adds in another order.
"""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest
from tools import commands

EXAMPLES = Path(__file__).parent.parent / "examples"
PROGRAMS = {path.stem: [path] for path in sorted(EXAMPLES.glob("*.c"))} | {
    path.name: sorted(path.glob("*.c"))
    for path in EXAMPLES.iterdir()
    if any(path.glob("*.c")) and path.name not in ("mpi", "openmp")  # test_mpi.py, openmp
}
NUMBER = re.compile(r"[-+]?\d+(?:\.\d+)?(?:e[-+]?\d+)?")


def run(sources: list[Path], target: str) -> subprocess.CompletedProcess[str]:
    command = ["accrun", f"--target={target}"]
    return commands.run([*command, *map(str, sources)], timeout=600)


def assert_same_report(actual: str, expected: str) -> None:
    """Same words, and numbers equal to one unit of the last digit printed."""
    assert NUMBER.sub("#", actual) == NUMBER.sub("#", expected)
    for got, want in zip(NUMBER.findall(actual), NUMBER.findall(expected), strict=True):
        mantissa, _, exponent = want.partition("e")
        last_digit = 10.0 ** (int(exponent or 0) - len(mantissa.partition(".")[2]))
        allowed = 1.01 * last_digit if "." in want else 0.0
        assert abs(float(got) - float(want)) <= allowed, f"{got} instead of {want}"


def check(name: str, target: str) -> None:
    result = run(PROGRAMS[name], target)
    assert result.returncode == 0, result.stdout + result.stderr
    assert_same_report(result.stdout, (EXAMPLES / "expected" / f"{name}.txt").read_text())


@pytest.mark.parametrize("name", PROGRAMS)
def test_on_host(name: str) -> None:
    check(name, "host")


@pytest.mark.gpu
@pytest.mark.parametrize("name", PROGRAMS)
def test_on_gpu(name: str) -> None:
    check(name, "nvptx")
