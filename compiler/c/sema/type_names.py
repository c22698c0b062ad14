"""
Types from C syntax: specifiers, declarators, records and enumerations (C11 6.7.2 to 6.7.7).

pycparser nests declarators outside-in (`PtrDecl(ArrayDecl(TypeDecl))` is a pointer to an array),
so a type is built by recursion to the innermost `TypeDecl` and wrapped on the way out.
"""

# pyright: reportAttributeAccessIssue=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportUnknownParameterType=false

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from pycparser import c_ast

from ...base.diagnostics import SourceLoc, error
from ..ast import Expr, VarDecl
from ..attribute_syntax import attributes_of
from ..gnu_syntax import IMPLICIT_INT
from ..types import (
    BOOL,
    CHAR,
    DOUBLE,
    FLOAT,
    INT,
    INT128,
    LDOUBLE,
    LLONG,
    LONG,
    SCHAR,
    SHORT,
    UCHAR,
    UINT,
    UINT128,
    ULLONG,
    ULONG,
    USHORT,
    VOID,
    ArrayType,
    ComplexType,
    CType,
    FloatType,
    FunctionType,
    IntType,
    PointerType,
    QualType,
    RecordMember,
    RecordType,
    VoidType,
)
from .casts import cast
from .constants import integer_value
from .conversions import rvalue
from .literals import fits
from .scopes import Enumerator, EnumTag, RecordTag, TypedefName, nearest
from .type_attributes import with_type_attributes
from .unit import Unit

_INTEGER_SPELLINGS: tuple[tuple[CType, str], ...] = (
    (CHAR, "char"),
    (SCHAR, "signed char"),
    (UCHAR, "unsigned char"),
    (SHORT, "short|short int|signed short|signed short int"),
    (USHORT, "unsigned short|unsigned short int"),
    (INT, "int|signed|signed int"),
    (UINT, "unsigned|unsigned int"),
    (LONG, "long|long int|signed long|signed long int"),
    (ULONG, "unsigned long|unsigned long int"),
    (LLONG, "long long|long long int|signed long long|signed long long int"),
    (ULLONG, "unsigned long long|unsigned long long int"),
    (INT128, "__int128|signed __int128"),
    (UINT128, "unsigned __int128"),
    (BOOL, "_Bool"),
    (FLOAT, "float"),
    (DOUBLE, "double"),
    (LDOUBLE, "long double"),
    (VOID, "void"),
)
_BASIC = {
    " ".join(sorted(words.split())): t
    for t, spellings in _INTEGER_SPELLINGS
    for words in spellings.split("|")
}
_KEYWORDS = frozenset(word for key in _BASIC for word in key.split())


def apply_qualifiers(q: QualType, quals: Sequence[str], loc: SourceLoc) -> QualType:
    """`q` with qualifiers added; those of an array are its element's (C11 6.7.3p9)."""
    if not quals:
        return q
    if isinstance(q.type, ArrayType):
        element = apply_qualifiers(q.type.element, quals, loc)
        return replace(q, type=ArrayType(element, q.type.length))
    return QualType(
        q.type,
        q.const or "const" in quals,
        q.volatile or "volatile" in quals,
        q.restrict or "restrict" in quals,
        q.atomic or "_Atomic" in quals,
    )


