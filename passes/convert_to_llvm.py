"""
Turn `arith`, `math`, `cf` and the type `index` into operations and types of `llvm`.

Takes:  any IR without `scf`, where math on GPUs has gone through convert-gpu-to-nvvm.
Leaves: `llvm` and `nvvm` operations; `index` is i64, the size of addresses on both targets.
Fails:  on operations of `arith`, `math` and `cf` without a counterpart in `llvm`, by name.

Before:
  %s = arith.addi %a, %b overflow<nsw> : i32
  %i = arith.index_cast %s : i32 to index
  cf.br ^next(%i : index)
After:
  %s = llvm.add %a, %b overflow<nsw> : i32
  %i = llvm.sext %s : i32 to i64
  llvm.br ^next(%i : i64)
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import cast

from xdsl.context import Context
from xdsl.dialects import arith, cf, gpu, llvm, math
from xdsl.dialects.builtin import (
    Float16Type,
    Float32Type,
    Float64Type,
    FloatAttr,
    IndexType,
    IntegerAttr,
    IntegerType,
    ModuleOp,
    UnrealizedConversionCastOp,
    i32,
    i64,
)
from xdsl.dialects.utils import FastMathAttrBase, FastMathFlag
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.irdl import IRDLOperation
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from ..compiler.base.diagnostics import SourceLoc, error
from ..dialects import llvm_ext
from ..dialects.layout import is_long_double
from ..dialects.quick_xdsl import become
from .ir.kernels.half_floats import rounded_once, widened_twice
from .ir.ops.building import Cursor, erase

_RENAMED: dict[type[Operation], type[IRDLOperation]] = {
    arith.DivUIOp: llvm.UDivOp,
    arith.DivSIOp: llvm.SDivOp,
    arith.RemUIOp: llvm.URemOp,
    arith.RemSIOp: llvm.SRemOp,
    arith.AndIOp: llvm.AndOp,
    arith.OrIOp: llvm.OrOp,
    arith.XOrIOp: llvm.XOrOp,
    arith.ShRUIOp: llvm.LShrOp,
    arith.ShRSIOp: llvm.AShrOp,
    arith.MinUIOp: llvm_ext.UMinOp,
    arith.MaxUIOp: llvm_ext.UMaxOp,
    arith.MinSIOp: llvm_ext.SMinOp,
    arith.MaxSIOp: llvm_ext.SMaxOp,
    arith.BitcastOp: llvm.BitcastOp,
    arith.FPToSIOp: llvm_ext.FPToSIOp,
    arith.FPToUIOp: llvm_ext.FPToUIOp,
    arith.SIToFPOp: llvm.SIToFPOp,
    arith.UIToFPOp: llvm_ext.UIToFPOp,
    arith.TruncIOp: llvm.TruncOp,
    arith.ExtSIOp: llvm.SExtOp,
    arith.ExtUIOp: llvm.ZExtOp,
    math.CtPopOp: llvm_ext.CtPopOp,
    cf.BranchOp: llvm.BrOp,
}
"""Operations that become one with the same operands and results, and no properties."""

_EXTREMES: dict[type[Operation], str] = {
    arith.MaxnumfOp: "llvm.maximumnum",
    arith.MinnumfOp: "llvm.minimumnum",
}
"""
Operations with intrinsics of LLVM for which MLIR has no operation. They ignore NaN and do not order zeros,
as C's `fmax` (C23, F.10.9.2). LLVM vectorises loops that keep `llvm.maxnum` only if they store nothing.
"""

_WITH_OVERFLOW: dict[type[Operation], type[IRDLOperation]] = {
    arith.AddiOp: llvm.AddOp,
    arith.SubiOp: llvm.SubOp,
    arith.MuliOp: llvm.MulOp,
    arith.ShLIOp: llvm.ShlOp,
}

_WITH_FAST_MATH: dict[type[Operation], type[IRDLOperation]] = {
    arith.AddfOp: llvm.FAddOp,
    arith.SubfOp: llvm.FSubOp,
    arith.MulfOp: llvm.FMulOp,
    arith.DivfOp: llvm.FDivOp,
    arith.NegfOp: llvm.FNegOp,
    arith.MaximumfOp: llvm_ext.MaximumOp,
    arith.MinimumfOp: llvm_ext.MinimumOp,
    math.AbsFOp: llvm.FAbsOp,
    math.AcosOp: llvm_ext.ACosOp,
    math.AsinOp: llvm_ext.ASinOp,
    math.Atan2Op: llvm_ext.ATan2Op,
    math.AtanOp: llvm_ext.ATanOp,
    math.CeilOp: llvm.FCeilOp,
    math.CopySignOp: llvm.FCopySignOp,
    math.CosOp: llvm.FCosOp,
    math.CoshOp: llvm_ext.CoshOp,
    math.Exp2Op: llvm.FExp2Op,
    math.ExpOp: llvm.FExpOp,
    math.FPowIOp: llvm_ext.PowIOp,
    math.FloorOp: llvm.FFloorOp,
    math.FmaOp: llvm.FMAOp,
    math.Log10Op: llvm_ext.Log10Op,
    math.Log2Op: llvm.FLog2Op,
    math.LogOp: llvm.FLogOp,
    math.PowFOp: llvm.FPowOp,
    math.RoundEvenOp: llvm_ext.RoundEvenOp,
    math.RoundOp: llvm_ext.RoundOp,
    math.SinOp: llvm.FSinOp,
    math.SinhOp: llvm_ext.SinhOp,
    math.SqrtOp: llvm.FSqrtOp,
    math.TanOp: llvm_ext.TanOp,
    math.TanhOp: llvm_ext.TanhOp,
    math.TruncOp: llvm_ext.FTruncOp,
}

_LIBRARY_FUNCTIONS: dict[type[Operation], str] = {
    math.AcoshOp: "acosh",
    math.AsinhOp: "asinh",
    math.AtanhOp: "atanh",
    math.CbrtOp: "cbrt",
    math.ErfOp: "erf",
    math.ExpM1Op: "expm1",
    math.Log1pOp: "log1p",
}
"""Operations for which LLVM has no intrinsic: the C library's functions instead."""

