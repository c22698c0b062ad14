"""
The compiler's work grows with the program, not with its square: calls of functions are counted, not
seconds, while generated programs of three sizes go through the whole pipeline.
"""

from __future__ import annotations

import cProfile
import gc
from collections.abc import Callable
from pathlib import Path

import pytest
from accopt.compiler.base.deep_stack import with_deep_stack
from accopt.compiler.base.diagnostics import DiagnosticSink
from accopt.compiler.base.options import CompileOptions
from accopt.compiler.executable import front_end
from accopt.compiler.ir.context import make_context
from accopt.compiler.llvmir import print_llvm_module
from accopt.compiler.pipeline import run_to_stage

LINEAR = 2.2
"""By how much more the second doubling may cost than the first (2 if work is linear in size)."""

Program = Callable[[int], str]


def _loop(directive: str, body: str, *, inside: str = "") -> str:
    header = "void f(int m, int c, const double *restrict a, double *restrict b)"
    return f"{header} {{\n{inside}\n#pragma acc {directive}\nfor (int i = 0; i < m; i++) {{\n{body}\n}}\n}}\n"


def long_sequential_loop(n: int) -> str:
    """Of NPB's kind: the solvers of BT have a thousand statements in such a loop."""
    lines = (f"b[i] = b[i] * 1.5 + a[i * 100 + k] - a[i * 100 + k - 1] * {s}.25;" for s in range(n))
    body = "for (int k = 1; k < 50; k++) {\n" + "\n".join(lines) + "\n}"
    return _loop("parallel loop copyin(a[0:100*m]) copy(b[0:m])", body)


def elements_of_one_array(n: int) -> str:
    """Of NPB's kind, too: blocks of a matrix that are eliminated by statements for each element."""
    loads = "\n".join(f"double x{s} = t[i][{s}];" for s in range(n))
    stores = "\n".join(f"t[i][{s}] = x{s} * 0.5 - x{(s + 1) % n};" for s in range(n))
    source = _loop("parallel loop independent copy(b[0:m])", f"{loads}\n{stores}")
    return f"double t[100][1000];\n#pragma acc declare create(t)\n{source}"


def many_inner_loops(n: int) -> str:
    body = "\n".join(
        f"#pragma acc loop vector\nfor (int k = 0; k < c; k++) b[i*c + k] += a[i*c + k] * {s}.5;"
        for s in range(n)
    )
    return _loop("parallel loop gang copyin(a[0:c*m]) copy(b[0:c*m])", body)


def many_arrays(n: int) -> str:
    parameters = ", ".join(f"double *a{i}" for i in range(n))
    copies = ", ".join(f"a{i}[0:c]" for i in range(n))
    body = "\n".join(f"a{i}[k] += a{(i + 1) % n}[k] * 2.0;" for i in range(n))
    return (
        f"void f(int c, {parameters}) {{\n#pragma acc parallel loop copy({copies})\n"
        f"for (int k = 0; k < c; k++) {{\n{body}\n}}\n}}\n"
    )


def many_constructs(n: int) -> str:
    body = "\n".join(
        f"#pragma acc parallel loop\nfor (int k = 0; k < c; k++) b[k] += a[k] * {s}.5;"
        for s in range(n)
    )
    header = "void f(int c, const double *restrict a, double *restrict b)"
    return f"{header} {{\n#pragma acc data copyin(a[0:c]) copy(b[0:c])\n{{\n{body}\n}}\n}}\n"


def many_updates(n: int) -> str:
    body = "\n".join(f"a[{s}] = 1;\n#pragma acc update device(a[0:{s + 1}])" for s in range(n))
    return f"void f(int m, double *a) {{\n#pragma acc data copy(a[0:m])\n{{\n{body}\n}}\n}}\n"


def chain_of_routines(n: int) -> str:
    routines = "\n".join(
        f"#pragma acc routine seq\ndouble g{i}(double x) {{ return x * {i}.5"
        + (f" + g{i - 1}(x);\n}}" if i else ";\n}")
        for i in range(n)
    )
    return routines + _loop("parallel loop copy(b[0:m])", f"b[i] = g{n - 1}(b[i]);")


