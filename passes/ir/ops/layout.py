"""
Sizes of LLVM types in memory (`dialects/layout.py`), and an object's scalar elements.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from xdsl.dialects import llvm
from xdsl.ir import Attribute

from ....dialects.layout import Layout as Layout
from ....dialects.layout import layout_of as layout_of
from ....dialects.layout import member_offset as member_offset
from ....dialects.layout import size_of, struct_layout

_NUMBER = re.compile(r"\.\d+$")


def never(type: Attribute) -> bool:
    """The default of `elements_of`: no structure counts as a scalar."""
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
            _, offsets = struct_layout(type)
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


def is_record(type: Attribute) -> bool:
    """Whether objects of `type` consist of parts: a structure, union or array."""
    return isinstance(type, llvm.LLVMStructType | llvm.LLVMArrayType)


def is_union(type: Attribute) -> bool:
    """Whether `type` is that of a C union (`compiler/irgen/layout.py`)."""
    return isinstance(type, llvm.LLVMStructType) and type.struct_name.data.startswith("union.")


def array_shape(type: Attribute) -> tuple[list[int], Attribute]:
    """The sizes of an array of arrays, outermost first, and its elements' type; no sizes for other types."""
    sizes: list[int] = []
    while isinstance(type, llvm.LLVMArrayType):
        sizes.append(type.size.data)
        type = type.type
    return sizes, type


def type_name(type: Attribute) -> str:
    """A short name of `type`'s scalar or structure, for the site table; without the number of a structure
    whose name others have too."""
    _, type = array_shape(type)
    if isinstance(type, llvm.LLVMStructType):
        return _NUMBER.sub("", type.struct_name.data) or "struct"
    return "ptr" if isinstance(type, llvm.LLVMPointerType) else str(type)
