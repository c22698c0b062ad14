"""A cursor over a directive's tokens: accepts and expects tokens, and slices expressions out of the
text."""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import TypeVar

from ..base.diagnostics import CompileError, SourceLoc, error
from .lexer import DirectiveText, DirectiveToken, TokenKind
from .records import ExprSlot

_CLOSING = {"(": ")", "[": "]", "{": "}"}
_Item = TypeVar("_Item")


class TokenCursor:
    """A position among the tokens of one directive."""

    def __init__(self, source: DirectiveText) -> None:
        self._source = source
        self.tokens = source.tokens()
        self.position = 0

    @property
    def next(self) -> DirectiveToken:
        return self.tokens[self.position]

    def ahead(self, count: int) -> DirectiveToken:
        """The token `count` positions after the next one; the END token past the last."""
        return self.tokens[min(self.position + count, len(self.tokens) - 1)]

    def advance(self) -> DirectiveToken:
        token = self.tokens[self.position]
        if token.kind is not TokenKind.END:
            self.position += 1
        return token

    def accept(self, text: str) -> bool:
        """Step over the next token if it is `text` (not a string)."""
        token = self.next
        matches = token.text == text and token.kind in (TokenKind.NAME, TokenKind.SYMBOL)
        self.position += matches
        return matches

    def accept_keyword(self, *words: str) -> str:
        """Step over `word :` for one of `words`; returns the word, or "" if none is next."""
        word = self.next
        if word.kind is TokenKind.NAME and word.text in words and self.ahead(1).text == ":":
            self.position += 2
            return word.text
        return ""

    def loc_of(self, token: DirectiveToken) -> SourceLoc:
        return self._source.loc_at(token.start)

    def text_between(self, first: DirectiveToken, last: DirectiveToken) -> str:
        return self._source.text[first.start : last.end]

    def error(self, message: str, remedy: str | None = None) -> CompileError:
        """A `CompileError` at the next token."""
        return error(self.loc_of(self.next), message, remedy)

    @contextmanager
    def argument(self, clause: str) -> Generator[None]:
        """Expect the '(' of a clause's argument, which is parsed inside, and the ')' after it."""
        if self.next.text != "(":
            raise self.error(
                f"expected '(' after '{clause}', not {self.next.described}",
                f"'{clause}' needs an argument: write {clause}(…)",
            )
        opening = self.advance()
        yield
        if self.accept(")"):
            return
        found = self.next
        remedy = (
            "separate the items with ','"
            if found.kind in (TokenKind.NAME, TokenKind.NUMBER)
            else f"close the argument of '{clause}' with ')'"
        )
        notes = [(self.loc_of(opening), "the '(' is here")]
        raise error(
            self.loc_of(found),
            f"expected ')' in the argument of '{clause}', not {found.described}",
            remedy,
            notes,
        )

    def name(self, what: str) -> DirectiveToken:
        """Expect a name; `what` describes it in the message."""
        if self.next.kind is not TokenKind.NAME:
            raise self.error(f"expected {what}, not {self.next.described}")
        return self.advance()

    def bracketed(self) -> DirectiveToken:
        """Step over a balanced bracket that starts here; returns its closing token."""
        opening = self.advance()
        awaited = [_CLOSING[opening.text]]
        while awaited:
            token = self.next
            if token.kind is TokenKind.END or (
                token.text in (")", "]", "}")
                and token.text != awaited[-1]
                and token.kind is TokenKind.SYMBOL
            ):
                raise error(
                    self.loc_of(token),
                    f"expected '{awaited[-1]}', not {token.described}",
                    None,
                    [(self.loc_of(opening), f"the '{opening.text}' is here")],
                )
            self.advance()
            if token.kind is not TokenKind.SYMBOL:
                continue
            if token.text in _CLOSING:
                awaited.append(_CLOSING[token.text])
            elif token.text == awaited[-1]:
                awaited.pop()
        return self.tokens[self.position - 1]

    def expression(self, what: str = "an expression") -> ExprSlot:
        """
        Slice out one expression: up to a `,`, a closing bracket, or a `:` that does not belong to a `?`.
        """
        first = self.next
        last: DirectiveToken | None = None
        questions = 0
        while self.next.kind is not TokenKind.END:
            token = self.next
            if token.kind is TokenKind.SYMBOL:
                if token.text in _CLOSING:
                    last = self.bracketed()
                    continue
                if token.text in (",", ")", "]", "}") or (token.text == ":" and not questions):
                    break
                questions += (token.text == "?") - (token.text == ":")
            last = self.advance()
        if last is None:
            raise self.error(f"expected {what}, not {self.next.described}")
        return ExprSlot(self.text_between(first, last), self.loc_of(first))

    def listed(self, parse: Callable[[], _Item]) -> list[_Item]:
        """item { ',' item }, each parsed by `parse`."""
        items = [parse()]
        while self.accept(","):
            items.append(parse())
        return items

    def accept_star(self) -> bool:
        """Step over a `*` that is a whole argument."""
        return self.ahead(1).text in (",", ")") and self.accept("*")
