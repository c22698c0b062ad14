"""
Sizes of LLVM types in memory: x86-64, AArch64 and NVPTX agree on these.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from typing_extensions import TypeIs
from xdsl.dialects import llvm
from xdsl.dialects.builtin import (
    BFloat16Type,
    Float16Type,
    Float32Type,
    Float64Type,
    Float80Type,
    Float128Type,
    IndexType,
    IntegerType,
)
from xdsl.ir import Attribute


@dataclass(frozen=True)
class Layout:
    """Size (a multiple of the alignment) and alignment, in bytes."""

    size: int
    align: int


def is_long_double(type: Attribute) -> TypeIs[Float80Type | Float128Type]:
    """Whether `type` is C's `long double` on some machine: 80 bits on x86-64, 128 on AArch64."""
    return isinstance(type, Float80Type | Float128Type)


def layout_of(type: Attribute) -> Layout:
    """The layout of `type`. Raises `TypeError` for a type without one (opaque structures, void)."""
    found = getattr(type, _MEASURED, None)
    if found is None:
        found = _layout_of(type)
        object.__setattr__(type, _MEASURED, found)  # attributes are frozen
    return found


_MEASURED = "_layout_of"
"""The attribute in which a type object caches its layout."""


def _layout_of(type: Attribute) -> Layout:
    match type:
        case IntegerType():
            size = 1
            while size * 8 < type.width.data:
                size *= 2
            return Layout(size, size)
        case Float16Type() | BFloat16Type():
            return Layout(2, 2)
        case Float32Type():
            return Layout(4, 4)
        case Float64Type() | llvm.LLVMPointerType() | IndexType():
            return Layout(8, 8)
        case Float80Type() | Float128Type():
            return Layout(16, 16)
        case llvm.LLVMArrayType():
            element = layout_of(type.type)
            return Layout(element.size * type.size.data, element.align)
        case llvm.LLVMStructType():
            return struct_layout(type)[0]
        case _:
            raise TypeError(f"{type} has no size")


_KNOWN = "_layout"
"""The attribute in which a structure type caches its layout, so that nested types are computed once."""


def struct_layout(type: llvm.LLVMStructType) -> tuple[Layout, Sequence[int]]:
    """The layout of a structure and the offsets of its members."""
    found: tuple[Layout, Sequence[int]] | None = getattr(type, _KNOWN, None)
    if found is None:
        found = _struct_layout(type)
        object.__setattr__(type, _KNOWN, found)  # attributes are frozen
    return found


def _struct_layout(type: llvm.LLVMStructType) -> tuple[Layout, Sequence[int]]:
    offset, align, offsets = 0, 1, list[int]()
    for member in type.types.data:
        layout = layout_of(member)
        offset = -(-offset // layout.align) * layout.align
        offsets.append(offset)
        offset += layout.size
        align = max(align, layout.align)
    return Layout(-(-offset // align) * align, align), offsets


def size_of(type: Attribute) -> int:
    """The size of `type` in bytes. Raises `TypeError` for a type without one."""
    return layout_of(type).size


def member_offset(type: llvm.LLVMStructType, index: int) -> int:
    """The offset in bytes of member `index` of a structure."""
    return struct_layout(type)[1][index]
