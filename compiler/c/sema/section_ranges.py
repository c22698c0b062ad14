"""
The elements that the items of data clauses name, in a form in which equal sections are equal: `a[0:n]` and
`a[:n]`, and for `int a[10]` also `a`, `a[:]` and `a[0:10]`.
"""

from __future__ import annotations

from ...directives.records import ExprSlot, Section, VarRefItem
from ..types import ArrayType, CType, PointerType
from .constants import integer_value

Number = int | str
"""A bound: its value if it is a constant, or else its text."""
Ranges = tuple[tuple[Number, Number], ...]
"""
Start and length in each dimension, without the last ones that are whole; empty for the whole variable.
`POINTED` precedes the dimension that a pointer leads to.
"""
POINTED: tuple[Number, Number] = ("*", "*")


def ranges(item: VarRefItem) -> Ranges:
    """The elements that `item` names. Extents of arrays count where the item has been typed."""
    base = item.base.expr
    t = None if base is None else base.type
    found: list[tuple[Number, Number]] = []
    needed = 0
    for section in item.sections:
        extent = t.length if isinstance(t, ArrayType) else None
        if isinstance(t, PointerType):
            found.append(POINTED)
        found.append(_range(section, extent))
        if not isinstance(extent, int) or found[-1] != (0, extent):
            needed = len(found)
        t = _element(t)
    return tuple(found[:needed])


def covers(outer: Ranges, inner: Ranges) -> bool:
    """Whether all elements of `inner` are certainly elements of `outer`, a section of the same variable."""
    depth = len(outer)
    return depth <= len(inner) and POINTED not in inner[depth:] and all(map(_holds, outer, inner))


def _range(section: Section, extent: object) -> tuple[Number, Number]:
    lower = _number(section.lower, 0)
    if section.is_index:
        return lower, 1
    rest = extent - lower if isinstance(extent, int) and isinstance(lower, int) else ""
    return lower, _number(section.length, rest)


def _number(slot: ExprSlot | None, default: Number) -> Number:
    if slot is None:
        return default
    value = None if slot.expr is None else integer_value(slot.expr)
    return "".join(slot.text.split()) if value is None else value


def _element(t: CType | None) -> CType | None:
    if isinstance(t, ArrayType):
        return t.element.type
    return t.pointee.type if isinstance(t, PointerType) else None


def _holds(outer: tuple[Number, Number], inner: tuple[Number, Number]) -> bool:
    if outer == inner:
        return True
    (first, length), (start, part) = outer, inner
    if isinstance(first, str) or isinstance(start, str):
        return False
    if isinstance(length, str) or isinstance(part, str):
        return False
    return first <= start and start + part <= first + length
