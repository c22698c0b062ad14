"""Directives where they may not stand, and arguments out of range: refused at their line."""

from __future__ import annotations

import pytest
from sema_dump import check, mistake, warnings

LOOP = "for (i = 0; i < n; i++) a[i] = 0;"
NEST = "for (i = 0; i < n; i++) for (j = 0; j < n; j++) a[j] = 0;"

CASES = (
    (f"#pragma acc parallel loop collapse(0)\n{LOOP}", "the argument of 'collapse' is 0"),
    (f"#pragma acc parallel loop collapse(-1)\n{LOOP}", "the argument of 'collapse' is -1"),
    (f"#pragma acc parallel loop collapse(n)\n{LOOP}", "'n' of 'collapse' is not a constant"),
    (f"#pragma acc parallel loop tile(0)\n{LOOP}", "the argument of 'tile' is 0"),
    (f"#pragma acc parallel loop gang(static:0)\n{LOOP}", "the argument of 'gang' is 0"),
    ("#pragma acc parallel num_gangs(0)\n{ }", "the argument of 'num_gangs' is 0"),
    ("#pragma acc kernels vector_length(-3)\n{ }", "the argument of 'vector_length' is -3"),
    ("#pragma acc parallel async(x)\n{ }", "'x' is not an integer"),
    ("#pragma acc parallel async(-4)\n{ }", "-4 is not a queue"),
    ("#pragma acc wait(x)\n", "'x' is not an integer"),
    ("#pragma acc data deviceptr(n)\n{ }", "'n' in 'deviceptr' is not a pointer"),
    ("#pragma acc enter data attach(a)\n", "'a' in 'attach' is not a pointer"),
    ("#pragma acc enter data attach(a[1])\n", "'a[1]' in 'attach' is not a pointer"),
    ("int *p[4];\n#pragma acc exit data detach(p[0:2])\n", "several pointers of 'p' in 'detach'"),
    ("#pragma acc parallel private(n) firstprivate(n)\n{ }", "'n' in 'private' and in"),
    *(
        (f"#pragma acc {directive} {first} {second}\n{LOOP}", "'n' in '")
        for directive in ("parallel loop", "serial loop gang", "kernels loop", "loop vector")
        for first, second in (
            ("reduction(+:n)", "private(n)"),
            ("private(n)", "reduction(max:n)"),
            ("reduction(+:n)", "reduction(*:n)"),
            ("reduction(&&:n)", "reduction(||:n)"),
        )
    ),
    *(
        (f"#pragma acc {directive} {clauses}\n{LOOP}", "'n' in '")
        for directive in ("parallel loop", "serial loop")
        for clauses in ("firstprivate(n) reduction(+:n)", "reduction(^:n) firstprivate(n)")
    ),
    (
        f"#pragma acc parallel loop gang(dim:2) reduction(+:n)\n{LOOP}",
        "'reduction' cannot be combined with 'gang(dim:2)'",
    ),
    (
        "#pragma acc parallel loop gang reduction(+:n)\nfor (i = 0; i < 9; i++)\n"
        "#pragma acc loop vector reduction(*:n)\nfor (j = 0; j < 9; j++) n++;",
        "'n' is reduced with '*' inside a reduction of it with '+'",
    ),
    (
        f"#pragma acc kernels num_workers(2)\n{{\n#pragma acc loop worker(4)\n{LOOP}\n}}",
        "'worker' takes no size beside 'num_workers'",
    ),
    (
        f"#pragma acc kernels num_gangs(2)\n{{\n#pragma acc loop gang(4)\n{LOOP}\n}}",
        "'gang' takes no size beside 'num_gangs'",
    ),
    (
        f"#pragma acc parallel\n{{\n#pragma acc loop gang(num:4)\n{LOOP}\n}}",
        "'gang' takes no size on 'parallel'",
    ),
    (f"#pragma acc loop worker(4)\n{LOOP}", "'worker' takes no size on orphaned loops"),
    ("#pragma acc data copy(a[10])\n{ }", "'a[10]' is outside of its 9 elements"),
    ("#pragma acc data copy(a[-1])\n{ }", "'a[-1]' is outside of its 9 elements"),
    *(
        (f"#pragma acc kernels\n{{\n#pragma acc {inner}\n}}", "inside a 'kernels' construct")
        for inner in (
            "parallel\n{ }", "data copy(a)\n{ }", "enter data copyin(a)\n", "exit data delete(a)\n",
            "host_data use_device(a)\n{ }", "update self(a)\n", "wait\n", "init\n", "shutdown\n",
            "set device_num(0)\n",
        )
    ),
)  # fmt: skip


@pytest.mark.parametrize(("text", "message"), CASES)
def test_refused(text: str, message: str) -> None:
    found = mistake(f"void f(int n) {{ int i, j, a[9]; float x = 1;\n{text}\n}}")
    assert message in found.message
    assert found.remedy and found.loc.line >= 2


@pytest.mark.parametrize(
    "text",
    (
        f"#pragma acc parallel loop vector(32)\n{LOOP}",
        f"#pragma acc kernels loop gang(num:4) worker(2) vector(length:32)\n{LOOP}",
        f"#pragma acc loop vector(length:32)\n{LOOP}",
        f"#pragma acc parallel loop tile(n, *)\n{NEST}",
        "#pragma acc parallel async(acc_queue)\n{ }",
        "#pragma acc parallel loop gang private(n)\nfor (i = 0; i < 9; i++)\n{ n = 1;\n"
        "#pragma acc loop vector reduction(+:n)\nfor (j = 0; j < 9; j++) n++; }",
    ),
)
def test_accepted(text: str) -> None:
    check(f"void f(int n, int acc_queue) {{ int i, j, a[9];\n{text}\n}}")


def test_single_subscripts() -> None:
    """They are elements, with a warning where an array seems to be meant, and not beside a length."""
    clauses = "copyin(a[n], x[n][0:2], x[1][n]) create(p[n]) copy(p[3])"
    text = (
        f"void f(int n, int *p) {{ int a[9]; float x[4][2];\n#pragma acc data {clauses}\n{{ }}\n}}"
    )
    found = [w.message for w in warnings(text)]
    assert found == ["'a[n]' in 'copyin' is one element", "'p[n]' in 'create' is one element"]
    (found,) = warnings(text.replace("p[3]", "a[9]"))
    assert "'a' has 9 elements: [9]" in found.message
