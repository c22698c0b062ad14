"""
Parses the declarations of headers once for all files of a program. In most programs, half of the parsed
text comes from headers.

A *run* is a sequence of external declarations of a header, up to a semicolon outside of all braces. It has
the same tree in every file where it is at the same place, has the same text, and its names were declared
before as the same kind of thing (C11 6.7.8: whether a name is a type decides how its text is parsed). Trees
are never changed after they have been built, so files share them. A text with a syntax error is parsed
again without shared runs, as messages need the tokens before the error.
"""

# pycparser has no type information: its trees are Any here.
# pyright: reportPrivateUsage=false

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from .quick_operands import QuickOperands

MARKS = re.compile(
    r'"(?:\\.|[^"\\\n])*"' r"|'(?:\\.|[^'\\\n])*'" r"|^[ \t]*\#[^\n]*" r"|[;{}]", re.MULTILINE
)
_NAMES = re.compile(r"[A-Za-z_$][\w$]*")
_MOST = 4000
"""The most characters of a run that is kept; longer ones are data or functions."""

_Place = tuple[str, int, int, str]
"""File, line and column of a run, and its text."""
_Kinds = tuple[tuple[str, bool | None], ...]
"""The kind of each name of a text: a type, another declared name, or not declared."""


@dataclass(frozen=True)
class _Run:
    """The trees of a run, the kinds of its names before it, the names that it declares, and the lexer's
    position at its end."""

    before: _Kinds
    new: _Kinds
    trees: tuple[Any, ...]
    file: str
    line: int
    indent: int
    """The number of characters of the run in its last line."""


Known = dict[_Place, list[_Run]]
_shared: list[Known] = []


@contextmanager
def shared_declarations() -> Generator[None]:
    """Lets the files that are parsed inside share the declarations of headers."""
    if _shared:
        yield
        return
    _shared.append({})
    try:
        yield
    finally:
        _shared.clear()


def known_declarations() -> Known | None:
    """The runs that were parsed for files so far; None outside of `shared_declarations`."""
    return _shared[-1] if _shared else None


class SharedDeclarations(QuickOperands):
    """Gives the same trees as `QuickOperands`; takes those of headers from `known`, the runs of other
    files."""

    def __init__(self, *, c23: bool = False) -> None:
        super().__init__(c23=c23)
        self.filename = ""
        self.known: Known | None = None

    def _parse_translation_unit(self) -> list[Any]:
        if self.known is None:
            return super()._parse_translation_unit()
        text, known = self.clex._lexdata, self.known
        ends = _ends_of_runs(text)
        external: list[Any] = []
        while (token := self._peek()) is not None:
            tokens = self._tokens
            start = self.clex._pos - len(token.value)
            end = ends[min(bisect_left(ends, start), len(ends) - 1)] if ends else 0
            if (
                token.filename == self.filename
                or tokens._index != len(tokens._buffer) - 1  # the lexer has read a further token
                or not 0 < end - start < _MOST
                or not text.startswith(token.value, start)
                or not _NAMES.match(token.value)
            ):
                external += self._parse_external_declaration()
                continue
            run = text[start:end]
            place = token.filename, token.lineno, token.column, run
            found = next((r for r in known.get(place, ()) if self._are(r.before)), None)
            if found is None:
                external += self._new_run(known, place, end)
            else:
                self._take(found, end)
                external += found.trees
        return external

    def _are(self, kinds: _Kinds) -> bool:
        scope = self._scope_stack[0]
        return all(scope.get(name) is kind for name, kind in kinds)

    def _kinds(self, text: str) -> _Kinds:
        scope = self._scope_stack[0]
        return tuple((name, scope.get(name)) for name in dict.fromkeys(_NAMES.findall(text)))

    def _new_run(self, known: Known, place: _Place, end: int) -> list[Any]:
        """Parses a run and keeps it; if the run does not end between two declarations, parses further and
        keeps nothing."""
        lexer, text = self.clex, place[3]
        before = self._kinds(text)
        trees: list[Any] = []
        while lexer._pos < end:
            trees += self._parse_external_declaration()
            if self._tokens._index != len(self._tokens._buffer):
                return trees
        if lexer._pos == end and lexer._pending_tok is None:
            new = tuple(kind for kind in self._kinds(text) if kind not in before)
            run = _Run(
                before,
                new,
                tuple(trees),
                lexer._filename,
                lexer._lineno,
                end - lexer._line_start,
            )
            known.setdefault(place, []).append(run)
        return trees

    def _take(self, run: _Run, end: int) -> None:
        """Continues after a run whose trees are known."""
        lexer, tokens = self.clex, self._tokens
        tokens._index = len(tokens._buffer)
        lexer._pos, lexer._line_start = end, end - run.indent
        lexer._lineno, lexer._filename = run.line, run.file
        self._typedef_checked_token = None
        for name, is_type in run.new:
            declare = self._add_typedef_name if is_type else self._add_identifier
            declare(name, None)


def _ends_of_runs(text: str) -> list[int]:
    """The positions after the semicolons that are outside of braces."""
    ends: list[int] = []
    depth = 0
    for mark in MARKS.finditer(text):
        match mark.group():
            case ";":
                if depth == 0:
                    ends.append(mark.end())
            case "{":
                depth += 1
            case "}":
                depth -= 1
            case _:  # a literal, or the line of a directive
                pass
    return ends
