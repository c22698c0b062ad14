"""Conditional groups of the preprocessor (C11 6.10.1): which text is live, and whether conditions hold."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from ..base.diagnostics import error
from .preprocess_expand import MacroExpander
from .preprocess_expr import evaluate
from .preprocess_headers import Found
from .preprocess_lexer import Token, closing
from .preprocess_queries import QUERIES, answer


@dataclass(slots=True)
class _Group:
    """An open #if: whether the text around it is live, whether one of its groups was taken, and whether
    #else was seen."""

    start: Token
    outer: bool
    taken: bool
    closed: bool = False


class ConditionalGroups:
    """
    The open groups of the current file, and whether text is `live`; `holds` evaluates a condition.
    `directives` are those that open and close groups.
    """

    def __init__(self, holds: Callable[[Token, list[Token]], bool]) -> None:
        self._holds = holds
        self.open: list[_Group] = []
        self.live = True
        self.directives: dict[str, Callable[[Token, list[Token]], None]] = {
            "if": self._if,
            "ifdef": self._if,
            "ifndef": self._if,
            "elif": self._elif,
            "elifdef": self._elif,
            "elifndef": self._elif,
            "else": self._else,
            "endif": self._endif,
        }

    def check_closed(self) -> None:
        """Raises `CompileError` for a group that its file leaves open."""
        if self.open:
            start = self.open[-1].start
            raise error(start.loc, f"unterminated #{start.value}", "close it with #endif")

    def _if(self, name: Token, args: list[Token]) -> None:
        outer = self.live
        if outer:
            self.live = self._holds(name, args)
        self.open.append(_Group(name, outer, self.live or not outer))

    def _elif(self, name: Token, args: list[Token]) -> None:
        entry = self._innermost(name)
        self.live = entry.outer and not entry.taken and self._holds(name, args)
        entry.taken = entry.taken or self.live

    def _else(self, name: Token, args: list[Token]) -> None:
        entry = self._innermost(name)
        self.live = entry.outer and not entry.taken
        entry.taken = entry.closed = True

    def _endif(self, name: Token, args: list[Token]) -> None:
        self.live = self._innermost(name).outer
        self.open.pop()

    def _innermost(self, name: Token) -> _Group:
        if not self.open:
            raise error(name.loc, f"#{name.value} without #if")
        entry = self.open[-1]
        if entry.closed and name.value != "endif":
            raise error(
                name.loc,
                f"#{name.value} after #else",
                None,
                [(entry.start.loc, "the #if is here")],
            )
        return entry


class _Files(Protocol):
    """The questions of conditions about files."""

    def find(self, target: str, *, quoted: bool, following: bool = False) -> Found | None:
        """The file of an #include."""
        ...

    def has_embed(self, name: Token, args: list[Token]) -> int:
        """The value of `__has_embed`."""
        ...


class Conditions:
    """Evaluates the conditions of `#if`, `#elif`, `#ifdef` and others; `c23`: `true` is 1 in them."""

    def __init__(self, macros: MacroExpander, files: _Files, *, c23: bool) -> None:
        self._macros = macros
        self._files = files
        self._c23 = c23

    def holds(self, name: Token, args: list[Token]) -> bool:
        """Whether the condition of directive `name` holds."""
        if name.value in ("if", "elif"):
            return self._evaluate(name, args)
        if not args or args[0].type != "CPP_ID":
            raise error(name.loc, f"#{name.value} needs the name of a macro")
        defined = self.is_defined(args[0].value)
        return defined == (name.value in ("ifdef", "elifdef"))

    def is_defined(self, name: str) -> bool:
        """Whether `name` is a macro, predefined ones included."""
        return name in self._macros.table or name in QUERIES or name in ("__LINE__", "__COUNTER__")

    def _evaluate(self, name: Token, args: list[Token]) -> bool:
        tokens = self._macros.expanded(self._answered(args), in_condition=True)
        end = args[-1].loc
        if not any(not t.is_space for t in tokens):
            raise error(name.loc, f"#{name.value} needs an expression")
        tokens = self._answered(self._without_defined(tokens))
        if self._c23:
            tokens = [_as_number(token) for token in tokens]
        return evaluate(tokens, end) != 0

    def _answered(self, args: Sequence[Token]) -> list[Token]:
        """The tokens with `__has_include(<f>)` and similar operators replaced by their values."""
        if not any(token.value in QUERIES for token in args):
            return list(args)
        tokens = [token for token in args if not token.is_space]
        out: list[Token] = []
        index = 0
        while index < len(tokens):
            token = tokens[index]
            index += 1
            asked = index < len(tokens) and tokens[index].value == "("
            if token.value not in QUERIES or not asked:
                out.append(token)
                continue
            close = closing(tokens, index)
            if close is None or close == index + 1:
                raise error(token.loc, f"'{token.value}' needs an argument in parentheses")
            text = "".join(t.value for t in tokens[index + 1 : close])
            if token.value == "__has_embed":
                known = self._files.has_embed(token, tokens[index + 1 : close])
            elif token.value.startswith("__has_include"):
                following = token.value.endswith("_next")
                target, quoted = text.strip('<>"'), text.startswith('"')
                known = int(
                    self._files.find(target, quoted=quoted, following=following) is not None
                )
            else:
                known = answer(token.value, text.split("::")[-1])
            out.append(Token("CPP_INTEGER", str(known), token.source))
            index = close + 1
        return out

    def _without_defined(self, tokens: Sequence[Token]) -> list[Token]:
        out: list[Token] = []
        rest = [t for t in tokens if not t.is_space]
        index = 0
        while index < len(rest):
            token = rest[index]
            index += 1
            if token.value != "defined":
                out.append(token)
                continue
            parenthesized = index < len(rest) and rest[index].value == "("
            index += parenthesized
            if index >= len(rest) or rest[index].type != "CPP_ID":
                raise error(token.loc, "'defined' needs the name of a macro")
            value = "1" if self.is_defined(rest[index].value) else "0"
            out.append(Token("CPP_INTEGER", value, token.source))
            index += 1
            if parenthesized:
                if index >= len(rest) or rest[index].value != ")":
                    raise error(token.loc, "expected ')' after 'defined(NAME'")
                index += 1
        return out


def _as_number(token: Token) -> Token:
    """`true` is a number in the conditions of C23 (6.10.2); `false` is 0, as all names are."""
    return Token("CPP_INTEGER", "1", token.source) if token.value == "true" else token
