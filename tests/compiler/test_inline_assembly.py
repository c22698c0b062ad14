"""Inline assembly in host code, with gcc's constraints, and what refuses it."""

from __future__ import annotations

import platform
from pathlib import Path

import pytest
from accopt.compiler.base.diagnostics import CompileError, DiagnosticSink
from accopt.compiler.c.program import load_program
from accopt.compiler.irgen import generate_module
from tools import commands

on_x86 = pytest.mark.skipif(platform.machine() != "x86_64", reason="assembly of x86-64")

PROGRAM = r"""
#include <stdio.h>
#include <stdint.h>
typedef struct { long a; int b; } pair;
static void cpuid(unsigned leaf, unsigned *a, unsigned *b, unsigned *c, unsigned *d)
{
    __asm__ __volatile__("cpuid" : "=a"(*a), "=b"(*b), "=c"(*c), "=d"(*d) : "0"(leaf), "2"(0));
}
static int early(int a, int b)
{
    int r;
    asm("movl %1, %0\n\taddl %2, %0" : "=&r"(r) : "r"(a), "r"(b) : "cc");
    return r;
}
static int named(int a, int b)
{
    int r;
    asm("movl %[x], %[out]; subl %[y], %[out]" : [out] "=&r"(r) : [x] "r"(a), [y] "ri"(b));
    return r;
}
static uint64_t high(uint64_t a, uint64_t b)
{
    uint64_t hi, lo;
    asm("mulq %3" : "=a"(lo), "=d"(hi) : "a"(a), "rm"(b) : "cc");
    return hi;
}
static int swap_if(volatile int *p, int old, int wanted)
{
    unsigned char ok;
    int previous;
    __asm__ __volatile__("lock; cmpxchgl %3, %1; sete %2"
                         : "=a"(previous), "+m"(*p), "=q"(ok)
                         : "r"(wanted), "0"(old) : "memory", "cc");
    return ok;
}
static double root(double x)
{
    double r;
    asm("sqrtsd %1, %0" : "=x"(r) : "x"(x));
    return r;
}
int put(const char *) asm("puts");
extern int other asm("stored");
int stored = 77;
static int counter = 5, asm_ = 1;
int main(void)
{
    unsigned a, b, c, d;
    int v = 3, i, array[4] = {1, 2, 3, 4};
    float f = 1.5f;
    char to[8];
    void *target = to;
    const void *source = "abcdefg";
    size_t n = 8;
    pair p = {1, 2};
    cpuid(0, &a, &b, &c, &d);
    printf("%d %d %d %lx\n", a > 0 && b != 0, early(40, 2), named(50, 8), (long)high(-1UL, 16));
    printf("%d ", swap_if(&v, 3, 9));
    printf("%d ", swap_if(&v, 3, 10));
    asm volatile("lock xaddl %0, %1" : "+r"(a), "+m"(v)::"memory");
    asm("addss %1, %0" : "+x"(f) : "xm"(2.0f));
    printf("%d %g %g\n", v > 9, root(2.25), f);
    asm volatile("rep movsb" : "+D"(target), "+S"(source), "+c"(n)::"memory");
    asm volatile("movq %1, %0\n\tmovl $7, %2" : "=m"(p.a) : "r"(99L), "m"(p.b) : "memory");
    printf("%s %ld %d\n", to, p.a, p.b);
    asm("shll %1, %0" : "+r"(v) : "I"(3));
    asm("movl %1, %0" : "=r"(v) : "i"(sizeof(pair) + 26));
    asm("{addl %1, %0|add %0, %1}" : "+r"(v) : "r"(2));
    asm("movzwl %w0, %0" : "+r"(a));
    asm volatile("" ::: "memory");
    __asm volatile("pause" ::);
    asm("incl %0" : "+m"(counter));
    asm volatile("movl $11, %%eax; movl %%eax, %0" : "=r"(i) : : "%eax");
    asm("addl $10, %0" : "+m"(array[i - 9]));
    printf("%d %d %d %d %d\n", v, counter, i, array[2], asm_);
    put("by another name");
    printf("%d\n", other);
#pragma acc parallel loop reduction(+:i)
    for (int k = 0; k < 100; k++)
        i += k;
    asm("addl %1, %0" : "+r"(i) : "r"(1));
    printf("%d\n", i);
    return 0;
}
"""
EXPECTED = "1 42 42 f\n1 0 1 1.5 3.5\nabcdefg 99 7\n44 6 11 13 1\nby another name\n77\n4962\n"


@on_x86
@pytest.mark.parametrize("arguments", ["--target=host -O0", "--target=host -O3", "--target=sim"])
def test_in_host_code(tmp_path: Path, arguments: str) -> None:
    path = tmp_path / "t.c"
    path.write_text(PROGRAM)
    command = ["accrun", *arguments.split(), str(path)]
    done = commands.run(command, timeout=120)
    assert (done.stdout, done.stderr, done.returncode) == (EXPECTED, "", 0)


@pytest.mark.parametrize(
    ("text", "place", "message"),
    [
        ('int f(int x) { asm goto("" : : : : out); out: return x; }', "1:16", "'asm goto' is not"),
        ('asm("nop");', "1:1", "assembly outside of functions is not supported"),
        ('void f(int x) { asm("" : "r"(x)); }', "1:26", "the constraint 'r' of an output"),
        ('void f(void) { asm("" : "=r"(1)); }', "1:25", "this operand is not a variable"),
        ('void f(void) { asm("" : : "m"(1)); }', "1:27", "this operand is not a variable"),
        ('void f(int x) { asm("" : "+Z"(x)); }', "1:26", "the constraint 'Z' is not supported"),
        ('void f(int x) { asm("" : : "3"(x)); }', "1:28", "'3' is not an output in a register"),
        ('void f(int x) { asm("%4" : "+r"(x)); }', "1:17", "the template names operand '%4'"),
        ('struct s { int x[9]; }; void f(struct s x) { asm("" : : "r"(x)); }', "1:57", "not supp"),
        (
            'int f(void) asm("g"); int f(void) { return 1; }',
            "1:27",
            "'f' has an assembler name, 'g'",
        ),
        ('void f(void) { register int x asm("eax"); }', "1:29", "'x' is bound to a register"),
        (
            "void f(int *a) {\n#pragma acc parallel loop copy(a[0:4])\n"
            'for (int i = 0; i < 4; i++) asm("incl %0" : "+m"(a[i])); }',
            "3:29",
            "inline assembly in device code",
        ),
        (
            'static int g(int x) { asm("incl %0" : "+r"(x)); return x; }\nvoid f(int *a) {\n'
            "#pragma acc parallel loop copy(a[0:4])\nfor (int i = 0; i < 4; i++) a[i] = g(i); }",
            "1:23",
            "inline assembly in device code",
        ),
        (
            '#pragma acc routine seq\nint g(int x) { asm("incl %0" : "+r"(x)); return x; }',
            "2:16",
            "inline assembly in device code",
        ),
    ],
)
def test_refused(tmp_path: Path, text: str, place: str, message: str) -> None:
    path = tmp_path / "t.c"
    path.write_text(text + "\n")
    sink = DiagnosticSink()
    with pytest.raises(CompileError) as caught:
        generate_module(load_program([path], None, sink), sink)
    (d,) = caught.value.diagnostics
    assert d.message.startswith(message) or message in d.message
    assert f"{d.loc.line}:{d.loc.column}" == place
