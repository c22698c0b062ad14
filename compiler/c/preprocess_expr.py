"""
The value of an `#if` expression (C11 6.10.1): integer constant expressions over 64-bit signed and
unsigned values, after `defined` and macros have been replaced; every other identifier is 0.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ..base.diagnostics import CompileError, SourceLoc, error
from .preprocess_lexer import Token

_INTEGER = re.compile(r"(0[xX][0-9a-fA-F]+|0[bB][01]+|[0-9]+)([uUlL]*)")
_SUFFIXES = frozenset(("", "l", "ll", "u", "ul", "lu", "ull", "llu"))
_ESCAPES = {
    "n": 10, "t": 9, "r": 13, "0": 0, "\\": 92, "'": 39, '"': 34,
    "a": 7, "b": 8, "f": 12, "v": 11, "?": 63, "e": 27,
}  # fmt: skip
_PRECEDENCE = {
    "||": 1, "&&": 2, "|": 3, "^": 4, "&": 5, "==": 6, "!=": 6,
    "<": 7, ">": 7, "<=": 7, ">=": 7, "<<": 8, ">>": 8,
    "+": 9, "-": 9, "*": 10, "/": 10, "%": 10,
}  # fmt: skip
_MASK = (1 << 64) - 1


@dataclass(frozen=True, slots=True)
class _Value:
    number: int
    unsigned: bool = False


def _wrapped(number: int, unsigned: bool) -> _Value:
    number &= _MASK
    if not unsigned and number >> 63:
        number -= 1 << 64
    return _Value(number, unsigned)


def _truth(value: bool) -> _Value:
    return _Value(int(value))


def _c_divide(left: int, right: int) -> int:
    quotient = abs(left) // abs(right)
    return quotient if (left < 0) == (right < 0) else -quotient


_ARITHMETIC: dict[str, Callable[[int, int], int]] = {
    "|": lambda a, b: a | b,
    "^": lambda a, b: a ^ b,
    "&": lambda a, b: a & b,
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "/": _c_divide,
    "%": lambda a, b: a - b * _c_divide(a, b),
}
_COMPARISON: dict[str, Callable[[int, int], bool]] = {
    "==": lambda a, b: a == b,
    "!=": lambda a, b: a != b,
    "<": lambda a, b: a < b,
    ">": lambda a, b: a > b,
    "<=": lambda a, b: a <= b,
    ">=": lambda a, b: a >= b,
}


class _Evaluator:
    def __init__(self, tokens: Sequence[Token], end: SourceLoc) -> None:
        self._tokens = [t for t in tokens if not t.is_space]
        self._end = end
        self._position = 0

    def _peek(self) -> str:
        return self._tokens[self._position].value if self._position < len(self._tokens) else ""

    def _loc(self) -> SourceLoc:
        at_end = self._position >= len(self._tokens)
        return self._end if at_end else self._tokens[self._position].loc

    def _expect(self, value: str) -> None:
        if self._peek() != value:
            raise self._unexpected(f"expected '{value}'")
        self._position += 1

    def _unexpected(self, wanted: str) -> CompileError:
        found = self._peek()
        where = f"before '{found}' in" if found else "at the end of"
        return error(self._loc(), f"{wanted} {where} this #if expression")

    def value(self) -> int:
        result = self._conditional(True)
        if self._peek():
            raise self._unexpected("expected an operator")
        return result.number

    def _conditional(self, live: bool) -> _Value:
        """conditional: logical-or [ `?` conditional `:` conditional ]"""
        condition = self._binary(1, live)
        if self._peek() != "?":
            return condition
        self._position += 1
        chosen = condition.number != 0
        first = self._conditional(live and chosen)
        self._expect(":")
        second = self._conditional(live and not chosen)
        unsigned = first.unsigned or second.unsigned
        return _wrapped((first if chosen else second).number, unsigned)

    def _binary(self, least: int, live: bool) -> _Value:
        left = self._unary(live)
        while (precedence := _PRECEDENCE.get(self._peek(), 0)) >= least:
            operator, loc = self._peek(), self._loc()
            self._position += 1
            if operator in ("&&", "||"):
                decided = (left.number != 0) == (operator == "||")
                right = self._binary(precedence + 1, live and not decided)
                left = _truth(operator == "||" if decided else right.number != 0)
            else:
                left = self._apply(operator, left, self._binary(precedence + 1, live), loc, live)
        return left

    def _apply(
        self, operator: str, left: _Value, right: _Value, loc: SourceLoc, live: bool
    ) -> _Value:
        if operator in ("<<", ">>"):
            count = right.number & 63
            shifted = left.number << count if operator == "<<" else left.number >> count
            return _wrapped(shifted, left.unsigned)
        unsigned = left.unsigned or right.unsigned
        a, b = _wrapped(left.number, unsigned).number, _wrapped(right.number, unsigned).number
        if operator in _COMPARISON:
            return _truth(_COMPARISON[operator](a, b))
        if operator in "/%" and b == 0:
            if live:
                raise error(loc, "division by zero in this #if expression")
            return _Value(0, unsigned)
        return _wrapped(_ARITHMETIC[operator](a, b), unsigned)

    def _unary(self, live: bool) -> _Value:
        """unary: (`+` | `-` | `~` | `!`) unary | `(` conditional `)` | constant | identifier"""
        if self._position >= len(self._tokens):
            raise self._unexpected("expected a value")
        token = self._tokens[self._position]
        self._position += 1
        match token.value:
            case "(":
                result = self._conditional(live)
                self._expect(")")
                return result
            case "!":
                return _truth(self._unary(live).number == 0)
            case "-":
                operand = self._unary(live)
                return _wrapped(-operand.number, operand.unsigned)
            case "~":
                operand = self._unary(live)
                return _wrapped(~operand.number, operand.unsigned)
            case "+":
                return self._unary(live)
            case _:
                return self._primary(token)

    def _primary(self, token: Token) -> _Value:
        if token.type == "CPP_INTEGER":
            return _integer(token)
        if token.type == "CPP_CHAR":
            return _Value(_character(token))
        if token.type == "CPP_ID":
            if self._peek() == "(":
                raise error(
                    token.loc,
                    f"'{token.value}' is not a macro, so it cannot be called in #if",
                    f"guard it with #ifdef {token.value}",
                )
            return _Value(0)
        self._position -= 1
        raise self._unexpected("expected a value")


def _integer(token: Token) -> _Value:
    match = _INTEGER.fullmatch(token.value)
    if match is None or match[2].lower() not in _SUFFIXES:
        raise error(token.loc, f"'{token.value}' is not an integer constant, as #if needs")
    digits = match[1].lower()
    octal = len(digits) > 1 and digits[0] == "0" and digits[1] not in "xb"
    try:
        number = int(digits, 8 if octal else 0) if digits != "0" else 0
    except ValueError:
        raise error(token.loc, f"'{token.value}' has digits that its base does not have") from None
    if number > _MASK:
        raise error(token.loc, f"'{token.value}' does not fit in 64 bits")
    return _Value(number, "u" in match[2].lower() or number >> 63 == 1)


def _character(token: Token) -> int:
    body = token.value[token.value.index("'") + 1 : -1]
    if not body.startswith("\\"):
        return ord(body[0])
    if body[1] == "x":
        return int(body[2:] or "0", 16)
    if body[1] in "01234567":
        return int(body[1:], 8)
    if body[1] in _ESCAPES and len(body) == 2:
        return _ESCAPES[body[1]]
    raise error(token.loc, f"unknown character constant {token.value} in #if")


def evaluate(tokens: Sequence[Token], end: SourceLoc) -> int:
    """
    The value of an expression whose macros are expanded. `end` is the place to report when it ends too
    early. Raises `CompileError` for anything that is not an integer constant expression.
    """
    return _Evaluator(tokens, end).value()
