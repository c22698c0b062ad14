"""The bits of bit-fields in words (C11 6.7.2.1p11)."""

from __future__ import annotations

from xdsl.dialects import arith
from xdsl.dialects.builtin import IntegerType
from xdsl.ir import SSAValue

from ..c.types import CType, Field, IntType
from .function import FunctionState


def extract(
    fn: FunctionState, word: SSAValue, t: CType, bits: Field, hint: str | None = None
) -> SSAValue:
    """The value of a bit-field of type `t` in a word."""
    assert isinstance(t, IntType) and isinstance(word.type, IntegerType)
    unit, width = word.type, bits.bit_width or 0
    total = unit.width.data
    left, right = total - width - bits.bit_offset, total - width
    if left:
        word = fn.b.value(arith.ShLIOp(word, fn.b.int(left, unit)))
    if right:
        shift = arith.ShRSIOp if t.signed else arith.ShRUIOp
        word = fn.b.value(shift(word, fn.b.int(right, unit)), hint)
    return fn.b.resize(word, IntegerType(t.bits), signed=t.signed)


def field_in_place(fn: FunctionState, value: SSAValue, unit: IntegerType, bits: Field) -> SSAValue:
    """The bits of a value at the place of a bit-field, in a word of type `unit` that is zero elsewhere."""
    b = fn.b
    field = b.value(arith.AndIOp(b.resize(value, unit, signed=False), b.int(_mask(bits), unit)))
    if bits.bit_offset:
        field = b.value(arith.ShLIOp(field, b.int(bits.bit_offset, unit)))
    return field


def replaced(fn: FunctionState, old: SSAValue, field: SSAValue, bits: Field) -> SSAValue:
    """The word `old` with the bits of a bit-field replaced by those of `field_in_place`."""
    b = fn.b
    kept = b.value(arith.AndIOp(old, b.int(~(_mask(bits) << bits.bit_offset), old.type)))
    return b.value(arith.OrIOp(kept, field))


def _mask(bits: Field) -> int:
    return (1 << (bits.bit_width or 0)) - 1
