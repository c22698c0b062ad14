"""
The NumPy types and memory layouts of IR types (x86-64 and NVPTX64 agree).

Integers of three, five, six and seven bytes, which hold packed numbers (docs/compression.md), are values of
the next wider type whose upper bits are zero; only operations that do not depend on a sign are possible.
They are loaded and stored byte by byte, as on a GPU.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from xdsl.dialects.builtin import (
    Float16Type,
    Float32Type,
    Float64Type,
    IndexType,
    IntegerType,
)
from xdsl.dialects.llvm import LLVMArrayType, LLVMPointerType, LLVMStructType
from xdsl.ir import Attribute

from ...dialects.layout import member_offset, size_of

_INTEGERS: dict[int, type[Any]] = {
    1: np.bool_,
    8: np.int8,
    16: np.int16,
    24: np.int32,
    32: np.int32,
    40: np.int64,
    48: np.int64,
    56: np.int64,
    64: np.int64,
}
_ODD = frozenset((24, 40, 48, 56))

I128 = IntegerType(128)
"""16 bytes in memory, for example of a `long double`; there is no arithmetic on them."""


def odd_bytes(type: Attribute) -> int | None:
    """The bytes of an integer of three, five, six or seven; None for all other types."""
    if not isinstance(type, IntegerType):
        return None
    return type.width.data // 8 if type.width.data in _ODD else None


def dtype_of(type: Attribute) -> np.dtype[Any] | None:
    """The NumPy type of a scalar type, None for others. Pointers are 64-bit integers."""
    match type:
        case IntegerType():
            found = _INTEGERS.get(type.width.data)
            return None if found is None else np.dtype(found)
        case IndexType() | LLVMPointerType():
            return np.dtype(np.int64)
        case Float16Type():
            return np.dtype(np.float16)
        case Float32Type():
            return np.dtype(np.float32)
        case Float64Type():
            return np.dtype(np.float64)
        case _:
            return None


def sixteen_bytes(value: int) -> Any:
    """The `I128` of a number; only its bytes can be accessed."""
    return np.frombuffer((value % (1 << 128)).to_bytes(16, "little"), "V16")[0]


def element(type: Attribute, index: int) -> tuple[Attribute, int]:
    """The type of an element of an aggregate and its offset in bytes."""
    if isinstance(type, LLVMArrayType):
        return type.type, index * size_of(type.type)
    if not isinstance(type, LLVMStructType):
        raise ValueError(f"{type} has no elements")
    return type.types.data[index], member_offset(type, index)


def elements(type: Attribute) -> list[tuple[Attribute, int]] | None:
    """All elements of an aggregate with their offsets, None for a scalar."""
    if isinstance(type, LLVMArrayType):
        return [element(type, i) for i in range(type.size.data)]
    if isinstance(type, LLVMStructType):
        return [element(type, i) for i in range(len(type.types))]
    return None