def functions_without_directives(n: int) -> str:
    return "\n".join(
        f"double f{i}(int c, double *a) {{ double s = 0; for (int k = 0; k < c; k++)"
        f" {{ if (a[k] > 0) s += a[k] * {i}.5; else break; }} return s; }}"
        for i in range(n)
    )


def nested_blocks(n: int) -> str:
    """Every level declares a variable and uses those of the levels around it, and one of the file."""
    body = "".join(f"{{ int x{s} = x{max(s - 1, 0)} + g; " for s in range(1, n))
    return f"int g;\nint f(int x0) {{ {body} return g;{'}' * n}\n"


def chain_of_choices(n: int) -> str:
    choices = "".join(f"a == {s} ? (b = {3 * s}) :\n" for s in range(n))
    return f"int f(int a) {{ int b = 1; return {choices} 0; }}"


def long_condition(n: int) -> str:
    tests = "".join(f" && a[i + {s}] > {s}\n" for s in range(n))
    return _loop("parallel loop copyin(a[0:2*m]) copy(b[0:m])", f"b[i] = a[i] > 0{tests};")


def local_tables(n: int) -> str:
    numbers = ", ".join(str(s) for s in range(100 * n))
    return f"int f(int i) {{ int t[] = {{ {numbers} }}; return t[i]; }}"


def loops_in_kernels(n: int) -> str:
    loops = "".join(
        f"for (int i = 0; i < c; i++) {'ab'[s % 2]}[i] += {'ba'[s % 2]}[i] * {s}.5;\n"
        for s in range(n)
    )
    header = "void f(int c, double *restrict a, double *restrict b)"
    return f"{header} {{\n#pragma acc kernels copy(a[0:c], b[0:c])\n{{\n{loops}}}\n}}\n"


def interpreter(n: int) -> str:
    """Every instruction jumps to the next one's (GNU C)."""
    table = ", ".join(f"&&l{s}" for s in range(n))
    body = "\n".join(f"l{s}: a += {s}; goto *t[code[a]];" for s in range(n))
    return f"int f(int a, int *code) {{ static void *t[] = {{ {table} }};\ngoto *t[a];\n{body}\n}}"


def large_switch(n: int) -> str:
    cases = "\n".join(f"case {3 * k}: return {k * 7 % 13};" for k in range(n))
    return f"int f(int x) {{ switch (x) {{ {cases} }} return -1; }}"


def tables(n: int) -> str:
    """Initialisers that are large: numbers, records, designators, strings of wide characters."""
    records = ", ".join(f'{{ {k}, {k}.5, "n{k}", {{ {k % 9}, .e = 3 }} }}' for k in range(n))
    wide = " ".join('L"abcdefgh"' for _ in range(n))
    return (
        f"const unsigned char bytes[] = {{ {', '.join(str(k * 37 % 256) for k in range(8 * n))} }};\n"
        f"const double numbers[] = {{ {', '.join(f'{k}.25, -{k}e-3' for k in range(n))} }};\n"
        f"int turned[] = {{ {', '.join(f'[{n - 1 - k}] = {k}' for k in range(n))} }};\n"
        "struct record { int a; double b; const char *c; struct { short d, e; } f; };\n"
        f"struct record records[] = {{ {records} }};\n"
        f"const __WCHAR_TYPE__ wide[] = {wide};\n"
    )


def nested_structures(n: int) -> str:
    """Each holds the one before."""
    types = "".join(f"struct s{k + 1} {{ struct s{k} m; int x; }};\n" for k in range(n))
    return (
        f"struct s0 {{ int x; }};\n{types}struct s{n} v;\nint f(void) {{ return v{'.m' * n}.x; }}\n"
    )


FAMILIES: dict[Program, int] = {
    long_sequential_loop: 8,
    elements_of_one_array: 16,
    many_inner_loops: 4,
    many_arrays: 18,  # above MOST_STORES of mark-unchanged-loads, which bounds its work
    many_constructs: 5,
    many_updates: 15,
    chain_of_routines: 12,
    functions_without_directives: 8,
    nested_blocks: 40,
    chain_of_choices: 30,
    long_condition: 16,
    local_tables: 6,
    loops_in_kernels: 5,
    interpreter: 30,
    nested_structures: 40,
    large_switch: 200,
    tables: 60,
}
"""Programs by size, and their smallest size here."""


