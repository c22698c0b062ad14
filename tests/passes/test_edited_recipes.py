"""
Recipes edited in saved IR change the program, at every level and on every target: what is executed is their
regions. The C programs ask for something that the recipes of clauses do not say; the edited ones do.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from accopt.compiler.api import Program
from accopt.compiler.base.diagnostics import CompileError, DiagnosticSink
from accopt.compiler.base.options import CompileOptions, TargetName
from accopt.compiler.executable import front_end
from accopt.compiler.ir.context import make_context
from accopt.compiler.ir.reading import parse_ir
from accopt.compiler.translate import translate

TARGETS: tuple[TargetName, ...] = ("host", "sim")
BEST = '!llvm.struct<"struct.best", (f64, i32)>'


def _saved(text: str, target: TargetName, folder: Path) -> str:
    """The acc level of a C program as text."""
    path = folder / "p.c"
    path.write_text(text)
    options = CompileOptions(target=target)
    return str(front_end([path], options, DiagnosticSink()))


def _run(text: str, target: TargetName) -> int:
    options = CompileOptions(target=target, verify=True, sizes="as-written")
    module = parse_ir(make_context(), text, "edited.mlir")
    program = Program(translate(module, options, DiagnosticSink()))
    try:
        status = program.main(["p"])
        if target == "sim":
            assert not program.simulator.findings
        return status
    finally:
        program.close()


def _with_region(text: str, kind: str, region: str, edit: Callable[[str, str], str]) -> str:
    """`text` with the region of its first recipe of that kind changed: `edit(arguments, body)`."""
    recipe = re.search(rf"acc\.{kind}\.recipe.*?\n  \}}\n", text, re.S)
    assert recipe is not None
    found = re.search(rf"{region} \{{\n  \^bb0\((.*?)\):\n(.*?)\n  \}}", recipe[0], re.S)
    assert found is not None
    names = re.findall(r"%\w+", found[1])
    body = edit(", ".join(names), found[2])
    changed = recipe[0].replace(found[2], body, 1)
    assert changed != recipe[0]
    return text.replace(recipe[0], changed, 1)


# The greatest value and where it is: of one copy or the other, as a whole.

LEVELS = r"""
struct best { double v; int at; };
static double a[1000];
#define LOOK(i) { if (a[i] > b.v || (a[i] == b.v && i < b.at)) { b.v = a[i]; b.at = i; } }
#define START { -1e30, -1 }
static int is_right(struct best b) { return b.v == 1008 && b.at == 709; }
int main(void) {
  int n = 1000, off = 0, wrong = 0, length = 32 * (1 + (n > 5));
  struct best parts[4];
  for (int i = 0; i < n; i++) a[i] = (i * 37) % 1009;
#pragma acc data copyin(a)
  {
  { struct best b = START;
#pragma acc parallel loop gang vector num_gangs(5) vector_length(64) reduction(max: b)
    for (int i = 0; i < n; i++) LOOK(i)
    wrong += !is_right(b); }
  { struct best b = START;
#pragma acc parallel loop gang num_gangs(7) vector_length(32) reduction(max: b)
    for (int i = 0; i < n; i++) LOOK(i)
    wrong += 2 * !is_right(b); }
  { struct best b = START;
#pragma acc parallel loop worker vector num_gangs(1) num_workers(4) vector_length(length) reduction(max: b)
    for (int i = 0; i < n; i++) LOOK(i)
    wrong += 4 * !is_right(b); }
#pragma acc parallel loop gang num_gangs(3) num_workers(3) vector_length(64) copyout(parts)
  for (int g = 0; g < 4; g++) {
    struct best b = START;
#pragma acc loop worker vector reduction(max: b)
    for (int i = g; i < n; i += 4) LOOK(i)
    parts[g] = b;
  }
  { struct best b = START;
    for (int g = 0; g < 4; g++) if (parts[g].v > b.v) b = parts[g];
    wrong += 8 * !is_right(b); }
#pragma acc parallel loop gang worker num_gangs(2) num_workers(2) vector_length(32) copyout(parts)
  for (int g = 0; g < 4; g++) {
    struct best b = START;
#pragma acc loop vector reduction(max: b)
    for (int i = g; i < n; i += 4) LOOK(i)
    parts[g] = b;
  }
  { struct best b = START;
    for (int g = 0; g < 4; g++) if (parts[g].v > b.v) b = parts[g];
    wrong += 16 * !is_right(b); }
  { struct best b = START;
#pragma acc parallel num_gangs(4) vector_length(32) reduction(max: b)
    {
#pragma acc loop seq reduction(max: b)
      for (int i = 0; i < n; i++) LOOK(i)
    }
    wrong += 32 * !is_right(b); }
  { struct best b = START;
#pragma acc parallel loop gang vector if(off) reduction(max: b)
    for (int i = 0; i < n; i++) LOOK(i)
    wrong += 64 * !is_right(b); }
  }
  return wrong;
}
"""

ONE_LEVEL = (
    LEVELS[
        : LEVELS.index("  { struct best b = START;\n#pragma acc parallel loop gang num_gangs(7)")
    ]
    + "  }\n  return wrong;\n}\n"
)
"""The first construct only."""


def _take_better(arguments: str, body: str) -> str:
    mine, other = arguments.split(", ")
    at = f"%at[0, 1] : (!llvm.ptr) -> !llvm.ptr, {BEST}"
    return f"""
    %x = llvm.load {mine} : !llvm.ptr -> f64
    %y = llvm.load {other} : !llvm.ptr -> f64
    %px = llvm.getelementptr {at.replace("%at", mine)}
    %py = llvm.getelementptr {at.replace("%at", other)}
    %ix = llvm.load %px : !llvm.ptr -> i32
    %iy = llvm.load %py : !llvm.ptr -> i32
    %greater = arith.cmpf ogt, %y, %x : f64
    %same = arith.cmpf oeq, %y, %x : f64
    %before = arith.cmpi slt, %iy, %ix : i32
    %first = arith.andi %same, %before : i1
    %better = arith.ori %greater, %first : i1
    scf.if %better {{
      %whole = llvm.load {other} : !llvm.ptr -> {BEST}
      llvm.store %whole, {mine} : {BEST}, !llvm.ptr
    }}
    acc.yield {mine} : !llvm.ptr"""


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.sampled(2)
def test_a_structure_is_combined_as_a_whole(target: TargetName, tmp_path: Path):
    text = _saved(LEVELS, target, tmp_path)
    assert _run(text, target) != 0  # the greatest index is not where the greatest value is
    assert _run(_with_region(text, "reduction", "combiner", _take_better), target) == 0


# Scalars and complex numbers: sums become greatest values.

SCALARS = r"""
#include <complex.h>
int main(void) {
  double s = 0; double _Complex z = 0; long k = 0;
#pragma acc parallel loop gang num_gangs(192) vector_length(1) reduction(+: s, z, k)
  for (int i = 0; i < 192; i++) { s += i; z += i + 2.0 * I; k += i; }
  return !(s == 191 && creal(z) == 191 && cimag(z) == 2 && k == 191);
}
"""


def _greatest(arguments: str, body: str) -> str:
    return body.replace("arith.addf", "arith.maximumf").replace("arith.addi", "arith.maxsi")


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.sampled(2)
def test_scalars_and_complex_numbers_are_combined_by_another_operator(
    target: TargetName, tmp_path: Path
):
    text = _saved(SCALARS, target, tmp_path)
    assert _run(text, target) != 0
    head, *recipes = text.split("acc.reduction.recipe ")
    edited = [
        _with_region(f"acc.reduction.recipe {recipe}", "reduction", "combiner", _greatest)
        for recipe in recipes
    ]
    # Every gang has one iteration, so that only combiners bring values together.
    assert _run(head + "".join(edited), target) == 0


# Arithmetic of each element: a sum becomes the product of (1 + x), less 1.

ELEMENTS = r"""
int main(void) {
  float s[3] = {0, 0, 0}, t[8] = {0, 0, 0, 0, 0, 0, 0, 0};
  int n = 24, m = 8;
#pragma acc parallel loop gang vector num_gangs(3) vector_length(8) reduction(+: s, t[1:m-2])
  for (int i = 0; i < n; i++) {
    s[i % 3] = (1 + s[i % 3]) * 2 - 1;
    t[1 + i % 6] = (1 + t[1 + i % 6]) * 2 - 1;
  }
  int wrong = 0;
  for (int k = 0; k < 3; k++) wrong += s[k] != 255;
  for (int k = 0; k < 8; k++) wrong += t[k] != (k >= 1 && k < 7 ? 15 : 0);
  return wrong;
}
"""


def _product_of_more(arguments: str, body: str) -> str:
    found = re.search(r"(%\w+) = arith.addf (%\w+), (%\w+) : f32", body)
    assert found is not None
    result, x, y = found.groups()
    more = f"%u = arith.mulf {x}, {y} : f32\n    %w = arith.addf {x}, {y} : f32"
    return body.replace(found[0], f"{more}\n    {result} = arith.addf %u, %w : f32")


@pytest.mark.parametrize("target", TARGETS)
def test_elements_are_combined_by_other_arithmetic(target: TargetName, tmp_path: Path):
    text = _saved(ELEMENTS, target, tmp_path)
    assert _run(text, target) != 0
    for recipe in ("reduction_add_f32 ", "reduction_add_f32_3 "):
        head, tail = text.split(f"acc.reduction.recipe @{recipe}", 1)
        tail = _with_region(
            "acc.reduction.recipe " + tail, "reduction", "combiner", _product_of_more
        )
        text = head + tail.replace("acc.reduction.recipe ", f"acc.reduction.recipe @{recipe}", 1)
    assert _run(text, target) == 0


# Private copies with a first value.

PRIVATE = r"""
#include <complex.h>
struct pair { int a; double b; };
int main(void) {
  int n = 64, wrong = 0, f = 20, out[64], sums[4];
  int v[4]; struct pair p; double _Complex z;
#pragma acc parallel loop gang num_gangs(4) vector_length(32) private(v) copyout(sums)
  for (int g = 0; g < 4; g++) {
    int s = 0;
#pragma acc loop vector reduction(+: s)
    for (int i = 0; i < 32; i++) s += v[i % 4];
    sums[g] = s;
  }
  for (int g = 0; g < 4; g++) wrong += sums[g] != 32 * 7;
#pragma acc parallel loop gang vector private(v, p, z) copyout(out)
  for (int i = 0; i < n; i++) out[i] = v[i % 4] + p.a + (int)p.b + (int)creal(z) + (int)cimag(z);
  for (int i = 0; i < n; i++) wrong += out[i] != 7 + 3 + 5 + 1 + 2;
#pragma acc parallel num_gangs(4) vector_length(32) firstprivate(f) copyout(sums)
  {
    f += 1;
#pragma acc loop gang
    for (int g = 0; g < 4; g++) sums[g] = f;
  }
  for (int g = 0; g < 4; g++) wrong += sums[g] != 41;
  return wrong;
}
"""


def _first_values(text: str) -> str:
    """Every private copy gets a first value, and firstprivate ones twice the variable's."""

    def store(body: str, type_: str, value: str, path: str = "") -> str:
        copy = re.search(r"acc.yield (%\w+)", body)
        assert copy is not None
        name = f"%{type_}{value.replace('.', '_')}"
        made, place = f"    {name} = arith.constant {value} : {type_}\n", copy[1]
        if path:
            made += f"    {name}_p = llvm.getelementptr {copy[1]}{path}\n"
            place = f"{name}_p"
        made += f"    llvm.store {name}, {place} : {type_}, !llvm.ptr\n"
        return body.replace("    acc.yield", made + "    acc.yield")

    for recipe in re.findall(r"  acc\.private\.recipe.*?\n  \}\n", text, re.S):
        object_ = re.search(r"llvm\.alloca %\w+ x (.*?) \{", recipe)
        assert object_ is not None
        type_, new = object_[1], recipe

        def member(number: int, of: str = type_) -> str:
            return f"[0, {number}] : (!llvm.ptr) -> !llvm.ptr, {of}"

        if type_.startswith("!llvm.array"):
            for number in range(4):
                new = store(new, "i32", "7", member(number)).replace("%i327", f"%e{number}")
        elif "pair" in type_:
            new = store(store(new, "i32", "3", member(0)), "f64", "5.0", member(1))
        elif "Complex" in type_:
            new = store(store(new, "f64", "1.0", member(0)), "f64", "2.0", member(1))
        text = text.replace(recipe, new)

    def twice(arguments: str, body: str) -> str:
        variable, copy = arguments.split(", ")
        return f"""    %x = llvm.load {variable} : !llvm.ptr -> i32
    %twice = arith.addi %x, %x : i32
    llvm.store %twice, {copy} : i32, !llvm.ptr
    acc.yield"""

    return _with_region(text, "firstprivate", "copy", twice)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.sampled(2)
