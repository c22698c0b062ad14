"""What is wrong with directives of OpenMP is said at its place, with a remedy."""

from __future__ import annotations

import pytest
from accopt.compiler.base.diagnostics import CompileError, DiagnosticSink
from accopt.compiler.c.preprocess import PreprocessOptions, preprocess_text
from accopt.compiler.c.program import check_program
from accopt.compiler.irgen import generate_module

LOOP = "for (int i = 0; i < n; i++) s++;"


def faults(body: str, before: str = "") -> tuple[str, int, str]:
    """Message, line in `body`, and the text at the column of the first error."""
    text = f"{before}void f(int n, float *a) {{ int s = 0;\n{body}\n}}\n"
    sink = DiagnosticSink()
    source = preprocess_text(text, "t.c", PreprocessOptions(openmp=True), sink)
    with pytest.raises(CompileError) as caught:
        generate_module(check_program([source], sink), sink)
    (found,) = caught.value.diagnostics
    lines = text.splitlines()
    return found.message, found.loc.line - 1, lines[found.loc.line - 1][found.loc.column - 1 :]


@pytest.mark.parametrize(
    ("body", "message", "line", "at"),
    [
        ("#pragma omp target\ns++;", "'omp target' is not supported", 1, "target"),
        ("#pragma omp parallel\n#pragma omp cancel for\ns++;", "'omp cancel' is not", 2, "cancel"),
        ("#pragma omp taskloop reduction(+:s)\n" + LOOP, "'reduction' on 'omp taskloop'", 1, "reduction"),
        ("#pragma omp taskloop grainsize(2) num_tasks(3)\n" + LOOP, "'num_tasks' beside", 1, "num_tasks"),
        ("#pragma omp parallel target\ns++;", "'omp parallel target' is not", 1, "target"),
        ("#pragma omp for ordered\n" + LOOP, "'ordered' on 'omp for' is not supported", 1, "ordered"),
        ("#pragma omp parallel\n{\n#pragma omp ordered\ns++; }", "'omp ordered' is not", 3, "ordered"),
        ("#pragma omp paralel for\n" + LOOP, "unknown directive 'omp paralel'; did you", 1, "paralel"),
        ("#pragma omp for privat(s)\n" + LOOP, "unknown clause 'privat'", 1, "privat"),
        ("#pragma omp for nowait(1)\n" + LOOP, "expected a clause of 'omp for', not '('", 1, "(1)"),
        ("#pragma omp parallel private(zz)\ns++;", "'zz' is not declared", 1, "zz)"),
        ("#pragma omp parallel shared(f)\ns++;", "'f' is not a variable", 1, "f)"),
        ("#pragma omp parallel private(s) shared(s)\ns++;", "'s' is in 'private' and", 1, "s)"),
        ("#pragma omp parallel if(0) if(1)\ns++;", "'if' is written twice", 1, "if(1)"),
        ("#pragma omp parallel firstprivate(a[0:3])\ns++;", "a part of 'a'", 1, "[0:3])"),
        ("#pragma omp parallel default(none) shared(n)\ns += n;", "'s' is in no clause", 2, "s += n;"),
        ("#pragma omp parallel default(private)\ns++;", "default(private) is not supported", 1, "default"),
        ("#pragma omp parallel num_threads(1.5)\ns++;", "'num_threads' with 'double'", 1, "1.5)"),
        ("#pragma omp parallel copyin(s)\ns++;", "'s' in 'copyin' is not threadprivate", 1, "s)"),
        ("#pragma omp parallel reduction(+:a)\ns++;", "a reduction of 'a', which has type", 1, "a)"),
        ("#pragma omp parallel reduction(+:s[0:1])\ns++;", "a part of 's' in 'reduction'", 1, "[0:1])"),
        ("int m[3][2];\n#pragma omp parallel reduction(+:m[0:1])\ns++;", "a part of 'm' in", 2, "[0:1])"),
        ("#pragma omp for linear(s)\n" + LOOP, "'linear' on 'omp for' is not supported", 1, "linear"),
        ("#pragma omp parallel reduction(?:s)\ns++;", "operator '?' is not supported", 1, "?:s)"),
        ("#pragma omp task depend(out:zz)\ns++;", "'zz' is not declared", 1, "zz)"),
        ("#pragma omp task depend(s)\ns++;", "expected 'in:', 'out:' or 'inout:' in 'depend'", 1, "s)"),
        ("#pragma omp taskwait depend(in:s)", "'depend' on 'omp taskwait' is not", 1, "depend"),
        ("#pragma omp threadprivate(s)", "'s' in 'threadprivate' is a variable with", 1, "s)"),
        ("#pragma omp parallel", "'omp parallel' has no statement after it", 1, "parallel"),
        ("#pragma omp section\ns++;", "'omp section' is not directly in", 1, "section"),
        ("#pragma omp atomic\nif (s) n++;", "'atomic' is not followed by an assignment", 1, "atomic"),
        ("if (n)\n#pragma omp barrier\ns++;", "'omp barrier' cannot be the body", 2, "barrier"),
    ],
)  # fmt: skip
def test_directives_and_clauses(body: str, message: str, line: int, at: str) -> None:
    found, place, text = faults(body)
    assert message in found
    assert (place, text[: len(at)]) == (line, at) or "atomic" in body


