"""
Elements: `a[i][j]`, `p[k].v[2]` as one `accx.element` with the subscripts of the C expression (C11
6.5.2.1).

A subscript of a pointer begins a path; a subscript of an array continues the path of the array, and a
member that of its structure. An expression with members only is an address at a constant offset
(`llvm.getelementptr`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from xdsl.dialects.builtin import i64
from xdsl.dialects.llvm import LLVMStructType
from xdsl.ir import SSAValue

from ...dialects.accx_element import ElementOp, Index
from ..c import ast as c
from ..c.tree import int_constant
from ..c.types import INT, ArrayType, CType, IntType, PointerType, RecordType
from . import paths
from .function import FunctionState

_I32 = range(-(1 << 31) + 1, 1 << 31)


@dataclass
class Path:
    """A path of `steps` from `base`, which points to a `type` (unused without steps)."""

    base: SSAValue
    type: CType
    steps: list[int | Index] = field(default_factory=list[int | Index])
    subscripted: bool = False

    def subscript(self, element: CType, index: int | Index) -> None:
        """Extends the path to an element, of type `element`, of the array or of the pointer's target."""
        if not self.steps:
            self.type = element
        self.steps.append(index)
        self.subscripted = True

    def member(self, record: RecordType, position: int) -> None:
        """Extends the path to a member of the structure."""
        if not self.steps:
            self.type = record
            self.steps.append(0)
        self.steps.append(position)


def address(fn: FunctionState, e: c.Expr, hint: str | None) -> SSAValue:
    """The address of lvalue `e`, which has subscripts or is a member."""
    found = path(fn, e)
    fn.b.at(e.loc)
    if not found.subscripted:
        return _members(fn, found, hint)
    return element(fn, found.base, found.steps, found.type, hint)


def element(
    fn: FunctionState,
    base: SSAValue,
    steps: Sequence[int | Index],
    pointee: CType,
    hint: str | None,
) -> SSAValue:
    """The address of an element of the array of `pointee` at `base`, or of a part of it."""
    rows: list[SSAValue] = []
    while isinstance(pointee, ArrayType) and pointee.is_vla:
        rows.append(fn.extent(pointee))
        pointee = pointee.element.type
    return fn.b.value(ElementOp(base, steps, fn.module.types.pointee(pointee), rows), hint)


def _members(fn: FunctionState, found: Path, hint: str | None) -> SSAValue:
    """The address of a member (of a member …) of the structure at the base of the path."""
    pointer, type_ = found.base, fn.module.types.convert(found.type)
    for position in found.steps[1:]:
        assert isinstance(position, int) and isinstance(type_, LLVMStructType)
        pointer = fn.b.gep(pointer, [0, position], type_, hint)
        type_ = type_.types.data[position]
    return pointer


def path(fn: FunctionState, e: c.Expr) -> Path:
    """The path to lvalue `e`; the operations that compute its base and subscripts are emitted here."""
    if isinstance(e, c.Deref) and isinstance(e.pointer, c.PtrAdd):
        return _subscripted(fn, e.pointer)
    if isinstance(e, c.Member) and paths.replaced_member(fn, e) is None:
        record = e.record.type
        assert isinstance(record, RecordType)
        position = fn.module.types.record(record).element_of(e.field)
        if position is not None:
            found = path(fn, e.record)
            found.member(record, position)
            return found
    return Path(fn.place(e).memory, e.type)


def _subscripted(fn: FunctionState, e: c.PtrAdd) -> Path:
    """The path of `*(pointer ± index)`."""
    assert isinstance(e.type, PointerType)
    pointer = e.pointer
    if isinstance(pointer, c.Decay) and isinstance(pointer.operand.type, ArrayType):
        found = path(fn, pointer.operand)
    else:
        found = Path(fn.rvalue(pointer), e.type.pointee.type)
    found.subscript(e.type.pointee.type, _index(fn, e))
    fn.b.at(e.loc)
    return found


def _index(fn: FunctionState, e: c.PtrAdd) -> int | Index:
    assert isinstance(e.index.type, IntType)
    constant = int_constant(e.index)
    if constant is not None:
        constant = -constant if e.subtract else constant
        return constant if constant in _I32 else Index(fn.b.int(constant, i64))
    value = fn.rvalue(e.index)
    fn.b.at(e.loc)
    signed = e.index.type.signed
    if not e.subtract and e.index.type.bits >= INT.bits:
        return Index(value, unsigned=not signed)
    wide = fn.b.resize(value, i64, signed=signed)
    return Index(fn.b.sub_nsw(fn.b.int(0, i64), wide) if e.subtract else wide)
