"""One compilation reports all mistakes that are independent of one another, and none because of another."""

from __future__ import annotations

import random
import re

import pytest
from accopt.compiler.base.diagnostics import CompileError, DiagnosticSink
from accopt.compiler.c.sema.checker import check_text
from places import marked


def mistakes(text: str) -> list[str]:
    """`line: message` of each."""
    try:
        check_text(text, "t.c", DiagnosticSink())
    except CompileError as e:
        return [f"{d.loc.line}: {d.message}" for d in e.diagnostics]
    return []


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(
            """
struct P { int a; bad b; };                     // unknown type name 'bad'
typedef struct P P;
int f(P *p) { return p->a; }
int g(int n) {
    int q = zz + 1;                             // 'zz' is not declared
    for (i = 0; i < n; i++)                     // 'i' is not declared
        n += zz;
    double v = n.x;                             // 'int' has no members
    v = w;                                      // 'w' is not declared
    P local; local.a = 3;
    return "x" * 2;                             // operator '*' does not apply
}
int h(void) { return zz; }                      // 'zz' is not declared
""",
            id="names and types",
        ),
        pytest.param(
            """
void f(int n, int *a) {
#pragma acc parallel loop copy(x[0:n]) num_gangs(y)   // 'x' is not declared // 'y' is not declared
    for (int i = 0; i < n; i++) {
#pragma acc loop seq gang                       // 'seq' and 'gang'
        for (int j = 0; j < k; j++)             // 'k' is not declared
            a[j] = i;
    }
#pragma acc parallel lop copy(a[0:n])           // 'lop'
    a[0] = 1;
    goto out;                                   // label 'out' is not defined
    break;                                      // 'break' outside
}
""",
            id="directives",
        ),
        pytest.param(
            """
int a(int n) {
    int x = 3 +;                                // syntax error before ';'
    x = 4                                       // expected ';' before 'return'
    return x + zz;
}
double b(double *p, int n) {
    for (int i = 0; i < n; i++ {                // expected ')' before '{'
        p[i] = 2;
    }
    return 0;
}
int 3c;                                         // invalid
static int d(void) { return undeclared; }       // 'undeclared' is not declared
int e(void) { return c + d(); }                 // 'c' is not declared
""",
            id="syntax",
        ),
        pytest.param(
            """
void e(int n) {
    if (n) {
        n = 2;

}
int f(void) {                                   // expected ';' before '{'
    return 3;
}
""",
            id="a brace",
        ),
    ],
)
def test_each_is_found_once(text: str) -> None:
    source, expected = marked(text)
    found = mistakes(source)
    assert len(found) == len(expected), found
    for have, (line, message) in zip(found, expected, strict=True):
        assert have.startswith(f"{line}: ") and message in have, (have, message)


def test_there_is_a_limit() -> None:
    text = "void f(void) {\n" + "".join(f"x{i} = 1;\n" for i in range(100)) + "}\n"
    assert len(mistakes(text)) == 20


_PROGRAM = """
typedef struct { double x, y; } point;
enum color { RED, GREEN = 4 };
static double norm(const point *p) { return p->x * p->x + p->y * p->y; }
int solve(int n, double *restrict a, point *q)
{
    double total = 0;
    int i, k = RED;
#pragma acc data copy(a[0:n]) copyin(q[0:n])
    {
#pragma acc parallel loop reduction(+:total) vector_length(128)
        for (i = 0; i < n; i++) {
            if (a[i] > 0 && k < GREEN)
                total += norm(&q[i]) * a[i];
            else
                switch (i % 3) { case 0: a[i] = 1; break; default: a[i] = -1; }
        }
    }
    do { k++; } while (k < 3);
    return total > 1e3 ? k : (int)total;
}
"""


@pytest.mark.parametrize("seed", range(4))
def test_programs_with_a_token_less_or_twice(seed: int) -> None:
    """Whatever is wrong, it is said, and nothing else happens."""
    pieces = re.findall(r"\w+|\s+|\S", _PROGRAM)
    random_ = random.Random(seed)
    for _ in range(40):
        changed = list(pieces)
        for _ in range(random_.randint(1, 3)):
            at = random_.randrange(len(changed))
            changed[at] = random_.choice(("", changed[at] * 2, random_.choice(pieces)))
        found = mistakes("".join(changed))
        assert len(found) == len(set(found))


def test_braces_of_headers_are_closed():
    text = """# 1 "/usr/include/odd.h"
struct odd
  {
    int a;
};
# 3 "t.c"
int f(int a)
{
    if (a) {
        a++;
    return a;
}
int g(void)
{
    return 2;
"""
    with pytest.raises(CompileError) as caught:
        check_text(text, "t.c", DiagnosticSink())
    (diagnostic,) = caught.value.diagnostics
    (note,) = diagnostic.notes
    assert (note[0].file, note[0].line) == ("t.c", 5)
