"""How many rows of a nest are side by side, by what a row accesses and what rows share."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pytest
from accopt.compiler.base.diagnostics import DiagnosticSink
from accopt.compiler.base.options import CompileOptions
from accopt.compiler.executable import front_end
from accopt.compiler.ir.context import make_context
from accopt.compiler.pipeline import run_to_stage
from accopt.dialects.accx import WHY
from accopt.passes.decisions.declined import Declined
from accopt.passes.decisions.row_sharing import (
    FEW_ACCESSES,
    MANY_DIVISIONS,
    MOST_OPERATIONS,
    SEVERAL_FUNCTIONS,
    SEVERAL_RESULTS,
    RowAccesses,
    check_length,
    rows_that_pay,
)
from accopt.passes.ir.ops.acc_ops import child_loops, loops_in, parallel_constructs
from xdsl.dialects import llvm

NESTED = "float a[restrict n][n][n], float b[restrict n][n]"
FLAT = "float *restrict a, float *restrict b"
RECORDS = f"{NESTED}, struct {{ float x, y, z; }} *restrict c"
GATHERED = f"int *restrict at, {NESTED}"


def _sum(terms: Iterable[str]) -> str:
    return " + ".join(terms)


def _loop(statement: str) -> str:
    return f"({{ float s = 0; for (int k = 0; k < 5; k++) {{ {statement} }} s; }})"


MANY = range(FEW_ACCESSES)
OVER = range(FEW_ACCESSES + 1)
BODIES = {
    "few": (NESTED, _sum(f"a[{k}][i][j]" for k in MANY[1:]), 4),
    "few_in_a_loop": (
        NESTED,
        _loop("s += " + _sum(f"a[{k}][i][j + k]" for k in MANY[1:]) + ";"),
        8,
    ),
    "many": (NESTED, _loop("s += " + _sum(f"a[{k}][i][j + k]" for k in OVER) + ";"), 4),
    "many_flat": (
        FLAT,
        _loop("s += " + _sum(f"a[{k} * n * n + i * n + j + k]" for k in OVER) + ";"),
        4,
    ),
    "stores": (NESTED, _loop(" ".join(f"a[{k}][i][j + k] = s;" for k in OVER)), 4),
    "again": (NESTED, _sum(f"a[{k % 3}][i][j] * {k}" for k in range(40)), 4),
    "column": (NESTED, _sum(f"a[0][i + {k}][j]" for k in MANY), 4),
    "column_flat": (FLAT, _sum(f"a[(i + {k}) * n + j]" for k in MANY), 4),
    "column_of_every_other_row": (NESTED, _sum(f"a[0][2 * i + {k}][j]" for k in MANY), 4),
    "line": (NESTED, _loop("s += " + _sum(f"a[0][i][j + k + 5 * {k}]" for k in OVER) + ";"), 4),
    "backwards": (NESTED, _sum(f"a[0][n - i + {k}][j]" for k in MANY), 4),
    "same_for_all_rows": (NESTED, _sum(f"a[{k}][0][j]" for k in MANY), 4),
    "wide": (NESTED, _sum(f"a[{k % 8}][i + {k // 8}][j]" for k in range(48)), 4),
    "branches": (NESTED, _loop("if (a[0][i][j + k] > 0) s += a[1][i][j + k];"), 1),
    "same_branches": (NESTED, _loop("if ((j + k) % 3) s += a[1][i][j + k];"), 8),
    "choices": (NESTED, _loop("s = a[0][i][j + k] > s ? s : s + 1;"), 8),
    "exponentials": (NESTED, _loop("s += expf(a[0][i][j + k]) / 3 + expf(s);"), 2),
    "record": (RECORDS, "(c[i * n + j].y = 1, c[i * n + j].z = 2)", 1),
    "record_in_rows": (f"{NESTED}, float d[restrict n][n][2]", "(d[i][j][0] = d[i][j][1] = j)", 1),
    "member_of_a_record": (RECORDS, "(c[i * n + j].y = c[i * n + j].z + c[i * n + j].x)", 4),
    "planes": (NESTED, "(a[0][i][j] = a[1][i][j] = j)", 4),
    "sums_of_planes": (
        f"{NESTED}, float c[restrict n][n][n]",
        "(a[0][i][j] += c[0][i][j], a[1][i][j] += c[1][i][j], a[2][i][j] += c[2][i][j] + c[3][i][j])",
        2,
    ),
    "quotients": (
        "double a[restrict n][n][n], double b[restrict n][n]",
        _sum(f"a[0][i][j] / (a[1][i][j] + {k})" for k in range(MANY_DIVISIONS)),
        1,
    ),
    "few_quotients": (
        "double a[restrict n][n][n], double b[restrict n][n]",
        _sum(f"a[0][i][j] / (a[1][i][j] + {k})" for k in range(MANY_DIVISIONS - 1)),
        4,
    ),
    "powers": (
        "double a[restrict n][n][n], double b[restrict n][n]",
        _sum(f"pow(a[0][i][j], a[1][i][j] + {k})" for k in range(SEVERAL_FUNCTIONS)),
        2,
    ),
    "extremes": (
        "double a[restrict n][n][n], double b[restrict n][n]",
        _sum(f"fmax(a[0][i][j], a[1][i][j] + {k})" for k in range(SEVERAL_FUNCTIONS)),
        4,
    ),
    "windows": (
        NESTED,
        _loop("for (int l = 0; l < 3; l++) s += a[1][i * 3 + l][j + k];"),
        4,
    ),
    "gathered": (
        GATHERED,
        _loop("s += " + _sum(f"a[0][at[({k} * n + i) * n + j]][j + k]" for k in MANY) + ";"),
        4,
    ),
}


def test_nests(tmp_path: Path) -> None:
    lines = [
        f"void {name}(int n, {parameters}) {{\n"
        "#pragma acc parallel loop collapse(2) default(present)\n"
        "for (int i = 0; i < n; i++) for (int j = 0; j < n; j++)\n"
        f"{'b[i * n + j]' if parameters is FLAT else 'b[i][j]'} = {value}; }}"
        for name, (parameters, value, _) in BODIES.items()
    ]
    (source := tmp_path / "nests.c").write_text("\n".join(["#include <math.h>", *lines]))
    options = CompileOptions(target="nvptx")
    module = front_end([source], options, DiagnosticSink())
    run_to_stage(make_context(), module, "transformed", options)
    wrong: list[str] = []
    for function in module.body.ops:
        if isinstance(function, llvm.FuncOp) and function.sym_name.data in BODIES:
            *_, rows = BODIES[function.sym_name.data]
            loops = (loop for each in parallel_constructs(function) for loop in loops_in(each))
            reasons = [str(loop.attributes[WHY]) for loop in loops if child_loops(loop)]
            wanted = f" {rows} iterations side by side" if rows > 1 else "not kept side by side: "
            if not reasons or any(wanted not in why for why in reasons):
                wrong.append(f"{function.sym_name.data}: {reasons}")
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize(
    ("accesses", "rows"),
    [
        (RowAccesses(4, FEW_ACCESSES, 4 * FEW_ACCESSES), 4),
        (RowAccesses(2, FEW_ACCESSES + 1, 2 * FEW_ACCESSES + 2), 2),
        (RowAccesses(32, FEW_ACCESSES + 1, 32 * FEW_ACCESSES + 32), 4),
        (RowAccesses(1, FEW_ACCESSES + 1, FEW_ACCESSES + 1), 1),
        (RowAccesses(8, 40, 240), 8),
        (RowAccesses(8, 40, 241), 4),
        (RowAccesses(8, 3, 24), 8),
        (RowAccesses(8, 3, 24, long_arithmetic=True), 2),
        (RowAccesses(8, 3, 24, loops=1), 8),
        (RowAccesses(8, 3, 24, loops=2), 4),
        (RowAccesses(8, 3, 23, loops=2), 8),
        (RowAccesses(4, 10, 40, results=SEVERAL_RESULTS), 2),
        (RowAccesses(4, SEVERAL_RESULTS, 4 * SEVERAL_RESULTS, results=SEVERAL_RESULTS), 4),
        (RowAccesses(4, 10, 40, results=SEVERAL_RESULTS - 1), 4),
        (RowAccesses(4, 22, 64, results=SEVERAL_RESULTS), 4),
        (RowAccesses(4, 6, 24, functions=SEVERAL_FUNCTIONS), 2),
        (RowAccesses(4, 6, 24, functions=SEVERAL_FUNCTIONS - 1), 4),
        (RowAccesses(4, 6, 24, divisions=MANY_DIVISIONS - 1), 4),
    ],
)
def test_decision(accesses: RowAccesses, rows: int) -> None:
    assert rows_that_pay(accesses) == rows


def test_branches() -> None:
    with pytest.raises(Declined, match="branches"):
        rows_that_pay(RowAccesses(4, 2, 8, branches=True))


def test_divisions() -> None:
    with pytest.raises(Declined, match="divisions"):
        rows_that_pay(RowAccesses(4, 15, 54, divisions=MANY_DIVISIONS))


def test_records() -> None:
    with pytest.raises(Declined, match="record"):
        rows_that_pay(RowAccesses(4, 2, 8, stores_records=True))


def test_what_a_row_reads_again_and_again() -> None:
    with pytest.raises(Declined, match="again"):
        rows_that_pay(RowAccesses(4, 2, 8, rereads=True))
    assert rows_that_pay(RowAccesses(4, 2, 8, rereads=True, long_arithmetic=True)) == 2


def test_long_bodies() -> None:
    check_length(MOST_OPERATIONS)
    with pytest.raises(Declined, match=str(MOST_OPERATIONS)):
        check_length(MOST_OPERATIONS + 1)
