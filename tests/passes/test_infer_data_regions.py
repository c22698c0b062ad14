"""Whole programs with and without inferred data regions: the same output, fewer transfers; and why not."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from tools import commands

PROGRAMS = Path(__file__).parent / "region_programs"


def run(program: str, target: str, enabled: str) -> tuple[str, int]:
    """What the program prints, and how many transfers it makes."""
    option = f"infer-data-regions{{enabled={enabled} runs=true}}"
    command = ["accrun", f"--target={target}"]
    done = commands.run(
        [*command, "--verify", "--pass-option", option, str(PROGRAMS / program)],
        timeout=300,
        env={**os.environ, "NV_ACC_NOTIFY": "2"},
    )
    assert done.returncode == 0, done.stderr
    copies = [line for line in done.stderr.splitlines() if line.startswith("copy ")]
    return done.stdout, len(copies)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("target", ["host", "sim"])
@pytest.mark.parametrize(
    ("program", "part"), [("edges.c", 0.6), ("exits.c", 0.3), ("barriers.c", 0.8)]
)
def test_the_same_output_with_fewer_transfers(program: str, part: float, target: str) -> None:
    without, every_transfer = run(program, target, "false")
    output, transfers = run(program, target, "true")
    assert output == without
    assert transfers < part * every_transfer


def remarks(source: str, folder: Path) -> list[str]:
    path = folder / "prog.c"
    path.write_text(source)
    command = ["accopt", "--emit=transformed"]
    done = commands.run([*command, "--remarks", "-o", os.devnull, str(path)], timeout=300)
    assert done.returncode == 0, done.stderr
    return [line for line in done.stderr.splitlines() if "data region" in line]


LOOP = """
{prelude}
void f(int n, int steps, double *x, double *y)
{{
    for (int t = 0; t < steps; t++) {{
#pragma acc parallel loop {clauses}
        for (int i = 0; i < n; i++) x[i] += 1;
        {host}
    }}
}}
"""


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("host", "clauses", "prelude", "expected"),
    [
        ("", "", "", "inferred around this loop: copy(x)"),
        ("n2 = n2 + 1;", "", "static int n2;", "inferred around this loop: copy(x)"),
        ("g(t);", "", "static int k; static void g(int t) { k = k + t; }", "loop: copy(x)"),
        ("g(x);", "", "static void g(double *x) { x[0] = 1; }", "line 8 writes it, or may"),
        ("g(t);", "", "void g(int t);", "a call of 'g' at line 8"),
        ("y[t] = 1;", "", "", "x: host code at line 8 writes it, or may"),
        ("x = y;", "", "", "its address at line 6 is not known before"),
        ("n = n - 1;", "", "", "its section at line 6 is not known before"),
        ("", "async", "", "a construct with an async or wait clause at line 6"),
        ("", "if(t > 3)", "", "line 6 may not run"),
    ],
)
def test_what_the_remark_says(
    host: str, clauses: str, prelude: str, expected: str, tmp_path: Path
) -> None:
    found = remarks(LOOP.format(host=host, clauses=clauses, prelude=prelude), tmp_path)
    assert len(found) == 1 and expected in found[0], found


def test_a_users_data_region_is_enough(tmp_path: Path) -> None:
    source = LOOP.format(host="", clauses="", prelude="")
    source = source.replace("    for (int t", "#pragma acc data copy(x[0:n])\n    for (int t")
    assert remarks(source, tmp_path) == []
