"""
Lvalues: where an object is (`Place`), and reading and writing it, bit-fields included (C11 6.3.2.1).
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.dialects import arith
from xdsl.dialects.builtin import IntegerType, i64
from xdsl.ir import SSAValue

from ...dialects.accx_element import Index
from ..c import ast as c
from ..c.tree import describe, int_constant, loaded_variable
from ..c.types import ArrayType, CType, Field, IntType, PointerType, RecordType
from . import elements, expressions, objects, unaligned
from .builder import name_after
from .function import FunctionState


@dataclass
class Place:
    """
    An object: an SSA variable (`decl`), or memory at `address`; `bits` for a bit-field in it; `packed` if its
    address may not be a multiple of its alignment.
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
            return Place(e.type, expressions.rvalue(fn, e.pointer), hint=describe(e))
        case c.Member():
            return _member(fn, e)
        case c.StringLiteral():
            symbol = fn.module.string(e.data)
            return Place(e.type, fn.symbol_address(symbol, "str"))
        case c.CompoundLiteral():
            return Place(e.type, _compound_literal(fn, e), hint=e.decl.name)
        case _:
            return Place(e.type, spill(fn, expressions.rvalue(fn, e), e.type))


def spill(fn: FunctionState, value: SSAValue, t: CType, hint: str = "tmp") -> SSAValue:
    """A temporary holding `value`; returns its address."""
    address = fn.scratch(value.type, t.align, hint)
    fn.b.store(value, address)
    return address


def _member(fn: FunctionState, e: c.Member) -> Place:
    hint = describe(e)
    replaced = replaced_member(fn, e)
    if replaced is not None:
        return Place(e.type, replaced, hint=hint)
    assert isinstance(e.record.type, RecordType)
    if fn.module.types.record(e.record.type).element_of(e.field) is not None:
        return Place(e.type, elements.address(fn, e, hint), hint=hint)
    base = place(fn, e.record).memory
    fn.b.at(e.loc)
    bits = e.field if e.field.bit_width is not None else None
    return Place(e.type, fn.b.offset(base, e.field.offset, hint), bits=bits, hint=hint)


def replaced_member(fn: FunctionState, e: c.Member) -> SSAValue | None:
    """The device copy of a member that a data clause of the construct names."""
    return fn.members.get(f"&{path_key(fn, e)}") if fn.members else None


def _compound_literal(fn: FunctionState, e: c.CompoundLiteral) -> SSAValue:
    decl = e.decl
    if decl.storage is not c.Storage.AUTO:
        return fn.address(decl)
    address = fn.allocate(decl)
    if decl.init is not None:
        objects.initialize(fn, address, decl.init)
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


def path_key(fn: FunctionState, e: c.Expr) -> str | None:
    """
    A key equal for expressions that designate the same object: variables, members, dereferences
    and subscripts by constants or SSA variables. None for anything else.
    """
    match e:
        case c.VarRef():
            return f"v{id(e.decl)}"
        case c.Cast() if isinstance(e.type, PointerType):
            return path_key(fn, e.operand)
        case c.Member():
            base = path_key(fn, e.record)
            return None if base is None else f"{base}.{e.field.name}@{e.field.offset}"
        case c.Deref():
            base = path_key(fn, e.pointer)
            return None if base is None else f"*({base})"
        case c.AddressOf():
            base = path_key(fn, e.operand)
            return None if base is None else f"&({base})"
        case c.Load():
            base = path_key(fn, e.lvalue)
            return None if base is None else f"L{base}"
        case c.Decay():
            base = path_key(fn, e.operand)
            return None if base is None else f"D{base}"
        case c.PtrAdd():
            base, index = path_key(fn, e.pointer), _index_key(fn, e.index)
            if base is None or index is None:
                return None
            return f"{base}{'-' if e.subtract else '+'}{index}"
        case _:
            return None


def _index_key(fn: FunctionState, e: c.Expr) -> str | None:
    constant = int_constant(e)
    if constant is not None:
        return str(constant)
    decl = loaded_variable(e)
    if decl is None or fn.in_memory(decl) or decl not in fn.values:
        return None
    return f"s{id(fn.values[decl])}"


def array_pointer(fn: FunctionState, e: c.Expr) -> SSAValue:
    """The address of the first element of array lvalue `e`."""
    return place(fn, e).memory


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
