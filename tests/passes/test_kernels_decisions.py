"""Which loops of kernels constructs are found independent: comments in the programs say what is expected."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from tools import commands

FOLDER = Path(__file__).parent.parent / "conformance" / "serial"
EXPECTED = re.compile(r" // (parallel|tested|in order)$")
REMARK = re.compile(r"\.c:(\d+):\d+: remark: (loop .*)")


def decisions(program: Path) -> dict[int, str]:
    """For each line with loops: whether one runs in parallel, and if so, whether that takes a test."""
    command = ["accopt", "--emit=transformed", "--remarks"]
    done = commands.run([*command, str(program)], timeout=120)
    assert done.returncode == 0, done.stderr
    found: dict[int, set[str]] = {}
    for line, text in REMARK.findall(done.stderr):
        kinds = found.setdefault(int(line), {"in order"})
        if "fallback: arrays overlap" in text:
            continue
        if "in parallel where" in text:
            kinds.add("tested")
        elif "mapped to gang" in text:
            kinds.add("parallel")
    order = ("tested", "parallel", "in order")
    return {line: next(k for k in order if k in kinds) for line, kinds in found.items()}


@pytest.mark.parametrize("name", ["kernels_loops", "kernels_dependences"])
@pytest.mark.sampled(2)
def test_decisions(name: str) -> None:
    program = FOLDER / f"{name}.c"
    expected = {
        number: match[1]
        for number, line in enumerate(program.read_text().splitlines(), 1)
        if (match := EXPECTED.search(line)) is not None
    }
    assert len(expected) > 30
    assert decisions(program) == expected
