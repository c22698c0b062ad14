"""
Structures that move as a whole, by copies of memory or as first-class values, moved by their scalars.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import llvm
from xdsl.dialects.builtin import DenseArrayBase, IntegerAttr, i64
from xdsl.ir import Attribute, Operation, SSAValue

from ...dialects.llvm_ext import MemcpyOp, MemmoveOp, MemsetOp
from ...dialects.volatility import is_ordered
from ..decisions.record_copies import MOST_SCALARS, by_scalars
from ..ir.ops.acc_ops import callee_of
from ..ir.ops.building import Cursor, constant_value, erase
from ..ir.ops.layout import is_record, layout_of
from ..ir.values.record_parts import (
    ScalarPlace,
    TypedObject,
    common_parts,
    copy_parts,
    object_at,
    parts_of,
)

_COPIES = frozenset(("memcpy", "memmove"))


# Copies of memory.


def split_copy(op: MemcpyOp | MemmoveOp) -> None:
    """Copies an object of a known type scalar by scalar, if its addresses are aligned as the type is."""
    bytes = constant_value(op.len)
    if not bytes or op.isVolatile.value.data:
        return
    sides = [object_at(pointer, bytes) for pointer in (op.dst, op.src)]
    known = next((side for side in sides if side is not None), None)
    if known is None:
        return
    aligned = all(
        _alignment(op, number, pointer) >= known.alignment
        for number, pointer in enumerate((op.dst, op.src))
    )
    if aligned:
        target, source = (
            side or TypedObject(pointer, known.type, known.count)
            for side, pointer in zip(sides, (op.dst, op.src), strict=True)
        )
        _copy(op, target, source, bytes)


def _copy(op: Operation, target: TypedObject, source: TypedObject, bytes: int) -> None:
    """Replaces `op`, which copies `source` to `target`, if the copy by scalars pays."""
    parts = common_parts(target, source, MOST_SCALARS)
    alignment = min(target.alignment, source.alignment)
    if parts is not None and by_scalars(len(parts), bytes, alignment):
        copy_parts(Cursor.before(op), target, source, parts)
        erase(op)


def split_call(op: llvm.CallOp) -> None:
    """
    `memcpy` and `memmove` of the C library between objects of one type (C17 6.5p6), which are aligned as that
    type is.
    """
    bytes = constant_value(op.args[2]) if len(op.args) == 3 else None
    if callee_of(op) not in _COPIES or not bytes:
        return
    target, source = (object_at(pointer, bytes) for pointer in op.args[:2])
    if target is not None and source is not None and not any(r.uses for r in op.results):
        _copy(op, target, source, bytes)


def split_clearing(op: MemsetOp) -> None:
    """An object that is filled with zeros gets the zero of each scalar."""
    bytes = constant_value(op.len)
    if not bytes or op.isVolatile.value.data or constant_value(op.val) != 0:
        return
    object = object_at(op.dst, bytes)
    if object is None or not isinstance(op.dst.owner, llvm.AllocaOp):
        return
    parts = object.parts(MOST_SCALARS)
    if parts is None or not by_scalars(len(parts), bytes, object.alignment):
        return
    at = Cursor.before(op)
    for part in parts:
        at.store(at.zero(part.type), object.place(at, part))
    erase(op)


def _alignment(op: MemcpyOp | MemmoveOp, number: int, pointer: SSAValue) -> int:
    """The known alignment of one of the two addresses, in bytes."""
    if op.arg_attrs is not None:
        known = op.arg_attrs.data[number].data.get("llvm.align")
        if isinstance(known, IntegerAttr):
            return known.value.data
    owner = pointer.owner
    if not isinstance(owner, llvm.AllocaOp):
        return 1
    return layout_of(owner.elem_type).align


# First-class values.


class RecordValues:
    """The scalars of first-class structures, each found once."""

    def __init__(self) -> None:
        self._scalars: dict[SSAValue, list[SSAValue]] = {}
        self._left: dict[Operation, None] = {}

    def split_store(self, op: llvm.StoreOp) -> None:
        """Stores the scalars of a structure."""
        parts = self._parts(op.value.type)
        if parts is None or is_ordered(op):
            return
        values = self._scalars_of(op.value)
        at = Cursor.before(op)
        target = TypedObject(op.ptr, op.value.type)
        for part, value in zip(parts, values, strict=True):
            at.store(value, target.place(at, ScalarPlace((0, *part.path), part.offset, part.type)))
        self._leave(op.value)
        erase(op)

    def split_extract(self, op: llvm.ExtractValueOp) -> None:
        """Takes a scalar from where it was before it became a part of a structure."""
        known = isinstance(op.container.owner, llvm.LoadOp | llvm.InsertValueOp)
        if not known or is_record(op.res.type) or self._parts(op.container.type) is None:
            return
        first, _ = _range(op.container.type, op.position.get_values())
        op.res.replace_all_uses_with(self._scalars_of(op.container)[first])
        self._leave(op.container)
        erase(op)

    def erase_unused(self) -> None:
        """Removes what only made structures whose scalars are used now."""
        while self._left:
            op, _ = self._left.popitem()
            if op.parent is not None and not any(r.uses for r in op.results):
                for operand in op.operands:
                    self._leave(operand)
                erase(op)

    def _leave(self, value: SSAValue) -> None:
        op = value.owner
        plain = isinstance(op, llvm.InsertValueOp | llvm.ExtractValueOp | llvm.UndefOp)
        if plain or (isinstance(op, llvm.LoadOp) and is_record(value.type) and not is_ordered(op)):
            assert isinstance(op, Operation)
            self._left[op] = None

    def _parts(self, type: Attribute) -> list[ScalarPlace] | None:
        return parts_of(type, MOST_SCALARS) if is_record(type) else None

    def _scalars_of(self, value: SSAValue) -> list[SSAValue]:
        if not is_record(value.type):
            return [value]
        if value not in self._scalars:
            self._scalars[value] = self._find(value)
        return self._scalars[value]

    def _find(self, value: SSAValue) -> list[SSAValue]:
        parts = self._parts(value.type)
        assert parts is not None
        match value.owner:
            case llvm.LoadOp() as op if not is_ordered(op):
                at, source = Cursor.before(op), TypedObject(op.ptr, value.type)
                return [
                    at.load(
                        source.place(at, ScalarPlace((0, *part.path), part.offset, part.type)),
                        part.type,
                        value.name_hint,
                    )
                    for part in parts
                ]
            case llvm.InsertValueOp() as op:
                first, count = _range(value.type, op.position.get_values())
                found = list(self._scalars_of(op.container))
                found[first : first + count] = self._scalars_of(op.value)
                return found
            case llvm.UndefOp() as op:
                at = Cursor.before(op)
                return [at.value(llvm.UndefOp(part.type)) for part in parts]
            case Operation() as op:
                at = Cursor.after(op)
            case block:
                assert block.first_op is not None
                at = Cursor.before(block.first_op)
        return [
            at.value(
                llvm.ExtractValueOp(DenseArrayBase.from_list(i64, part.path), value, part.type),
                value.name_hint,
            )
            for part in parts
        ]


def _range(type: Attribute, position: Sequence[int]) -> tuple[int, int]:
    """The first scalar, and the number of scalars, of the member of `type` at `position`."""
    first = 0
    for index in position:
        match type:
            case llvm.LLVMStructType():
                counts = [_count(member) for member in type.types.data]
                first, type = first + sum(counts[:index]), type.types.data[index]
            case llvm.LLVMArrayType():
                first, type = first + index * _count(type.type), type.type
            case _:
                raise AssertionError(type)
    return first, _count(type)


def _count(type: Attribute) -> int:
    found = parts_of(type, MOST_SCALARS)
    assert found is not None
    return len(found)
