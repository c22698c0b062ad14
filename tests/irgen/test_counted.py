"""Which `for` loops are counted, why others are not, and what the counter must compute."""

from __future__ import annotations

from pathlib import Path

import pytest
from accopt.compiler.base.diagnostics import DiagnosticSink
from accopt.compiler.c import ast as c
from accopt.compiler.c.program import load_program
from accopt.compiler.c.tree import walk
from accopt.compiler.irgen.counted import CountedLoop, EffectsOf, recognize

PRELUDE = """
struct s { int n; int *data; };
int global; int exposed; void defined(void) { exposed = *&exposed; }
double sqrt(double);
void f(int n, unsigned u, long l, int *a, double *d, struct s *p, int step, char ch) { int i; %s }
"""


def loop_of(tmp_path: Path, text: str, *, directive: bool = False) -> CountedLoop | str:
    path = tmp_path / "loop.c"
    path.write_text(PRELUDE % text)
    unit = load_program([path], None, DiagnosticSink())[0]
    body = next(f.body for f in unit.functions if f.name == "f")
    assert body is not None
    loop = next(n for n in walk(body) if isinstance(n, c.For))
    return recognize(loop, EffectsOf(lambda decl: decl.body is not None), directive=directive)


@pytest.mark.parametrize(
    ("text", "op", "down", "step"),
    [
        ("for (int k = 0; k < n; k++) ;", "<", False, 1),
        ("for (i = 0; i <= 10; i += 3) ;", "<=", False, 3),
        ("for (i = n; i > 0; --i) ;", ">", True, 1),
        ("for (i = n; 0 <= i; i -= 2) ;", ">=", True, 2),
        ("for (i = 0; n > i; i = i + 4) ;", "<", False, 4),
        ("for (i = 0; i < n; i = 4 + i) ;", "<", False, 4),
        ("for (l = 0; (int *)l < a; l = (long)((int *)l + 1)) ;", "<", False, 4),
        (
            "for (int *q = a; (char *)q < ch + (char *)a; q = (int *)((char *)q + 8)) ;",
            "<",
            False,
            2,
        ),
        ("for (u = n; u > 0; u += -2) ;", ">", True, 2),
        ("for (i = n; i >= 0; i += -2) ;", ">=", True, 2),
        ("for (i = 0; i != n; i++) ;", "<", False, 1),
        ("for (i = n; i != 0; i--) ;", ">", True, 1),
        ("for (long k = 0; k < n; k++) ;", "<", False, 1),
        ("for (int k = 0; k < l; k++) d[k] = sqrt(d[k]);", "<", False, 1),
        ("for (int *q = a; q < a + n; q++) *q = 1;", "<", False, 1),
        ("for (int *q = a + n; q != a; q--) ;", ">", True, 1),
        ("for (i = 0; i < global; i++) d[i] = 0;", "<", False, 1),
        ("for (i = 0; i < global; i++) a[i] = 0;", "<", False, 1),
        ("for (i = 0; i < p->n; i++) d[i] = 0;", "<", False, 1),
        ("for (i = 0; i < a[3]; i++) d[i] = 0;", "<", False, 1),
    ],
)
def test_counted(tmp_path: Path, text: str, op: str, down: bool, step: int):
    loop = loop_of(tmp_path, text)
    assert isinstance(loop, CountedLoop)
    assert (loop.op, loop.down, loop.step) == (op, down, step)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("for (; i < n; i++) ;", "first part"),
        ("for (i = 0, n = 1; i < n; i++) ;", "first part"),
        ("for (i = 0; i < n; i *= 2) ;", "last part"),
        ("for (i = 0; i < n; n++) ;", "last part"),
        ("for (i = 0; i < n && a[i]; i++) ;", "condition"),
        ("for (i = 0; i == n; i++) ;", "condition"),
        ("for (i = 0; ; i++) ;", "condition"),
        ("for (i = 0; i != n; i += 2) ;", "step is not 1"),
        ("for (i = 0; i < n; i += 0) ;", "unchanged"),
        ("for (i = 0; i < n; i--) ;", "away"),
        ("for (i = 0; i < n; i++) i = 3;", "assigns 'i'"),
        ("for (i = 0; i < n; i++) if (a[i]) n = 3;", "assigns 'n'"),
        ("for (i = 0; i < n; i += step) step++;", "assigns 'step'"),
        ("for (i = 0; i < i + n; i++) ;", "depends on"),
        ("for (i = 0; i < p->n; i++) a[i] = 0;", "memory its bound reads"),
        ("for (i = 0; i < a[0]; i++) p->n = 0;", "memory its bound reads"),
        ("for (i = 0; i < a[0]; i++) *(char *)d = 0;", "memory its bound reads"),
        ("for (i = 0; i < global; i++) defined();", "functions that may change 'global'"),
        ("for (i = 0; i < exposed; i++) a[i] = 0;", "may be 'exposed'"),
        ("int *q = &i; for (i = 0; i < n; i++) ;", "may be changed from elsewhere"),
        ("for (global = 0; global < n; global++) ;", "may be changed from elsewhere"),
        ("for (double x = 0; x < n; x++) ;", "neither"),
        ("for (unsigned char k = 0; k < 256; k++) ;", "wrap"),
        ("for (u = n; u >= 0; u--) ;", "always holds"),
        ("for (__int128 k = 0; k < n; k++) ;", "64 bits"),
        ("for (i = 0; (float)i < n; i++) ;", "floating"),
        ("for (i = 0; (short)i < n; i++) ;", "condition"),
        ("for (int *q = a; (int)q < n; q++) ;", "condition"),
        ("for (i = 0; i < n; i += 1.5) ;", "last part"),
        ("for (int *q = a; q < a + n; q = (int *)((char *)q + 2)) ;", "last part"),
    ],
)
def test_not_counted(tmp_path: Path, text: str, why: str):
    loop = loop_of(tmp_path, text)
    assert isinstance(loop, str), loop
    assert why in loop