_FAST_MATH_NONE = llvm.FastMathAttr(None)

Converter = Callable[[Operation], Operation | None]
"""A function that returns the replacement of an operation, or None if it changed the operation in place."""


def converted(type: Attribute) -> Attribute:
    """The type that `type` becomes: `index` is i64, all others are legal in `llvm`."""
    return i64 if isinstance(type, IndexType) else type


def _create(
    cls: type[Operation], op: Operation, properties: dict[str, Attribute] | None = None
) -> Operation:
    """An operation of class `cls` with the operands, result types and location of `op`."""
    return cls.create(
        operands=op.operands,
        result_types=[converted(result.type) for result in op.results],
        properties=properties or {},
        attributes=op.attributes,
        successors=op.successors,
        location=op.location,
    )


def _become(
    cls: type[IRDLOperation], op: Operation, properties: dict[str, Attribute] | None = None
) -> None:
    """Replaces `op` by an operation of class `cls` with the same operands and results."""
    for result in op.results:
        if isinstance(result.type, IndexType):
            Rewriter.replace_value_with_new_type(result, i64)
    become(op, cls, properties or {})


def _renamed(cls: type[IRDLOperation]) -> Converter:
    return lambda op: _become(cls, op)


def _overflow_bits(op: Operation) -> IntegerAttr[IntegerType]:
    flags = op.properties.get("overflowFlags")
    bits = 0
    if isinstance(flags, arith.IntegerOverflowAttr):
        bits |= 1 if arith.IntegerOverflowFlag.NSW in flags.data else 0
        bits |= 2 if arith.IntegerOverflowFlag.NUW in flags.data else 0
    return IntegerAttr(bits, i32)


def _with_overflow(cls: type[IRDLOperation]) -> Converter:
    return lambda op: _become(cls, op, {"overflowFlags": _overflow_bits(op)})


def _fast_math(op: Operation) -> llvm.FastMathAttr:
    flags = op.properties.get("fastmath")
    if isinstance(flags, FastMathAttrBase) and flags.data:
        return llvm.FastMathAttr(flags.data)
    return _FAST_MATH_NONE


def _with_fast_math(cls: type[IRDLOperation]) -> Converter:
    return lambda op: _become(cls, op, {"fastmathFlags": _fast_math(op)})


