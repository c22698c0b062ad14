"""Objects built in place: record values and initialisers (C11 6.7.9)."""

from __future__ import annotations

import struct

from xdsl.dialects.builtin import i64
from xdsl.ir import SSAValue

from ..c import ast as c
from ..c.sema.constants import constant_value
from ..c.types import ArrayType, FloatType, IntType, RecordType, is_scalar
from . import bodies, places
from .function import FunctionState
from .unaligned import is_unaligned

_MANY = 256
"""The least number of constant values with which a variable is copied from one constant."""
_SPARSE = 64
"""The most bytes per constant value of a variable that is copied from one constant."""


def _alignment(e: c.Expr) -> int | None:
    """The alignment of the address of lvalue `e`; None if it is not that of its type."""
    return None if is_unaligned(e) else e.type.align


def record_into(fn: FunctionState, target: SSAValue, e: c.Expr, aligned: int | None = None) -> None:
    """Builds the record value `e` at address `target`, whose alignment is `aligned` if it is known."""
    match e:
        case c.Load(volatile=False):
            source = fn.place(e.lvalue).memory
            fn.b.at(e.loc)
            fn.b.copy(target, source, e.type.size, (aligned, _alignment(e.lvalue)))
        case c.Assign():
            source = assign_record(fn, e)
            fn.b.copy(target, source, e.type.size, (aligned, _alignment(e.target)))
        case c.Comma():
            fn.discard(e.lhs)
            record_into(fn, target, e.rhs)
        case c.StatementExpr():
            bodies.statement_expression(fn, e, lambda _, value: record_into(fn, target, value))
        case c.Cast():
            record_into(fn, target, e.operand)
        case _:
            value = fn.rvalue(e)
            fn.b.at(e.loc)
            fn.b.store(value, target)


def assign_record(fn: FunctionState, e: c.Assign) -> SSAValue:
    """Assigns a record; returns the address of the target."""
    target = fn.place(e.target).memory
    record_into(fn, target, e.value, _alignment(e.target))
    return target


def initialize(fn: FunctionState, target: SSAValue, init: c.Initializer) -> None:
    """Stores an initialiser's values into the (uninitialised) object at `target` (C11 6.7.9)."""
    b = fn.b
    b.at(init.loc)
    t = init.type
    image = constant_image(init)
    if image is not None:
        source = fn.symbol_address(fn.module.string(image, t.align), "image")
        b.copy(target, source, t.size)
    elif init.zero_fill and not _covers(init):
        b.clear(target, b.int(t.size, i64))
    for position, (offset, e) in enumerate(init.items):
        if image is not None and _number(e) is not None:
            continue
        b.at(e.loc)
        bits = init.bit_fields.get(position)
        if isinstance(e, c.StringLiteral) and isinstance(e.type, ArrayType):
            _initialize_chars(fn, b.offset(target, offset), e, init)
            continue
        if isinstance(e.type, RecordType):
            record_into(fn, b.offset(target, offset), e)
            continue
        value = fn.rvalue(e)
        b.at(e.loc)
        address = b.offset(target, offset)
        packed = isinstance(t, RecordType | ArrayType) and offset % e.type.align != 0
        packed |= isinstance(t, RecordType) and t.is_packed
        places.store(fn, places.Place(e.type, address, bits=bits, packed=packed), value)


def constant_image(init: c.Initializer) -> bytes | None:
    """
    The bytes of an object whose initialiser is a long list of numbers, with zeros for its other values;
    None if storing the values one by one is better, or if two values overlap.
    """
    if len(init.items) < _MANY or init.bit_fields or init.type.size > _SPARSE * len(init.items):
        return None
    if len({offset for offset, _ in init.items}) < len(init.items):
        return None
    if any(isinstance(e.type, ArrayType | RecordType) for _, e in init.items):
        return None
    image = bytearray(init.type.size)
    numbers = 0
    for offset, e in init.items:
        number = _number(e)
        if number is not None:
            image[offset : offset + len(number)] = number
            numbers += 1
    return bytes(image) if numbers >= _MANY else None


def _number(e: c.Expr) -> bytes | None:
    """The bytes of a constant number in memory; None for other expressions."""
    t = e.type
    if not isinstance(t, IntType | FloatType) or t.size > 8:
        return None
    value = constant_value(e)
    if isinstance(t, FloatType):
        if t.size not in (4, 8) or not isinstance(value, int | float):
            return None
        return struct.pack("<f" if t.size == 4 else "<d", value)
    if isinstance(value, int):
        return (value % (1 << (8 * t.size))).to_bytes(t.size, "little")
    return None


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
