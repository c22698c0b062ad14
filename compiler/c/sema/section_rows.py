"""Extends sections of parts of rows, `a[0:n][0:3]` of `double (*a)[4]`, to whole rows."""

from __future__ import annotations

from ...directives.records import Section, VarRefItem
from ..ast import Expr
from ..types import ArrayType, CType, PointerType
from .constants import slot_value


def make_rows_whole(item: VarRefItem, t: CType) -> bool:
    """
    Extends a section of an object of type `t` that takes constant parts of several rows of constant length
    to whole rows, as data clauses take only contiguous memory (OpenACC 3.4, 2.7.1). Returns whether it did.
    """
    several = found = False
    for position, section in enumerate(item.sections):
        assert isinstance(t, ArrayType | PointerType)
        if several and isinstance(t, ArrayType) and _is_part(section, t.length):
            item.sections[position] = Section(section.loc)
            found = True
        several = several or not (section.is_index or slot_value(section.length, 0) == 1)
        t = t.element.type if isinstance(t, ArrayType) else t.pointee.type
    return found


def _is_part(section: Section, length: int | Expr | None) -> bool:
    if section.is_index or section.minimum is not None or not isinstance(length, int):
        return False
    lower = slot_value(section.lower, 0)
    extent = None if lower is None else slot_value(section.length, length - lower)
    return lower is not None and extent is not None and 0 < extent < length
