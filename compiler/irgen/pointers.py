"""Pointer arithmetic (C11 6.5.6): `p + n`, `p - q`."""

from __future__ import annotations

from xdsl.dialects import arith
from xdsl.dialects.builtin import i64
from xdsl.ir import SSAValue

from ...dialects.accx_element import Index
from ..c import ast as c
from ..c.tree import describe, int_constant
from ..c.types import ArrayType, CType, IntType, PointerType
from . import elements
from .function import FunctionState


def element_address(
    fn: FunctionState,
    pointer: SSAValue,
    index: SSAValue,
    pointee: CType,
    hint: str | None,
) -> SSAValue:
    """`pointer + index` in elements of type `pointee`; `index` is i64."""
    if isinstance(pointee, ArrayType) and pointee.is_vla:
        return elements.element(fn, pointer, [Index(index)], pointee, hint)
    return fn.b.gep(pointer, [index], fn.module.types.pointee(pointee), hint)


def pointee_size(fn: FunctionState, pointee: CType) -> SSAValue:
    """The size of a pointer's target as i64 (1 for void and functions)."""
    if isinstance(pointee, ArrayType):
        return fn.byte_size(pointee)
    return fn.b.int(pointee.size if pointee.is_complete else 1, i64)


def add(fn: FunctionState, e: c.PtrAdd) -> SSAValue:
    pointer = fn.rvalue(e.pointer)
    constant = int_constant(e.index)
    if constant is not None:
        fn.b.at(e.loc)
        index = fn.b.int(-constant if e.subtract else constant, i64)
        assert isinstance(e.type, PointerType)
        return element_address(fn, pointer, index, e.type.pointee.type, describe(e))
    index = fn.rvalue(e.index)
    fn.b.at(e.loc)
    return _offset(fn, pointer, index, e, subtract=e.subtract)


def _offset(
    fn: FunctionState, pointer: SSAValue, index: SSAValue, e: c.PtrAdd, *, subtract: bool
) -> SSAValue:
    """`pointer ± index` elements, with the types in `e`."""
    assert isinstance(e.type, PointerType) and isinstance(e.index.type, IntType)
    index = fn.b.resize(index, i64, signed=e.index.type.signed)
    if subtract:
        index = fn.b.sub_nsw(fn.b.int(0, i64), index)
    return element_address(fn, pointer, index, e.type.pointee.type, describe(e))


def difference(fn: FunctionState, e: c.PtrDiff) -> SSAValue:
    assert isinstance(e.lhs.type, PointerType)
    x, y = fn.b.to_int(fn.rvalue(e.lhs)), fn.b.to_int(fn.rvalue(e.rhs))
    fn.b.at(e.loc)
    size = pointee_size(fn, e.lhs.type.pointee.type)
    return fn.b.value(arith.DivSIOp(fn.b.value(arith.SubiOp(x, y)), size))
