"""Constants, and the initialisers of globals as constant expressions."""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import islice
from typing import cast

from xdsl.dialects import llvm
from xdsl.dialects.builtin import (
    ArrayAttr,
    BFloat16Type,
    BytesAttr,
    DenseArrayBase,
    DenseIntOrFPElementsAttr,
    Float16Type,
    Float32Type,
    Float64Type,
    Float80Type,
    Float128Type,
    FloatAttr,
    IntegerAttr,
    IntegerType,
    StringAttr,
    SymbolRefAttr,
    UnitAttr,
    VectorType,
)
from xdsl.dialects.llvm import GEP_USE_SSA_VAL, LLVMArrayType, LLVMPointerType, LLVMStructType
from xdsl.ir import Attribute, Operation, Region, SSAValue
from xdsl.utils.hints import isa

from ...dialects import llvm_ext
from ..base.diagnostics import UNKNOWN_LOC, SourceLoc, error
from .types import TypePrinter, escape, identifier


def integer_text(value: int, width: int) -> str:
    """An integer constant. MLIR prints i1 as 0, 1 or -1; LLVM requires `true` or `false`."""
    if width == 1:
        return "true" if value & 1 else "false"
    return str(value)


_BIAS = (1 << 14) - 1
"""The exponent bias of f80 and f128, whose exponents have 15 bits (IEEE 754, binary128)."""


def _binary_parts(value: float, fraction_bits: int) -> tuple[int, int, int]:
    """Sign, biased exponent of 15 bits, and fraction of a number in f80 or f128, exactly."""
    sign = int(math.copysign(1.0, value) < 0)
    if math.isnan(value):
        return sign, 2 * _BIAS + 1, 1 << (fraction_bits - 1)
    if math.isinf(value):
        return sign, 2 * _BIAS + 1, 0
    if value == 0:
        return sign, 0, 0
    mantissa, exponent = math.frexp(abs(value))
    fraction = Fraction(mantissa) * 2 - 1
    return sign, exponent - 1 + _BIAS, int(fraction * (1 << fraction_bits))


def float_text(value: float, type: Attribute) -> str:
    """A floating-point constant as LLVM's hexadecimal bit pattern (LangRef, Simple Constants)."""
    if isinstance(type, Float64Type):
        return f"0x{struct.unpack('<Q', struct.pack('<d', value))[0]:016X}"
    if isinstance(type, Float32Type):
        try:
            rounded = struct.unpack("<f", struct.pack("<f", value))[0]
        except OverflowError:
            rounded = math.copysign(math.inf, value)
        return f"0x{struct.unpack('<Q', struct.pack('<d', rounded))[0]:016X}"
    if isinstance(type, Float80Type):
        sign, exponent, fraction = _binary_parts(value, 63)
        integer_bit = 1 << 63 if exponent else 0
        return f"0xK{(sign << 15) | exponent:04X}{integer_bit | fraction:016X}"
    if isinstance(type, Float128Type):
        sign, exponent, fraction = _binary_parts(value, 112)
        bits = (sign << 127) | (exponent << 112) | fraction
        return f"0xL{bits & ((1 << 64) - 1):016X}{bits >> 64:016X}"
    if isinstance(type, Float16Type):
        try:
            bits = struct.unpack("<H", struct.pack("<e", value))[0]
        except OverflowError:
            bits = 0x7C00 if value > 0 else 0xFC00
        return f"0xH{bits:04X}"
    if isinstance(type, BFloat16Type):
        bits = struct.unpack("<I", struct.pack("<f", value))[0]
        rounded_bits = (bits + 0x7FFF + ((bits >> 16) & 1)) >> 16
        return f"0xR{rounded_bits:04X}"
    raise error(UNKNOWN_LOC, f"constants of type {type} have no LLVM form")


def _string_bytes(text: str, size: int) -> bytes:
    """
    The bytes of a string initialiser of `size` bytes, padded with zeros. Code points below 256 are bytes if
    that gives the right size; otherwise the text is UTF-8.
    """
    data = text.encode()
    if len(data) > size or (len(text) == size and not text.isascii()):
        data = text.encode("latin-1")
    return data.ljust(size, b"\0")


def attribute_text(value: Attribute, type: Attribute, types: TypePrinter) -> str:
    """The constant that the attribute `value` denotes in `type` (without the type)."""
    match value:
        case IntegerAttr():
            return _integer_attr_text(value, type)
        case FloatAttr():
            return float_text(value.value.data, type)
        case StringAttr():
            assert isinstance(type, LLVMArrayType)
            return f'c"{escape(_string_bytes(value.data, type.size.data))}"'
        case BytesAttr():
            assert isinstance(type, LLVMArrayType)
            return f'c"{escape(value.data.ljust(type.size.data, bytes(1)))}"'
        case SymbolRefAttr():
            return f"@{identifier(value.root_reference.data)}"
        case UnitAttr():
            return "zeroinitializer"
        case DenseIntOrFPElementsAttr():
            return _dense_text(value, type, types)
        case DenseArrayBase():
            return _nested_text(
                iter(cast("DenseArrayBase[IntegerType]", value).get_values()), type, types
            )
        case ArrayAttr():
            return _array_text(value, type, types)
        case _:
            raise error(UNKNOWN_LOC, f"the constant {value} has no LLVM form")


