"""
Declarations and constants of GNU C and of C90 that pycparser lacks: declarations without a type, `typeof`,
`__auto_type`, ranges in designators (`[0 ... 9] = x`) and case labels (`case 1 ... 5:`), imaginary constants
(`2.5i`), and attributes after a declarator (`double a[N] __attribute__((aligned(64)))`).
"""

# pycparser has no type information: its trees are Any here.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportPrivateUsage=false

from __future__ import annotations

from typing import Any

from pycparser import c_ast

from .attribute_syntax import KEPT_ATTRIBUTES, AttributeParser

IMPLICIT_INT = "int of a missing type"
"""The type name of a declaration without a type, which C90 takes for `int` (3.5.2)."""


_IMAGINARY = frozenset(
    f"{a}{b}" for i in "iIjJ" for f in ("", *"fFlL") for a, b in ((i, f), (f, i))
)
_FLOAT_SUFFIX = {"float": "f", "long double": "l"}


class ArrayRange(c_ast.ArrayDesignator):
    """`[expr ... last]`."""

    __slots__ = ("last",)

    def __init__(self, expr: Any, last: Any, coord: Any = None):
        super().__init__(expr, coord)
        self.last = last


class CaseRange(c_ast.Case):
    """`case expr ... last:`."""

    __slots__ = ("last",)

    def __init__(self, expr: Any, last: Any, stmts: Any, coord: Any = None):
        super().__init__(expr, stmts, coord)
        self.last = last


class AlignedTypedef(c_ast.Typedef):
    """`typedef int a16 __attribute__((aligned(16)))`: with the `_Alignas` of the type named."""

    __slots__ = ("align",)

    def __init__(self, node: Any, align: Any):
        super().__init__(node.name, node.quals, node.storage, node.type, node.coord)
        self.align = align


