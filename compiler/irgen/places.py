"""Places of objects, in an SSA variable or in memory, and loads and stores of them, also of bit-fields (C11
6.3.2.1)."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.dialects import arith
from xdsl.dialects.builtin import IntegerType
from xdsl.ir import SSAValue

from ..c import ast as c
from ..c.types import CType, Field, IntType
from . import unaligned
from .builder import name_after
from .function import FunctionState


@dataclass
class Place:
    """
    The place of an object: an SSA variable (`decl`), or memory at `address`; `bits` for a bit-field in it;
    `packed` if its address need not be a multiple of its alignment.
    """

    type: CType
    address: SSAValue | None = None
    decl: c.VarDecl | None = None
    bits: Field | None = None
    hint: str | None = None
    packed: bool = False

    @property
    def memory(self) -> SSAValue:
        assert self.address is not None
        return self.address


def spill(fn: FunctionState, value: SSAValue, t: CType, hint: str = "tmp") -> SSAValue:
    """A temporary holding `value`; returns its address."""
    address = fn.scratch(value.type, t.align, hint)
    fn.b.store(value, address)
    return address


def load(fn: FunctionState, p: Place, *, volatile: bool = False) -> SSAValue:
    """The value of the object."""
    if p.decl is not None:
        return fn.read(p.decl)
    if p.bits is not None:
        if p.bits.unit is not None:
            return unaligned.load_bits(fn, p.memory, p.type, p.bits)
        return _load_bits(fn, p, p.bits, volatile=volatile)
    if p.packed:
        return unaligned.load(fn, p.memory, p.type)
    return fn.b.load(p.memory, fn.module.types.convert(p.type), p.hint, volatile=volatile)


def store(fn: FunctionState, p: Place, value: SSAValue, *, volatile: bool = False) -> SSAValue:
    """Stores a value of the object's type; returns the value the object then has."""
    if p.decl is not None:
        name_after(value, p.decl.name)
        fn.values[p.decl] = value
        return value
    if p.bits is not None:
        if p.bits.unit is not None:
            return unaligned.store_bits(fn, p.memory, p.type, p.bits, value)
        return _store_bits(fn, p, p.bits, value, volatile=volatile)
    if p.packed:
        return unaligned.store(fn, p.memory, p.type, value)
    fn.b.store(value, p.memory, volatile=volatile)
    return value


def _unit(p: Place) -> IntegerType:
    assert isinstance(p.type, IntType)
    return IntegerType(p.type.bits)


def _load_bits(fn: FunctionState, p: Place, bits: Field, *, volatile: bool) -> SSAValue:
    unit = _unit(p)
    word = fn.b.load(p.memory, unit, p.hint, volatile=volatile)
    return _extract_bits(fn, p, bits, word)


def _extract_bits(fn: FunctionState, p: Place, bits: Field, word: SSAValue) -> SSAValue:
    unit, width = _unit(p), bits.bit_width or 0
    total = unit.width.data
    signed = isinstance(p.type, IntType) and p.type.signed
    left, right = total - width - bits.bit_offset, total - width
    if left:
        word = fn.b.value(arith.ShLIOp(word, fn.b.int(left, unit)))
    if right:
        amount = fn.b.int(right, unit)
        word = fn.b.value(
            arith.ShRSIOp(word, amount) if signed else arith.ShRUIOp(word, amount), p.hint
        )
    return word


def _store_bits(
    fn: FunctionState, p: Place, bits: Field, value: SSAValue, *, volatile: bool
) -> SSAValue:
    unit, width = _unit(p), bits.bit_width or 0
    mask = (1 << width) - 1
    b = fn.b
    field = b.value(arith.AndIOp(value, b.int(mask, unit)))
    if bits.bit_offset:
        field = b.value(arith.ShLIOp(field, b.int(bits.bit_offset, unit)))
    old = b.load(p.memory, unit, volatile=volatile)
    kept = b.value(arith.AndIOp(old, b.int(~(mask << bits.bit_offset), unit)))
    word = b.value(arith.OrIOp(kept, field))
    b.store(word, p.memory, volatile=volatile)
    return _extract_bits(fn, p, bits, word)
