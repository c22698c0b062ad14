"""Objects built in place: record values and initialisers (C11 6.7.9)."""

from __future__ import annotations

from xdsl.dialects.builtin import i64
from xdsl.ir import SSAValue

from ..c import ast as c
from ..c.types import ArrayType, RecordType, is_scalar
from . import expressions, lvalues
from .function import FunctionState


def record_into(fn: FunctionState, target: SSAValue, e: c.Expr) -> None:
    """Builds the record value `e` at address `target`."""
    match e:
        case c.Load(volatile=False):
            source = lvalues.place(fn, e.lvalue).memory
            fn.b.at(e.loc)
            fn.b.copy(target, source, e.type.size)
        case c.Assign():
            source = expressions.assign_record(fn, e)
            fn.b.copy(target, source, e.type.size)
        case c.Comma():
            expressions.discard(fn, e.lhs)
            record_into(fn, target, e.rhs)
        case c.StatementExpr():
            expressions.statement_expression(fn, e, lambda _, value: record_into(fn, target, value))
        case c.Cast():
            record_into(fn, target, e.operand)
        case _:
            value = expressions.rvalue(fn, e)
            fn.b.at(e.loc)
            fn.b.store(value, target)


def initialize(fn: FunctionState, target: SSAValue, init: c.Initializer) -> None:
    """Stores an initialiser's values into the (uninitialised) object at `target` (C11 6.7.9)."""
    b = fn.b
    b.at(init.loc)
    t = init.type
    if init.zero_fill and not _covers(init):
        b.clear(target, b.int(t.size, i64))
    for position, (offset, e) in enumerate(init.items):
        b.at(e.loc)
        bits = init.bit_fields.get(position)
        if isinstance(e, c.StringLiteral) and isinstance(e.type, ArrayType):
            _initialize_chars(fn, b.offset(target, offset), e, init)
            continue
        if isinstance(e.type, RecordType):
            record_into(fn, b.offset(target, offset), e)
            continue
        value = expressions.rvalue(fn, e)
        b.at(e.loc)
        address = b.offset(target, offset)
        packed = isinstance(t, RecordType | ArrayType) and offset % e.type.align != 0
        packed |= isinstance(t, RecordType) and t.is_packed
        lvalues.store(fn, lvalues.Place(e.type, address, bits=bits, packed=packed), value)


def _initialize_chars(
    fn: FunctionState, target: SSAValue, e: c.StringLiteral, init: c.Initializer
) -> None:
    size = e.type.size
    room = init.type.size if isinstance(init.type, ArrayType) and len(init.items) == 1 else size
    if len(e.data) < room and not init.zero_fill:
        fn.b.clear(target, fn.b.int(room, i64))
    source = fn.symbol_address(fn.module.string(e.data), "str")
    fn.b.copy(target, source, min(len(e.data), room))


def _covers(init: c.Initializer) -> bool:
    """Whether the items fill the whole object, so that zeroing first is pointless."""
    if init.bit_fields or not is_scalar(init.type):
        covered = 0
        for offset, e in init.items:
            if offset != covered or isinstance(e, c.StringLiteral) or init.bit_fields:
                return False
            covered += e.type.size
        return covered == init.type.size
    return bool(init.items)
