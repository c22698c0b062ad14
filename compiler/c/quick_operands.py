"""
A shortcut for operands of one token: a name or number before a comma, a bracket or an operator is parsed at
once, without the grammar's functions for postfix, cast and each level of binary operators. Most operands
are of this kind, and nearly all in long initialisers.
"""

# pyright: reportPrivateUsage=false

from __future__ import annotations

from typing import Any

from pycparser import c_ast
from pycparser.c_lexer import Token

from .gnu_syntax import GnuParser

_NUMBERS = frozenset(
    (
        "INT_CONST_DEC",
        "INT_CONST_OCT",
        "INT_CONST_HEX",
        "INT_CONST_CHAR",
        "FLOAT_CONST",
        "CHAR_CONST",
    )
)
_ENDS = frozenset(("COMMA", "SEMI", "RPAREN", "RBRACKET", "RBRACE"))
"""Tokens that end an expression of any precedence."""
_OPERATORS = frozenset(
    (
        *("LOR", "LAND", "OR", "XOR", "AND", "EQ", "NE", "GT", "GE", "LT", "LE"),
        *("RSHIFT", "LSHIFT", "PLUS", "MINUS", "TIMES", "DIVIDE", "MOD", "CONDOP", "COLON"),
    )
)
"""Tokens that end an operand. Assignments are not among them: they need an lvalue, and have functions of
their own."""
_AFTER_OPERANDS = _ENDS | _OPERATORS


class QuickOperands(GnuParser):
    """Gives the same trees as `GnuParser` in fewer steps."""

    def _peek(self, k: int = 1) -> Token | None:
        tokens = self._tokens
        place = tokens._index + k - 1
        token = tokens._buffer[place] if place < len(tokens._buffer) else tokens.peek(k)
        if token is not self._typedef_checked_token:
            self._classify_identifier(token)
        return token

    def _peek_type(self, k: int = 1) -> str | None:
        token = self._peek(k)
        return None if token is None else token.type

    def _accept(self, token_type: str) -> Token | None:
        token = self._peek()
        if token is None or token.type != token_type:
            return None
        self._tokens._index += 1
        return token

    def _parse_initializer_list(self) -> Any:
        """A braced list; of long tables, the numbers between commas are taken at once."""
        items = [self._parse_initializer_item()]
        tokens = self._tokens
        while self._accept("COMMA"):
            token, after = tokens.peek(1), tokens.peek(2)
            if (
                token is not None
                and token.type in _NUMBERS
                and after is not None
                and after.type in _ENDS
            ):
                items.append(self._number(token))
            elif token is not None and token.type == "RBRACE":
                break
            else:
                items.append(self._parse_initializer_item())
        return c_ast.InitList(items, items[0].coord)

    def _number(self, token: Token) -> Any:
        """The constant `token`, which is next."""
        if token.type != "INT_CONST_DEC" or not token.value.isdigit():
            return self._parse_constant()
        self._tokens._index += 1
        return c_ast.Constant("int", token.value, self._tok_coord(token))

    def _parse_assignment_expression(self) -> Any:
        return self._word(_ENDS) or super()._parse_assignment_expression()

    def _parse_cast_expression(self) -> Any:
        return self._word(_AFTER_OPERANDS) or super()._parse_cast_expression()

    def _word(self, ends: frozenset[str]) -> Any:
        """The next name or number, if one of `ends` follows it; else None."""
        token = self._peek()
        if token is None or (token.type != "ID" and token.type not in _NUMBERS):
            return None
        after = self._tokens.peek(2)
        if after is None or after.type not in ends:
            return None
        return self._parse_identifier() if token.type == "ID" else self._parse_constant()
