"""
Members of packed structures, whose addresses need not be multiples of their alignment: they are copied from
and to temporaries with alignment 1. LLVM selects the instructions that the processor allows.
"""

from __future__ import annotations

from xdsl.dialects import arith
from xdsl.dialects.builtin import IntegerType
from xdsl.ir import SSAValue

from ..c import ast as c
from ..c.types import CType, Field, IntType, RecordType
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
    return _extract(fn, word, t, bits)


def _extract(fn: FunctionState, word: SSAValue, t: CType, bits: Field) -> SSAValue:
    assert isinstance(t, IntType) and isinstance(word.type, IntegerType)
    width, total = bits.bit_width or 0, word.type.width.data
    left = fn.b.int(total - width - bits.bit_offset, word.type)
    right = fn.b.int(total - width, word.type)
    word = fn.b.value(arith.ShLIOp(word, left))
    shift = arith.ShRSIOp if t.signed else arith.ShRUIOp
    return fn.b.resize(fn.b.value(shift(word, right)), IntegerType(t.bits), signed=t.signed)


def store_bits(
    fn: FunctionState, address: SSAValue, t: CType, bits: Field, value: SSAValue
) -> SSAValue:
    """Stores `value` in a bit-field; returns the value that it then has."""
    old, held = _word(fn, address, bits)
    assert isinstance(old.type, IntegerType) and bits.unit is not None
    b, mask = fn.b, (1 << (bits.bit_width or 0)) - 1
    field = b.value(arith.AndIOp(b.resize(value, old.type, signed=False), b.int(mask, old.type)))
    field = b.value(arith.ShLIOp(field, b.int(bits.bit_offset, old.type)))
    kept = b.value(arith.AndIOp(old, b.int(~(mask << bits.bit_offset), old.type)))
    word = b.value(arith.OrIOp(kept, field))
    b.store(word, held)
    b.copy(address, held, bits.unit)
    return _extract(fn, word, t, bits)
