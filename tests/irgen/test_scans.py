# ruff: noqa: E501 (one loop per line reads better)
"""Which loops a `scan` clause is honoured on, what they become, and what the others are told."""

from __future__ import annotations

from pathlib import Path

import pytest
from accopt.compiler.base.diagnostics import CompileError
from accopt.dialects.accx_scan import ScanStepOp

from .helpers import generate

HEAD = """\
#include <math.h>
#define MAX(a, b) ((a) > (b) ? (a) : (b))
struct s { int n; double *x, *y; };
void f(int n, int m, int *restrict a, int *restrict b, long *c, float *d, double *e, unsigned *u, double (*rows)[64], struct s *p, _Bool *t)
{
"""


def steps(tmp_path: Path, clause: str, loop: str) -> list[ScanStepOp]:
    text = f"{HEAD}#pragma acc parallel loop scan({clause})\n{loop}\n}}\n"
    return [op for op in generate(tmp_path, text).walk() if isinstance(op, ScanStepOp)]


@pytest.mark.parametrize(
    ("clause", "loop", "operator", "exclusive"),
    [
        ("+: a, b, 0, n", "for (int i = 1; i < n; i++) b[i] = b[i-1] + a[i];", "add", False),
        ("+: a, b, 0, n", "for (int i = 1; i <= n - 1; ++i) { b[i] = a[i] + b[i-1]; }", "add", False),
        ("+: a, b, 0, n", "for (long i = 1; i != n; i++) { ; b[i] = (b[i-1] + a[i]); }", "add", False),
        ("+: a, b, 7, n", "for (int i = 1; i < n; i += 1) b[i] = b[i-1] + a[i-1];", "add", True),
        ("+: a, b, 7, n", "for (int i = 0; i < n - 1; i++) b[i+1] = b[i] + a[i];", "add", True),
        ("+: a, b, 0, n - 2", "for (int i = 3; i < n; i++) *(b + i) = *(b + i - 1) + a[i];", "add", False),
        ("+: a, c, 0, n", "for (int i = 1; i < n; i++) c[i] = c[i-1] + a[i];", "add", False),
        ("+: c, b, 0, n", "for (int i = 1; i < n; i++) b[i] = b[i-1] + c[i];", "add", False),
        ("+: d, e, 0, n", "for (int i = 1; i < n; i++) e[i] = e[i-1] + d[i];", "add", False),
        ("+: a, a, 0, n", "for (int i = 1; i < n; i++) a[i] += a[i-1];", "add", False),
        ("+: IN_PLACE, a, 0, n", "for (int i = 1; i < n; i++) a[i] += a[i-1];", "add", False),
        ("max: IN_PLACE, p->x, 0, n", "for (int i = 1; i < n; i++) p->x[i] = fmax(p->x[i], p->x[i-1]);", "max", False),
        ("*: a, u, 1, n", "for (int i = 1; i < n; i++) u[i] = a[i-1] * u[i-1];", "mul", True),
        ("max: a, b, 0, n", "for (int i = 1; i < n; i++) b[i] = b[i-1] > a[i] ? b[i-1] : a[i];", "max", False),
        ("max: a, b, 0, n", "for (int i = 1; i < n; i++) b[i] = MAX(a[i], b[i-1]);", "max", False),
        ("max: d, e, 0, n", "for (int i = 1; i < n; i++) e[i] = fmax(e[i-1], d[i]);", "max", False),
        ("min: a, b, 0, n", "for (int i = 1; i < n; i++) b[i] = b[i-1] > a[i] ? a[i] : b[i-1];", "min", False),
        ("^: a, b, 0, n", "for (int i = 1; i < n; i++) b[i] = b[i-1] ^ a[i];", "xor", False),
        ("&&: d, b, 0, n", "for (int i = 1; i < n; i++) b[i] = b[i-1] && d[i];", "land", False),
        ("+: rows, rows, 0, 64", "for (int i = 1; i < 64; i++) rows[m][i] += rows[m][i-1];", "add", False),
        ("+: p->x, p->y, 0, p->n", "for (int i = 1; i < p->n; i++) p->y[i] = p->y[i-1] + p->x[i];", "add", False),
        ("|: t, t, 0, n", "for (int i = 1; i < n; i++) t[i] = t[i-1] | t[i];", "ior", False),
        ("||: a, t, 0, n", "for (int i = 1; i < n; i++) t[i] = t[i-1] || a[i];", "lor", False),
        ("+: e, e, 0, m", "for (int i = 1; i < m; i++) e[n * m + i] = e[n * m + i - 1] + e[n * m + i];", "add", False),
    ],
)  # fmt: skip
def test_recognised(
    tmp_path: Path, clause: str, loop: str, operator: str, *, exclusive: bool
) -> None:
    (step,) = steps(tmp_path, clause, loop)
    assert step.operator.data == operator
    assert (step.identity is not None) == exclusive