def _integer_attr_text(value: IntegerAttr, type: Attribute) -> str:
    number = value.value.data
    if isinstance(type, LLVMPointerType):
        return "null" if number == 0 else f"inttoptr (i64 {number} to ptr)"
    return _scalar_text(number, type)


def _scalar_text(value: float, type: Attribute) -> str:
    if isinstance(type, IntegerType):
        return integer_text(int(value), type.width.data)
    return float_text(float(value), type)


def _dense_text(value: DenseIntOrFPElementsAttr, type: Attribute, types: TypePrinter) -> str:
    elements = cast("Sequence[float]", value.get_values())
    if not isinstance(type, LLVMArrayType) and not isa(type, VectorType):
        return _scalar_text(elements[0], type)
    if all(element == 0 and math.copysign(1.0, element) > 0 for element in elements):
        return "zeroinitializer"
    if len(elements) == 1:
        elements = [elements[0]] * math.prod(_shape(type))
    return _nested_text(iter(elements), type, types)


def _shape(type: Attribute) -> list[int]:
    shape: list[int] = []
    while isinstance(type, LLVMArrayType):
        shape.append(type.size.data)
        type = type.type
    if isinstance(type, VectorType):
        shape += type.get_shape()
    return shape


_FEW = 16
"""So many bytes are printed as numbers."""


def _nested_text(elements: Iterator[float], type: Attribute, types: TypePrinter) -> str:
    """Row-major `elements` (an iterator over numbers) laid out as `type`."""
    if isinstance(type, LLVMArrayType):
        element, count, brackets = type.type, type.size.data, "[]"
    elif isinstance(type, VectorType):
        element, count, brackets = type.element_type, type.get_shape()[0], "<>"
    else:
        return _scalar_text(next(elements), type)
    text = types(element)
    if isinstance(element, IntegerType):
        width = element.width.data
        if width == 8 and count > _FEW and brackets == "[]":
            return f'c"{escape(bytes(int(number) & 255 for number in islice(elements, count)))}"'
        parts = [f"{text} {integer_text(int(n), width)}" for n in islice(elements, count)]
    else:
        parts = [f"{text} {_nested_text(elements, element, types)}" for _ in range(count)]
    return f"{brackets[0]}{', '.join(parts)}{brackets[1]}"


def _array_text(value: ArrayAttr[Attribute], type: Attribute, types: TypePrinter) -> str:
    parts = [
        f"{types(member)} {attribute_text(item, member, types)}"
        for item, member in zip(value.data, _member_types(type), strict=True)
    ]
    return _enclosed(type, parts)


def _member_types(type: Attribute) -> Sequence[Attribute]:
    if isinstance(type, LLVMStructType):
        return type.types.data
    assert isinstance(type, LLVMArrayType)
    return [type.type] * type.size.data


def _enclosed(type: Attribute, members: Sequence[str]) -> str:
    """The members of a structure or array, with their types, in its brackets."""
    text = ", ".join(members)
    return f"{{ {text} }}" if isinstance(type, LLVMStructType) else f"[{text}]"


@dataclass
class _Aggregate:
    """An aggregate under construction; members that are not set have the text `rest`."""

    type: Attribute
    members: dict[int, str | _Aggregate]
    rest: str

    def copy(self) -> _Aggregate:
        members = {
            index: member.copy() if isinstance(member, _Aggregate) else member
            for index, member in self.members.items()
        }
        return _Aggregate(self.type, members, self.rest)

    def text(self, types: TypePrinter) -> str:
        if not self.members:
            return self.rest
        if isinstance(self.type, LLVMStructType):
            parts = [f"{types(t)} {self._rest_of(t)}" for t in self.type.types.data]
        else:
            assert isinstance(self.type, LLVMArrayType)
            element = self.type.type
            parts = [f"{types(element)} {self._rest_of(element)}"] * self.type.size.data
        members = _member_types(self.type)
        for index, member in self.members.items():
            text = member.text(types) if isinstance(member, _Aggregate) else member
            parts[index] = f"{types(members[index])} {text}"
        return _enclosed(self.type, parts)

    def _rest_of(self, type: Attribute) -> str:
        return zero_text(type) if self.rest == "zeroinitializer" else self.rest


def zero_text(type: Attribute) -> str:
    """The zero of `type`."""
    if isinstance(type, LLVMPointerType):
        return "null"
    if isinstance(type, LLVMStructType | LLVMArrayType | VectorType):
        return "zeroinitializer"
    return _scalar_text(0, type)