@pytest.mark.parametrize(
    "text",
    [
        "for (i = 0; i < p->n; i++) a[i] = 0;",
        "for (global = 0; global < n; global++) a[global] = 0;",
        "for (short k = 0; k < n; k++) a[k] = 0;",
        "for (i = 0; i < global; i++) defined();",
    ],
)
def test_a_directive_promises_that_bounds_stay(tmp_path: Path, text: str):
    assert isinstance(loop_of(tmp_path, text, directive=True), CountedLoop)


@pytest.mark.parametrize(
    ("body", "is_lent"),
    [
        ("const int *q = &i;", True),
        ("reads(&i);", True),
        ("int *q = &i;", False),
        ("writes(&i);", False),
        ("int *q = (int *)(const int *)&i;", False),
        ("l = (long)&i;", False),
    ],
)
def test_the_address_of_a_variable_goes_to_const_only(tmp_path: Path, body: str, is_lent: bool):
    declared = "int reads(const int *); int writes(int *);"
    text = f"{declared} for (i = 0; i < n; i++) {{ {body} }}"
    loop = loop_of(tmp_path, text, directive=True)
    if is_lent:
        assert isinstance(loop, CountedLoop)
        assert loop.lent
    else:
        assert isinstance(loop, str)
        assert "address taken" in loop


def test_a_loop_under_a_directive_meets_its_bound(tmp_path: Path):
    loop = loop_of(tmp_path, "for (i = 0; i != n; i += 2) ;", directive=True)
    assert isinstance(loop, CountedLoop)
    assert (loop.op, loop.step) == ("<", 2)


@pytest.mark.parametrize(
    ("index", "is_subscript"),
    [
        ("k", True),
        ("n * u + k", True),
        ("(int)3 + 2 * k - 1", True),
        ("n - k", False),
        ("k % 8", False),
    ],
)
def test_a_counter_in_a_sum_of_a_subscript_is_a_place(
    tmp_path: Path, index: str, is_subscript: bool
) -> None:
    """Unless it is subtracted, or reduced to a range: then its own values may be above 2^63."""
    loop = loop_of(tmp_path, f"for (unsigned long k = l; k < u; k++) a[{index}] = 0;")
    assert isinstance(loop, CountedLoop)
    assert loop.subscript is is_subscript
