"""A reduction that only an inner loop names is given to the outer loops it spans, and to no others."""

from __future__ import annotations

from pathlib import Path

import pytest
from accopt.compiler.diagnostics import DiagnosticSink

from .helpers import generate

INNER = "#pragma acc loop reduction(max:m)\nfor (int j = 0; j < n; j++) m = a[j] > m ? a[j] : m;\n"


def remarks(tmp_path: Path, body: str) -> list[int]:
    """Lines of the loops that got a clause; the body begins on line 3."""
    sink = DiagnosticSink()
    text = f"void f(int n, float *a, float *b) {{\nfloat m = 0;\n{body}b[0] = m; }}\n"
    generate(tmp_path, text, sink=sink)
    return [d.loc.line for d in sink.diagnostics if "of an inner loop holds" in d.message]


@pytest.mark.parametrize(
    ("body", "lines"),
    [
        (f"#pragma acc parallel loop\nfor (int i = 0; i < n; i++) {{\n{INNER}}}\n", [3]),
        (
            "#pragma acc kernels\n{\n#pragma acc loop independent\nfor (int i = 0; i < n; i++) {\n"
            f"{INNER}}}\n}}\n",
            [5],
        ),
        (
            "#pragma acc parallel\n{\n#pragma acc loop gang\nfor (int k = 0; k < n; k++) {\n"
            f"#pragma acc loop worker\nfor (int i = 0; i < n; i++) {{\n{INNER}}}\n}}\n}}\n",
            [7, 5],
        ),
        # Each gang has its own, or the outer loop uses the variable in another way.
        (f"#pragma acc parallel loop private(m)\nfor (int i = 0; i < n; i++) {{\n{INNER}}}\n", []),
        (f"#pragma acc parallel loop\nfor (int i = 0; i < n; i++) {{ m = 0;\n{INNER}}}\n", []),
        (f"#pragma acc parallel loop\nfor (int i = 0; i < n; i++) {{\n{INNER}b[i] = m; }}\n", []),
        (f"#pragma acc parallel loop seq\nfor (int i = 0; i < n; i++) {{\n{INNER}}}\n", []),
        (
            f"#pragma acc parallel loop\nfor (int i = 0; i < n; i++) {{ float m = 0;\n{INNER}}}\n",
            [],
        ),
        (
            f"#pragma acc parallel\n{{ float m = 0;\n#pragma acc loop gang\n"
            f"for (int i = 0; i < n; i++) {{\n{INNER}}}\n}}\n",
            [],
        ),
        (
            f"#pragma acc parallel loop\nfor (int i = 0; i < n; i++) {{\n{INNER}"
            f"{INNER.replace('max', '+')}}}\n",
            [],
        ),
    ],
)
def test_where_the_clause_is_added(body: str, lines: list[int], tmp_path: Path) -> None:
    assert remarks(tmp_path, body) == lines
