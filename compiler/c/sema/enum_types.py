"""Enumerations (C11 6.7.2.2, C23 6.7.3.3)."""

# pyright: reportAttributeAccessIssue=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportUnknownParameterType=false

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pycparser import c_ast

from ...base.diagnostics import SourceLoc, error
from ..attribute_syntax import attributes_of
from ..types import INT, LONG, SCHAR, SHORT, UCHAR, UINT, ULONG, USHORT, IntType
from .literals import fits
from .scopes import (
    Enumerator,
    EnumTag,
    defined_twice,
)

if TYPE_CHECKING:
    from .type_names import TypeBuilder


class EnumSpecifiers:
    """Builds the enumerated types of a unit; `types` is its `TypeBuilder`."""

    def __init__(self, types: TypeBuilder) -> None:
        self._types = types
        self.unit = types.unit

    def enum(self, node: Any) -> IntType:
        """The type that a specifier names or defines."""
        loc = self.unit.loc(node)
        if node.values is None:
            found = self.unit.scope.find_tag(node.name)
            if isinstance(found, EnumTag):
                return found.type or UINT
            if found is not None:
                raise error(
                    loc, f"'{node.name}' is not an enum", "use the keyword of its declaration"
                )
            self.unit.scope.declare_tag(node.name, EnumTag(None, loc))
            return UINT
        known = self._types.defined.get(node)
        if isinstance(known, IntType):
            return known
        if node.name is not None:
            here = self.unit.scope.tags.get(node.name)
            if here is not None and not (isinstance(here, EnumTag) and here.type is None):
                raise defined_twice(f"'{node.name}' is defined", here.loc, loc)
        if node.underlying_type is not None:
            return self._enum_of_type(node, loc)
        values = self._enumerators(node, None)
        packed = bool(attributes_of(node.attributes, "packed"))
        kinds = (UCHAR, SCHAR, USHORT, SHORT, UINT, INT, ULONG) if packed else (UINT, INT, ULONG)
        t = next((t for t in kinds if all(fits(v, t) for v in values)), LONG)
        self._types.defined[node] = t
        if node.name is not None:
            self.unit.scope.declare_tag(node.name, EnumTag(t, loc))
        return t

    def _enum_of_type(self, node: Any, loc: SourceLoc) -> IntType:
        """`enum tag : type { … }` (C23 6.7.3.3), whose enumerators are of that type."""
        t = self._types.build(node.underlying_type).type
        if not isinstance(t, IntType):
            raise error(loc, f"an enum cannot be of type '{t}'", "write an integer type")
        self._types.defined[node] = t
        if node.name is not None:
            self.unit.scope.declare_tag(node.name, EnumTag(t, loc))
        self._enumerators(node, t)
        return t

    def _enumerators(self, node: Any, fixed: IntType | None) -> list[int]:
        """Declares the enumerators, of type `fixed` if that is given, and returns their values."""
        values: list[int] = []
        for item in node.values.enumerators:
            loc = self.unit.loc(item)
            if isinstance(item, c_ast.Pragma):
                self.unit.directives.refuse_pragma(item, "inside an enum")
                continue
            value = values[-1] + 1 if values else 0
            if item.value is not None:
                given = self.unit.expressions.integer(item.value)
                if given is None:
                    raise error(
                        loc,
                        f"the value of '{item.name}' is not an integer constant",
                        "write a constant",
                    )
                value = given
            if fixed is not None and not fits(value, fixed):
                raise error(
                    loc,
                    f"{value}, the value of '{item.name}', does not fit into '{fixed}'",
                    "give the enum a wider type",
                )
            wide = next((t for t in (INT, UINT, LONG, ULONG) if fits(value, t)), ULONG)
            t = fixed or wide
            self.unit.linkage.check_new(item.name, loc)
            self.unit.scope.declare(item.name, Enumerator(item.name, value, t, loc))
            values.append(value)
        return values