@pytest.mark.parametrize(
    ("body", "message", "line", "at"),
    [
        ("for (int i = 0; i < n; i++) { if (s) break; }", "'break' leaves the 'omp for'", 2, "break"),
        ("for (int i = 0; i < n; i++) { return; }", "'return' leaves the 'omp for'", 2, "return"),
        ("for (int i = 0; i < n; i *= 2) s++;", "does not change by the same step", 2, "i *= 2"),
        ("for (int i = 0; i < n; i--) s++;", "'i' moves away from its bound", 2, "i--"),
        ("for (int i = 0; s < n; i++) s++;", "does not compare 'i' with a bound", 2, "s < n"),
        ("for (; s < n; s++) n++;", "does not start with the assignment of one variable", 2, "for"),
        ("for (double d = 0; d < n; d++) s++;", "cannot share a loop over 'double'", 2, "for"),
        ("for (float *p = a; p < a + n; p++) s++;", "cannot share a loop over 'float *'", 2, "for"),
        ("for (int i = 0; i < 2.5; i++) s++;", "cannot share a loop over 'double'", 2, "2.5"),
        ("while (s) s--;", "'omp for' is not followed by a 'for' loop", 2, "while"),
        ("#pragma acc loop\nfor (int i = 0; i < n; i++) s++;", "a directive between 'omp for'", 2, "acc"),
        ("for (int i = 0; i < n; i++) {\n#pragma omp barrier\n}", "'omp barrier' inside 'omp for'", 3, "bar"),
        ("for (int i = 0; i < n; i++)\n#pragma omp single\ns++;", "'omp single' inside 'omp for'", 3, "si"),
    ],
)  # fmt: skip
def test_loops(body: str, message: str, line: int, at: str) -> None:
    found, place, text = faults("#pragma omp for\n" + body)
    assert message in found
    assert (place, text[: len(at)]) == (line, at)


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("#pragma omp for schedule(dynamic, 0)\n" + LOOP, "the chunk size is not positive"),
        ("#pragma omp for schedule(fast)\n" + LOOP, "unknown schedule 'fast'"),
        ("#pragma omp for schedule(auto, 3)\n" + LOOP, "schedule(auto) has no chunk size"),
        ("#pragma omp for collapse(n)\n" + LOOP, "'collapse' needs a positive constant"),
        ("#pragma omp for collapse(2)\n" + LOOP, "the loops are not tightly nested"),
        (
            "#pragma omp for collapse(2)\nfor (int i = 0; i < n; i++) for (int j = i; j < n; j++) s++;",
            "the bounds of this loop change with 'i'",
        ),
        ("#pragma omp for reduction(+:i)\n" + LOOP, "'i' is the variable of the loop"),
        ("#pragma omp parallel\n{ int t;\n#pragma omp for reduction(+:t)\n" + LOOP + "}", "'t' is private"),
        ("#pragma omp critical(x)\n{\n#pragma omp critical(x)\ns++; }", "'omp critical (x)' inside itself"),
        ("#pragma omp parallel\n{ goto out; }\nout: s++;", "crosses the boundary"),
        ("#pragma omp parallel\nif (n) return;", "'return' leaves the 'omp parallel'"),
    ],
)  # fmt: skip
def test_constructs(body: str, message: str) -> None:
    assert message in faults(body)[0]


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("#pragma acc parallel loop\nfor (int i = 0; i < n; i++) {\n#pragma omp critical\na[i]++; }",
         "'omp critical' inside a 'parallel loop' construct"),
        ("#pragma acc parallel\n#pragma omp parallel\na[0]++;", "'omp parallel' inside a 'parallel'"),
        ("#pragma acc parallel loop\n#pragma omp parallel for\nfor (int i = 0; i < n; i++) a[i]++;",
         "'omp parallel for' between 'parallel loop' and its loop"),
    ],
)  # fmt: skip
def test_in_device_code(body: str, message: str) -> None:
    assert message in faults(body)[0]


def test_at_file_scope() -> None:
    assert "'omp parallel' outside a function" in faults("", "#pragma omp parallel\n")[0]
    assert "'omp declare' is not supported" in faults("", "#pragma omp declare target\n")[0]