def _without_signed_zeros(intrinsic: str) -> Converter:
    def convert(op: Operation) -> Operation:
        call = llvm.CallIntrinsicOp(intrinsic, op.operands, op.result_types)
        flags = (*_fast_math(op).data, FastMathFlag.NO_SIGNED_ZEROS)
        call.fastmathFlags = llvm.FastMathAttr(flags)
        return call

    return convert


def _library_name(name: str, op: Operation) -> str:
    """The C name of a function for the operation's type: `erf` for f64, `erff` for f32."""
    type = op.results[0].type
    if isinstance(type, Float64Type):
        return name
    if isinstance(type, Float32Type):
        return f"{name}f"
    raise error(
        SourceLoc.from_attr(op.location), f"'{op.name}' is not available for {type}", "use f64"
    )


def _library_call(name: str) -> Converter:
    def convert(op: Operation) -> Operation:
        return llvm.CallOp(_library_name(name, op), *op.operands, return_type=op.results[0].type)

    return convert


def _constant(op: Operation) -> None:
    constant = cast(arith.ConstantOp, op)
    value: Attribute = constant.value
    if isinstance(value, IntegerAttr) and isinstance(value.type, IndexType):
        value = IntegerAttr(value.value.data, i64)
    _become(llvm.ConstantOp, op, {"value": value})


def _cmpi(op: Operation) -> None:
    predicate = cast(arith.CmpiOp, op).predicate
    _become(llvm.ICmpOp, op, {"predicate": IntegerAttr(predicate.value.data, i64)})


def _cmpf(op: Operation) -> None:
    predicate = cast(arith.CmpfOp, op).predicate
    _become(
        llvm.FCmpOp,
        op,
        {
            "predicate": IntegerAttr(predicate.value.data, i64),
            "fastmathFlags": _fast_math(op),
        },
    )


def _index_cast(op: Operation) -> None:
    """A signed conversion; none between `index` and i64."""
    source = converted(op.operands[0].type)
    target = converted(op.results[0].type)
    if source == target:
        op.results[0].replace_all_uses_with(op.operands[0])
        Rewriter.erase_op(op)
        return
    assert isinstance(source, IntegerType) and isinstance(target, IntegerType)
    narrows = target.width.data < source.width.data
    _become(llvm.TruncOp if narrows else llvm.SExtOp, op)


def _flagged(cls: type[IRDLOperation], flag: str) -> Converter:
    return lambda op: _become(cls, op, {flag: IntegerAttr.from_bool(False)})


def _rsqrt(op: Operation) -> Operation:
    root = _create(llvm.FSqrtOp, op, {"fastmathFlags": _fast_math(op)})
    one = llvm.ConstantOp(FloatAttr(1.0, cast(Float64Type, op.results[0].type)), op.results[0].type)
    one.location = op.location
    Rewriter.insert_op([root, one], InsertPoint.before(op))
    return llvm.FDivOp(one.result, root.results[0], fast_math=_fast_math(op))


def _extf(op: Operation) -> None:
    if isinstance(op.operands[0].type, Float16Type) and is_long_double(op.results[0].type):
        _expand(op, widened_twice)
    else:
        _become(llvm.FPExtOp, op)


def _truncf(op: Operation) -> None:
    is_exact = isinstance(op.operands[0].type, Float32Type)
    if isinstance(op.results[0].type, Float16Type) and not is_exact and not _on_gpu(op):
        _expand(op, rounded_once)
    else:
        _become(llvm.FPTruncOp, op)


def _on_gpu(op: Operation) -> bool:
    parent = op.parent_op()
    while parent is not None and not isinstance(parent, gpu.ModuleOp):
        parent = parent.parent_op()
    return parent is not None


def _expand(op: Operation, emit: Callable[[Cursor, SSAValue, Attribute], SSAValue]) -> None:
    """Replaces `op` by the operations that `emit` adds before it, and converts them."""
    before, block = op.prev_op, op.parent
    assert block is not None
    op.results[0].replace_all_uses_with(emit(Cursor.before(op), op.operands[0], op.results[0].type))
    new = block.first_op if before is None else before.next_op
    while new is not op:
        assert new is not None
        added, new = new, new.next_op
        convert_operation(added)
    erase(op)