def gep_text(op: llvm.GEPOp, types: TypePrinter, typed: Callable[[SSAValue], str]) -> str:
    """Element type, pointer and indices of a `getelementptr`; `typed` gives type and text of an operand."""
    dynamic = iter(op.ssa_indices)
    indices = [
        typed(next(dynamic)) if index == GEP_USE_SSA_VAL else f"i32 {index}"
        for index in op.rawConstantIndices.iter_values()
    ]
    return ", ".join((types(op.elem_type), typed(op.ptr), *indices))


def _constant(types: TypePrinter, op: Operation) -> str:
    return attribute_text(cast(llvm.ConstantOp, op).value, op.results[0].type, types)


def _address_of(types: TypePrinter, op: Operation) -> str:
    return f"@{identifier(cast(llvm.AddressOfOp, op).global_name.root_reference.data)}"


CONSTANTS: dict[type[Operation], Callable[[TypePrinter, Operation], str]] = {
    llvm.ConstantOp: _constant,
    llvm.AddressOfOp: _address_of,
    llvm.ZeroOp: lambda types, op: zero_text(op.results[0].type),
    llvm.UndefOp: lambda types, op: "undef",
    llvm_ext.PoisonOp: lambda types, op: "poison",
}
"""Operations whose result is a constant, which instructions write where they use it."""


class InitializerEvaluator:
    """
    Evaluates the region of an `llvm.mlir.global` to a constant expression. LLVM has constant expressions
    only for casts, `getelementptr`, `add`, `sub` and `xor`; other operations on constants must be folded
    before.
    """

    def __init__(self, types: TypePrinter):
        self.types = types
        self._values: dict[SSAValue, str | _Aggregate] = {}

    def evaluate(self, region: Region) -> str:
        """The text of the value that the region returns."""
        for op in region.block.ops:
            if isinstance(op, llvm.ReturnOp):
                return self._text(op.operands[0])
            self._values[op.results[0]] = self._evaluate(op)
        raise error(UNKNOWN_LOC, "the initialiser of a global returns no value")

    def _text(self, value: SSAValue) -> str:
        found = self._values[value]
        return found.text(self.types) if isinstance(found, _Aggregate) else found

    def _typed(self, value: SSAValue) -> str:
        return f"{self.types(value.type)} {self._text(value)}"

    def _evaluate(self, op: Operation) -> str | _Aggregate:
        type = op.results[0].type
        match op:
            case llvm.ConstantOp() | llvm.AddressOfOp():
                return CONSTANTS[op.__class__](self.types, op)
            case llvm.FPExtOp() if isinstance(constant := op.arg.owner, llvm.ConstantOp):
                return attribute_text(constant.value, type, self.types)
            case llvm.ZeroOp() | llvm.UndefOp() | llvm_ext.PoisonOp():
                text = CONSTANTS[op.__class__](self.types, op)
                is_aggregate = isinstance(type, LLVMStructType | LLVMArrayType)
                return _Aggregate(type, {}, text) if is_aggregate else text
            case llvm.InsertValueOp():
                return self._insert(op)
            case llvm.GEPOp():
                return self._gep(op)
            case _ if (name := _CONSTANT_CASTS.get(op.__class__)) is not None:
                return f"{name} ({self._typed(op.operands[0])} to {self.types(type)})"
            case _ if (name := _CONSTANT_BINARY.get(op.__class__)) is not None:
                return f"{name} ({self._typed(op.operands[0])}, {self._typed(op.operands[1])})"
            case _:
                raise error(
                    SourceLoc.from_attr(op.location),
                    f"'{op.name}' is not supported in the initialiser of a global",
                    "initialise the variable at run time",
                )

    def _insert(self, op: llvm.InsertValueOp) -> _Aggregate:
        """Changes the aggregate in place when nothing else uses it, so that long chains are linear."""
        container = self._values[op.container]
        if isinstance(container, str):
            raise error(
                SourceLoc.from_attr(op.location), "insertion into a constant that is not built here"
            )
        if not op.container.has_one_use():
            container = container.copy()
        target = container
        *path, last = (int(index) for index in op.position.iter_values())
        for index in path:
            member = target.members.get(index)
            if not isinstance(member, _Aggregate):
                member = _Aggregate(_member_types(target.type)[index], {}, target.rest)
                target.members[index] = member
            target = member
        value = self._values[op.value]
        target.members[last] = value.copy() if isinstance(value, _Aggregate) else value
        return container

    def _gep(self, op: llvm.GEPOp) -> str:
        inbounds = "inbounds " if op.inbounds is not None else ""
        return f"getelementptr {inbounds}({gep_text(op, self.types, self._typed)})"


_CONSTANT_CASTS: dict[type[Operation], str] = {
    llvm.BitcastOp: "bitcast",
    llvm.PtrToIntOp: "ptrtoint",
    llvm.IntToPtrOp: "inttoptr",
    llvm.TruncOp: "trunc",
    llvm_ext.AddrSpaceCastOp: "addrspacecast",
}

_CONSTANT_BINARY: dict[type[Operation], str] = {
    llvm.AddOp: "add",
    llvm.SubOp: "sub",
    llvm.XOrOp: "xor",
}
