"""The initial bytes of a module's global variables."""

from __future__ import annotations

from typing import Any, cast

import numpy as np
from xdsl.dialects import arith, llvm
from xdsl.dialects.builtin import (
    ArrayAttr,
    BytesAttr,
    DenseArrayBase,
    DenseIntOrFPElementsAttr,
    FloatAttr,
    IntegerAttr,
    StringAttr,
    SymbolRefAttr,
)
from xdsl.ir import Attribute, Operation, SSAValue

from ...compiler.base.diagnostics import SourceLoc, error
from ...dialects.layout import size_of
from .expressions import constant, zero
from .types import dtype_of, element, elements


def initial_bytes(variable: llvm.GlobalOp, addresses: dict[str, int]) -> bytes:
    """
    The bytes of the variable when the program starts: zeros without an initialiser. Raises `CompileError`
    for initialisers that the simulator does not support.
    """
    size = size_of(variable.global_type)
    out = bytearray(size)
    try:
        if variable.body.blocks and variable.body.blocks[0].ops:
            _write(
                out, 0, variable.global_type, _evaluate(variable.body.blocks[0].last_op, addresses)
            )
        elif variable.value is not None:
            _attribute(out, 0, variable.global_type, variable.value, addresses)
    except ValueError as problem:
        raise error(SourceLoc.from_attr(variable.location), str(problem)) from None
    return bytes(out)


def _write(out: bytearray, offset: int, type: Attribute, value: Any) -> None:
    parts = elements(type)
    if parts is None:
        data = value.tobytes()
        out[offset : offset + len(data)] = data
        return
    for (part, at), member in zip(parts, value, strict=True):
        _write(out, offset + at, part, member)


def _attribute(
    out: bytearray, offset: int, type: Attribute, value: Attribute, addresses: dict[str, int]
) -> None:
    size = size_of(type)
    match value:
        case StringAttr():
            text = value.data
            data = text.encode() if text.isascii() else text.encode("latin-1", errors="replace")
            if not text.isascii() and len(text.encode()) <= size and len(text) != size:
                data = text.encode()
            out[offset : offset + min(len(data), size)] = data[:size]
        case BytesAttr():
            out[offset : offset + len(value.data)] = value.data
        case IntegerAttr() | FloatAttr():
            _write(out, offset, type, constant(value, type))
        case SymbolRefAttr():
            _write(out, offset, type, np.int64(addresses[value.root_reference.data]))
        case DenseIntOrFPElementsAttr() | DenseArrayBase():
            numbers = list(cast("DenseArrayBase[Any]", value).get_values())
            leaf, count = _leaf(type)
            dtype = dtype_of(leaf)
            if dtype is None:
                raise ValueError(f"the simulator does not support initialisers like {value}")
            if len(numbers) == 1:
                numbers *= count
            data = np.array(numbers).astype(dtype).tobytes()
            out[offset : offset + len(data)] = data
        case ArrayAttr():
            for index, member in enumerate(value.data):
                part, at = element(type, index)
                _attribute(out, offset + at, part, member, addresses)
        case _ if value.name == "llvm.mlir.zero" or str(value) == "unit":
            return
        case _:
            raise ValueError(f"the simulator does not support initialisers like {value}")


def _leaf(type: Attribute) -> tuple[Attribute, int]:
    count = 1
    while isinstance(type, llvm.LLVMArrayType):
        count *= type.size.data
        type = type.type
    return type, count


def _evaluate(last: Operation | None, addresses: dict[str, int]) -> Any:
    """The value an initialiser region returns."""
    assert last is not None
    return _value(last.operands[0], addresses)


def _value(value: SSAValue, addresses: dict[str, int]) -> Any:
    op = value.owner
    assert isinstance(op, Operation)
    match op:
        case llvm.ConstantOp() | arith.ConstantOp():
            return constant(op.value, op.result.type)
        case llvm.AddressOfOp():
            return np.int64(addresses[op.global_name.root_reference.data])
        case llvm.InsertValueOp():
            position = list(op.position.get_values())
            base = _value(op.container, addresses)
            return _inserted(base, position, _value(op.value, addresses))
        case llvm.GEPOp() if not op.ssa_indices:
            offset, type = 0, op.elem_type
            for level, raw in enumerate(op.rawConstantIndices.iter_values()):
                if level == 0:
                    offset += int(raw) * size_of(type)
                else:
                    type, more = element(type, int(raw))
                    offset += more
            return _value(op.ptr, addresses) + np.int64(offset)
        case _ if op.name in ("llvm.mlir.zero", "llvm.mlir.undef", "llvm.mlir.poison"):
            return zero(value.type)
        case _:
            raise ValueError(f"the simulator does not support initialisers with '{op.name}'")


def _inserted(base: Any, position: list[int], value: Any) -> Any:
    if not position:
        return value
    index, *rest = position
    return (*base[:index], _inserted(base[index], rest, value), *base[index + 1 :])
