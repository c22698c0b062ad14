"""A cursor that emits each integer constant once, and other values by key."""

from __future__ import annotations

from collections.abc import Callable, Hashable

from xdsl.dialects.builtin import IntegerType, LocationAttr
from xdsl.ir import Attribute, Block, SSAValue
from xdsl.rewriter import InsertPoint

from .building import Cursor

Known = dict[tuple[int | float, Attribute], SSAValue]
Made = dict[tuple[Hashable, ...], SSAValue]


class SharingCursor(Cursor):
    """
    A cursor that reuses the integer constants which it, or the cursor it comes from (`inside`), has added
    before, and the values of `once`; these must not be moved. For a pass that writes the same arithmetic for
    every word of a tile, constants alone are a quarter of the operations. Arithmetic is shared only where its
    emitter asks for it by `once`.
    """

    def __init__(
        self,
        point: InsertPoint,
        loc: LocationAttr,
        known: Known | None = None,
        made: Made | None = None,
    ):
        super().__init__(point, loc)
        self._known: Known = {} if known is None else known
        self._made: Made = {} if made is None else made

    def _nested(self, point: InsertPoint, loc: LocationAttr) -> Cursor:
        return SharingCursor(point, loc, dict(self._known), dict(self._made))

    def once(self, key: tuple[Hashable, ...], make: Callable[[], SSAValue]) -> SSAValue:
        made = self._made.get(key)
        if made is None:
            made = self._made[key] = make()
        return made

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
