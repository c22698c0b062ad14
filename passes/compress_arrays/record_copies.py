"""
Copies of whole structures from and to compressed arrays, rewritten as copies of their numbers.

`p = points[i]` is one `memcpy` in IR, which would copy packed numbers as plain ones; each number has to be
decoded or encoded, as in an access to a member.
"""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.dialects import acc, llvm
from xdsl.ir import Attribute, SSAValue

from ...dialects.accx_element import ElementOp
from ...dialects.llvm_ext import MemcpyOp, MemmoveOp
from ..ir.ops.building import Cursor, constant_value, erase
from ..ir.ops.layout import size_of
from ..ir.values.addresses import steps_of

MOST_NUMBERS = 128
"""The most numbers of a copy that is rewritten; longer copies are refused later."""

Path = tuple[int, ...]


def spread_copies(construct: acc.ParallelOp, array: SSAValue, element: Attribute) -> None:
    """
    Replaces copies of constant size in `construct` from or to elements of `array`, which are of type
    `element`, by loads and stores.
    """
    work = [(array, element)]
    while work:
        pointer, type = work.pop()
        for use in list(pointer.uses):
            op = use.operation
            if not construct.is_ancestor(op) or op is construct:
                continue
            match op:
                case llvm.GEPOp() | ElementOp() if use.index == 0:
                    *_, last = steps_of(op)
                    work.append((op.result, last.selected))
                case MemcpyOp() | MemmoveOp():
                    _spread(op, type)
                case _:
                    pass


def _spread(op: MemcpyOp | MemmoveOp, type: Attribute) -> None:
    bytes = constant_value(op.len)
    size = size_of(type)
    if bytes is None or bytes == 0 or bytes % size != 0:
        return
    paths = [
        ((number, *path), scalar)
        for number in range(min(bytes // size, MOST_NUMBERS + 1))
        for path, scalar in _numbers(type)
    ]
    if len(paths) > MOST_NUMBERS:
        return
    at = Cursor.before(op)
    loads = [
        (path, at.value(llvm.LoadOp(_place(at, op.src, path, type), scalar)))
        for path, scalar in paths
    ]
    for path, value in loads:
        at.insert(llvm.StoreOp(value, _place(at, op.dst, path, type)))
    erase(op)


def _place(at: Cursor, pointer: SSAValue, path: Path, type: Attribute) -> SSAValue:
    return at.value(llvm.GEPOp(pointer, list(path), type, inbounds=True))


def _numbers(type: Attribute) -> Iterator[tuple[Path, Attribute]]:
    """The scalars in a type, with the constant indices that select them."""
    match type:
        case llvm.LLVMStructType():
            for position, member in enumerate(type.types):
                for path, scalar in _numbers(member):
                    yield (position, *path), scalar
        case llvm.LLVMArrayType():
            for position in range(min(type.size.data, MOST_NUMBERS + 1)):
                for path, scalar in _numbers(type.type):
                    yield (position, *path), scalar
        case _:
            yield (), type
