"""Alignments that declarations ask for: `_Alignas` (C11 6.7.5), `aligned` and aligned typedefs (GNU C)."""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportUnknownParameterType=false

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from pycparser import c_ast

from ...base.diagnostics import error
from ..asm_syntax import AsmLabel
from ..attribute_syntax import Attribute, Attributes, attributes_of
from ..gnu_syntax import AlignedTypedef
from .scopes import TypedefName

if TYPE_CHECKING:
    from .unit import Unit


class Alignments:
    """Alignments of declarations in the unit's current scope, in bytes; None where none is given."""

    def __init__(self, unit: Unit) -> None:
        self.unit = unit

    def of_declaration(self, node: Any) -> int | None:
        """The strictest `_Alignas` of a declaration in bytes (C11 6.7.5), or of its type's name (GNU C)."""
        given = self.strictest(node.align or ()), self.named(node.type)
        return max(filter(None, given), default=None)

    def strictest(self, items: Sequence[Any]) -> int | None:
        """The strictest of several `_Alignas` in bytes."""
        best = 0
        for item in items:
            if isinstance(item, AsmLabel):
                continue
            if isinstance(item, Attributes):
                best = max([best, *(self._aligned(a) for a in attributes_of([item], "aligned"))])
                continue
            loc = self.unit.loc(item)
            if isinstance(item.alignment, c_ast.Typename):
                value: int | None = self.unit.types.build(item.alignment).type.align
            else:
                value = self.unit.expressions.integer(item.alignment)
            if value is None or value < 0 or value & (value - 1):
                raise error(
                    loc, "_Alignas needs a constant power of two", "write e.g. _Alignas(64)"
                )
            best = max(best, value)
        return best or None

    def _aligned(self, attribute: Attribute) -> int:
        """The bytes of `aligned(n)`; for a bare `aligned`, the largest alignment of any type."""
        if not attribute.args:
            return 16
        argument, loc = attribute.args[0], self.unit.loc(attribute)
        if isinstance(argument, c_ast.Typename):
            return self.unit.types.build(argument).type.align
        value = self.unit.expressions.integer(argument)
        if value is None or value <= 0 or value & (value - 1):
            raise error(loc, "'aligned' needs a constant power of two", "write e.g. aligned(64)")
        return value

    def named(self, type_: Any) -> int | None:
        """The alignment of the typedef name that is the element type of a declarator."""
        while isinstance(type_, c_ast.ArrayDecl | c_ast.TypeDecl):
            type_ = type_.type
        if not isinstance(type_, c_ast.IdentifierType) or len(type_.names) != 1:
            return None
        symbol = self.unit.scope.find(type_.names[0])
        return symbol.alignment if isinstance(symbol, TypedefName) else None

    def of_typedef(self, node: Any) -> int | None:
        """The alignment that a typedef gives to variables, its own or that of the type it renames."""
        own = self.strictest(node.align) if isinstance(node, AlignedTypedef) else None
        return max(filter(None, (own, self.named(node.type))), default=None)
