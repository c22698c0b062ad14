"""
The scalars of objects in memory, and copies of objects that are made scalar by scalar.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from xdsl.dialects import llvm
from xdsl.ir import Attribute, SSAValue

from ....dialects.accx_element import ElementOp
from ..ops.building import Cursor
from ..ops.layout import layout_of, size_of, struct_layout
from .addresses import ADDRESS_OPS, steps_of


@dataclass(frozen=True)
class ScalarPlace:
    """A scalar of an object: the constant subscripts that select it, its distance in bytes, and its type."""

    path: tuple[int, ...]
    offset: int
    type: Attribute


def parts_of(type: Attribute, most: int) -> list[ScalarPlace] | None:
    """The scalars of an object of `type`, in the order of memory; None for more than `most`."""
    found: list[ScalarPlace] = []
    for part in _parts(type, (), 0):
        found.append(part)
        if len(found) > most:
            return None
    return found


def _parts(type: Attribute, path: tuple[int, ...], offset: int) -> Iterator[ScalarPlace]:
    match type:
        case llvm.LLVMStructType():
            _, offsets = struct_layout(type)
            for position, (member, place) in enumerate(zip(type.types.data, offsets, strict=True)):
                yield from _parts(member, (*path, position), offset + place)
        case llvm.LLVMArrayType():
            size = size_of(type.type)
            for position in range(type.size.data):
                yield from _parts(type.type, (*path, position), offset + position * size)
        case _:
            yield ScalarPlace(path, offset, type)


@dataclass(frozen=True)
class TypedObject:
    """`count` objects of `type` in a row at `pointer`."""

    pointer: SSAValue
    type: Attribute
    count: int = 1

    @property
    def alignment(self) -> int:
        """The alignment of the type in bytes."""
        return layout_of(self.type).align

    def parts(self, most: int) -> list[ScalarPlace] | None:
        """Their scalars; the first subscript of each counts objects. None for more than `most`."""
        inside = parts_of(self.type, most // self.count)
        if not inside:
            return None
        size = size_of(self.type)
        return [
            ScalarPlace((number, *part.path), number * size + part.offset, part.type)
            for number in range(self.count)
            for part in inside
        ]

    def place(self, at: Cursor, part: ScalarPlace) -> SSAValue:
        """The address of a part, in the form that the front end gives `a[i].x`, `s.x` and `*p`."""
        pointer, path = self.pointer, part.path
        if path == (0,):
            return pointer
        owner = pointer.owner
        hint = None if pointer.name_hint is None else f"{pointer.name_hint}_part"
        if path[0] == 0 and isinstance(owner, ElementOp) and _selects(owner, self.type):
            steps = (*owner.steps(), *path[1:])
            return at.value(ElementOp(owner.ptr, steps, owner.elem_type, owner.rows), hint)
        return at.value(llvm.GEPOp(pointer, list(path), self.type, inbounds=True), hint)


def _selects(op: ElementOp, type: Attribute) -> bool:
    *_, last = steps_of(op)
    return last.selected == type and not last.lengths


def object_at(pointer: SSAValue, bytes: int) -> TypedObject | None:
    """
    The object of `bytes` bytes at an address, of the type with which the address is computed or the variable
    declared; None if that is not known.
    """
    match pointer.owner:
        case op if isinstance(op, ADDRESS_OPS):
            *_, last = steps_of(op)
            if last.lengths:
                return None
            type = last.selected
        case llvm.AllocaOp(elem_type=type):
            pass
        case _:
            return None
    while size_of(type) > bytes:
        match type:
            case llvm.LLVMStructType() if len(type.types):
                type = type.types.data[0]
            case llvm.LLVMArrayType():
                type = type.type
            case _:
                return None
    size = size_of(type)
    if size == 0 or bytes % size:
        return None
    return TypedObject(pointer, type, bytes // size)


def common_parts(
    target: TypedObject, source: TypedObject, most: int
) -> list[tuple[ScalarPlace, ScalarPlace]] | None:
    """
    The scalars of two objects, in pairs; None if they are not of the same types at the same places, or more
    than `most`.
    """
    sides = target.parts(most), source.parts(most)
    if sides[0] is None or sides[1] is None:
        return None
    places = [[(part.offset, part.type) for part in side] for side in (sides[0], sides[1])]
    return list(zip(sides[0], sides[1], strict=True)) if places[0] == places[1] else None


def copy_parts(
    at: Cursor,
    target: TypedObject,
    source: TypedObject,
    parts: Sequence[tuple[ScalarPlace, ScalarPlace]],
) -> None:
    """
    Loads all `parts` (of `target`, of `source`), then stores them, as the objects may be the same or
    overlap.
    """
    values = [at.load(source.place(at, part), part.type) for _, part in parts]
    for (part, _), value in zip(parts, values, strict=True):
        at.store(value, target.place(at, part))
