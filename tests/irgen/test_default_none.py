"""default(none): names without an attribute are refused where they stand (OpenACC 3.4, 2.6.3)."""

from __future__ import annotations

from pathlib import Path

import pytest
from accopt.compiler.base.diagnostics import CompileError

from .helpers import generate

HEAD = """
float g[8]; float h[8];
#pragma acc declare create(g)
struct pair { int n; float *x; };
void f(int n, float *a, struct pair q) {
  int i, k = 3, s = 0; (void)k; (void)s; (void)i;
"""

ACCEPTED = {
    "clause": "#pragma acc parallel loop default(none) copyout(a[0:n]) copyin(n)\n"
    "for (i = 0; i < n; i++) { float t = i; a[i] = t; }",
    "data around it": "#pragma acc data default(none) copy(a[0:n]) copyin(n)\n{\n#pragma acc parallel loop\n"
    "for (int j = 0; j < n; j++) a[j] = 1; }",
    "private of an inner loop": "#pragma acc parallel default(none) copy(a[0:n]) copyin(n)\n{\n"
    "#pragma acc loop private(k)\nfor (i = 0; i < n; i++) { k = i; a[i] = k; } }",
    "reduction of an inner loop": "#pragma acc parallel default(none) copy(a[0:n]) copyin(n)\n{\n"
    "#pragma acc loop reduction(+:s)\nfor (i = 0; i < n; i++) s += i; }",
    "loop variable without directive": "#pragma acc kernels default(none) copy(a[0:n]) copyin(n)\n{\n"
    "for (i = 0; i < n; i++) a[i] = 1; }",
    "declared global": "#pragma acc parallel default(none)\n{ g[0] = 1; }",
    "members": "#pragma acc parallel default(none) copy(q, q.x[0:4])\n{ q.x[0] = q.n; }",
    "size only": "#pragma acc parallel default(none) copy(a[0:4])\n{ a[0] = sizeof(k) + sizeof h; }",
    "compound literal": "#pragma acc parallel default(none) copy(a[0:4])\n{ a[0] = (float){2}; }",
}

REFUSED = {
    "a constant": ("k", "#pragma acc parallel default(none) copy(a[0:4])\n{ a[0] = k; }"),
    "a bound": (
        "n",
        "#pragma acc parallel loop default(none) copy(a[0:n])\nfor (i = 0; i < n; i++) a[i] = 1;",
    ),
    "an array": ("h", "#pragma acc parallel default(none)\n{ h[0] = 1; }"),
    "a pointer": ("a", "#pragma acc serial default(none)\n{ a[0] = 1; }"),
    "behind the private loop": (
        "k",
        "#pragma acc parallel default(none) copy(a[0:n]) copyin(n)\n{\n"
        "#pragma acc loop private(k)\nfor (i = 0; i < n; i++) { k = i; a[i] = k; }\na[0] = k; }",
    ),
    "data around it": (
        "n",
        "#pragma acc data default(none) copy(a[0:n])\n{\n#pragma acc parallel\n{ a[0] = n; } }",
    ),
    "a structure": ("q", "#pragma acc parallel default(none) copy(a[0:4])\n{ a[0] = q.n; }"),
}


@pytest.mark.parametrize("body", ACCEPTED.values(), ids=ACCEPTED)
def test_accepted(body: str, tmp_path: Path) -> None:
    generate(tmp_path, HEAD + body + "\n}\n")


@pytest.mark.parametrize(("name", "body"), REFUSED.values(), ids=REFUSED)
def test_refused(name: str, body: str, tmp_path: Path) -> None:
    with pytest.raises(CompileError, match=f"variable '{name}' has no data attribute") as caught:
        generate(tmp_path, HEAD + body + "\n}\n")
    (diagnostic,) = caught.value.diagnostics
    assert diagnostic.loc.line > 7 and f"copyin({name})" in (diagnostic.remedy or "")