@with_deep_stack  # where the compiler works: other threads are not counted
def calls(source: str, folder: Path, target: str = "nvptx") -> int:
    """How many calls the compiler makes from C to LLVM IR."""
    path = folder / "prog.c"
    path.write_text(source)
    options = CompileOptions(target="host" if target == "host" else "nvptx")
    profile = cProfile.Profile()
    gc.disable()  # finalisers of earlier tests are not the compiler's work
    profile.enable()
    try:
        module = front_end([path], options, DiagnosticSink())
        run_to_stage(make_context(), module, "nvvm", options)
        print_llvm_module(module, target="host")
    finally:
        profile.disable()
        gc.enable()
    return sum(entry.callcount for entry in profile.getstats())


@pytest.mark.sampled(2)
@pytest.mark.parametrize("program", FAMILIES, ids=lambda program: program.__name__)
def test_twice_the_program_is_twice_the_work(program: Program, tmp_path: Path):
    calls(program(2), tmp_path)  # imports and tables that are made once
    n = FAMILIES[program]
    one, two, four = (calls(program(size), tmp_path) for size in (n, 2 * n, 4 * n))
    assert four - two <= LINEAR * (two - one), (one, two, four)


def doubled_in_kernels(n: int) -> str:
    steps = "".join(f"int t{k + 1} = t{k} + t{k};\n" for k in range(n))
    loops = (
        f"for (int i = 0; i < t{n}; i++) a[i] += 1;\nfor (int i = 0; i < t{n - 1}; i++) a[i] += 1;"
    )
    header = "void f(int m, double *restrict a)"
    return f"{header} {{\n#pragma acc kernels copy(a[0:m])\n{{ int t0 = m;\n{steps}{loops}\n}}\n}}"


def squared_bounds(n: int) -> str:
    steps = "".join(f"int t{k + 1} = t{k} * t{k} / 3;\n" for k in range(n))
    loop = f"#pragma acc loop\nfor (int i = 0; i < t{n}; i++) a[i] += 1;"
    header = "void f(int m, double *restrict a)"
    return f"{header} {{\n#pragma acc parallel copy(a[0:m])\n{{ int t0 = m;\n{steps}{loop}\n}}\n}}"


def squared_sections(n: int) -> str:
    steps = "".join(f"int t{k + 1} = t{k} * t{k} + t{k};\n" for k in range(n))
    loop = f"#pragma acc parallel loop copy(a[0:t{n}])\nfor (int i = 0; i < t{n}; i++) a[i] += 1;"
    return f"void f(int m, double *restrict a) {{ int t0 = m;\n{steps}{loop}\n}}"


def squared_subscripts(n: int) -> str:
    steps = "".join(f"int t{k + 1} = t{k} * (t{k} + q + {k});\n" for k in range(n))
    return (
        "void f(int m, int q, double *restrict a) {\n#pragma acc kernels copy(a[0:m])\n"
        f"for (int i = 0; i < m; i++) {{ int t0 = i + q;\n{steps}a[t{n}] += 1; }}\n}}"
    )


def product_of_sums(n: int) -> str:
    parameters = ", ".join(f"int p{k}, int q{k}" for k in range(n))
    product = " * ".join(f"(p{k} + q{k} + {k})" for k in range(n))
    return (
        f"void f(int m, {parameters}, double *restrict a) {{\n#pragma acc kernels copy(a[0:m])\n"
        f"for (int i = 0; i < m; i++) a[i * {product}] += 1;\n}}"
    )


@pytest.mark.parametrize("target", ["nvptx", "host"])
@pytest.mark.parametrize(
    "program",
    [doubled_in_kernels, squared_bounds, squared_sections, squared_subscripts, product_of_sums],
    ids=lambda program: program.__name__,
)
def test_expressions_that_use_a_value_twice_are_read_once(
    program: Program, target: str, tmp_path: Path
):
    """Each step doubles the expression as a tree: one walk over trees would not end in this life."""
    calls(program(2), tmp_path, target)
    assert calls(program(32), tmp_path, target) < 6 * calls(program(8), tmp_path, target)
