"""Remedies for mistakes whose cause lies elsewhere than the word at which C ends."""

from __future__ import annotations

import pytest
from accopt.compiler.base.diagnostics import CompileError, DiagnosticSink, SourceLoc
from accopt.compiler.c.sema.checker import check_text
from accopt.compiler.directives.parser import parse_directive


@pytest.mark.parametrize(
    ("text", "line", "remedy"),
    [
        ("int f(int a) { if (a) { a = 2; } elseif (a == 2) { a = 3; } return a; }", 1, "write 'else if'"),
        ("int f(int a) { whlie (a > 0) { a--; } return a; }", 1, "did you mean 'while'?"),
        ("int f(int a) { fro (int i = 0; i < 3; i++) a += i; return a; }", 1, "did you mean 'for'?"),
        ("int f(int a) { int i; fro (i = 0; i < 3; i++) a += i; return a; }", 1, "did you mean 'for'?"),
        ("int f(int a) { if (a) { a = 2; } esle { a = 3; } return a; }", 1, "did you mean 'else'?"),
        ("int f(int a) { while (a > 2 { a = 1; } return a; }", 1, "write ')' here"),
        ("int f(int a int b) { return a + b; }", 1, "write ',' or an operator before 'int'"),
        ("int f(int, int);\nint g(void) { return f(1 2); }", 2, "write ',' or an operator before '2'"),
        ("int a[3] = {1 2, 3};", 1, "write ',' or an operator before '2', or '}' here"),
        ("int f(void) { return 1; } }\nint g;", 1, "no '{' is open here"),
        ("int f(int a, int b) return a; }", 1, "write '{' before 'return'"),
        ("struct p { int x; }\nint f(void) { return 0; }", 1, "write ';' after the '}' of the structure"),
        ("char *s = 'hello';", 1, "write a string in double quotes"),
        ("__global__ void k(int *a) { a[0] = 1; }", 1, "this is CUDA C++"),
        ("void k(int *);\nvoid f(int *a) { k<<<1, 2>>>(a); }", 2, "this is CUDA C++"),
        ("using namespace std;", 1, "this is C++"),
        ("template<class T> T f(T a) { return a; }", 1, "this is C++"),
        ("void f(double *a) {\n#pragma acc data copy(a[0:2]) {\n}\n}\nint g(int a) { return a.x; }", 2,
         "write it on the next line"),
    ],
)  # fmt: skip
def test_remedies_of_syntax_errors(text: str, line: int, remedy: str):
    with pytest.raises(CompileError) as caught:
        check_text(text, "t.c", DiagnosticSink())
    first = caught.value.diagnostics[0]
    assert first.loc.line == line
    assert remedy in (first.remedy or "")


def test_a_brace_on_the_line_of_a_directive_is_one_mistake():
    text = "int f(int *a) {\n#pragma acc data copy(a[0:2]) {\na[0] = 1;\n}\nreturn a.x; }"
    with pytest.raises(CompileError) as caught:
        check_text(text, "t.c", DiagnosticSink())
    assert [d.loc.line for d in caught.value.diagnostics] == [2, 5]


def test_what_follows_an_unclosed_brace_is_checked():
    text = "int f(int a) {\n if (a) {\n return 1;\n}\nint g(int a) { return b; }\nint h(int a) { return a;\n"
    with pytest.raises(CompileError) as caught:
        check_text(text, "t.c", DiagnosticSink())
    assert [d.loc.line for d in caught.value.diagnostics][:1] == [5]
    text = "int g(int a) { return b; }\nint h(int *a) { return a % 2;\n"
    with pytest.raises(CompileError) as caught:
        check_text(text, "t.c", DiagnosticSink())
    assert sorted(d.loc.line for d in caught.value.diagnostics) == [1, 2, 3]


@pytest.mark.parametrize(
    ("text", "remedy"),
    [
        ("parallel for", "write 'loop'"),
        ("parallel loop map(tofrom: a)", "copy(…) for map(tofrom: …)"),
        ("parallel loop schedule(static)", "gang, worker and vector"),
        ("parallel loop reduction(s:+)", "write reduction(+:s)"),
        ("end parallel", "in C a construct ends with"),
        ("target parallel", "write 'parallel' or 'data'"),
    ],
)
def test_words_of_openmp_and_fortran(text: str, remedy: str):
    with pytest.raises(CompileError) as caught:
        parse_directive(f" {text}", SourceLoc("t.c", 1, 1))
    assert remedy in (caught.value.diagnostics[0].remedy or "")
