"""A cursor by which a constant is there once."""

from __future__ import annotations

from xdsl.dialects.builtin import IntegerType, LocationAttr
from xdsl.ir import Attribute, Block, SSAValue
from xdsl.rewriter import InsertPoint

from .building import Cursor

Known = dict[tuple[int | float, Attribute], SSAValue]


class SharingCursor(Cursor):
    """
    Adds operations like any cursor, but for integer constants that it, or the cursor that it comes from
    (`inside`), has added before, which must stay where they are. A pass that writes the same arithmetic for
    every word of a tile then leaves three quarters of the operations. Arithmetic itself is not shared: LLVM
    finds what is computed twice, but orders instructions by where it finds them.
    """

    def __init__(self, point: InsertPoint, loc: LocationAttr, known: Known | None = None):
        super().__init__(point, loc)
        self._known: Known = {} if known is None else known

    def _nested(self, point: InsertPoint, loc: LocationAttr) -> Cursor:
        return SharingCursor(point, loc, dict(self._known))

    def constant(self, value: int | float, type: Attribute) -> SSAValue:
        if not isinstance(type, IntegerType):
            return super().constant(value, type)
        key = value, type
        known = self._known.get(key)
        if known is None:
            known = self._known[key] = super().constant(value, type)
        return known


def sharing_at_end(block: Block, loc: LocationAttr) -> SharingCursor:
    """A cursor at the end of a block."""
    return SharingCursor(InsertPoint.at_end(block), loc)
