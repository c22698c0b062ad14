"""Recipes: one name for a type, whoever asks; the identity of each operator; symbols of the program's own."""

from __future__ import annotations

import math

import pytest
from accopt.compiler.base.diagnostics import UNKNOWN_LOC, DiagnosticSink
from accopt.compiler.base.options import CompileOptions
from accopt.compiler.executable import front_end
from accopt.passes.ir.variables.recipes import firstprivate_recipe, private_recipe, reduction_recipe
from xdsl.dialects import acc, arith, llvm
from xdsl.dialects.builtin import FloatAttr, IntegerAttr, ModuleOp, f32, f64, i8, i32

KINDS = acc.ReductionOpKind
LOC = UNKNOWN_LOC.to_attr()
ROWS = llvm.LLVMArrayType(2, llvm.LLVMArrayType(3, f32))


def _front(text: str, tmp_path) -> ModuleOp:
    path = tmp_path / "p.c"
    path.write_text(text)
    return front_end([path], CompileOptions(), DiagnosticSink())


def _recipes(module: ModuleOp) -> list[str]:
    kinds = acc.PrivateRecipeOp | acc.FirstprivateRecipeOp | acc.ReductionRecipeOp
    return [op.sym_name.data for op in module.body.block.ops if isinstance(op, kinds)]


CLAUSES = """
void f(float (*out)[3], unsigned *u) {
  float rows[2][3] = {{0}}, kept[2][3] = {{1}}, best[2][3] = {{0}};
  unsigned low = 7;
#pragma acc parallel loop private(rows) firstprivate(kept) reduction(max: best) reduction(min: low)
  for (int i = 0; i < 8; i++) {
    rows[1][2] = i; best[1][2] = rows[1][2] > best[1][2] ? rows[1][2] : best[1][2];
    low = u[i] < low ? u[i] : low; out[i][0] = kept[0][1];
  }
  out[0][1] = best[1][2]; u[0] = low;
}
"""


def test_passes_find_what_the_front_end_made(tmp_path):
    """Every recipe that clauses need is there already when a pass asks for one of that type."""
    module = _front(CLAUSES, tmp_path)
    before = _recipes(module)
    names = [
        private_recipe(module, ROWS, LOC),
        firstprivate_recipe(module, ROWS, LOC),
        reduction_recipe(module, KINDS.MAX, ROWS, LOC),
        reduction_recipe(module, KINDS.MIN, i32, LOC, signed=False),
    ]
    assert [name.string_value() for name in names] == [
        "private_f32_2_3",
        "firstprivate_f32_2_3",
        "reduction_max_f32_2_3",
        "reduction_min_ui32",
    ]
    assert _recipes(module) == before


IDENTITIES = [
    (KINDS.ADD, f32, True, 0.0),
    (KINDS.MUL, f64, True, 1.0),
    (KINDS.LAND, f32, True, 1.0),
    (KINDS.LOR, f32, True, 0.0),
    (KINDS.MAX, f32, True, -math.inf),
    (KINDS.MIN, f64, True, math.inf),
    (KINDS.MAX, i32, True, -(2**31)),
    (KINDS.MIN, i32, True, 2**31 - 1),
    (KINDS.MAX, i8, False, 0),
    (KINDS.MIN, i8, False, -1),
    (KINDS.IAND, i32, True, -1),
    (KINDS.IOR, i32, True, 0),
    (KINDS.XOR, i32, True, 0),
    (KINDS.MUL, i32, True, 1),
]


@pytest.mark.parametrize(("kind", "type_", "signed", "expected"), IDENTITIES)
def test_identity(kind, type_, signed, expected):
    """Infinities for floats: the greatest finite number is greater than a maximum of -inf alone."""
    module = ModuleOp([])
    reduction_recipe(module, kind, type_, LOC, signed=signed)
    (recipe,) = module.body.block.ops
    assert isinstance(recipe, acc.ReductionRecipeOp)
    store = next(op for op in recipe.init_region.walk() if isinstance(op, llvm.StoreOp))
    constant = store.value.owner
    assert isinstance(constant, arith.ConstantOp)
    assert isinstance(constant.value, FloatAttr | IntegerAttr)
    assert constant.value.value.data == expected
    module.verify()


def test_types_of_one_mnemonic_have_recipes_of_their_own():
    """`struct.a.b` and `struct.a_b` differ in a character that symbols lose."""
    module = ModuleOp([])
    types = [llvm.LLVMStructType.from_type_list([t]) for t in (f32, f64)]
    tagged = [
        llvm.LLVMStructType(llvm.StringAttr(name), t.types)
        for name, t in zip(("struct.a.b", "struct.a_b"), types, strict=True)
    ]
    names = [private_recipe(module, t, LOC).string_value() for t in (*types, *tagged)]
    assert len(set(names)) == 4
    again = [private_recipe(module, t, LOC).string_value() for t in (*types, *tagged)]
    assert again == names and sorted(_recipes(module)) == sorted(names)


@pytest.mark.parametrize("clause", ["reduction(+: s)", "private(s)", "firstprivate(s)"])
@pytest.mark.parametrize("storage", ["", "static "])
def test_functions_may_have_the_names_of_recipes(clause: str, storage: str, tmp_path):
    taken = ("reduction_add_i32", "private_i32", "firstprivate_i32")
    functions = "".join(f"{storage}int {name}(int x) {{ return x; }}\n" for name in taken)
    calls = " + ".join(f"{name}(1)" for name in taken)
    module = _front(
        f"""{functions}
        int f(void) {{
          int s = 0;
        #pragma acc parallel loop {clause}
          for (int i = 0; i < 9; i++) s += i;
          return s + {calls};
        }}""",
        tmp_path,
    )
    module.verify()
    (recipe,) = _recipes(module)
    assert recipe not in taken
    used = [op for op in module.walk() if getattr(op, "recipe", None) is not None]
    assert [op.recipe.string_value() for op in used] == [recipe]  # pyright: ignore