class TypeBuilder:
    """Builds types in the unit's current scope; definitions of tags are declared there."""

    def __init__(self, unit: Unit) -> None:
        self.unit = unit
        # `struct S {…} a, b;` shares one syntax node: it defines one type.
        self._defined: dict[Any, CType] = {}
        self._complex: dict[int, ComplexType] = {}
        self._warned: set[SourceLoc] = set()  # types are built several times

    def declared(self, node: Any) -> QualType:
        """The type of a declaration, typedef or type name, as its attributes change it (GNU C)."""
        return with_type_attributes(self.unit, self.build(node.type), getattr(node, "align", None))

    # Declarators ------------------------------------------------------------------------------

    def build(self, node: Any) -> QualType:
        """The type a declarator or type name denotes."""
        match node:
            case c_ast.TypeDecl():
                return apply_qualifiers(
                    self.qualified_specifier(node.type), node.quals or (), self._loc(node)
                )
            case c_ast.PtrDecl():
                pointer = QualType(PointerType(self.build(node.type)))
                return apply_qualifiers(pointer, node.quals or (), self._loc(node))
            case c_ast.ArrayDecl():
                return QualType(self._array(node))
            case c_ast.FuncDecl():
                result = self.build(node.type).type
                with self.unit.nested_scope():
                    return QualType(self.function(node, result)[0])
            case _:
                return self.qualified_specifier(node)

    def _type_of(self, node: Any) -> QualType:
        """`typeof` of an expression or a type, and C23's `typeof_unqual` (6.7.3.6)."""
        if not isinstance(node.expr, c_ast.Typename):
            return QualType(self.unit.expressions.check(node.expr).type)
        named = self.build(node.expr)
        return QualType(named.type) if node.op == "typeof_unqual" else named

    def _loc(self, node: Any) -> SourceLoc:
        while node.coord is None and getattr(node, "type", None) is not None:
            node = node.type
        return self.unit.loc(node)

    def _array(self, node: Any) -> ArrayType:
        loc = self._loc(node)
        element = self.build(node.type)
        if isinstance(element.type, FunctionType):
            raise error(
                loc, "an array of functions is not possible", "use an array of function pointers"
            )
        if not element.type.is_complete:
            raise error(
                loc,
                f"array elements of incomplete type '{element.type}'",
                "every dimension but the first needs a length"
                if isinstance(element.type, ArrayType)
                else "define the type before this line",
            )
        return ArrayType(element, self._length(node.dim))

    def _length(self, node: Any) -> int | Expr | None:
        """An array length: a constant, None for `[]` and `[*]`, or an expression of type `long`."""
        if node is None or (isinstance(node, c_ast.ID) and node.name == "*"):
            return None
        loc = self.unit.loc(node)
        expr = rvalue(self.unit.expressions.check(node))
        if not isinstance(expr.type, IntType):
            raise error(loc, f"an array length has type '{expr.type}'", "use an integer length")
        value = integer_value(expr)
        if value is not None:
            if value < 0:
                raise error(loc, f"array length {value} is negative", "use a length of at least 1")
            return value
        if self.unit.scope.is_file:
            raise error(
                loc,
                "the length of an array outside functions must be a constant",
                "use a '#define' or an 'enum' constant ('const' variables are not constants in C)",
            )
        return cast(expr, LONG)

    def function(self, node: Any, result: CType) -> tuple[FunctionType, list[VarDecl]]:
        """
        A function type and its parameters, which are declared in the current scope; `result` is of the scope
        around it, where tags that it names are declared.
        """
        loc = self._loc(node)
        if isinstance(result, ArrayType | FunctionType):
            raise error(loc, f"a function cannot return '{result}'", "return a pointer or a struct")
        if node.args is None:
            return FunctionType(result, (), prototyped=self.unit.c23), []
        nodes = list(node.args.params)
        variadic = isinstance(nodes[-1], c_ast.EllipsisParam)
        if variadic:
            nodes.pop()
        if nodes and isinstance(nodes[0], c_ast.ID):
            self._warn_once(
                loc,
                "parameter names without types say nothing in a declaration",
                "write 'type name' for each parameter",
            )
            return FunctionType(result, (), prototyped=False), []
        if len(nodes) == 1 and isinstance(nodes[0], c_ast.Typename) and not variadic:
            only = self.build(nodes[0])
            if isinstance(only.type, VoidType):
                return FunctionType(result, ()), []
        params = [self._parameter(p, i) for i, p in enumerate(nodes)]
        return FunctionType(result, tuple(p.type for p in params), variadic), params

    def _parameter(self, node: Any, index: int) -> VarDecl:
        loc = self._loc(node)
        if isinstance(node, c_ast.Decl) and set(node.storage or ()) - {"register"}:
            raise error(loc, f"'{node.storage[0]}' on a parameter", "remove it")
        q = self.build(node.type)
        declared = q.type if isinstance(q.type, ArrayType) and q.type.is_complete else None
        if isinstance(q.type, ArrayType):
            outer = node.type
            quals = (
                [w for w in outer.dim_quals if w != "static"]
                if isinstance(outer, c_ast.ArrayDecl)
                else []
            )
            q = apply_qualifiers(QualType(PointerType(q.type.element)), quals, loc)
        elif isinstance(q.type, FunctionType):
            q = QualType(PointerType(q))
        elif isinstance(q.type, VoidType):
            raise error(
                loc,
                "a parameter cannot have type void",
                "use 'void *', or '(void)' for no parameters",
            )
        decl = VarDecl(node.name or "", q, loc, is_param=True, declared=declared)
        if node.name:
            if node.name in self.unit.scope.names:
                raise error(loc, f"parameter '{node.name}' is declared twice", "rename one of them")
            self.unit.scope.declare(node.name, decl)
        return decl

    # Specifiers -------------------------------------------------------------------------------

    def qualified_specifier(self, node: Any) -> QualType:
        """The type of a declaration's specifiers, with the qualifiers of a typedef."""
        match node:
            case c_ast.IdentifierType():
                return self._basic(node)
            case c_ast.Struct() | c_ast.Union():
                return QualType(self._record(node))
            case c_ast.Enum():
                return QualType(self._enum(node))
            case c_ast.Typename():
                q = self.declared(node)
                return apply_qualifiers(
                    q, [w for w in node.quals if w == "_Atomic"], self._loc(node)
                )
            case c_ast.AttributedType():
                return self.build(node.type)
            case c_ast.TypeOf():
                return self._type_of(node)
            case _:
                name = {"BitIntType": "_BitInt"}.get(type(node).__name__, "this type")
                raise error(self._loc(node), f"{name} is not supported", "write a standard C type")

    def _basic(self, node: Any) -> QualType:
        names: list[str] = ["_Bool" if n == "bool" and self.unit.c23 else n for n in node.names]
        loc = self.unit.loc(node)
        if names == [IMPLICIT_INT]:
            self._warn_once(loc, "the type is missing: taken as int", "write 'int'")
            return QualType(INT)
        if len(names) == 1 and names[0] not in _KEYWORDS:
            symbol = self.unit.scope.find(names[0])
            if isinstance(symbol, TypedefName):
                return symbol.qual
            if names[0] != "_Complex":
                raise error(loc, f"unknown type name '{names[0]}'", self._type_remedy(names[0]))
        if "_Complex" in names:
            words = sorted(n for n in names if n != "_Complex")
            element = _BASIC.get(" ".join(words) or "double")
            if isinstance(element, FloatType):
                return QualType(self.complex(element))
            raise error(loc, f"'{' '.join(names)}' is not a type", "write e.g. 'double _Complex'")
        t = _BASIC.get(" ".join(sorted(names)))
        if t is None:
            raise error(loc, f"'{' '.join(names)}' is not a type", "write e.g. 'unsigned long'")
        return QualType(t)

    def _warn_once(self, loc: SourceLoc, message: str, remedy: str) -> None:
        if loc not in self._warned:
            self._warned.add(loc)
            self.unit.sink.warn(loc, message, remedy)

    def complex(self, element: FloatType) -> ComplexType:
        """The complex type with parts of type `element`."""
        if element.bits not in self._complex:
            self._complex[element.bits] = ComplexType.of(element)
        return self._complex[element.bits]

    def _type_remedy(self, name: str) -> str:
        types = [n for n, s in self.unit.file_scope.names.items() if isinstance(s, TypedefName)]
        near = nearest(name, types)
        return (
            f"did you mean '{near}'?" if near else "declare it with typedef, or include its header"
        )

    # Structs and unions -----------------------------------------------------------------------

    def _record(self, node: Any) -> RecordType:
        is_union = isinstance(node, c_ast.Union)
        loc = self.unit.loc(node)
        if node.decls is None:
            return self._named_record(node.name, is_union, loc)
        known = self._defined.get(node)
        if isinstance(known, RecordType):
            return known
        record = self._new_record(node.name, is_union, loc)
        self._defined[node] = record
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
            return self.declare_record(tag, is_union, loc)
        if not isinstance(found, RecordTag) or found.type.is_union != is_union:
            kind = "union" if is_union else "struct"
            raise error(
                loc,
                f"'{tag}' is not a {kind}",
                "use the keyword of its declaration",
                [(found.loc, "declared here")],
            )
        return found.type

    def declare_record(self, tag: str, is_union: bool, loc: SourceLoc) -> RecordType:
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
                raise error(
                    loc,
                    f"'{tag}' is defined twice",
                    "rename one of them",
                    [(here.loc, "first here")],
                )
            return here.type
        return self.declare_record(tag, is_union, loc)

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
                        self._loc(decl),
                        f"member after the flexible array '{members[-1].name}'",
                        "put the array without length last",
                    )
                member = self._member(decl, record, packed=packed)
                if member is not None:
                    self._check_unique(member, seen, self._loc(decl))
                    members.append(member)
        alone = record.is_union or len(members) == 1
        if members and alone and _is_flexible(members[-1]):
            raise error(
                self._loc(node),
                f"flexible array '{members[-1].name}' must follow other members of a struct",
                "give it a length",
            )
        return members

    def _member(self, node: Any, record: RecordType, *, packed: bool) -> RecordMember | None:
        loc = self._loc(node)
        if node.name is None and node.bitsize is None:
            t = self.build(node.type).type
            anonymous = isinstance(t, RecordType) and t.tag is None
            return RecordMember(None, QualType(t), packed=packed) if anonymous else None
        q = self.declared(node)
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
        width = integer_value(rvalue(self.unit.expressions.check(node.bitsize)))
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
                raise error(
                    loc,
                    f"member '{name}' is declared twice",
                    "rename one of them",
                    [(seen[name], "first here")],
                )
            seen[name] = loc

    # Enumerations -----------------------------------------------------------------------------

    def _enum(self, node: Any) -> IntType:
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
        known = self._defined.get(node)
        if isinstance(known, IntType):
            return known
        if node.name is not None:
            here = self.unit.scope.tags.get(node.name)
            if here is not None and not (isinstance(here, EnumTag) and here.type is None):
                raise error(
                    loc,
                    f"'{node.name}' is defined twice",
                    "rename one of them",
                    [(here.loc, "first here")],
                )
        if node.underlying_type is not None:
            return self._enum_of_type(node, loc)
        values = self._enumerators(node, None)
        packed = bool(attributes_of(node.attributes, "packed"))
        kinds = (UCHAR, SCHAR, USHORT, SHORT, UINT, INT, ULONG) if packed else (UINT, INT, ULONG)
        t = next((t for t in kinds if all(fits(v, t) for v in values)), LONG)
        self._defined[node] = t
        if node.name is not None:
            self.unit.scope.declare_tag(node.name, EnumTag(t, loc))
        return t

    def _enum_of_type(self, node: Any, loc: SourceLoc) -> IntType:
        """`enum tag : type { … }` (C23 6.7.3.3), whose enumerators are of that type."""
        t = self.build(node.underlying_type).type
        if not isinstance(t, IntType):
            raise error(loc, f"an enum cannot be of type '{t}'", "write an integer type")
        self._defined[node] = t
        if node.name is not None:
            self.unit.scope.declare_tag(node.name, EnumTag(t, loc))
        self._enumerators(node, t)
        return t

    def _enumerators(self, node: Any, fixed: IntType | None) -> list[int]:
        """The values; the constants are of type `fixed` if that is given."""
        values: list[int] = []
        for item in node.values.enumerators:
            loc = self.unit.loc(item)
            if isinstance(item, c_ast.Pragma):
                self.unit.directives.refuse_pragma(item, "inside an enum")
                continue
            value = values[-1] + 1 if values else 0
            if item.value is not None:
                given = integer_value(rvalue(self.unit.expressions.check(item.value)))
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
                    f"{value}, the value of '{item.name}', is not one of type '{fixed}'",
                    "give the enum a wider type",
                )
            wide = next((t for t in (INT, UINT, LONG, ULONG) if fits(value, t)), ULONG)
            t = fixed or wide
            self.unit.linkage.check_new(item.name, loc)
            self.unit.scope.declare(item.name, Enumerator(item.name, value, t, loc))
            values.append(value)
        return values


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