@pytest.mark.parametrize(
    ("clause", "loop", "message"),
    [
        ("+: a, b, 0, n", "for (int i = 1; i < n; i++) b[i] = b[i-1] * a[i];", "not a scan with '+'"),
        ("-: a, b, 0, n", "for (int i = 1; i < n; i++) b[i] = b[i-1] - a[i];", "'-' is not a scan operator"),
        ("max: a, b, 0, n", "for (int i = 1; i < n; i++) b[i] = b[i-1] < a[i] ? b[i-1] : a[i];", "not a scan with 'max'"),
        ("+: a, b, 0, n", "for (int i = 1; i < n; i++) b[i] = b[i-2] + a[i];", "does not continue from the element before"),
        ("+: a, b, 0, n", "for (int i = 1; i < n; i++) b[i] = b[i-1] + a[i+1];", "neither the element at the target's"),
        ("+: a, b, 0, n", "for (int i = 1; i < n; i++) b[i] = b[i-1] + a[2*i];", "the last subscript must be 'i' plus a constant"),
        ("+: a, b, 0, n", "for (int i = 1; i < n; i++) b[i] = b[i-1] + a[i] + 1;", "a scan combines two elements of arrays"),
        ("+: a, b, 0, n", "for (int i = 1; i < n; i++) b[i] = b[i-1] + m;", "a scan combines two elements of arrays"),
        ("+: a, b, 0, n", "for (int i = 1; i < n; i++) { b[i] = b[i-1] + a[i]; a[i] = 0; }", "has one statement"),
        ("+: a, b, 0, n", "for (int i = 1; i < n; i++) if (a[i]) b[i] = b[i-1] + a[i];", "has one statement, an assignment"),
        ("+: a, b, 0, n", "for (int i = n - 1; i > 0; i--) b[i] = b[i-1] + a[i];", "must count up by one"),
        ("+: a, b, 0, n", "for (int i = 1; i < n; i += 2) b[i] = b[i-1] + a[i];", "must count up by one"),
        ("+: a, a, 0, n", "for (int i = 1; i < n; i++) a[i] = a[i-1] + a[i-1];", "an exclusive scan cannot run in place"),
        ("+: IN_PLACE, a, 0, n", "for (int i = 1; i < n; i++) a[i] = a[i-1] + b[i];", "this is not an element of 'a'"),
        ("+: a, a, 0, n", "for (int i = 1; i < n; i++) { int x = a[i]; a[i] = m; m += x; }", "'m' does not begin as the identity"),
        ("+: a, a, 0, n", "for (int i = 1; i < n; i++) { int x = a[i]; a[i] = m; m *= x; }", "the loop of a scan has one statement"),
        ("+: a, a, 0, n", "for (int i = 1; i < n; i++) { long x = a[i]; a[i] = m; m += x; }", "the loop of a scan has one statement"),
        ("+: a, a, 0, n", "for (int i = 1; i < n; i++) { int x = a[i-1]; a[i] = m; m += x; }", "the loop of a scan has one statement"),
        ("+: b, a, 0, n", "for (int i = 1; i < n; i++) b[i] = b[i-1] + a[i];", "this is not an element of"),
        ("+: e, d, 0, n", "for (int i = 1; i < n; i++) d[i] = d[i-1] + e[i];", "'double' elements cannot be scanned into 'float' ones"),
        ("max: u, b, 0, n", "for (int i = 1; i < n; i++) b[i] = b[i-1] > u[i] ? b[i-1] : u[i];", "cannot be scanned into 'int' ones"),
        ("+: a, b, 0, n", "for (int i = 0; i < n; i++) b[i] = b[i-1] + a[i];", "the loop does not scan 'n' elements"),
        ("+: a, b, 0, 100", "for (int i = 1; i < 101; i++) b[i] = b[i-1] + a[i];", "the loop does not scan '100' elements"),
        ("+: a, b, p, n", "for (int i = 1; i < n; i++) b[i] = b[i-1] + a[i-1];", "'p' is not a number"),
        ("+: a, b, 0, n) collapse(2", "for (int j = 0; j < m; j++) for (int i = 1; i < n; i++) b[i] = b[i-1] + a[i];", "a scan runs along one loop"),
        ("+: a, b, 0, n) tile(8", "for (int i = 1; i < n; i++) b[i] = b[i-1] + a[i];", "'tile' distributes the iterations"),
        ("+: a, b, 0, n) gang(static:4", "for (int i = 1; i < n; i++) b[i] = b[i-1] + a[i];", "'gang(static:)' distributes the iterations"),
        ("+: a, b, 0, n) gang(static:*", "for (int i = 1; i < n; i++) b[i] = b[i-1] + a[i];", "'gang(static:)' distributes the iterations"),
        ("+: t, t, 0, n", "for (int i = 1; i < n; i++) t[i] = t[i-1] + t[i];", "C converts each result of '+'"),
        ("|: a, t, 0, n", "for (int i = 1; i < n; i++) t[i] = t[i-1] | a[i];", "'int' elements cannot be scanned into '_Bool' ones"),
    ],
)  # fmt: skip
def test_refused(tmp_path: Path, clause: str, loop: str, message: str) -> None:
    with pytest.raises(CompileError) as caught:
        steps(tmp_path, clause, loop)
    (diagnostic,) = caught.value.diagnostics
    assert message in diagnostic.message
    assert diagnostic.remedy


REPLACING = "for (int i = 1; i < n; i++) { int x = a[i]; a[i] = m; m = m + x; }"


def test_an_exclusive_scan_in_place(tmp_path: Path) -> None:
    text = f"{HEAD}m = 0;\n#pragma acc parallel loop scan(+: IN_PLACE, a, 0, n)\n{REPLACING}\n}}\n"
    (step,) = [op for op in generate(tmp_path, text).walk() if isinstance(op, ScanStepOp)]
    assert step.identity is not None


@pytest.mark.parametrize("use", ["b[0] = m;", "m++;", "m += 2;"])
def test_the_last_value_of_a_scan_in_place_is_not_computed(use: str, tmp_path: Path) -> None:
    text = f"{HEAD}m = 0;\n#pragma acc parallel loop scan(+: a, a, 0, n)\n{REPLACING}\n{use}\n}}\n"
    with pytest.raises(CompileError, match="does not compute the last value of 'm'"):
        generate(tmp_path, text)