def _rounded_division(up: bool, signed: bool) -> Converter:
    """
    `ceildiv` and `floordiv`: the truncated quotient, corrected by one where the remainder is not
    zero and, for signed numbers, has (ceil: has not) the sign that truncation rounded away.
    """

    def convert(op: Operation) -> Operation:
        lhs, rhs = op.operands
        type = converted(lhs.type)
        zero = llvm.ConstantOp(IntegerAttr(0, cast(IntegerType, type)), type)
        one = llvm.ConstantOp(IntegerAttr(1, cast(IntegerType, type)), type)
        divide, remain = (llvm.SDivOp, llvm.SRemOp) if signed else (llvm.UDivOp, llvm.URemOp)
        quotient, rest = divide(lhs, rhs), remain(lhs, rhs)
        inexact = _compare(rest.res, zero.result, "ne")
        new: list[Operation] = [zero, one, quotient, rest, inexact]
        condition: SSAValue = inexact.res
        if signed:
            signs = llvm.XOrOp(lhs, rhs)
            negative = _compare(signs.res, zero.result, "sge" if up else "slt")
            both = llvm.AndOp(inexact.res, negative.res)
            new += [signs, negative, both]
            condition = both.res
        step = (llvm.AddOp if up else llvm.SubOp)(quotient.res, one.result)
        new.append(step)
        for item in new:
            item.location = op.location
        Rewriter.insert_op(new, InsertPoint.before(op))
        return llvm.SelectOp(condition, step.res, quotient.res)

    return convert


def _compare(lhs: SSAValue, rhs: SSAValue, predicate: str) -> llvm.ICmpOp:
    number = llvm.ICmpPredicateFlag(predicate).to_int()
    return llvm.ICmpOp(lhs, rhs, IntegerAttr(number, i64))


def _cond_br(op: Operation) -> None:
    segments = op.properties["operandSegmentSizes"]
    _become(llvm.CondBrOp, op, {"operandSegmentSizes": segments})


def _switch(op: Operation) -> Operation:
    switch = cast(cf.SwitchOp, op)
    numbers = switch.case_values.get_values() if switch.case_values is not None else ()
    cases: list[tuple[int, Block, list[SSAValue]]] = []
    start = 0
    for number, block, count in zip(
        numbers, switch.case_blocks, switch.case_operand_segments.iter_values(), strict=True
    ):
        size = int(count)
        cases.append((int(number), block, list(switch.case_operands[start : start + size])))
        start += size
    new = _search(switch, sorted(cases, key=lambda case: case[0]), InsertPoint.before(op))
    new.attributes |= op.attributes
    return new


_LARGEST_SWITCH = 256
_PART_OF_SWITCH = 64
"""Larger switches are divided into parts, as LLVM takes time that grows with the square of their cases."""


def _search(
    switch: cf.SwitchOp,
    cases: list[tuple[int, Block, list[SSAValue]]],
    at: InsertPoint,
    most: int = _LARGEST_SWITCH,
) -> Operation:
    """
    The end of a block for some of the cases of `switch`, sorted by their signed numbers: a switch, or, for
    many, a branch to a block for each half, with its comparison at `at`.
    """
    default, operands = switch.default_block, list(switch.default_operands)
    if len(cases) <= most:
        return llvm_ext.SwitchOp(switch.flag, default, operands, cases)
    type = switch.flag.type
    assert isinstance(type, IntegerType)
    middle = len(cases) // 2
    first = llvm.ConstantOp(IntegerAttr(cases[middle][0], type), type)
    below = _compare(switch.flag, first.result, "slt")
    Rewriter.insert_op([first, below], at)
    region = switch.parent_region()
    assert region is not None
    halves = (Block(), Block())
    for half, part in zip(halves, (cases[:middle], cases[middle:]), strict=True):
        region.add_block(half)
        half.add_op(_search(switch, part, InsertPoint.at_end(half), _PART_OF_SWITCH))
    branch = llvm.CondBrOp(below.res, halves[0], [], halves[1], [])
    for op in (first, below, *(half.last_op for half in halves)):
        assert op is not None
        op.location = switch.location
    return branch


def _cast_away(op: Operation) -> None:
    """Removes a cast between `index` and i64 that an earlier conversion inserted."""
    if len(op.operands) == 1 and converted(op.operands[0].type) == converted(op.results[0].type):
        op.results[0].replace_all_uses_with(op.operands[0])
        Rewriter.erase_op(op)
        return
    raise error(SourceLoc.from_attr(op.location), f"'{op.name}' has no counterpart in llvm")


