"""C's arithmetic, comparisons and conversions on IR values (C11 6.3, 6.5.3 to 6.5.14)."""

from __future__ import annotations

import math
from collections.abc import Callable

from xdsl.dialects import arith, llvm
from xdsl.dialects.builtin import (
    FloatAttr,
    IntegerType,
    f16,
    f32,
    f64,
    i1,
    i8,
    i32,
    i64,
)
from xdsl.ir import SSAValue

from ...passes.ir.ops.building import NSW, constant_value
from ..c.sema.constants import convert_constant, float_binary, integer_binary, wrap
from ..c.types import BOOL, FLOAT, CType, FloatType, IntType, PointerType, VoidType
from .builder import Builder
from .layout import FLOATS, is_integer_type

_INT_OPS = {
    "&": arith.AndIOp,
    "|": arith.OrIOp,
    "^": arith.XOrIOp,
}
_WRAPPING = {"+": arith.AddiOp, "-": arith.SubiOp, "*": arith.MuliOp}
_FLOAT_OPS = {"+": arith.AddfOp, "-": arith.SubfOp, "*": arith.MulfOp, "/": arith.DivfOp}
_SIGNED = {"<": "slt", "<=": "sle", ">": "sgt", ">=": "sge", "==": "eq", "!=": "ne"}
_UNSIGNED = {"<": "ult", "<=": "ule", ">": "ugt", ">=": "uge", "==": "eq", "!=": "ne"}
_FLOAT = {"<": "olt", "<=": "ole", ">": "ogt", ">=": "oge", "==": "oeq", "!=": "une"}

_EXACT: dict[str, Callable[[int, int], int]] = {
    "+": int.__add__,
    "-": int.__sub__,
    "*": int.__mul__,
}

COMPARISONS = frozenset(_SIGNED)
_FOLDED = (f16, f32, f64)
"""The types whose constants are computed here; those of `long double` are in the typed tree."""


def binary(b: Builder, op: str, x: SSAValue, y: SSAValue, t: CType) -> SSAValue:
    """`x op y` for arithmetic operands of common type `t` (shifts: `t` is that of `x`)."""
    if isinstance(t, FloatType):
        number = _float_constant(op, x, y, t)
        return b.value(_FLOAT_OPS[op](x, y)) if number is None else b.float(number, x.type)
    assert isinstance(t, IntType)
    known = _constant(op, x, y, t)
    if known is not None:
        return b.int(known, x.type)
    if op in _WRAPPING:
        if t.signed:
            return b.value(_WRAPPING[op](x, y, overflow=NSW))
        return b.value(_WRAPPING[op](x, y))
    if op in _INT_OPS:
        return b.value(_INT_OPS[op](x, y))
    if op == "/":
        return b.value(arith.DivSIOp(x, y) if t.signed else arith.DivUIOp(x, y))
    if op == "%":
        return b.value(arith.RemSIOp(x, y) if t.signed else arith.RemUIOp(x, y))
    width = x.type
    assert is_integer_type(width)
    y = b.resize(y, width, signed=False)
    if op == "<<":
        return b.value(arith.ShLIOp(x, y))
    assert op == ">>", op
    return b.value(arith.ShRSIOp(x, y) if t.signed else arith.ShRUIOp(x, y))


def _constant(op: str, x: SSAValue, y: SSAValue, t: IntType) -> int | None:
    """The value of `x op y` between constants, such as sizes (`N - 1`); None if it overflows."""
    left, right = constant_value(x), constant_value(y)
    if left is None or right is None:
        return None
    if not t.signed:
        left, right = wrap(left, t), wrap(right, t)
    value = integer_binary(op, left, right, t)
    exact = _EXACT.get(op)
    return None if t.signed and exact is not None and exact(left, right) != value else value


def _float_constant(op: str, x: SSAValue, y: SSAValue, t: FloatType) -> float | None:
    """
    The value of `x op y` between constants (`0.1f * 0.1f`), so that device code contains it; None if it is
    not finite, since computing it sets flags of the floating-point environment (C11 7.6).
    """
    left, right = _number(x), _number(y)
    if left is None or right is None:
        return None
    value = float_binary(op, left, right, t)
    return value if value is not None and math.isfinite(value) else None


def _number(x: SSAValue) -> float | None:
    """The `_Float16`, `float` or `double` that `x` is a constant of; None if it is not one."""
    op = x.owner
    if isinstance(op, arith.ConstantOp) and x.type in _FOLDED and isinstance(op.value, FloatAttr):
        return op.value.value.data
    return None


