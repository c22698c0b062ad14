"""
Operands that are one word are read at once: a name or number in front of a comma, a bracket or an operator
has no postfix, no cast and no binary operation in it, for which the grammar has a function each. Most
operands are such, and long initialisers have no others.
"""

# pyright: reportPrivateUsage=false

from __future__ import annotations

from typing import Any

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
"""What ends an expression, of any precedence."""
_OPERATORS = frozenset(
    (
        *("LOR", "LAND", "OR", "XOR", "AND", "EQ", "NE", "GT", "GE", "LT", "LE"),
        *("RSHIFT", "LSHIFT", "PLUS", "MINUS", "TIMES", "DIVIDE", "MOD", "CONDOP", "COLON"),
    )
)
"""What ends an operand, of these (assignments want a variable, and have functions of their own)."""
_AFTER_OPERANDS = _ENDS | _OPERATORS


class QuickOperands(GnuParser):
    """The same trees in fewer steps."""

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

    def _parse_assignment_expression(self) -> Any:
        return self._word(_ENDS) or super()._parse_assignment_expression()

    def _parse_cast_expression(self) -> Any:
        return self._word(_AFTER_OPERANDS) or super()._parse_cast_expression()

    def _word(self, ends: frozenset[str]) -> Any:
        """The name or number that comes next, if one of `ends` is behind it; else None."""
        token = self._peek()
        if token is None or (token.type != "ID" and token.type not in _NUMBERS):
            return None
        behind = self._tokens.peek(2)
        if behind is None or behind.type not in ends:
            return None
        return self._parse_identifier() if token.type == "ID" else self._parse_constant()
