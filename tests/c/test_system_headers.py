"""What the host's C headers expand to: `assert`, and the classification macros of <math.h>."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from accopt.compiler.c.preprocess import PreprocessOptions
from accopt.compiler.c.program import load_program
from accopt.compiler.diagnostics import DiagnosticSink


@pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler here")
@pytest.mark.parametrize(
    "statement",
    [
        "assert(x > 0);",
        "n = isnan(x) + isinf(x) + isfinite(x) + !!signbit(x);",
        "n = isgreater(x, 1) + isgreaterequal(x, 1) + isless(x, 1) + islessequal(x, 1);",
        "n = x == HUGE_VAL || x == INFINITY || x > M_PI;",
        'n = strlen(strdup("a")) + random();',
    ],
)
def test_macros_of_system_headers(statement: str, tmp_path: Path) -> None:
    path = tmp_path / "m.c"
    path.write_text(
        "#include <assert.h>\n#include <math.h>\n#include <stdlib.h>\n#include <string.h>\n"
        f"int f(double x, int n) {{ {statement} return n; }}\n"
    )
    load_program([path], PreprocessOptions(use_system_cpp=True), DiagnosticSink())
