"""
Objects with static storage → `llvm.mlir.global`: scalars, strings and number arrays as attributes,
everything else as an initialiser region of `insertvalue`s with relocations (C11 6.7.9).
"""

from __future__ import annotations

import struct
import sys
from array import array
from bisect import bisect_right
from collections.abc import Sequence
from typing import TYPE_CHECKING

from xdsl.dialects import arith, llvm
from xdsl.dialects.builtin import (
    AnyFloat,
    BytesAttr,
    DenseIntOrFPElementsAttr,
    Float32Type,
    Float64Type,
    FloatAttr,
    IntegerAttr,
    IntegerType,
    TensorType,
    i8,
    i64,
)
from xdsl.dialects.llvm import LLVMArrayType, LLVMPointerType, LLVMStructType
from xdsl.ir import Attribute, Block, Region, SSAValue

from ...dialects.layout import is_long_double, layout_of, size_of, struct_layout
from ..base.diagnostics import UNKNOWN_LOC, SourceLoc, error
from ..c import ast as c
from ..c.sema.constants import AddressConstant, ConstantValue, constant_value
from ..c.sema.long_doubles import Extended, bits_of
from ..c.types import ArrayType, CType, Field, RecordType
from .builder import (
    Builder,
    as_signed,
)
from .layout import PTR, is_integer_type

if TYPE_CHECKING:
    from .symbols import ModuleState

_FEW = 16
"""The most array items for which an initialiser is written item by item instead of as a dense attribute."""


def define(state: ModuleState, decl: c.VarDecl) -> None:
    """Emits the definition of a variable with static storage duration."""
    if not decl.type.is_complete:
        raise error(
            decl.loc, f"'{decl.name}' has incomplete type '{decl.type}'", "complete the type"
        )
    ir_type: Attribute = state.types.convert(decl.type)
    value: Attribute | None = None
    body: Region | None = None
    if decl.init is None or not decl.init.items:
        value, body = _zero(ir_type)
    else:
        ir_type, value, body = _initial(state, decl.init, ir_type)
    linkage = "external" if decl.storage is c.Storage.GLOBAL else "internal"
    linkage = "weak" if decl.is_weak and linkage == "external" else linkage
    op = llvm.GlobalOp(
        ir_type,
        state.symbol_of(decl),
        linkage,
        constant=decl.qual.is_constant,
        value=value,
        alignment=max(decl.type.align, decl.alignment or 1),
        body=body,
    )
    op.location = decl.loc.to_attr()
    for inner in op.body.walk():
        inner.location = op.location
    state.add_global(op)


def _zero(t: Attribute) -> tuple[Attribute | None, Region | None]:
    if is_integer_type(t):
        return IntegerAttr(0, t), None
    if isinstance(t, AnyFloat) and not is_long_double(t):
        return FloatAttr(0.0, t), None
    block = Block()
    b = Builder(block)
    b.add(llvm.ReturnOp(b.zero(t)))
    return None, Region(block)


def _initial(
    state: ModuleState, init: c.Initializer, ir_type: Attribute
) -> tuple[Attribute, Attribute | None, Region | None]:
    """IR type, value attribute and initialiser region of an initialised object."""
    from .symbols import text_attr

    first = init.items[0][1]
    if isinstance(first, c.StringLiteral) and len(init.items) == 1 and _is_text(init.type):
        size = init.type.size
        return ir_type, text_attr(first.data[:size].ljust(size, b"\0")), None
    items = [(offset, e, _constant(e)) for offset, e in init.items]
    value = items[-1][2]
    is_number = is_integer_type(ir_type) or isinstance(ir_type, AnyFloat)
    if is_number and not is_long_double(ir_type) and isinstance(value, int | float):
        if is_integer_type(ir_type):
            return ir_type, _integer(int(value), ir_type), None
        assert isinstance(ir_type, AnyFloat)
        return ir_type, FloatAttr(float(value), ir_type), None
    dense = _dense(ir_type, items)
    if dense is not None:
        return ir_type, dense, None
    block = Block()
    b = Builder(block)
    leaves = _leaves(state, init, items)
    paths = [_path(ir_type, offset, t) for offset, t, _ in leaves]
    if any(p is None for p in paths):
        leaves = _in_bytes(leaves)
        ir_type = _pieces(leaves, init.type.size)
        paths = [_path(ir_type, offset, t) for offset, t, _ in leaves]
    aggregate = b.zero(ir_type)
    for path, (_, t, value) in zip(paths, leaves, strict=True):
        assert path is not None
        leaf = _materialize(state, b, value, t)
        if not path:
            aggregate = leaf
            continue
        aggregate = b.with_part(aggregate, path, leaf)
    b.add(llvm.ReturnOp(aggregate))
    return ir_type, None, Region(block)


