"""
C types → IR types: scalars by width, arrays, and records laid out so that every member has its psABI offset
in the `!llvm.struct`.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from typing_extensions import TypeIs
from xdsl.dialects.builtin import (
    ArrayAttr,
    IntegerType,
    StringAttr,
    f16,
    f32,
    f64,
    f80,
    f128,
    i8,
)
from xdsl.dialects.llvm import (
    LLVMArrayType,
    LLVMFunctionType,
    LLVMPointerType,
    LLVMStructType,
    LLVMVoidType,
)
from xdsl.ir import Attribute, TypeAttribute

from ...dialects.layout import layout_of
from ..base.identifiers import ascii_name
from ..base.machine import Machine, target_machine
from ..c.types import (
    ArrayType,
    CType,
    Field,
    FloatType,
    FunctionType,
    IntType,
    PointerType,
    RecordType,
    VoidType,
)

PTR = LLVMPointerType()
FLOATS = {16: f16, 32: f32, 64: f64, 80: f80, 128: f128}
"""Floating types by their number of bits in C."""


def is_integer_type(t: Attribute) -> TypeIs[IntegerType]:
    """Whether `t` is an integer type; narrows it to `IntegerType` without xDSL's generic arguments."""
    return isinstance(t, IntegerType)


def result_of(t: LLVMFunctionType) -> Attribute | None:
    """The type of the value that a function of type `t` returns; None if it returns none."""
    return None if isinstance(t.output, LLVMVoidType) else t.output


@dataclass(frozen=True)
class RecordLayout:
    """
    The IR struct of a record. `index` maps the name-independent identity of a member (its `Field`)
    to its element; bit-fields and union members have no element and are reached by byte offset.
    """

    ir_type: LLVMStructType
    index: dict[int, int]

    def element_of(self, member: Field) -> int | None:
        """The struct element that is `member`, None if it must be addressed by offset."""
        return self.index.get(id(member))


@dataclass
class TypeLowering:
    """
    Converts C types to IR types for one module. Records with one tag but different members (in
    different files or scopes) get different names. Equal integers and arrays are one object, so that
    comparing them is quick.
    """

    machine: Machine = field(default_factory=target_machine)
    layouts: dict[int, RecordLayout] = field(default_factory=dict[int, RecordLayout])
    _integers: dict[int, IntegerType] = field(default_factory=dict[int, IntegerType])
    _arrays: dict[tuple[int, int], LLVMArrayType] = field(
        default_factory=dict[tuple[int, int], LLVMArrayType]
    )
    """Array types by length and identity of the element type, which the array type keeps alive."""
    _records: list[RecordType] = field(default_factory=list[RecordType])
    _names: dict[str, ArrayAttr[Attribute]] = field(default_factory=dict[str, ArrayAttr[Attribute]])

    def convert(self, t: CType) -> TypeAttribute:
        """The IR type of an object of type `t`. A variable-length array is its element type."""
        match t:
            case IntType():
                if t.bits not in self._integers:
                    self._integers[t.bits] = IntegerType(t.bits)
                return self._integers[t.bits]
            case FloatType():
                return FLOATS[t.bits]
            case PointerType() | FunctionType():
                return PTR
            case ArrayType():
                element = self.convert(t.element.type)
                if t.is_vla:
                    return element
                length = t.length if isinstance(t.length, int) else 0
                key = length, id(element)
                if key not in self._arrays:
                    self._arrays[key] = LLVMArrayType(length, element)
                return self._arrays[key]
            case RecordType():
                return self.record(t).ir_type
            case VoidType():
                return LLVMVoidType()
            case _:
                raise ValueError(f"no IR type for '{t}'")

    def pointee(self, t: CType) -> TypeAttribute:
        """
        The type of the elements that a `t *` points to: those of a variable-length array, bytes for void,
        functions and incomplete types.
        """
        vla = isinstance(t, ArrayType) and t.is_vla
        if isinstance(t, VoidType | FunctionType) or not (vla or _has_size(t)):
            return i8
        return self.convert(t)

    def function(self, t: FunctionType) -> LLVMFunctionType:
        """The IR type of a function defined with C type `t`."""
        return LLVMFunctionType(
            [self.convert(p) for p in t.params],
            None if isinstance(t.result, VoidType) else self.convert(t.result),
            is_variadic=t.variadic or (not t.prototyped and not t.params),
        )

    def record(self, t: RecordType) -> RecordLayout:
        """The layout of a complete record."""
        found = self.layouts.get(id(t))
        if found is not None:
            return found
        elements, index = self._union(t) if t.is_union else self._struct(t)
        types = ArrayAttr[Attribute](elements)
        layout = RecordLayout(LLVMStructType(StringAttr(self._name(t, types)), types), index)
        self.layouts[id(t)] = layout
        self._records.append(t)  # keeps the id from being reused
        return layout

    def _name(self, t: RecordType, types: ArrayAttr[Attribute]) -> str:
        base = f"{'union' if t.is_union else 'struct'}.{ascii_name(t.tag or 'anon')}"
        name, n = base, 0
        while name in self._names and self._names[name] != types:
            n += 1
            name = f"{base}.{n}"
        self._names[name] = types
        return name

    @property
    def has_unions(self) -> bool:
        """Whether any type so far is a union or contains one."""
        return any(t.is_union for t in self._records)

    def _union(self, t: RecordType) -> tuple[list[Attribute], dict[int, int]]:
        unit = next((IntegerType(8 * a) for a in (8, 4, 2) if a == t.align), i8)
        if t.align >= 16:
            # As integers: a copy as `f80` would lose what other members have in its last six bytes.
            return [LLVMArrayType(t.size // 8, IntegerType(64))], {}
        return [LLVMArrayType(t.size // t.align if unit != i8 else t.size, unit)], {}

    def _struct(self, t: RecordType) -> tuple[list[Attribute], dict[int, int]]:
        if t.is_packed:  # otherwise LLVM would align its members
            return [LLVMArrayType(t.size, i8)], {}
        elements: list[Attribute] = []
        index: dict[int, int] = {}
        offset, align = 0, 1
        # Bit-fields lie between the elements, where a copy of the structure must not lose them.
        has_bits = any(member.bit_width is not None for member in t.fields or ())
        for member in t.fields or ():
            if member.bit_width is not None:
                continue
            element = self.convert(member.type.type)
            inner = layout_of(element)
            natural = -(-offset // inner.align) * inner.align
            if natural < member.offset or (has_bits and offset < member.offset):
                elements.append(LLVMArrayType(member.offset - offset, i8))
            index[id(member)] = len(elements)
            elements.append(element)
            offset = member.offset + inner.size
            align = max(align, inner.align)
        if -(-offset // align) * align < t.size or (has_bits and offset < t.size):
            elements.append(LLVMArrayType(t.size - offset, i8))
        return elements, index


def _has_size(t: CType) -> bool:
    if isinstance(t, ArrayType):
        return isinstance(t.length, int) and _has_size(t.element.type)
    return t.is_complete
