"""What changes in the tree before IR is generated: dead branches and `collapse(force:)`."""

from __future__ import annotations

from pathlib import Path

import pytest
from accopt.compiler.base.diagnostics import CompileError

from .helpers import generate, ir_of


@pytest.mark.parametrize(
    "body",
    [
        "if (0) host(); return 1;",
        "if (sizeof(int) == 4) return 1; else host(); return 2;",
        "return 1 ? 1 : host();",
        "return 1 || host();",
        "return 0 && host();",
    ],
)
def test_what_a_constant_rules_out_is_not_called(body: str, tmp_path: Path) -> None:
    text = ir_of(tmp_path, f"int host(void); int f(void) {{ {body} }}")
    assert "llvm.call" not in text


def test_a_label_keeps_its_branch(tmp_path: Path) -> None:
    text = ir_of(
        tmp_path,
        "int host(void); int f(int n) { if (n) goto in; if (0) { in: host(); } return n; }",
    )
    assert "llvm.call @host" in text


FORCED = (
    "void f(int n, int m, int *a) {\n#pragma acc parallel loop collapse(force:2) copy(a[0:n*m])\n"
)


def test_forced_collapse_runs_the_code_between_in_every_iteration(tmp_path: Path) -> None:
    text = ir_of(
        tmp_path,
        FORCED
        + "for (int i = 0; i < n; i++) { int t = i * 3; for (int j = 0; j < m; j++) a[i * m + j] = t; ; } }",
    )
    loop = text[text.index("acc.loop") :]
    assert "control(%i : i32, %j : i32)" in loop
    assert loop.count("acc.loop") == 1


@pytest.mark.parametrize(
    ("loops", "line", "message"),
    [
        (
            "for (int i = 0; i < n; i++) {\nint k = i; for (int j = 0; j < k; j++) a[j] = i; }",
            4,
            "'k'",
        ),
        ("for (int i = 0; i < n; i++)\na[i] = 0;", 4, "no loop on level 2"),
        (
            "for (int i = 0; i < n; i++) {\nfor (int j = 0; j < m; j++) a[j] = 0;"
            " for (int j = 0; j < m; j++) a[j]++; }",
            3,
            "2 loops on level 2",
        ),
        (
            "for (int i = 0; i < n; i++) { for (int j = 0; j < m; j++)\n"
            "{ switch (j) { case 1: continue; default: a[j] = 0; } } a[i] = 1; }",
            4,
            "'continue' would skip",
        ),
    ],
)
def test_forced_collapse_refuses(loops: str, line: int, message: str, tmp_path: Path) -> None:
    with pytest.raises(CompileError) as caught:
        generate(tmp_path, FORCED + loops + " }")
    (diagnostic,) = caught.value.diagnostics
    assert message in diagnostic.message and diagnostic.remedy
    assert diagnostic.loc.line == line


@pytest.mark.parametrize(
    "body",
    [
        "if (x < 0) return 0; return x;",
        "if (x < 0) return 0; else return x;",
        "if (x < 0) { if (x > 9) return 9; } else { if (x == 3) return 4; } return 1;",
        "{ int y = x + 1; if (y) return y; } x++; if (x > 2) return x; return 2 * x;",
    ],
)
def test_a_few_returns_become_one(body: str, tmp_path: Path) -> None:
    if "return 9" in body:  # a branch that may go on would have to be there twice
        assert " cf." in ir_of(tmp_path, f"int f(int x) {{ {body} }}")
    else:
        text = ir_of(tmp_path, f"int f(int x) {{ {body} }}")
        assert " cf." not in text and text.count("llvm.return") == 1


@pytest.mark.parametrize(
    "body",
    [
        "while (x) { if (x == 5) return 1; x--; } return 2;",
        "if (x) goto out; return 1; out: return 2;",
        "switch (x) { case 1: return 2; } return 3;",
        "if (x == 1) return 1;" * 9 + "return 0;",
        "\n#pragma acc parallel\n{ } if (x) return 1; return 2;",
    ],
)
def test_returns_that_stay(body: str, tmp_path: Path) -> None:
    assert " cf." in ir_of(tmp_path, f"int f(int x) {{ {body} }}")