def _is_text(t: CType) -> bool:
    return isinstance(t, ArrayType) and t.element.type.size == 1


Leaf = tuple[int, Attribute, "ConstantValue | bytes"]


def _constant(e: c.Expr) -> ConstantValue | c.StringLiteral:
    if isinstance(e, c.StringLiteral):
        return e
    value = constant_value(e)
    if value is None:
        raise error(
            e.loc,
            "the initialiser of a static object is not constant",
            "use constant expressions, or assign the value in a function",
        )
    return value


def _integer(value: int, t: IntegerType) -> IntegerAttr:
    return IntegerAttr(as_signed(value, t.width.data), t)


def _scalar(t: Attribute) -> Attribute:
    while isinstance(t, LLVMArrayType):
        t = t.type
    return t


def _dense(
    ir_type: Attribute, items: list[tuple[int, c.Expr, ConstantValue | c.StringLiteral]]
) -> Attribute | None:
    """A number array as one attribute, None if it is something else or mostly zero."""
    element = _scalar(ir_type)
    if not isinstance(ir_type, LLVMArrayType):
        return None
    if not (is_integer_type(element) or isinstance(element, AnyFloat)) or size_of(element) > 8:
        return None
    shape: list[int] = []
    t: Attribute = ir_type
    while isinstance(t, LLVMArrayType):
        shape.append(t.size.data)
        t = t.type
    size = size_of(element)
    flat: list[int | float] = [0] * (size_of(ir_type) // size)
    count = 0
    for offset, _, value in items:
        if isinstance(value, c.StringLiteral):
            numbers = _characters(value)
            if _unit(value) != size or offset % size:
                return None
            flat[offset // size : offset // size + len(numbers)] = numbers
            count += len(numbers)
        elif not isinstance(value, int | float) or offset % size:
            return None
        else:
            flat[offset // size] = value
            count += 1
    if count <= _FEW:
        return None
    packed = _packed(element, flat)
    if packed is not None:
        return DenseIntOrFPElementsAttr(TensorType(element, shape), packed)
    if is_integer_type(element):
        ints = [as_signed(int(v), element.width.data) for v in flat]
        return DenseIntOrFPElementsAttr.from_list(TensorType(element, shape), ints)
    floats = [float(v) for v in flat]
    return DenseIntOrFPElementsAttr.from_list(TensorType(element, shape), floats)


_CODES: dict[Attribute, str] = {
    Float32Type(): "f",
    Float64Type(): "d",
    **{IntegerType(8 * size): code for size, code in ((1, "B"), (2, "H"), (4, "I"), (8, "Q"))},
}
"""The formats of numbers for `array`."""


def _packed(element: Attribute, numbers: Sequence[int | float]) -> BytesAttr | None:
    """The bytes of numbers, if they have one of the usual types."""
    code = _CODES.get(element)
    if code is None or sys.byteorder != "little":
        return None
    if isinstance(element, IntegerType):
        mask = (1 << element.width.data) - 1
        return BytesAttr(array(code, [int(v) & mask for v in numbers]).tobytes())
    try:
        return BytesAttr(array(code, [float(v) for v in numbers]).tobytes())
    except OverflowError:  # Beyond the range of float.
        return None


def _leaves(
    state: ModuleState,
    init: c.Initializer,
    items: list[tuple[int, c.Expr, ConstantValue | c.StringLiteral]],
) -> list[Leaf]:
    """Non-overlapping scalars by offset; later items replace earlier ones, bit-fields are merged."""
    out: dict[int, Leaf] = {}
    for position, (offset, e, value) in enumerate(items):
        bits = init.bit_fields.get(position)
        if isinstance(value, c.StringLiteral):
            unit = _unit(value)
            for at, number in enumerate(_characters(value)):
                place = offset + at * unit
                out[place] = (place, IntegerType(8 * unit), number)
        elif bits is not None:
            assert isinstance(value, int)
            _merge_bits(out, offset, bits, value)
        elif isinstance(e.type, RecordType):
            raise error(e.loc, "a record value is not a constant", "list the members' values")
        else:
            out[offset] = (offset, state.types.convert(e.type), value)
    return [out[k] for k in sorted(out)]


def _unit(literal: c.StringLiteral) -> int:
    """The size of one character."""
    return literal.type.element.type.size if isinstance(literal.type, ArrayType) else 1


def _characters(literal: c.StringLiteral) -> Sequence[int]:
    """The numbers of the characters for which the object has room."""
    room = literal.type.size if literal.type.is_complete else len(literal.data)
    data, unit = literal.data[:room], _unit(literal)
    if unit == 1:
        return data
    return [int.from_bytes(data[i : i + unit], "little") for i in range(0, len(data), unit)]


def _merge_bits(out: dict[int, Leaf], offset: int, bits: Field, value: int) -> None:
    """Adds a bit-field's bits to the bytes of its unit."""
    width = bits.bit_width or 0
    word = (value & ((1 << width) - 1)) << bits.bit_offset
    for i in range(bits.unit or bits.type.type.size):
        byte = (word >> (8 * i)) & 0xFF
        old = out.get(offset + i)
        if byte == 0 and ((((1 << width) - 1) << bits.bit_offset) >> (8 * i)) & 0xFF == 0:
            continue
        before = old[2] if old is not None and isinstance(old[2], int) else 0
        out[offset + i] = (offset + i, i8, before | byte)


def _path(t: Attribute, offset: int, leaf: Attribute) -> list[int] | None:
    """The `insertvalue` position of a scalar of type `leaf` at byte `offset` of `t`."""
    path: list[int] = []
    while t != leaf or offset:
        match t:
            case LLVMArrayType():
                size = size_of(t.type)
                if size == 0 or offset // size >= t.size.data:
                    return None
                path.append(offset // size)
                t, offset = t.type, offset % size
            case LLVMStructType():
                found = _element_at(t, offset)
                if found is None:
                    return None
                index, offset = found
                path.append(index)
                t = t.types.data[index]
            case _:
                return None
    return path


def _element_at(t: LLVMStructType, offset: int) -> tuple[int, int] | None:
    starts = struct_layout(t)[1]
    i = bisect_right(starts, offset) - 1
    if i < 0 or offset >= starts[i] + size_of(t.types.data[i]):
        return None
    return i, offset - starts[i]


def _in_bytes(leaves: list[Leaf]) -> list[Leaf]:
    """`leaves` with unaligned numbers replaced by their bytes. Raises `CompileError` for unaligned
    addresses."""
    out: list[Leaf] = []
    for offset, t, value in leaves:
        layout = layout_of(t)
        if offset % layout.align == 0:
            out.append((offset, t, value))
            continue
        if not isinstance(value, int | float):
            raise error(
                UNKNOWN_LOC,
                "an address in a packed structure with static storage is not supported",
                "assign it at the beginning of main",
            )
        if is_integer_type(t) or isinstance(t, LLVMPointerType):
            data = (int(value) % (1 << 8 * layout.size)).to_bytes(layout.size, "little")
        else:
            data = (
                bits_of(value).to_bytes(16, "little")
                if is_long_double(t)
                else struct.pack("<f" if layout.size == 4 else "<d", float(value))
            )
        out += [(offset + i, i8, byte) for i, byte in enumerate(data)]
    return out


def _pieces(leaves: list[Leaf], size: int) -> LLVMStructType:
    """A struct of exactly the initialised scalars and padding, for unions and bit-fields."""
    elements: list[Attribute] = []
    at = 0
    for offset, t, _ in leaves:
        if offset > at:
            elements.append(LLVMArrayType(offset - at, i8))
        elements.append(t)
        at = offset + size_of(t)
    if at < size:
        elements.append(LLVMArrayType(size - at, i8))
    return LLVMStructType.from_type_list(elements)


def _materialize(
    state: ModuleState, b: Builder, value: ConstantValue | bytes, t: Attribute
) -> SSAValue:
    if isinstance(value, AddressConstant):
        return _address(state, b, value, t)
    if isinstance(t, LLVMPointerType):
        assert isinstance(value, int)
        if value == 0:
            return b.zero(PTR)
        return b.value(llvm.IntToPtrOp(b.int(value, i64)))
    if is_integer_type(t):
        assert isinstance(value, int | float)
        return b.value(arith.ConstantOp(_integer(int(value), t)))
    assert isinstance(value, int | float)
    bits = value.bits if isinstance(value, Extended) else None
    return b.float(float(value), t, bits)


def _address(state: ModuleState, b: Builder, value: AddressConstant, t: Attribute) -> SSAValue:
    base = value.base
    if isinstance(base, c.StringLiteral):
        symbol = state.string(base.data)
    elif isinstance(base, c.FunctionDecl):
        symbol = state.entry_symbol(base)
    else:
        symbol = state.symbol_of(base)
    address = b.value(llvm.AddressOfOp(symbol, PTR))
    address = b.offset(address, value.offset)
    if is_integer_type(t):
        if t.width.data != 64:
            raise error(
                SourceLoc("<unknown>", 0), "an address does not fit a narrow static integer"
            )
        return b.to_int(address)
    return address
