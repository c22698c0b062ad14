"""
Expressions and jumps of GNU C that pycparser lacks: addresses of labels and `goto *p` (GCC manual, "Labels as
Values"), local labels, the parts of complex numbers, alignments of expressions, and built-ins whose
arguments are types.
"""

# pycparser has no type information: its trees are Any here.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportPrivateUsage=false

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pycparser import c_ast

from .asm_syntax import AsmParser, NamedNode

_TYPED_BUILTINS = frozenset(("__builtin_types_compatible_p", "__builtin_convertvector"))
"""Built-ins that take types as arguments."""
_WORDS = {
    "__label__": "LABELS",
    "__real__": "PART",
    "__real": "PART",
    "__imag__": "PART",
    "__imag": "PART",
}
_PREFIXES = frozenset(("LAND", "PART"))


class LabelAddress(NamedNode):
    """`&&label`."""

    __slots__ = ()


class LocalLabels(LabelAddress):
    """`__label__ a, b;`: `name` is their names, separated by spaces."""


class GnuComputedGoto(c_ast.Node):
    """`goto *target;`."""

    __slots__ = ("__weakref__", "coord", "target")
    attr_names = ()

    def __init__(self, target: Any, coord: Any):
        self.target = target
        self.coord = coord

    def children(self) -> Any:
        return (("target", self.target),)

    def __iter__(self) -> Iterator[Any]:
        return iter([self.target])


class StatementExpression(c_ast.Compound):
    """`({ … })`, a block whose last expression is its value."""

    __slots__ = ()


class GnuExpressions(AsmParser):
    """pycparser with the expressions and jumps above."""

    def __init__(self, *, c23: bool = False) -> None:
        super().__init__(c23=c23)
        self.clex._keyword_map |= _WORDS

    def _starts_expression(self, tok: Any = None) -> bool:
        tok = tok or self._peek()
        return tok is not None and (tok.type in _PREFIXES or super()._starts_expression(tok))

    def _parse_unary_expression(self) -> Any:
        word = self._peek_type()
        if word == "LAND":
            coord = self._tok_coord(self._advance())
            return LabelAddress(self._expect("ID").value, coord)
        if word == "PART":
            token = self._advance()
            operand = self._parse_cast_expression()
            return c_ast.UnaryOp(token.value.rstrip("_"), operand, self._tok_coord(token))
        if word == "_ALIGNOF":
            mark = self._mark()
            token = self._advance()
            named = self._accept("LPAREN") is not None and self._starts_declaration()
            if not named:
                self._reset(mark)
                self._advance()
                operand = self._parse_unary_expression()
                return c_ast.UnaryOp(token.value, operand, self._tok_coord(token))
            self._reset(mark)
        return super()._parse_unary_expression()

    def _parse_primary_expression(self) -> Any:
        token = self._peek()
        if token is not None and token.type == "LPAREN" and self._peek_type(2) == "LBRACE":
            self._advance()
            block: Any = self._parse_compound_statement()
            self._expect("RPAREN")
            return StatementExpression(block.block_items, block.coord)
        if token is None or token.type != "ID" or token.value not in _TYPED_BUILTINS:
            return super()._parse_primary_expression()
        name = self._parse_identifier()
        self._expect("LPAREN")
        arguments: list[Any] = []
        while True:
            arguments.append(self._parse_type_or_expression())
            if not self._accept("COMMA"):
                break
        self._expect("RPAREN")
        return c_ast.FuncCall(name, c_ast.ExprList(arguments, name.coord), name.coord)

    def _parse_type_or_expression(self) -> Any:
        is_type = self._starts_declaration()
        return self._parse_type_name() if is_type else self._parse_assignment_expression()

    def _parse_conditional_expression(self) -> Any:
        """`a ? b : c`, and GNU C's `a ?: c`, whose `iftrue` is None."""
        expr: Any = self._parse_binary_expression()
        if not self._accept("CONDOP"):
            return expr
        chosen = None if self._peek_type() == "COLON" else self._parse_expression()
        self._expect("COLON")
        return c_ast.TernaryOp(expr, chosen, self._parse_conditional_expression(), expr.coord)

    def _parse_jump_statement(self) -> Any:
        if self._peek_type() != "GOTO" or self._peek_type(2) != "TIMES":
            return super()._parse_jump_statement()
        coord = self._tok_coord(self._advance())
        self._expect("TIMES")
        target = self._parse_expression()
        self._expect("SEMI")
        return GnuComputedGoto(target, coord)

    def _parse_block_item(self) -> Any:
        if self._peek_type() != "LABELS":
            return super()._parse_block_item()
        coord = self._tok_coord(self._advance())
        names = [self._expect("ID").value]
        while self._accept("COMMA"):
            names.append(self._expect("ID").value)
        self._expect("SEMI")
        return LocalLabels(" ".join(names), coord)
