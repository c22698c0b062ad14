"""A cursor that emits each integer constant once."""

from __future__ import annotations

from xdsl.dialects.builtin import IntegerType, LocationAttr
from xdsl.ir import Attribute, Block, SSAValue
from xdsl.rewriter import InsertPoint

from .building import Cursor

Known = dict[tuple[int | float, Attribute], SSAValue]


class SharingCursor(Cursor):
    """
    A cursor that reuses the integer constants which it, or the cursor it comes from (`inside`), has added
    before; these must not be moved. For a pass that writes the same arithmetic for every word of a tile,
    this removes a quarter of the operations. Arithmetic is not shared: LLVM does that, and a different
    placement would change the order of its instructions.
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