CONVERTERS: dict[type[Operation], Converter] = {
    **{old: _renamed(new) for old, new in _RENAMED.items()},
    **{old: _with_overflow(new) for old, new in _WITH_OVERFLOW.items()},
    **{old: _with_fast_math(new) for old, new in _WITH_FAST_MATH.items()},
    **{old: _without_signed_zeros(name) for old, name in _EXTREMES.items()},
    **{old: _library_call(name) for old, name in _LIBRARY_FUNCTIONS.items()},
    arith.ConstantOp: _constant,
    arith.ExtFOp: _extf,
    arith.TruncFOp: _truncf,
    arith.CmpiOp: _cmpi,
    arith.CmpfOp: _cmpf,
    arith.SelectOp: lambda op: _become(llvm.SelectOp, op, {"fastmathFlags": _FAST_MATH_NONE}),
    arith.IndexCastOp: _index_cast,
    arith.CeilDivSIOp: _rounded_division(up=True, signed=True),
    arith.CeilDivUIOp: _rounded_division(up=True, signed=False),
    arith.FloorDivSIOp: _rounded_division(up=False, signed=True),
    math.AbsIOp: _flagged(llvm_ext.AbsOp, "is_int_min_poison"),
    math.CountLeadingZerosOp: _flagged(llvm_ext.CtlzOp, "is_zero_poison"),
    math.CountTrailingZerosOp: _flagged(llvm_ext.CttzOp, "is_zero_poison"),
    math.RsqrtOp: _rsqrt,
    cf.ConditionalBranchOp: _cond_br,
    cf.SwitchOp: _switch,
    UnrealizedConversionCastOp: _cast_away,
}

_CONVERTED_DIALECTS = ("arith.", "math.", "cf.", "scf.")


def convert_operation(op: Operation) -> None:
    """Replaces one operation, if it is of a dialect this pass converts."""
    converter = CONVERTERS.get(op.__class__)
    if converter is None:
        if op.name.startswith(_CONVERTED_DIALECTS):
            raise error(
                SourceLoc.from_attr(op.location),
                f"'{op.name}' has no counterpart in llvm",
                "run lower-scf-to-cf first" if op.name.startswith("scf.") else None,
            )
        for result in tuple(op.results):
            if isinstance(result.type, IndexType):
                Rewriter.replace_value_with_new_type(result, i64)
        return
    new = converter(op)
    if new is None:
        return
    block = op.parent
    assert block is not None
    new.location = op.location
    block.insert_op_before(new, op)
    for old_result, new_result in zip(op.results, new.results, strict=True):
        new_result.name_hint = old_result.name_hint
        old_result.replace_all_uses_with(new_result)
    erase(op)


def convert_operations(root: Operation) -> None:
    """Converts everything inside `root` in one walk."""
    for region in root.regions:
        for block in region.blocks:
            for argument in block.args:
                if isinstance(argument.type, IndexType):
                    Rewriter.replace_value_with_new_type(argument, i64)
            for op in tuple(block.ops):
                convert_operation(op)
                if op.regions:
                    convert_operations(op)


def _declare_library_functions(module: ModuleOp) -> None:
    """Declares the C library functions that conversions called."""
    names = set(_LIBRARY_FUNCTIONS.values())
    names |= {f"{name}f" for name in names}
    declared = {op.sym_name.data for op in module.ops if isinstance(op, llvm.FuncOp)}
    missing: dict[str, llvm.CallOp] = {}
    for op in module.walk():
        if isinstance(op, llvm.CallOp) and op.callee is not None:
            name = op.callee.root_reference.data
            if name in names and name not in declared:
                missing.setdefault(name, op)
    for name, call in missing.items():
        type = llvm.LLVMFunctionType([v.type for v in call.args], call.results[0].type)
        func = llvm.FuncOp(name, type, llvm.LinkageAttr("external"))
        func.location = call.location
        module.body.block.add_op(func)


@dataclass(frozen=True)
class ConvertToLlvmPass(ModulePass):
    """See the module's docstring."""

    name = "convert-to-llvm"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        convert_operations(op)
        _declare_library_functions(op)
