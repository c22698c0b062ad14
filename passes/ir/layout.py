"""
Sizes of LLVM types in memory (x86-64 and NVPTX agree on these), and an object's scalar elements.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from xdsl.dialects import llvm
from xdsl.dialects.builtin import (
    BFloat16Type,
    Float16Type,
    Float32Type,
    Float64Type,
    Float80Type,
    IndexType,
    IntegerType,
)
from xdsl.ir import Attribute


@dataclass(frozen=True)
class Layout:
    """Size (a multiple of the alignment) and alignment, in bytes."""

    size: int
    align: int


def layout_of(type: Attribute) -> Layout:
    """The layout of `type`. Raises `TypeError` for a type without one (opaque structures, void)."""
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
        case Float80Type():
            return Layout(16, 16)
        case llvm.LLVMArrayType():
            element = layout_of(type.type)
            return Layout(element.size * type.size.data, element.align)
        case llvm.LLVMStructType():
            return _struct_layout(type)[0]
        case _:
            raise TypeError(f"{type} has no size")


def _struct_layout(type: llvm.LLVMStructType) -> tuple[Layout, list[int]]:
    """The layout of a structure and the offsets of its members."""
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
    """Where member `index` of a structure begins, in bytes."""
    return _struct_layout(type)[1][index]


def never(type: Attribute) -> bool:
    """No structure counts as a scalar."""
    return False


@dataclass(frozen=True)
class Elements:
    """
    `count` scalars of type `scalar`, the first `offset` bytes from the object's start and then
    `stride` bytes apart.
    """

    scalar: Attribute
    offset: int
    count: int
    stride: int


def elements_of(type: Attribute, whole: Callable[[Attribute], bool] = never) -> list[Elements]:
    """
    The scalar elements of an object of `type`: one run for a scalar or an array (of arrays), one or
    more per member of a structure; arrays of structures give a run per member. Structures for which
    `whole` holds count as scalars.
    """
    match type:
        case _ if whole(type):
            return [Elements(type, 0, 1, size_of(type))]
        case llvm.LLVMArrayType():
            return repeated(elements_of(type.type, whole), type.size.data, size_of(type.type))
        case llvm.LLVMStructType():
            _, offsets = _struct_layout(type)
            return [
                Elements(run.scalar, offset + run.offset, run.count, run.stride)
                for member, offset in zip(type.types.data, offsets, strict=True)
                for run in elements_of(member, whole)
            ]
        case _:
            return [Elements(type, 0, 1, size_of(type))]


ElementsT = TypeVar("ElementsT", bound=Elements)


def repeated(runs: Sequence[ElementsT], times: int, size: int) -> list[ElementsT]:
    """The runs of `times` objects of `size` bytes in a row, of which each has `runs`."""
    found: list[ElementsT] = []
    for run in runs:
        if run.count == 1 or run.stride * run.count == size:
            stride = size if run.count == 1 else run.stride
            found.append(replace(run, count=run.count * times, stride=stride))
        else:
            found += [replace(run, offset=run.offset + i * size) for i in range(times)]
    return found


def type_name(type: Attribute) -> str:
    """A short name of `type`'s scalar or structure, for the site table."""
    while isinstance(type, llvm.LLVMArrayType):
        type = type.type
    if isinstance(type, llvm.LLVMStructType):
        return type.struct_name.data or "struct"
    return "ptr" if isinstance(type, llvm.LLVMPointerType) else str(type)
