# ruff: noqa: E501 (one program per line reads better)
"""Every refusal of IR generation names the cause at its place and says what to write instead."""

from __future__ import annotations

from pathlib import Path

import pytest
from accopt.compiler.base.diagnostics import (
    CompileError,
    DiagnosticSink,
    SourceLoc,
    render,
    source_line,
)

from .helpers import generate

LOOP = "for (int i = 0; i < n; i++) a[i] = i;"

CASES = {
    "not counted": (
        "void f(int n, int *a) {\n#pragma acc parallel loop\nfor (int i = 1; i < n; i *= 2) a[i] = 0; }",
        3,
        "cannot be counted",
    ),
    "assigned variable": (
        "void f(int n, int *a) {\n#pragma acc parallel loop\nfor (int i = 0; i < n; i++) { a[i++] = 0; } }",
        3,
        "its body assigns 'i'",
    ),
    "assigned bound": (
        "void f(int n, int *a) {\n#pragma acc parallel loop\nfor (int i = 0; i < n; i++) { a[i] = n--; } }",
        3,
        "its body assigns 'n'",
    ),
    "leaked variable": (
        "void g(int *);\n#pragma acc routine(g) seq\nvoid f(int n, int *a) {\n#pragma acc parallel loop\n"
        "for (int i = 0; i < n; i++) { g(&i); } }",
        5,
        "may be changed from elsewhere",
    ),
    "float variable": (
        "void f(int n, int *a) {\n#pragma acc parallel loop\nfor (float x = 0; x < n; x++) a[(int)x] = 0; }",
        3,
        "neither an integer nor a pointer",
    ),
    "wrong direction": (
        "void f(int n, int *a) {\n#pragma acc parallel loop\nfor (int i = 0; i < n; i--) a[i] = 0; }",
        3,
        "away from the bound",
    ),
    "break": (
        "void f(int n, int *a) {\n#pragma acc parallel loop\nfor (int i = 0; i < n; i++) { if (a[i]) break; } }",
        3,
        "control leaves its body",
    ),
    "collapse too deep": (
        f"void f(int n, int *a) {{\n#pragma acc parallel loop collapse(2)\n{LOOP} }}",
        3,
        "only 1 are tightly nested",
    ),
    "not tightly nested": (
        "void f(int n, int *a) {\n#pragma acc parallel loop collapse(2)\nfor (int i = 0; i < n; i++) {\n"
        "a[i] = 0; for (int j = 0; j < n; j++) a[i] += j; } }",
        4,
        "only 1 are tightly nested",
    ),
    "triangular": (
        "void f(int n, int *a) {\n#pragma acc parallel loop collapse(2)\nfor (int i = 0; i < n; i++)\n"
        "for (int j = 0; j < i; j++) a[i] += j; }",
        4,
        "not rectangular",
    ),
    "reduction of a struct": (
        "struct s { int x; int *p; };\nvoid f(int n, int *a) { struct s v;\n#pragma acc parallel loop reduction(+:v)\n"
        + LOOP
        + " }",
        3,
        "reduction of 'v' of type 'struct s', which contains 'int *', is not supported",
    ),
    "reduction of a bit-field": (
        "struct s { int x : 3; };\nvoid f(int n, int *a) { struct s v;\n#pragma acc parallel loop reduction(+:v)\n"
        + LOOP
        + " }",
        3,
        "reduction of 'v' of type 'struct s' is not supported",
    ),
    "least of mixed signs": (
        "struct s { int x; unsigned u; };\nvoid f(int n, int *a) { struct s v;\n#pragma acc parallel loop reduction(min:v)\n"
        + LOOP
        + " }",
        3,
        "has signed and unsigned members",
    ),
    "bitwise reduction of a float": (
        f"void f(int n, int *a) {{ float v;\n#pragma acc parallel loop reduction(^:v)\n{LOOP} }}",
        2,
        "'^' cannot reduce 'v'",
    ),
    "reduction of a member": (
        "struct s { int x; } v;\nvoid f(int n, int *a) {\n#pragma acc parallel reduction(+:v.x)\nv.x += n; }",
        3,
        "the member 'v.x' in 'reduction' of a compute construct",
    ),
    "section through pointers": (
        "void f(int n, int **a) {\n#pragma acc parallel private(a[0:n][0:n])\na[0][0] = 1; }",
        2,
        "goes through an array of pointers",
    ),
    "atomic update form": (
        "void f(int *a) {\n#pragma acc parallel\n{\n#pragma acc atomic\na[0] = a[1] + 1; } }",
        5,
        "not an 'atomic update'",
    ),
    "atomic update of another element": (
        "void f(int *a, int i) {\n#pragma acc parallel\n{\n#pragma acc atomic\na[(unsigned char)i] = a[i] + 1; } }",
        5,
        "not an 'atomic update'",
    ),
    "atomic update of an element that a call with effects chooses": (
        "int count;\nint next(void) { return count++; }\nvoid f(int *a) {\n#pragma acc serial\n{\n"
        "#pragma acc atomic\na[next()] = a[next()] + 1; } }",
        7,
        "the call of 'next' may have side effects",
    ),
    "atomic update of an element that an unknown function chooses": (
        "int next(void);\nvoid f(int *a) {\n#pragma acc serial\n{\n#pragma acc atomic\na[next()] = 1 + a[next()]; } }",
        6,
        "the call of 'next' may have side effects",
    ),
    "atomic capture of two objects": (
        "void f(int *a) { int v;\n#pragma acc parallel\n{\n#pragma acc atomic capture\n{ v = a[0]; a[1]++; } } }",
        5,
        "not an 'atomic capture'",
    ),
    "atomic write of a value that reads": (
        "void f(int *a) {\n#pragma acc parallel\n{\n#pragma acc atomic write\na[0] = a[0] > 3 ? 3 : a[0]; } }",
        5,
        "reads the variable itself",
    ),
    "atomic capture and a write that reads": (
        "void f(int *a) { int v;\n#pragma acc parallel\n{\n#pragma acc atomic capture\n{ v = *a; *a = *a > 3; } } }",
        5,
        "reads the variable itself",
    ),
    "atomic bit-field": (
        "struct s { int x : 3; };\nvoid f(struct s *p) {\n#pragma acc parallel\n{\n#pragma acc atomic\np->x++; } }",
        6,
        "bit-field",
    ),
    "two bindings": (
        "#pragma acc routine seq bind(g)\nvoid f(int n);\nvoid g(int n);\n#pragma acc routine(f) seq\n"
        "void g(int n) { f(n); }",
        4,
        "'routine' binds 'f' to another name",
    ),
    "declare link": (
        "void g(int n) { float big[100];\n#pragma acc declare link(big)\nbig[0] = n; }",
        2,
        "'link' declares the local variable 'big'",
    ),
    "gang dimension": (
        f"void f(int n, int *a) {{\n#pragma acc parallel loop gang(dim:n)\n{LOOP} }}",
        2,
        "not a constant from 1 to 3",
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_refusal(case: str, tmp_path: Path):
    source, line, message = CASES[case]
    with pytest.raises(CompileError) as caught:
        generate(tmp_path, source)
    diagnostic = caught.value.diagnostics[0]
    assert message in diagnostic.message
    assert diagnostic.remedy
    assert diagnostic.loc.line == line, render(diagnostic)


def test_two_definitions(tmp_path: Path):
    with pytest.raises(CompileError, match="defined"):
        generate(tmp_path, "int f(void) { return 1; }", "int f(void) { return 2; }")


def test_uncountable_seq_loop_is_a_remark(tmp_path: Path):
    sink = DiagnosticSink()
    source = "void f(int n, int *a) {\n#pragma acc parallel copy(a[0:n])\n{\n#pragma acc loop seq\nfor (int i = n; i; i /= 2) a[i] = 0; } }"
    generate(tmp_path, source, sink=sink)
    assert any("trip count" in d.message and d.loc.line == 5 for d in sink.diagnostics)


def test_the_line_of_a_message_is_that_of_the_file_now(tmp_path: Path) -> None:
    file = tmp_path / "edited.c"
    for text in ("int a;", "int bc;", "int de;"):
        file.write_text(text + "\n")
        assert source_line(SourceLoc(str(file), 1)) == text
    file.unlink()
    assert source_line(SourceLoc(str(file), 1)) is None
