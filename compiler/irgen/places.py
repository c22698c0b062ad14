"""Places of objects, in an SSA variable or in memory, and loads and stores of them, also of bit-fields (C11
6.3.2.1)."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.dialects.builtin import IntegerType
from xdsl.ir import SSAValue

from ..c import ast as c
from ..c.types import CType, Field, IntType
from . import (
    bit_fields,
    unaligned,
)
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
    return bit_fields.extract(fn, word, p.type, bits, p.hint)


def _store_bits(
    fn: FunctionState, p: Place, bits: Field, value: SSAValue, *, volatile: bool
) -> SSAValue:
    unit = _unit(p)
    field = bit_fields.field_in_place(fn, value, unit, bits)
    old = fn.b.load(p.memory, unit, volatile=volatile)
    word = bit_fields.replaced(fn, old, field, bits)
    fn.b.store(word, p.memory, volatile=volatile)
    return bit_fields.extract(fn, word, p.type, bits, p.hint)
