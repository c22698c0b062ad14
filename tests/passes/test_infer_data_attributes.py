"""Implicit sections against the elements a nest really touches, and the table of attributes."""

from __future__ import annotations

import random

import pytest
from accopt.compiler.ir.context import make_context
from accopt.passes.infer_data_attributes.data_attributes import (
    DataAction,
    VariableFacts,
    VariableKind,
    decide,
)
from accopt.passes.infer_data_attributes.infer_data_attributes import (
    InferDataAttributesPass,
)
from xdsl.dialects import acc, arith
from xdsl.dialects.builtin import IntegerAttr, ModuleOp
from xdsl.ir import BlockArgument, SSAValue
from xdsl.parser import Parser

NEST = """
llvm.func @f(%n: i32, %m: i32, %x: !llvm.ptr) {{
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %low = arith.constant {low} : i32
  %step = arith.constant {step} : i32
  %v = arith.constant 0.0 : f32
  acc.parallel {{
    acc.loop control(%i : i32) = (%low : i32) to (%n : i32) step (%step : i32) {{
      %first = arith.muli %i, {tri} : i32
      scf.for %j = %first to %m step %c1 : i32 {{
        %ki = arith.muli %i, {ki} : i32
        %kj = arith.muli %j, {kj} : i32
        %sum = arith.addi %ki, %kj : i32
        %c = arith.constant {c} : i32
        %index = arith.addi %sum, %c : i32
        %wide = arith.extsi %index : i32 to i64
        %p = llvm.getelementptr %x[%wide] : (!llvm.ptr, i64) -> !llvm.ptr, f32
        llvm.store %v, %p : f32, !llvm.ptr
      }}
      acc.yield
    }} attributes {{independent = [#acc.device_type<none>], inclusiveUpperbound = array<i1: false>}}
    acc.yield
  }}
  llvm.return
}}
"""


def infer(text: str) -> ModuleOp:
    ctx = make_context()
    module = Parser(ctx, text).parse_module()
    InferDataAttributesPass().apply(ctx, module)
    module.verify()
    return module


def evaluate(value: SSAValue, arguments: list[int]) -> int:
    """The arithmetic in front of a construct, run."""
    if isinstance(value, BlockArgument):
        return arguments[value.index]
    op = value.owner
    operands = [evaluate(operand, arguments) for operand in op.operands]
    match op:
        case arith.ConstantOp():
            return op.value.value.data  # pyright: ignore
        case arith.ExtSIOp():
            return operands[0]
        case arith.AddiOp():
            return operands[0] + operands[1]
        case arith.SubiOp():
            return operands[0] - operands[1]
        case arith.MuliOp():
            return operands[0] * operands[1]
        case arith.CmpiOp():
            assert op.predicate.value.data == 2, "slt"
            return operands[0] < operands[1]
        case arith.SelectOp():
            return operands[1] if operands[0] else operands[2]
        case arith.MaxSIOp():
            return max(operands)
        case arith.MinSIOp():
            return min(operands)
        case arith.DivSIOp():
            return int(operands[0] / operands[1])
        case _:
            raise AssertionError(op.name)


@pytest.mark.parametrize("seed", range(60))
def test_sections_hold_every_access_and_nothing_beyond_the_ends(seed: int):
    rng = random.Random(seed)
    constants = {
        "low": rng.randint(0, 2),
        "step": rng.randint(1, 3),
        "ki": rng.randint(-3, 3),
        "kj": rng.randint(-3, 3),
        "c": rng.randint(-4, 4),
        "tri": rng.randint(0, 1),
    }
    n, m = rng.randint(3, 8), rng.randint(8, 12)
    names = {name: f"%k_{name}" for name in ("ki", "kj", "tri")}
    declarations = "".join(
        f"  %k_{name} = arith.constant {constants[name]} : i32\n" for name in names
    )
    text = NEST.format(**{**constants, **names}).replace(
        "  acc.parallel", declarations + "  acc.parallel"
    )
    module = infer(text)
    bounds = next(op for op in module.walk() if isinstance(op, acc.DataBoundsOp))
    assert bounds.lowerbound is not None and bounds.extent is not None
    lower = evaluate(bounds.lowerbound, [n, m, 0])
    extent = evaluate(bounds.extent, [n, m, 0])
    touched = [
        i * constants["ki"] + j * constants["kj"] + constants["c"]
        for i in range(constants["low"], n, constants["step"])
        for j in range(i * constants["tri"], m)
    ]
    assert (lower, lower + extent) == (min(touched), max(touched) + 1)


def test_loops_that_run_nothing_have_an_empty_section():
    text = NEST.format(low=0, step=1, ki="%c0", kj="%c1", c=0, tri="%c0")
    bounds = next(op for op in infer(text).walk() if isinstance(op, acc.DataBoundsOp))
    assert bounds.extent is not None
    assert evaluate(bounds.extent, [4, 0, 0]) == 0


def test_an_unknown_subscript_expects_the_array_on_the_device():
    text = NEST.format(low=0, step=1, ki="%i", kj="%j", c=0, tri="%c0")
    module = infer(text)
    present = [op for op in module.walk() if isinstance(op, acc.PresentOp)]
    assert len(present) == 1
    assert present[0].properties["implicit"] == IntegerAttr(1, 1)


SCALAR, AGGREGATE, POINTER = VariableKind.SCALAR, VariableKind.AGGREGATE, VariableKind.POINTER


@pytest.mark.parametrize(
    "facts, action",
    [
        (VariableFacts(SCALAR), DataAction.FIRSTPRIVATE),
        (VariableFacts(SCALAR, default_present=True), DataAction.FIRSTPRIVATE),
        (VariableFacts(SCALAR, reduction=True), DataAction.COPY),
        (VariableFacts(SCALAR, from_kernels=True), DataAction.COPY),
        (VariableFacts(SCALAR, from_kernels=True, writes=False), DataAction.COPYIN),
        (
            VariableFacts(SCALAR, from_kernels=True, writes=False, shared=False),
            DataAction.FIRSTPRIVATE,
        ),
        (VariableFacts(AGGREGATE), DataAction.COPY),
        (VariableFacts(AGGREGATE, writes=False), DataAction.COPYIN),
        (VariableFacts(AGGREGATE, reads=False), DataAction.COPY),
        (VariableFacts(AGGREGATE, default_present=True), DataAction.PRESENT),
        (VariableFacts(POINTER, section_known=False), DataAction.PRESENT),
        (VariableFacts(POINTER, writes=False), DataAction.COPYIN),
        (
            VariableFacts(SCALAR, visible_clause=acc.DataClause.ACC_COPYIN),
            DataAction.PRESENT,
        ),
        (
            VariableFacts(AGGREGATE, visible_clause=acc.DataClause.ACC_CREATE, conditional=True),
            DataAction.COPY,
        ),
        (
            VariableFacts(POINTER, visible_clause=acc.DataClause.ACC_DEVICEPTR),
            DataAction.DEVICEPTR,
        ),
        (
            VariableFacts(POINTER, visible_clause=acc.DataClause.ACC_NO_CREATE),
            DataAction.NO_CREATE,
        ),
    ],
)
def test_the_table_of_attributes(facts: VariableFacts, action: DataAction):
    assert decide(facts) is action
