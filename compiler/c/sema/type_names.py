"""
Builds types from C syntax: specifiers and declarators (C11 6.7.2 to 6.7.7). Tags are in `record_types.py`
and `enum_types.py`.

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
from ...base.library_headers import is_library
from ...base.similar import did_you_mean
from ..ast import Expr, VarDecl
from ..gnu_syntax import IMPLICIT_INT
from ..types import (
    BOOL,
    CHAR,
    DOUBLE,
    FLOAT,
    HALF,
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
    VoidType,
)
from .casts import cast
from .constants import integer_value
from .enum_types import EnumSpecifiers
from .record_types import RecordSpecifiers
from .scopes import TypedefName
from .type_attributes import with_type_attributes
from .unit import Unit

_SPELLINGS: tuple[tuple[CType, str], ...] = (
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
    (HALF, "_Float16"),
    (FLOAT, "float"),
    (DOUBLE, "double"),
    (LDOUBLE, "long double"),
    (VOID, "void"),
)
_BINARY128 = ("_Float128", "__float128")
_BASIC = {
    " ".join(sorted(words.split())): t
    for t, spellings in _SPELLINGS
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
        self.defined: dict[Any, CType] = {}
        self.records = RecordSpecifiers(self)
        self.enums = EnumSpecifiers(self)
        self._complex: dict[int, ComplexType] = {}
        self._warned: set[SourceLoc] = set()  # types are built several times

    def declared(self, node: Any) -> QualType:
        """The type of a declaration, typedef or type name, with its attributes applied (GNU C)."""
        return with_type_attributes(self.unit, self.build(node.type), getattr(node, "align", None))

    # Declarators ------------------------------------------------------------------------------

    def build(self, node: Any) -> QualType:
        """The type a declarator or type name denotes."""
        match node:
            case c_ast.TypeDecl():
                return apply_qualifiers(
                    self.qualified_specifier(node.type), node.quals or (), self.loc(node)
                )
            case c_ast.PtrDecl():
                pointer = QualType(PointerType(self.build(node.type)))
                return apply_qualifiers(pointer, node.quals or (), self.loc(node))
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

    def loc(self, node: Any) -> SourceLoc:
        """The place of a declarator; if it has none, that of its innermost type."""
        while node.coord is None and getattr(node, "type", None) is not None:
            node = node.type
        return self.unit.loc(node)

    def _array(self, node: Any) -> ArrayType:
        loc = self.loc(node)
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
        expr = self.unit.expressions.value(node)
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
        A function type and its parameters, which are declared in the current scope; `result` was built in
        the scope around it, where its tags are declared.
        """
        loc = self.loc(node)
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
        params = [self._parameter(p) for p in nodes]
        return FunctionType(result, tuple(p.type for p in params), variadic), params

    def _parameter(self, node: Any) -> VarDecl:
        loc = self.loc(node)
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
                return QualType(self.records.record(node))
            case c_ast.Enum():
                return QualType(self.enums.enum(node))
            case c_ast.Typename():
                q = self.declared(node)
                return apply_qualifiers(
                    q, [w for w in node.quals if w == "_Atomic"], self.loc(node)
                )
            case c_ast.AttributedType():
                return self.build(node.type)
            case c_ast.TypeOf():
                return self._type_of(node)
            case _:
                name = {"BitIntType": "_BitInt"}.get(type(node).__name__, "this type")
                raise error(self.loc(node), f"{name} is not supported", "write a standard C type")

    def _basic(self, node: Any) -> QualType:
        names: list[str] = ["_Bool" if n == "bool" and self.unit.c23 else n for n in node.names]
        loc = self.unit.loc(node)
        if names == [IMPLICIT_INT]:
            self._warn_once(loc, "the type is missing: taken as int", "write 'int'")
            return QualType(INT)
        if len(names) == 1 and names[0] not in _KEYWORDS:
            symbol = self.unit.scope.find(names[0])
            if isinstance(symbol, TypedefName):
                if names[0] in _BINARY128 and LDOUBLE.bits == 80 and not is_library(loc):
                    said = f"'{names[0]}' is taken as 'long double', with 64 binary digits, not 113"
                    self._warn_once(loc, said, "write 'long double' if that is enough")
                return symbol.qual
            if names[0] != "_Complex":
                raise error(loc, f"unknown type name '{names[0]}'", self._type_remedy(names[0]))
        if "_Complex" in names:
            words = sorted(n for n in names if n != "_Complex")
            element = _BASIC.get(" ".join(words) or "double")
            if isinstance(element, FloatType):
                self.require_complex(element, loc)
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

    def require_complex(self, element: FloatType, loc: SourceLoc) -> None:
        """Raise `CompileError` if there are no complex numbers with parts of type `element`."""
        if element == HALF:
            said = "complex numbers of '_Float16' are not supported"
            raise error(loc, said, "use 'float _Complex'")

    def _type_remedy(self, name: str) -> str:
        types = [n for n, s in self.unit.file_scope.names.items() if isinstance(s, TypedefName)]
        return did_you_mean(name, types) or "declare it with typedef, or include its header"
