"""Structures and unions (C11 6.7.2.1): tags, members, bit-fields."""

# pyright: reportAttributeAccessIssue=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportUnknownParameterType=false

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pycparser import c_ast

from ...base.diagnostics import SourceLoc, error
from ..attribute_syntax import attributes_of
from ..types import (
    BOOL,
    ArrayType,
    CType,
    FunctionType,
    IntType,
    QualType,
    RecordMember,
    RecordType,
)
from .scopes import (
    EnumTag,
    RecordTag,
    defined_twice,
)

if TYPE_CHECKING:
    from .type_names import TypeBuilder


class RecordSpecifiers:
    """Builds the structures and unions of a unit; `types` is its `TypeBuilder`."""

    def __init__(self, types: TypeBuilder) -> None:
        self._types = types
        self.unit = types.unit

    def record(self, node: Any) -> RecordType:
        """The type that a specifier names or defines."""
        is_union = isinstance(node, c_ast.Union)
        loc = self.unit.loc(node)
        if node.decls is None:
            return self._named_record(node.name, is_union, loc)
        known = self._types.defined.get(node)
        if isinstance(known, RecordType):
            return known
        record = self._new_record(node.name, is_union, loc)
        self._types.defined[node] = record
        attributes = node.attributes or ()
        packed = bool(attributes_of(attributes, "packed"))
        wanted = self.unit.alignments.strictest(attributes)
        record.is_transparent = is_union and bool(attributes_of(attributes, "transparent_union"))
        members = self._members(node, record, packed=packed)
        record.complete(members, wanted or 1, most=self.unit.pack.most)
        return record

    def _named_record(self, tag: str, is_union: bool, loc: SourceLoc) -> RecordType:
        found = self.unit.scope.find_tag(tag)
        if found is None:
            return self.declare(tag, is_union, loc)
        if not isinstance(found, RecordTag) or found.type.is_union != is_union:
            kind = "union" if is_union else "struct"
            raise error(
                loc,
                f"'{tag}' is not a {kind}",
                "use the keyword of its declaration",
                [(found.loc, "declared here")],
            )
        return found.type

    def declare(self, tag: str, is_union: bool, loc: SourceLoc) -> RecordType:
        """`struct tag;`: an incomplete type of the current scope, or the one already there."""
        here = self.unit.scope.tags.get(tag)
        if isinstance(here, RecordTag) and here.type.is_union == is_union:
            return here.type
        record = RecordType(tag, is_union)
        self.unit.scope.declare_tag(tag, RecordTag(record, loc))
        return record

    def _new_record(self, tag: str | None, is_union: bool, loc: SourceLoc) -> RecordType:
        if tag is None:
            return RecordType(None, is_union)
        here = self.unit.scope.tags.get(tag)
        if here is not None:
            if isinstance(here, EnumTag) or here.type.is_union != is_union or here.type.is_complete:
                raise defined_twice(f"'{tag}' is defined", here.loc, loc)
            return here.type
        return self.declare(tag, is_union, loc)

    def _members(self, node: Any, record: RecordType, *, packed: bool) -> list[RecordMember]:
        members: list[RecordMember] = []
        seen: dict[str, SourceLoc] = {}
        for decl in node.decls:
            if isinstance(decl, c_ast.Pragma):
                self.unit.directives.refuse_pragma(decl, "inside a struct or union")
            elif isinstance(decl, c_ast.StaticAssert):
                self.unit.declarations.static_assert(decl)
            elif isinstance(decl, c_ast.Decl):
                if members and _is_flexible(members[-1]):
                    raise error(
                        self._types.loc(decl),
                        f"member after the flexible array '{members[-1].name}'",
                        "put the array without length last",
                    )
                member = self._member(decl, record, packed=packed)
                if member is not None:
                    self._check_unique(member, seen, self._types.loc(decl))
                    members.append(member)
        alone = record.is_union or len(members) == 1
        if members and alone and _is_flexible(members[-1]):
            raise error(
                self._types.loc(node),
                f"flexible array '{members[-1].name}' must follow other members of a struct",
                "give it a length",
            )
        return members

    def _member(self, node: Any, record: RecordType, *, packed: bool) -> RecordMember | None:
        loc = self._types.loc(node)
        if node.name is None and node.bitsize is None:
            t = self._types.build(node.type).type
            anonymous = isinstance(t, RecordType) and t.tag is None
            return RecordMember(None, QualType(t), packed=packed) if anonymous else None
        q = self._types.declared(node)
        what = f"member '{node.name}'"
        if isinstance(q.type, FunctionType):
            raise error(loc, f"{what} has function type", "use a pointer to a function")
        if isinstance(q.type, ArrayType) and q.type.is_vla:
            raise error(loc, f"{what} has variable length", "use a constant length, or a pointer")
        if not q.type.is_complete and not isinstance(q.type, ArrayType):
            inside = q.type is record
            raise error(
                loc,
                f"{what} has incomplete type '{q.type}'",
                f"use a pointer: '{q.type} *{node.name}'"
                if inside
                else "define that type before this one",
            )
        width = None if node.bitsize is None else self._bit_width(node, q.type)
        wanted = self.unit.alignments.of_declaration(node) or 1
        named = self.unit.alignments.named(node.type)
        packed |= bool(attributes_of(node.align, "packed"))
        packed |= width is None and named is not None and named < q.type.align
        return RecordMember(node.name, q, width, wanted, packed)

    def _bit_width(self, node: Any, t: CType) -> int:
        loc = self.unit.loc(node.bitsize)
        if not isinstance(t, IntType):
            raise error(loc, f"a bit-field of type '{t}'", "use an integer type")
        width = self.unit.expressions.integer(node.bitsize)
        limit = 1 if t is BOOL else t.bits
        if width is None or not 0 <= width <= limit or (width == 0 and node.name):
            raise error(
                loc, f"the width of a bit-field of '{t}' must be a constant from 1 to {limit}"
            )
        return width

    def _check_unique(
        self, member: RecordMember, seen: dict[str, SourceLoc], loc: SourceLoc
    ) -> None:
        for name in _names(member):
            if name in seen:
                raise defined_twice(f"member '{name}' is declared", seen[name], loc)
            seen[name] = loc


def _is_flexible(member: RecordMember) -> bool:
    t = member.qual.type
    return isinstance(t, ArrayType) and t.length is None


def _names(member: RecordMember) -> list[str]:
    """The names a member adds to its record, through anonymous members."""
    t = member.qual.type
    if member.name is not None:
        return [member.name]
    if isinstance(t, RecordType):
        return [n for f in t.fields or () for n in _names(RecordMember(f.name, f.type))]
    return []