def test_private_copies_have_first_values(target: TargetName, tmp_path: Path):
    text = _saved(PRIVATE, target, tmp_path)
    assert _run(_first_values(text), target) == 0


# What cannot be executed.


@pytest.mark.parametrize("target", TARGETS)
def test_refusals(target: TargetName, tmp_path: Path):
    def by_call(arguments: str, body: str) -> str:
        return f"    acc.yield {arguments} : !llvm.ptr"

    def of_variable(arguments: str, body: str) -> str:
        return f"    %w = llvm.load {arguments} : !llvm.ptr -> i32\n" + body.replace(
            "arith.constant -2147483648 : i32", "arith.addi %w, %w : i32"
        )

    def second(arguments: str, body: str) -> str:
        return f"    acc.yield {arguments.split(', ')[1]} : !llvm.ptr"

    text = _saved(ONE_LEVEL, target, tmp_path)
    for region, edit, message in (
        ("init", by_call, "does not yield memory that it allocates"),
        ("init", of_variable, "uses the variable"),
        ("combiner", second, "does not yield its first argument"),
    ):
        with pytest.raises(CompileError, match=message):
            _run(_with_region(text, "reduction", region, edit), target)


def test_a_gpu_does_not_exchange_large_objects(tmp_path: Path):
    text = ONE_LEVEL.replace("double v; int at;", "double v; int at; double more[100];")
    saved = _saved(text, "sim", tmp_path).replace(
        '!llvm.struct<"struct.best", (f64, i32)>',
        '!llvm.struct<"struct.best", (f64, i32, !llvm.array<100 x f64>)>',
    )
    object_ = '!llvm.struct<"struct.best", (f64, i32, !llvm.array<100 x f64>)>'

    def better(arguments: str, body: str) -> str:
        return _take_better(arguments, body).replace(BEST, object_)

    with pytest.raises(CompileError, match="combines 816 bytes at once"):
        _run(_with_region(saved, "reduction", "combiner", better), "sim")
