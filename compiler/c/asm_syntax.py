"""
Assembly in GNU C: statements with operands (`asm volatile("…" : outputs : inputs : clobbers);`), and the
assembler names of declarations (`int f(void) asm("g");`).
"""

# pycparser has no type information: its trees are Any here.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportPrivateUsage=false

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pycparser import c_ast
from pycparser.c_parser import CParser

from ..base.diagnostics import SourceLoc, error
from .quick_lexer import QuickLexer

ASM_WORD = "$am"
"""The word that the lexer sees where `asm` begins assembly; elsewhere `asm` is an ordinary name (C11
J.5.10)."""


class AsmOperand:
    """`[name] "constraint" (expr)`."""

    def __init__(self, name: str | None, constraint: Any, expr: Any):
        self.name = name
        self.constraint = constraint
        self.expr = expr


class AsmStatement(c_ast.Node):
    """An `asm` statement; its strings are pycparser's `Constant` nodes."""

    __slots__ = ("__weakref__", "clobbers", "coord", "inputs", "is_volatile", "outputs", "template")
    attr_names = ()

    def __init__(self, template: Any, coord: Any):
        self.template = template
        self.coord = coord
        self.outputs: list[AsmOperand] = []
        self.inputs: list[AsmOperand] = []
        self.clobbers: list[Any] = []
        self.is_volatile = False

    def children(self) -> Any:
        return tuple(("expr", operand.expr) for operand in (*self.outputs, *self.inputs))

    def __iter__(self) -> Iterator[Any]:
        return iter([operand.expr for operand in (*self.outputs, *self.inputs)])


class NamedNode(c_ast.Node):
    """A node that has a name and no parts."""

    __slots__ = ("__weakref__", "coord", "name")
    attr_names = ("name",)

    def __init__(self, name: Any, coord: Any):
        self.name = name
        self.coord = coord

    def children(self) -> Any:
        return ()

    def __iter__(self) -> Iterator[Any]:
        return iter(())


class AsmLabel(NamedNode):
    """The assembler name of a declaration, kept in its list of alignments."""

    __slots__ = ()


class AsmParser(CParser):
    """pycparser with assembly statements and assembler names."""

    def __init__(self, *, c23: bool = False) -> None:
        super().__init__(lexer=QuickLexer, dialect="c23" if c23 else "legacy")
        self.clex._keyword_map |= dict.fromkeys((ASM_WORD, "__asm", "__asm__"), "ASM")

    def _parse_external_declaration(self) -> Any:
        token = self._peek()
        if token is not None and token.type == "ASM":
            raise error(
                SourceLoc(token.filename or "", token.lineno, token.column or 0),
                "assembly outside of functions is not supported",
                "put it into a library of its own, or into a function",
            )
        return super()._parse_external_declaration()

    def _parse_asm_label(self) -> AsmLabel:
        coord = self._tok_coord(self._expect("ASM"))
        self._expect("LPAREN")
        name = self._parse_unified_string_literal()
        self._expect("RPAREN")
        return AsmLabel(name, coord)

    def _parse_statement(self) -> Any:
        if self._peek_type() != "ASM":
            return super()._parse_statement()
        coord = self._tok_coord(self._expect("ASM"))
        is_volatile = False
        while self._peek_type() in ("VOLATILE", "INLINE", "GOTO"):
            token = self._advance()
            is_volatile |= token.type == "VOLATILE"
            if token.type == "GOTO":
                raise error(
                    SourceLoc(coord.file or "", coord.line, coord.column or 0),
                    "'asm goto' is not supported",
                    "give the condition as an output, and jump in C",
                )
        self._expect("LPAREN")
        statement = AsmStatement(self._parse_unified_string_literal(), coord)
        statement.is_volatile = is_volatile
        self._parse_operands(statement)
        self._expect("RPAREN")
        self._expect("SEMI")
        return statement

    def _parse_operands(self, statement: AsmStatement) -> None:
        """Up to three lists, each after a colon; two colons in a row are one token."""
        part = 0
        while self._peek_type() in ("COLON", "COLONCOLON"):
            part += 2 if self._advance().type == "COLONCOLON" else 1
            while self._peek_type() not in ("COLON", "COLONCOLON", "RPAREN"):
                if part <= 2:
                    (statement.outputs if part == 1 else statement.inputs).append(self._operand())
                else:
                    statement.clobbers.append(self._parse_unified_string_literal())
                if not self._accept("COMMA"):
                    break

    def _operand(self) -> AsmOperand:
        name = None
        if self._accept("LBRACKET"):
            name = self._advance().value
            self._expect("RBRACKET")
        constraint = self._parse_unified_string_literal()
        self._expect("LPAREN")
        expr = self._parse_expression()
        self._expect("RPAREN")
        return AsmOperand(name, constraint, expr)

    def _starts_statement(self) -> bool:
        return self._peek_type() == "ASM" or super()._starts_statement()