class GnuParser(AttributeParser):
    """pycparser with the declarations and constants above."""

    def __init__(self, *, c23: bool = False) -> None:
        super().__init__(c23=c23)
        words = ("typeof", "__typeof", "__typeof__", "__auto_type")
        self.clex._keyword_map |= dict.fromkeys(words, "TYPEOF")
        self.clex._keyword_map["__thread"] = "_THREAD_LOCAL"
        self.clex._keyword_map["_Float16"] = "FLOAT"
        self._alignments: list[tuple[Any, Any]] = []  # for declarators not yet in a declaration
        self._records: list[list[Any]] = []  # alignments of the structures being parsed
        self._at_record = False  # just after the keyword of the innermost one

    def _parse_external_declaration(self) -> Any:
        token = self._peek()
        if token is None or token.type != "ID":
            return super()._parse_external_declaration()
        declarator: Any = self._parse_id_declarator()  # `f(a) double a; { … }`, which returns int
        word = c_ast.IdentifierType([IMPLICIT_INT], coord=declarator.coord)
        names = ("qual", "alignment", "storage", "function", "type_attributes")
        spec: Any = {**{name: [] for name in names}, "type": [word]}
        if self._peek_type() == "LBRACE" or self._starts_declaration():
            return [self._parse_function_definition(spec, declarator)]
        if self._peek_type() not in ("SEMI", "COMMA", "EQUALS"):
            self._parse_error("Invalid function definition", declarator.coord)
        first: Any = {"decl": declarator}
        if self._accept("EQUALS"):
            first["init"] = self._parse_initializer()
        decls = self._parse_init_declarator_list(first=first)
        decls = self._build_declarations(spec=spec, decls=decls, typedef_namespace=True)
        return self._parse_declaration_end(decls)

    def _parse_specifiers(self, *, allow_storage_and_function: bool) -> Any:
        parsed: Any = super()._parse_specifiers(
            allow_storage_and_function=allow_storage_and_function
        )
        spec, saw_type, coord = parsed
        if spec is None or self._is_inferred_auto(spec):
            return parsed
        if not saw_type and allow_storage_and_function and not spec["type"]:
            spec["type"].append(c_ast.IdentifierType([IMPLICIT_INT], coord=coord))
        return parsed

    def _parse_constant(self) -> Any:
        """A constant, or an imaginary one: `2.5i`, which is `__builtin_complex(0.0, 2.5)`."""
        node: Any = super()._parse_constant()
        suffix = self._peek()
        if suffix is None or suffix.type != "ID" or suffix.value not in _IMAGINARY:
            return node
        self._advance()
        other = suffix.value.strip("iIjJ")
        if other and node.type == "double":
            t = "float" if other in "fF" else "long double"
            node = c_ast.Constant(t, node.value + other, node.coord)
        if node.type == "int":
            node = c_ast.Constant("double", f"{int(node.value, 0)}.0", node.coord)
        zero = c_ast.Constant(node.type, f"0.0{_FLOAT_SUFFIX.get(node.type, '')}", node.coord)
        parts = c_ast.ExprList([zero, node], node.coord)
        return c_ast.FuncCall(c_ast.ID("__builtin_complex", node.coord), parts, node.coord)

    def _parse_typeof_specifier(self) -> Any:
        token = self._peek()
        if token is None or token.value != "__auto_type":
            return super()._parse_typeof_specifier()
        return c_ast.InferredType(coord=self._tok_coord(self._advance()))

    def _build_type_name(self, spec: Any, decl: Any, coord: Any) -> Any:
        """A type name, with its attributes in the list of alignments."""
        made: Any = super()._build_type_name(spec, decl, coord)
        made.align = list(spec["alignment"])
        return made

    def _parse_struct_declarator(self) -> Any:
        """A member, perhaps with attributes after its bit-field width."""
        info: Any = super()._parse_struct_declarator()
        while self._peek_type() == "_ALIGNAS":
            self._alignments.append((info["decl"], self._parse_alignment_specifier()))
        return info

    def _parse_enum_specifier(self) -> Any:
        """`enum __attribute__((packed)) tag { … }`, or with the attributes at the end."""
        self._records.append([])
        self._at_record = True
        node: Any = super()._parse_enum_specifier()
        found = self._records.pop()
        while node.values is not None and self._peek_type() == "_ALIGNAS":
            found.append(self._parse_alignment_specifier())
        node.attributes = [*node.attributes, *found]
        return node

    def _parse_designator(self) -> Any:
        if self._peek_type() == "LBRACKET":
            opening = self._advance()
            node: Any = c_ast.ArrayDesignator(
                self._parse_constant_expression(), self._tok_coord(opening)
            )
            if self._accept("ELLIPSIS"):
                node = ArrayRange(node.expr, self._parse_constant_expression(), node.coord)
            self._expect("RBRACKET")
            return node
        return super()._parse_designator()

    def _parse_initializer_item(self) -> Any:
        """An item of a braced list, perhaps with GNU C's old designator: `member: value`."""
        if self._peek_type() in ("ID", "TYPEID") and self._peek_type(2) == "COLON":
            token = self._advance()
            self._advance()
            coord = self._tok_coord(token)
            name = [c_ast.ID(token.value, coord)]
            return c_ast.NamedInitializer(name, self._parse_initializer(), coord)
        return super()._parse_initializer_item()

    def _parse_designation(self) -> Any:
        """Designators; GNU C's old form has no `=` after `[n]`."""
        designators: Any = self._parse_designator_list()
        if not self._accept("EQUALS") and not isinstance(designators[-1], c_ast.ArrayDesignator):
            self._expect("EQUALS")
        return designators

    def _parse_labeled_statement(self) -> Any:
        if self._peek_type() != "CASE":
            return super()._parse_labeled_statement()
        coord = self._tok_coord(self._advance())
        first, last = self._parse_constant_expression(), None
        if self._accept("ELLIPSIS"):
            last = self._parse_constant_expression()
        self._expect("COLON")
        if self._starts_statement():
            body = self._parse_pragmacomp_or_statement()
        else:
            body = c_ast.EmptyStatement(coord)
        if last is not None:
            return CaseRange(first, last, [body], coord)
        return c_ast.Case(first, [body], coord)

    def _parse_struct_or_union_specifier(self) -> Any:
        """`struct _Alignas(n) tag { … } _Alignas(n)`: where GNU C has attributes of the type."""
        self._records.append([])
        self._at_record = True
        node: Any = super()._parse_struct_or_union_specifier()
        alignments = self._records.pop()
        while node.decls is not None and self._peek_type() == "_ALIGNAS":
            alignments.append(self._parse_alignment_specifier())
        node.attributes = alignments
        return node

    def _parse_attribute_specifier_sequence(self) -> Any:
        """`[[…]]` of C23, which gcc accepts in all versions of C; `[[gnu::…]]` is accepted only for
        attributes that are hints."""
        dialect, self._dialect = self._dialect, "c23"
        found: Any = super()._parse_attribute_specifier_sequence()
        self._dialect = dialect
        for attribute in (a for group in found for a in group.attributes):
            name = attribute.name.strip("_")
            if attribute.namespace in ("gnu", "__gnu__") and name in KEPT_ATTRIBUTES:
                self._parse_error(f"[[gnu::{name}]] is not supported", attribute.coord)
        if self._at_record:
            self._at_record = False
            while self._peek_type() == "_ALIGNAS":
                self._records[-1].append(self._parse_alignment_specifier())
        return found

    def _parse_declarator_kind(self, kind: str, allow_paren: bool) -> Any:
        decl: Any = super()._parse_declarator_kind(kind, allow_paren)
        while (word := self._peek_type()) in ("_ALIGNAS", "ASM"):
            known = self._parse_asm_label if word == "ASM" else self._parse_alignment_specifier
            self._alignments.append((decl, known()))
        return decl

    def _build_declarations(self, spec: Any, decls: Any, typedef_namespace: bool = False) -> Any:
        declarators = [info["decl"] for info in decls]
        built: Any = super()._build_declarations(spec, decls, typedef_namespace)
        for number, (node, declarator) in enumerate(zip(built, declarators, strict=True)):
            given = [align for decl, align in self._alignments if decl is declarator]
            if given and isinstance(node, c_ast.Decl):
                node.align = [*(node.align or ()), *given]
            elif isinstance(node, c_ast.Typedef) and (given := [*spec["alignment"], *given]):
                built[number] = AlignedTypedef(node, given)
        self._alignments.clear()
        return built
