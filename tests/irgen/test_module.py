"""Where variables live, and how the files of a program become one module."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from accopt.compiler.base.diagnostics import DiagnosticSink
from accopt.compiler.c.program import load_program
from accopt.compiler.ir.printing import print_ir
from accopt.compiler.irgen import generate_module

from .helpers import ir_of


@pytest.mark.parametrize(
    ("body", "in_memory"),
    [
        ("int x = n; x += 1; use(x);", False),
        ("int x = 0; if (n) x = 1; use(x);", False),
        ("int x = 0; for (int i = 0; i < n; i++) x += i; use(x);", False),
        ("int x; while (n > 3) { x = n; n--; } use(x);", False),
        ("int x = 0; use(x || (x = n));", False),
        ("int x; for (x = 0; x < n; x++) use(x); use(x);", False),
        ("int x = 1; use(*&x);", True),
        ("int x = 0; for (;;) { x++; if (x > n) break; } use(x);", True),
        ("int x = 0; if (n) { x = 1; return; } use(x);", False),
        ("for (;;) { int x = n; if (x) break; use(x); }", False),
        ("for (;;) { int x = n; for (int i = 0; i < 3; i++) x += i; if (x) break; }", False),
        ("again: ; int x = n; if (x) goto again;", True),
        ("switch (n) { case 1: ; int x; x = 2; use(x); }", True),
        ("int x = 0;\n#pragma acc parallel\n{ x = n; }", True),
        ("int x = n;\n#pragma acc parallel\n{ a[0] = x; }", False),
        ("int x = 0;\n#pragma acc data copy(a[0:n])\n{ x = n; }\nuse(x);", True),
        ("int x = 0;\n#pragma acc parallel firstprivate(x)\n{ a[0] = x; }", True),
        ("int x;\n#pragma acc parallel loop\nfor (x = 0; x < n; x++) a[x] = x;", False),
        ("int x;\n#pragma acc parallel\n{ for (x = 0; x < n; x++) a[x] = x; }", False),
        ("int x;\n#pragma acc parallel\n{ for (x = 0; x < n; x++) a[x] = x; a[0] = x; }", True),
    ],
)
def test_storage_of_x(tmp_path: Path, body: str, in_memory: bool):
    text = ir_of(tmp_path, f"void use(int); void f(int n, int *a) {{ {body} }}")
    assert bool(re.search(r"%x\w* = llvm.alloca", text)) == in_memory, text


def test_statics_with_one_name_are_kept_apart(tmp_path: Path):
    unit = (
        "static int v = {0}; static int g(void) {{ static int v; return v++; }} "
        "int f{0}(void) {{ return v + g(); }}"
    )
    text = ir_of(tmp_path, unit.format(1), unit.format(2))
    assert "@v(1 : i32)" in text
    assert "@v.1(2 : i32)" in text
    assert len(set(re.findall(r"llvm.func internal @(g[.\d]*)", text))) == 2


def test_declarations_resolve_to_the_definition(tmp_path: Path):
    text = ir_of(
        tmp_path,
        "extern int shared[]; struct s { int a; double b; }; int h(struct s); "
        "int main(void) { struct s v = {1, 2}; return h(v) + shared[1]; }",
        "int shared[4] = {1, 2}; struct s { int a; double b; }; int h(struct s v) { return v.a; }",
    )
    assert text.count("@shared(") == 1
    assert text.count("llvm.func @h(") == 1
    assert "llvm.call @h(%v" in text


def test_strings_are_shared_and_unused_declarations_are_left_out(tmp_path: Path):
    text = ir_of(
        tmp_path,
        '#include <stdio.h>\n#include <math.h>\nint main(void) { puts("same"); puts("same"); }',
    )
    assert text.count("same\\00") == 1
    assert "@sin" not in text
    assert "llvm.return %c0" in text


def test_small_records_cross_the_abi_in_registers(tmp_path: Path):
    text = ir_of(
        tmp_path,
        "struct p { float x, y; int n; }; struct p g(struct p); int f(struct p v) { return g(v).n; }",
    )
    assert "llvm.func @g(f64, i32) -> !llvm.struct<(f64, i32)>" in text


PROGRAMS = Path(__file__).parent / "programs"


@pytest.mark.parametrize("name", ["functions", "records", "control", "idioms"])
def test_released_trees_give_the_same_module(name: str) -> None:
    def made(*, release: bool) -> tuple[str, int]:
        units = load_program([PROGRAMS / f"{name}.c"], None, DiagnosticSink())
        module = print_ir(generate_module(units, DiagnosticSink(), release=release))
        bodies = [f.body for unit in units for f in unit.functions if f.body is not None]
        return module, sum(bool(body.body) for body in bodies)

    whole, bodies = made(release=False)
    assert bodies
    assert made(release=True) == (whole, 0)
