"""Lvalues (C11 6.3.2.1): the place of the object that an expression designates."""

from __future__ import annotations

from xdsl.ir import SSAValue

from ..c import ast as c
from ..c.tree import describe
from ..c.types import RecordType
from . import elements, objects, paths, places, unaligned
from .function import FunctionState
from .places import Place


def place(fn: FunctionState, e: c.Expr) -> Place:
    """The object that lvalue `e` designates (rvalue records are put in memory first)."""
    found = _place(fn, e)
    found.packed = unaligned.is_unaligned(e)
    return found


def _place(fn: FunctionState, e: c.Expr) -> Place:
    fn.b.at(e.loc)
    match e:
        case c.VarRef():
            if fn.in_memory(e.decl) or e.decl in fn.addresses:
                return Place(e.type, fn.address(e.decl), hint=e.decl.name)
            return Place(e.type, decl=e.decl, hint=e.decl.name)
        case c.Deref(pointer=c.PtrAdd() as sum_):
            return Place(e.type, elements.address(fn, e, describe(sum_)), hint=describe(e))
        case c.Deref():
            return Place(e.type, fn.rvalue(e.pointer), hint=describe(e))
        case c.Member():
            return _member(fn, e)
        case c.StringLiteral():
            symbol = fn.module.string(e.data)
            return Place(e.type, fn.symbol_address(symbol, "str"))
        case c.CompoundLiteral():
            return Place(e.type, _compound_literal(fn, e), hint=e.decl.name)
        case _:
            return Place(e.type, places.spill(fn, fn.rvalue(e), e.type))


def _member(fn: FunctionState, e: c.Member) -> Place:
    hint = describe(e)
    replaced = paths.replaced_member(fn, e)
    if replaced is not None:
        return Place(e.type, replaced, hint=hint)
    assert isinstance(e.record.type, RecordType)
    if fn.module.types.record(e.record.type).element_of(e.field) is not None:
        return Place(e.type, elements.address(fn, e, hint), hint=hint)
    base = place(fn, e.record).memory
    fn.b.at(e.loc)
    bits = e.field if e.field.bit_width is not None else None
    return Place(e.type, fn.b.offset(base, e.field.offset, hint), bits=bits, hint=hint)


def _compound_literal(fn: FunctionState, e: c.CompoundLiteral) -> SSAValue:
    decl = e.decl
    if decl.storage is not c.Storage.AUTO:
        return fn.address(decl)
    address = fn.allocate(decl)
    if decl.init is not None:
        objects.initialize(fn, address, decl.init)
    return address
