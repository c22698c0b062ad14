"""
Scalars of a gang or worker that iterations pass on without a clause: a finding per rule, and silence where
every iteration reads its own. The pass that finds clauses for such scalars is left out.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from accopt.compiler.api import Program, RunOptions
from accopt.compiler.base.diagnostics import DiagnosticSink
from accopt.compiler.base.options import CompileOptions
from accopt.compiler.executable import build
from accopt.compiler.pipeline import stages
from accopt.runtime.sim.findings import FaultKind, Finding
from sim_programs import call

CLASSIFIES = "classify-scalars"
N = 100


def nest(loops: str, sizes: str = "") -> str:
    """A function whose scalar `t` is that of the gang; loops are over `a`, 8 by `n`, and fill `b` and `r`."""
    return f"""void f(int n, const int *a, int *b, int *r)
{{
  int i, j, k, t = 5;
#pragma acc parallel {sizes} copyin(a[0:8*n]) copy(b[0:8*n], r[0:8*n])
  {{
{loops}
  }}
}}
"""


def run(text: str, folder: Path, *, checks: bool = True) -> list[Finding]:
    """The findings, after one call."""
    path = folder / "prog.c"
    path.write_text(text)
    known = {name for stage in stages("sim") for name in stage.passes}
    skipped = (CLASSIFIES,) if CLASSIFIES in known else ()
    executable = build(
        [path], CompileOptions(target="sim", skipped_passes=skipped), DiagnosticSink()
    )
    program = Program(executable, RunOptions(checks=checks))
    a = np.arange(8 * N, dtype=np.int32) % 11
    call(program, "f", N, a, np.zeros(8 * N, np.int32), np.zeros(8 * N, np.int32))
    return program.simulator.findings


def loop(directive: str, head: str, lines: tuple[str, ...]) -> str:
    return "\n".join([f"#pragma acc loop {directive}", head + " {", *lines, "}"])


def gangs(*lines: str) -> str:
    return loop("gang", "for (j = 0; j < 8; j++)", lines)


def workers(*lines: str) -> str:
    return loop("worker", "for (k = 0; k < 4; k++)", lines)


def lanes(*lines: str, clause: str = "") -> str:
    return loop(f"vector {clause}".strip(), "for (i = 0; i < n; i++)", lines)


ADD, COPY = "t += a[j*n+i];", "b[j*n+i] = t;"
WRONG = {
    "summed up by lanes, read by the gang": gangs("t = j;", lanes(ADD), "r[j] = t;"),
    "running sum of lanes": gangs("t = j;", lanes(ADD, COPY)),
    "running sum of gangs": gangs("t += a[j];", "r[j] = t;"),
    "last value of a lane": gangs(lanes("t = a[j*n+i];", COPY), "r[j] = t;"),
    "a flag that one lane raises": gangs("t = 0;", lanes("if (a[j*n+i] == 7) t = 1;"), "r[j] = t;"),
    "read before, assigned by another": gangs("t = j;", lanes(COPY, "if (i == 77) t = 9;")),
    "assigned, and read before by another": gangs(
        "t = j;", lanes("if (i < 40) t = 9;", f"else {COPY}")
    ),
    "left by workers": gangs(workers("t = a[k];"), "r[j] = t;"),
    "left by lanes of a worker": gangs(workers("t = k;", lanes("t += a[i];"), "r[j*4+k] = t;")),
    "passed from loop to loop": gangs(lanes("t = a[i];"), lanes("b[j*n+n-1-i] = t;")),
}
RIGHT = {
    "a temporary of each lane": gangs(lanes("t = a[j*n+i];", COPY)),
    "a temporary in branches": gangs(lanes("if (i % 2) t = 1;", "else t = a[i];", COPY)),
    "assigned and read under one condition": gangs(
        lanes("if (i % 3) t = a[i];", "b[j*n+i] = 1;", f"if (i % 3) {COPY}")
    ),
    "only read by lanes": gangs("t = a[j];", lanes(COPY), "r[j] = t;"),
    "a reduction": gangs("t = j;", lanes(ADD, clause="reduction(+:t)"), "r[j] = t;"),
    "private to the loop": gangs(
        lanes("t = a[j*n+i];", COPY, clause="private(t)"), "t = j;", "r[j] = t;"
    ),
    "a temporary of each gang": gangs("t = a[j];", "r[j] = t;"),
    "assigned again after the lanes": gangs(lanes("t = a[i];", COPY), "t = 3;", "r[j] = t;"),
    "assigned again in a branch of the gang": gangs(
        lanes("t = a[i];", COPY), "if (j >= 0) { t = 3; r[j+8] = 1; }", "else t = 4;", "r[j] = t;"
    ),
    "a temporary of each worker": gangs(workers("t = k;", lanes("b[j*n+i] = 1;"), "r[j*4+k] = t;")),
    "assigned what it is": gangs("t = j;", lanes("t = t + 0;"), "r[j] = t;"),
    "the same value in every iteration": gangs(lanes("t = 3;", COPY)),
    "sequential": gangs("t = 0;", "for (i = 0; i < n; i++) t += a[i];", "r[j] = t;"),
}


def sizes(name: str) -> str:
    """Clauses of the construct; firstprivate because a reduction would make it a copy for all gangs."""
    shape = "num_workers(4) vector_length(32)" if "worker" in name else "vector_length(64)"
    return f"{shape} firstprivate(t)"


@pytest.mark.parametrize("name", WRONG)
def test_what_depends_on_the_order_is_found(name: str, tmp_path: Path) -> None:
    found = [f for f in run(nest(WRONG[name], sizes(name)), tmp_path) if f.array == "t"]
    assert found and {f.fault for f in found} == {FaultKind.RACE}


@pytest.mark.parametrize("name", RIGHT)
def test_what_does_not_is_silent(name: str, tmp_path: Path) -> None:
    assert [f for f in run(nest(RIGHT[name], sizes(name)), tmp_path) if f.array == "t"] == []


def test_the_message_says_everything(tmp_path: Path) -> None:
    text = nest(WRONG["summed up by lanes, read by the gang"])
    lines = {line.strip(): number for number, line in enumerate(text.splitlines(), 1)}
    construct = next(number for line, number in lines.items() if line.startswith("#pragma acc par"))
    around, added, line = (lines[x] for x in ("#pragma acc loop vector", ADD, "r[j] = t;"))
    read = next(f for f in run(text, tmp_path) if f.line == line)
    assert read.detail == (
        f"'t' (firstprivate at line {construct}, one for each gang) is read here and assigned at"
        f" line {added} by another iteration of the loop at line {around}: its value depends on their"
        " order; write reduction(OPERATOR:t) on that loop if its iterations only combine values into it,"
        " private(t) if none needs another's, or seq,"
    )
    assert read.thread is not None


def test_loops_over_gangs_are_followed_through_all_batches(tmp_path: Path) -> None:
    """Gangs run in batches: the one that assigns is far from those that read."""
    text = """void f(int n, const int *a, int *b, int *r)
{
  int j, t = 5;
#pragma acc parallel num_gangs(9000) vector_length(32) copyin(a[0:8*n]) copy(b[0:8*n])
#pragma acc loop gang
  for (j = 0; j < 9000; j++) {
    if (j == 8999) t = 9;
    else b[j % 800] = t;
  }
}
"""
    assert {f.array for f in run(text, tmp_path)} == {"t"}


def test_checks_can_be_switched_off(tmp_path: Path) -> None:
    text = nest(WRONG["summed up by lanes, read by the gang"])
    assert run(text, tmp_path, checks=False) == []
