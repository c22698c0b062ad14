"""
Members of packed structures, whose addresses need not be multiples of their alignment: they are copied from
and to temporaries with alignment 1. LLVM selects the instructions that the processor allows.
"""

from __future__ import annotations

from xdsl.dialects.builtin import IntegerType
from xdsl.ir import SSAValue

from ..c import ast as c
from ..c.types import CType, Field, RecordType
from . import bit_fields
from .function import FunctionState


def is_unaligned(e: c.Expr) -> bool:
    """Whether lvalue `e` is a part of a packed structure."""
    while True:
        match e:
            case c.Member(record=record):
                if isinstance(record.type, RecordType) and record.type.is_packed:
                    return e.type.align > 1
                e = record
            case c.Deref(pointer=c.PtrAdd(pointer=c.Decay(operand=array))):
                e = array
            case c.Deref(pointer=c.Decay(operand=array)):
                e = array
            case _:
                return False


def load(fn: FunctionState, address: SSAValue, t: CType) -> SSAValue:
    """The value of type `t` at `address`."""
    ir_type = fn.module.types.convert(t)
    held = fn.scratch(ir_type, t.align, "packed")
    fn.b.copy(held, address, t.size)
    return fn.b.load(held, ir_type)


def store(fn: FunctionState, address: SSAValue, t: CType, value: SSAValue) -> SSAValue:
    """Stores `value`, of type `t`, at `address`, and returns it."""
    held = fn.scratch(value.type, t.align, "packed")
    fn.b.store(value, held)
    fn.b.copy(address, held, t.size)
    return value


def _word(fn: FunctionState, address: SSAValue, bits: Field) -> tuple[SSAValue, SSAValue]:
    """The bytes that contain a bit-field as one integer, and a temporary with that integer."""
    assert bits.unit is not None
    width = next(n for n in (8, 16, 32, 64, 128) if n >= bits.unit * 8)
    t = IntegerType(width)
    held = fn.scratch(t, min(width // 8, 16), "packed")
    fn.b.store(fn.b.int(0, t), held)
    fn.b.copy(held, address, bits.unit)
    return fn.b.load(held, t), held


def load_bits(fn: FunctionState, address: SSAValue, t: CType, bits: Field) -> SSAValue:
    """The value of a bit-field of type `t` in the bytes at `address`."""
    word, _ = _word(fn, address, bits)
    return bit_fields.extract(fn, word, t, bits)


def store_bits(
    fn: FunctionState, address: SSAValue, t: CType, bits: Field, value: SSAValue
) -> SSAValue:
    """Stores `value` in a bit-field; returns the value that it then has."""
    old, held = _word(fn, address, bits)
    assert isinstance(old.type, IntegerType) and bits.unit is not None
    field = bit_fields.field_in_place(fn, value, old.type, bits)
    word = bit_fields.replaced(fn, old, field, bits)
    fn.b.store(word, held)
    fn.b.copy(address, held, bits.unit)
    return bit_fields.extract(fn, word, t, bits)
