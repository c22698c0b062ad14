"""The runner of other people's programs, on a collection made here."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.programs.collection import read_collection
from benchmarks.programs.numbers import difference
from benchmarks.programs.steps import load
from benchmarks.programs.table import table

ROOT = Path(__file__).parents[2]
DESCRIPTION = """
[defaults]
build = "{cc} -DN={class} {name}.c -o {name}"
executable = "{name}"
classes = ["10", "20"]
verify = "sum is right"
time = "took ([0-9.]+)"

[[program]]
name = "right"
[[program]]
name = "wrong"
[[program]]
name = "broken"
"""
PROGRAM = """
#include <stdio.h>
int main(void) {
    double s = 0;
    #pragma acc parallel loop reduction(+:s)
    for (int i = 0; i < N; i++) s += i;
    printf("sum is %s, took 0.5\\n", s == N * (N - 1) / 2 + WRONG ? "right" : "off");
    return 0;
}
"""


def test_what_builds_runs_and_verifies(tmp_path: Path):
    checkout = tmp_path / "mine"
    checkout.mkdir()
    (tmp_path / "mine.toml").write_text(DESCRIPTION)
    (checkout / "right.c").write_text(PROGRAM.replace("WRONG", "0"))
    (checkout / "wrong.c").write_text(PROGRAM.replace("WRONG", "1"))
    (checkout / "broken.c").write_text("int main(void) { return nothing; }\n")
    output = tmp_path / "results.jsonl"
    command = [sys.executable, "-m", "benchmarks.programs", "--collection", "mine"]
    command += ["--checkout", str(checkout), "--classes", "20", "--targets", "host"]
    command += ["--work", str(tmp_path / "work"), "--output", str(output), "--jobs", "2"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    results = {result.program: result for result in load(output)}
    assert results["right"].verified and results["right"].measured == 0.5
    assert results["wrong"].verified is False and results["wrong"].ran is not None
    assert results["broken"].failed == "link" and "nothing" in results["broken"].message
    assert {result.size for result in results.values()} == {"20"}
    text = table(load(output))
    assert "| right 20 | 0.5 s |" in text and "WRONG" in text and text in done.stdout
    first = output.read_text().splitlines()[0]
    assert json.loads(first)["program"] == "broken"


def test_numbers_agree_within_a_tolerance():
    assert difference("x 1.0000001 2\n", "x 1.0 2.0\n", 1e-6) is None
    assert difference("x 1.001\n", "x 1.0\n", 1e-6) is not None
    assert difference("x 1\n", "y 1\n", 1e-6) is not None
    assert difference("1 2\n", "1\n", 1e-6) == "1 words, serially 2"
    assert difference("1\ntook 3 s\n", "1\ntook 4 s\n", 1e-6, ignore="took") is None
    assert difference("1\n", "nan\n", 1e-6) is not None


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "no \\[\\[program\\]\\]"),
        ('[[program]]\nname = "a"\nbuild = ""\n', "no 'executable'"),
        ('[[program]]\nname = "a"\nbuild = ""\nexecutable = "a"\nclass = "S"\n', "'class' is not"),
    ],
)
def test_what_is_no_description(text: str, reason: str, tmp_path: Path):
    path = tmp_path / "x.toml"
    path.write_text(text)
    with pytest.raises(ValueError, match=reason):
        read_collection(path)