def compare(b: Builder, op: str, x: SSAValue, y: SSAValue, t: CType) -> SSAValue:
    """`x op y` as i1, for operands of common type `t`."""
    if isinstance(t, FloatType):
        return b.value(arith.CmpfOp(x, y, _FLOAT[op]))
    if isinstance(t, IntType):
        return b.cmp((_SIGNED if t.signed else _UNSIGNED)[op], x, y)
    return b.cmp(_UNSIGNED[op], b.to_int(x), b.to_int(y))


def truth(b: Builder, x: SSAValue, t: CType) -> SSAValue:
    """Whether `x` compares unequal to 0, as i1."""
    if isinstance(t, FloatType):
        return b.value(arith.CmpfOp(x, b.float(0.0, x.type), "une"))
    if isinstance(t, IntType):
        owner = x.owner
        if isinstance(owner, arith.ExtUIOp) and owner.input.type == i1:
            return owner.input
        return b.cmp("ne", x, b.int(0, x.type))
    return b.cmp("ne", b.to_int(x), b.int(0, i64))


def from_truth(b: Builder, x: SSAValue, t: CType) -> SSAValue:
    """An i1 as the C integer type `t` (0 or 1)."""
    width = i8 if t == BOOL else IntegerType(t.bits) if isinstance(t, IntType) else i32
    return b.resize(x, width, signed=False)


def negate(b: Builder, x: SSAValue, t: CType) -> SSAValue:
    if isinstance(t, FloatType):
        number = _number(x)
        return b.value(arith.NegfOp(x)) if number is None else b.float(-number, x.type)
    zero = b.int(0, x.type)
    signed = isinstance(t, IntType) and t.signed
    return b.sub_nsw(zero, x) if signed else b.value(arith.SubiOp(zero, x))


def convert(b: Builder, x: SSAValue, source: CType, target: CType) -> SSAValue:
    """`x` of scalar type `source` converted to scalar type `target` (C11 6.3.1, 6.3.2.3)."""
    if source == target or isinstance(target, VoidType):
        return x
    if target == BOOL:
        return from_truth(b, truth(b, x, source), BOOL)
    match source, target:
        case IntType(), IntType():
            return b.resize(x, IntegerType(target.bits), signed=source.signed)
        case (IntType(bits=128), FloatType(bits=16)) | (FloatType(bits=16), IntType(bits=128)):
            # LLVM's way needs a function that libgcc has since GCC 12
            return convert(b, convert(b, x, source, FLOAT), FLOAT, target)
        case IntType(), FloatType():
            to = FLOATS[target.bits]
            known = constant_value(x)
            if known is not None and to in _FOLDED:
                number = convert_constant(known if source.signed else wrap(known, source), target)
                assert isinstance(number, float)
                return b.float(number, to)
            op = arith.SIToFPOp(x, to) if source.signed else arith.UIToFPOp(x, to)
            return b.value(op, x.name_hint)
        case FloatType(), IntType():
            return _float_to_int(b, x, target)
        case FloatType(), FloatType():
            to = FLOATS[target.bits]
            if x.type == to:
                return x
            number = _number(x)
            if number is not None and to in _FOLDED:
                rounded = convert_constant(number, target)
                assert isinstance(rounded, float)
                if math.isfinite(rounded):
                    return b.float(rounded, to)
            wider = target.bits > source.bits
            return b.value(arith.ExtFOp(x, to) if wider else arith.TruncFOp(x, to), x.name_hint)
        case IntType(), PointerType():
            wide = b.resize(x, i64, signed=source.signed)
            return b.value(llvm.IntToPtrOp(wide), x.name_hint)
        case PointerType(), IntType():
            return b.resize(b.to_int(x), IntegerType(target.bits), signed=False)
        case _:
            return x


def _float_to_int(b: Builder, x: SSAValue, target: IntType) -> SSAValue:
    """A floating value as the integer type `target`; narrow targets are converted through i32, as C's
    promotions do."""
    if target.bits < 32:
        wide = b.value(arith.FPToSIOp(x, i32), x.name_hint)
        return b.resize(wide, IntegerType(target.bits), signed=True)
    to = IntegerType(target.bits)
    op = arith.FPToSIOp(x, to) if target.signed else arith.FPToUIOp(x, to)
    return b.value(op, x.name_hint)
