"""Subscripts of `accx.element` are read as those of the address arithmetic that it is lowered to."""

from __future__ import annotations

import pytest
from accopt.compiler.ir.context import make_context
from accopt.dialects.accx_element import ElementOp
from accopt.passes.ir.values.accesses import subscripts_of
from accopt.passes.ir.values.addresses import ADDRESS_OPS, base_of, steps_to
from accopt.passes.ir.values.region_values import RegionSymbols
from accopt.passes.lower_elements import LowerElementsPass
from xdsl.dialects import llvm
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue
from xdsl.parser import Parser

STRUCT = "!llvm.struct<(i32, !llvm.array<4 x f32>, !llvm.struct<(f64, i8)>)>"
SHAPES = {
    "pointer": "%a[%i] of f32 : i32",
    "constant": "%a[-3] of f64",
    "unsigned": "%a[%u] of f64 : ui32",
    "array": "%a[%i, %j, 2] of !llvm.array<8 x !llvm.array<4 x f64>> : i32, i64",
    "member": f"%a[%i, 1, %j] of {STRUCT} : i32, i64",
    "inner member": f"%a[%j, 2, 1] of {STRUCT} : i64",
    "of the first structure": f"%a[0, 1, %i] of {STRUCT} : i32",
    "rows": "%a[%i, %u, %j] rows(%m, %n) of f32 : i32, ui32, i64",
    "a row": "%a[%i] rows(%m) of !llvm.array<3 x f32> : i32",
    "array in rows": "%a[%i, %i, 1] rows(%m) of !llvm.array<3 x f32> : i32, i32",
}


def access(text: str) -> tuple[ModuleOp, llvm.FuncOp, SSAValue]:
    """A module with a function that loads from the element, the function, and the address."""
    source = f"""llvm.func @f(%a: !llvm.ptr, %i: i32, %u: i32, %j: i64, %m: i64, %n: i64) {{
      %p = accx.element {text}
      %x = llvm.load %p : !llvm.ptr -> f32
      llvm.return
    }}"""
    module = Parser(make_context(), source).parse_module()
    module.verify()
    return module, *_address(module)


def _address(module: ModuleOp) -> tuple[llvm.FuncOp, SSAValue]:
    function = module.body.block.first_op
    assert isinstance(function, llvm.FuncOp)
    (load,) = (op for op in function.body.walk() if isinstance(op, llvm.LoadOp))
    return function, load.ptr


def bytes_of(function: llvm.FuncOp, pointer: SSAValue):
    """The distance from the base, as a polynomial over the function's parameters."""
    symbols = RegionSymbols(function)
    parts = [step.in_bytes(symbols) for step in steps_to(pointer)]
    assert None not in parts
    total = parts[0]
    for part in parts[1:]:
        total = total + part
    return total


@pytest.mark.parametrize("name", SHAPES)
def test_an_element_is_read_as_what_it_becomes(name: str) -> None:
    module, function, pointer = access(SHAPES[name])
    assert isinstance(pointer.owner, ElementOp)
    assert base_of(pointer) is function.body.block.args[0]
    before = bytes_of(function, pointer)
    LowerElementsPass().apply(make_context(), module)
    function, pointer = _address(module)
    assert isinstance(pointer.owner, ADDRESS_OPS) and not isinstance(pointer.owner, ElementOp)
    assert base_of(pointer) is function.body.block.args[0]
    assert bytes_of(function, pointer) == before


def test_rows_are_subscripts_of_their_own() -> None:
    _, function, pointer = access(SHAPES["rows"])
    subscripts, units = subscripts_of(pointer, RegionSymbols(function))
    i, u, j = function.body.block.args[1:4]
    assert [poly.symbols for poly in subscripts if poly is not None] == [{i}, {u}, {j}]
    assert [len(unit.lengths) for unit in units] == [2, 1, 0]
