"""The bytes of objects in IR: of initial values, and of what stores of constants leave."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from xdsl.dialects import arith, llvm
from xdsl.dialects.builtin import (
    AnyFloat,
    BytesAttr,
    DenseIntOrFPElementsAttr,
    Float16Type,
    Float32Type,
    Float64Type,
    FloatAttr,
    IntegerAttr,
    IntegerType,
    StringAttr,
    TensorType,
    i8,
)
from xdsl.ir import Attribute, Operation, SSAValue

from ...dialects import llvm_ext
from ...dialects.accx_element import Index
from ..decisions.constant_tables import Number
from ..ir.ops.building import constant_value
from ..ir.ops.layout import array_shape, elements_of, member_offset, size_of
from ..ir.values.addresses import steps_to

Store = tuple[int, bytes]
"""An offset from an object's start, and the bytes that are stored there."""


def number_of(type: Attribute) -> Number | None:
    """The form in memory of values of `type`; None for pointers, `long double` and other types."""
    match type:
        case IntegerType() if type.width.data in (8, 16, 32, 64):
            return Number(type.width.data)
        case Float16Type() | Float32Type() | Float64Type():
            return Number(8 * size_of(type), is_float=True)
        case _:
            return None


def holds_numbers(type: Attribute) -> bool:
    """Whether an object of `type` consists of numbers only."""
    return all(number_of(run.scalar) is not None for run in elements_of(type))


def offset_of(pointer: SSAValue, base: SSAValue) -> int | None:
    """The bytes from `base` to an address that is computed from it; None if they are not constant."""
    offset = 0
    for step in steps_to(pointer, base):
        if step.lengths:
            return None
        if step.member:
            offset += step.offset
            continue
        index = step.index
        if isinstance(index, Index):
            known = constant_value(index.value)
            if known is None or (known < 0 and index.unsigned):
                return None
            index = known
        offset += index * size_of(step.type)
    return offset


def bytes_of(value: SSAValue) -> bytes | None:
    """The bytes of a constant; None for other values."""
    op = value.owner
    if isinstance(op, llvm.ZeroOp | llvm.UndefOp):
        return bytes(size_of(value.type))
    if isinstance(op, arith.ConstantOp | llvm.ConstantOp):
        return _of_attribute(op.value, value.type)
    return None


def _of_attribute(attr: Attribute, type: Attribute) -> bytes | None:
    """The bytes of an object of `type` with the initial value `attr`; None if it has another form."""
    match attr:
        case IntegerAttr() | FloatAttr():
            number = number_of(type)
            return None if number is None else number.pack(attr.value.data)
        case StringAttr() if attr.data.isascii():
            return attr.data.encode().ljust(size_of(type), b"\0")
        case BytesAttr():
            return attr.data.ljust(size_of(type), b"\0")
        case DenseIntOrFPElementsAttr():
            number = number_of(array_shape(type)[1])
            values = cast("Sequence[float]", attr.get_values())
            return None if number is None else b"".join(map(number.pack, values))
        case _:
            return None


def initial_bytes(variable: llvm.GlobalOp) -> bytes | None:
    """The initial bytes of a global variable that is defined here; None if they are not numbers."""
    if variable.value is not None:
        return _of_attribute(variable.value, variable.global_type)
    if not variable.body.blocks:
        return None
    known: dict[SSAValue, bytes] = {}
    for op in variable.body.block.ops:
        if isinstance(op, llvm.ReturnOp):
            return None if op.arg is None else known.get(op.arg)
        if isinstance(op, llvm.InsertValueOp):
            whole, part = known.get(op.container), known.get(op.value)
            if whole is None or part is None:
                return None
            offset = _offset_in(op.container.type, op.position.get_values())
            known[op.res] = whole[:offset] + part + whole[offset + len(part) :]
            continue
        data = bytes_of(op.results[0]) if op.results else None
        if data is None:
            return None
        known[op.results[0]] = data
    return None


def _offset_in(type: Attribute, position: Sequence[int]) -> int:
    """The offset of a part of an aggregate, given as in `llvm.insertvalue`."""
    offset = 0
    for index in position:
        if isinstance(type, llvm.LLVMStructType):
            offset += member_offset(type, index)
            type = type.types.data[index]
        else:
            assert isinstance(type, llvm.LLVMArrayType)
            type = type.type
            offset += index * size_of(type)
    return offset


def stored_by(op: Operation, base: SSAValue) -> Store | None:
    """What an operation stores to the object at `base`; None if place or value are not constant."""
    match op:
        case llvm.StoreOp():
            address, data = op.ptr, bytes_of(op.value)
        case llvm_ext.MemsetOp():
            byte, size = constant_value(op.val), constant_value(op.len)
            address = op.dst
            data = None if byte is None or size is None else bytes([byte % 256]) * size
        case _:
            return None
    offset = offset_of(address, base)
    return None if offset is None or data is None or offset < 0 else (offset, data)


def constant_global(name: str, type: Attribute, data: bytes, align: int) -> llvm.GlobalOp:
    """A constant of the module: `data` as numbers of `type`, or as bytes if that is a structure."""
    value = _numbers(type, data)
    if value is None:
        type, value = llvm.LLVMArrayType(len(data), i8), BytesAttr(data)
    return llvm.GlobalOp(type, name, "internal", constant=True, value=value, alignment=align)


def _numbers(type: Attribute, data: bytes) -> Attribute | None:
    """
    `data` as a number or an array of numbers; None for other types, and for NaNs, which have many forms.
    """
    shape, element = array_shape(type)
    form = number_of(element)
    if form is None:
        return None
    found = [form.read(data, at) for at in range(0, len(data), form.bytes)]
    values = [value for value in found if value is not None]
    if len(values) < len(found):
        return None
    if isinstance(element, IntegerType):
        ints = [int(value) for value in values]
        tensor = TensorType(element, shape)
        return (
            DenseIntOrFPElementsAttr.from_list(tensor, ints)
            if shape
            else IntegerAttr(ints[0], element)
        )
    assert isinstance(element, AnyFloat)
    floats = TensorType(element, shape)
    return (
        DenseIntOrFPElementsAttr.from_list(floats, values)
        if shape
        else FloatAttr(values[0], element)
    )
