"""
Preprocessing tokens (C11 5.1.1.2 phases 2 and 3; 6.4) with the place each one comes from.

A single regular expression is applied to one logical line at a time. Lines ending in a backslash are
spliced, comments become one space, and every token keeps the file, line and column of its first character in
`Token.source`, which macro expansion copies from a macro's name to all it expands to.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from copy import copy
from functools import cached_property

from ..base.diagnostics import SourceLoc, error
from ..base.identifiers import UNIVERSAL_NAME, decoded

Position = tuple[str, int, int]
"""File, line, column of a token's first character."""

IDENTIFIER = (
    rf"(?:[^\x00-\x23\x25-\x40\x5b-\x5e\x60\x7b-\x7f]|{UNIVERSAL_NAME})[\w$]*+"
    rf"(?:(?:[^\x00-\x7f]|{UNIVERSAL_NAME})[\w$]*+)*+"
)
"""
An identifier. Its first character, a letter, `_`, `$`, or any character beyond ASCII, is written as the set
of excluded characters, because that regular expression compiles ten times faster. Characters that no
identifier has are left to the parser.
"""

_TOKEN = re.compile(
    rf"""(?P<CPP_WS>[ \t\f\v\r]+)
    |(?P<CPP_ID>{IDENTIFIER})
    |(?P<CPP_INTEGER>\.?[0-9](?:[eEpP][+-]|[\w.]|'[0-9A-Za-z_])*)
    |(?P<CPP_COMMENT1>/\*)
    |(?P<CPP_COMMENT2>//)
    |(?P<CPP_STRING>"[^"\\\n]*+(?:\\.[^"\\\n]*+)*+")
    |(?P<CPP_CHAR>'(?:[^'\\\n]|\\.)++')
    |(?P<CPP_DPOUND>\#\#)
    |(?P<CPP_PUNCT>\.\.\.|<<=|>>=|->|\+\+|--|<<|>>|<=|>=|==|!=|&&|\|\||[-+*/%&^|]=|.)
    """,
    re.VERBOSE | re.DOTALL,
)
_SPLICE = re.compile(r"\\[ \t]*$")
_PLAIN = re.compile(r"[^/'\"]*")
"""Lines without comments and literals."""
_LITERAL_PREFIXES = frozenset(("L", "u", "U", "u8"))


class Token:
    """
    One preprocessing token. `source` is the place of the token, or
    of the macro use it was expanded from (then `is_expanded`). A `painted` name is not replaced.
    """

    __slots__ = ("is_expanded", "painted", "source", "type", "value")

    def __init__(
        self,
        type: str,
        value: str,
        source: Position,
        painted: bool = False,
        is_expanded: bool = False,
    ) -> None:
        self.type = type
        self.value = value
        self.source = source
        self.painted = painted
        self.is_expanded = is_expanded

    def __repr__(self) -> str:
        return f"Token({self.value!r} at {self.source})"

    @property
    def loc(self) -> SourceLoc:
        return SourceLoc(*self.source)

    @property
    def is_space(self) -> bool:
        return self.type == "CPP_WS"


def escaped(text: str) -> str:
    """`text` as it is written between the quotes of a string literal."""
    return text.replace("\\", "\\\\").replace('"', '\\"')


def closing(tokens: Sequence[Token], opening: int) -> int | None:
    """The index of the parenthesis that closes the one at `opening`; None if there is none."""
    depth = 0
    for index in range(opening, len(tokens)):
        depth += {"(": 1, ")": -1}.get(tokens[index].value, 0)
        if depth == 0:
            return index if index > opening else None
    return None


def strip(tokens: Sequence[Token]) -> list[Token]:
    """`tokens` without space at either end."""
    first, last = 0, len(tokens)
    while first < last and tokens[first].type == "CPP_WS":
        first += 1
    while last > first and tokens[last - 1].type == "CPP_WS":
        last -= 1
    return list(tokens[first:last])


def tokenize(text: str, source: Position, *, fixed: bool = False) -> list[Token]:
    """
    The tokens of `text`, one line without comments, whose first character is at the place `source`; with
    `fixed`, all tokens get that place.
    """
    file, line, column = source
    tokens: list[Token] = []
    for match in _TOKEN.finditer(text):
        kind = match.lastgroup or "CPP_PUNCT"
        place = source if fixed else (file, line, column + match.start())
        tokens.append(Token(kind, match.group(), place))
    return _decoded(text, tokens)


def _decoded(text: str, tokens: list[Token]) -> list[Token]:
    """The `tokens` of `text`, without universal character names in identifiers."""
    for token in tokens if "\\" in text else ():
        if token.type == "CPP_ID":
            token.value = decoded(token.value)
    return tokens


class LexedFile:
    """
    The logical lines of a file, each lexed when it is first asked for. `file` is the name that tokens
    carry. The lines of a header are `shared`: they are lexed once for all files that include it, and tokens
    are never changed. Lines of other files can be read once, from first to last.
    """

    def __init__(self, text: str, file: str, *, shared: bool = False) -> None:
        self.text = text
        self.is_shared = shared
        self.file = file
        self._lines = text.split("\n")
        self._next = 0
        self._offset = 1
        self._done: list[list[Token]] = []
        self._words: list[list[Token] | None] = []
        self._after: list[int] = []
        """The number of physical lines up to the end of each logical line."""

    def line(self, index: int) -> list[Token] | None:
        """Logical line number `index`, from 0, ending in a newline token; None after the last one."""
        while index >= len(self._done):
            if self._next >= len(self._lines):
                return None
            if not self.is_shared:
                return self._logical_line()
            self._done.append(self._logical_line())
            self._after.append(self._next)
        return self._done[index]

    def words(self, index: int, line: list[Token]) -> list[Token] | None:
        """The tokens of the directive in logical line number `index`, which is `line` (`_words`)."""
        if not self.is_shared:
            return _words(line)
        while len(self._words) <= index:
            self._words.append(_words(self._done[len(self._words)]))
        return self._words[index]

    def after(self, index: int, line: int, file: str) -> LexedFile:
        """The part after the first `index` logical lines, numbered from `line` on as lines of `file`."""
        rest = copy(self)
        rest.file, rest.is_shared, rest._done = file, False, []
        if self.is_shared:
            rest._next = self._after[index - 1]
        rest._offset = line - rest._next
        return rest

    @cached_property
    def guard(self) -> str | None:
        """
        The include guard: the macro whose `#ifndef` encloses the whole file, so that the file is empty
        where the macro is defined; None without one. Valid only after the file has been read to its end.
        """
        directives = [line for line in map(strip, self._done) if line]
        name: str | None = None
        depth = 0
        for number, line in enumerate(directives, 1):
            words = [token.value for token in line[:5] if token.type != "CPP_WS"]
            word = words[1] if len(words) > 1 and words[0] == "#" else ""
            if name is None:
                if word != "ifndef" or len(words) < 3:
                    return None
                name = words[2]
            depth += (word in ("if", "ifdef", "ifndef")) - (word == "endif")
            ends = number == len(directives)
            if (depth == 0) != ends or (depth == 1 and word in ("else", "elif")):
                return None
        return name

    @property
    def is_read(self) -> bool:
        """Whether all lines have been read."""
        return self._next >= len(self._lines)

    def _take(self, pieces: list[str], starts: list[tuple[int, int]], length: int) -> int:
        """Append physical lines up to one without a trailing backslash; the new total length."""
        while True:
            piece = self._lines[self._next].removesuffix("\r")
            starts.append((length, self._next + self._offset))
            self._next += 1
            spliced = piece
            if piece.rstrip(" \t").endswith("\\") and self._next < len(self._lines):
                spliced = _SPLICE.sub("", piece)
            pieces.append(spliced)
            length += len(spliced)
            if spliced is piece:
                return length

    def _logical_line(self) -> list[Token]:
        pieces: list[str] = []
        starts: list[tuple[int, int]] = []
        length = self._take(pieces, starts, 0)
        text = pieces[0] if len(pieces) == 1 else "".join(pieces)
        file = self.file
        tokens: list[Token] = []
        if _PLAIN.fullmatch(text) and len(starts) == 1:
            line = starts[0][1]
            for match in _TOKEN.finditer(text):
                place = (file, line, match.start() + 1)
                tokens.append(Token(match.lastgroup or "CPP_PUNCT", match.group(), place))
            tokens.append(Token("CPP_WS", "\n", (file, line, length + 1)))
            return _decoded(text, tokens)
        position = 0
        match_at = _TOKEN.match
        while position < length:
            match = match_at(text, position)
            if match is None:
                break
            if len(starts) == 1:
                place = (file, starts[0][1], position + 1)
            else:
                start, line = starts[bisect_right(starts, (position, 1 << 60)) - 1]
                place = (file, line, position - start + 1)
            kind = match.lastgroup or "CPP_PUNCT"
            if kind == "CPP_COMMENT2":
                break
            if kind == "CPP_COMMENT1":
                end = text.find("*/", position + 2)
                while end < 0:
                    if self._next >= len(self._lines):
                        raise error(SourceLoc(*place), "unterminated comment", "close it with '*/'")
                    start = len(text)
                    length = self._take(pieces, starts, length)
                    text = "".join(pieces)
                    end = text.find("*/", start)
                tokens.append(Token("CPP_WS", " ", place))
                position = end + 2
                continue
            position = match.end()
            value = match.group()
            if value in _LITERAL_PREFIXES and text[position : position + 1] in ("'", '"'):
                literal = match_at(text, position)
                if literal is not None and literal.lastgroup in ("CPP_STRING", "CPP_CHAR"):
                    kind = literal.lastgroup
                    value += literal.group()
                    position = literal.end()
            tokens.append(Token(kind, value, place))
        tokens.append(Token("CPP_WS", "\n", (file, starts[-1][1], length + 1)))
        return _decoded(text, tokens)


def _words(line: list[Token]) -> list[Token] | None:
    """The tokens after the `#` of a directive, without space at either end; none for an empty line; None for
    text."""
    for index, token in enumerate(line):
        if token.type != "CPP_WS":
            return strip(line[index + 1 :]) if token.value == "#" else None
    return []


class LineReader:
    """Reads the logical lines of a file one after the other; `#line` changes its name and the numbering
    (`renumber`)."""

    def __init__(self, lexed: LexedFile) -> None:
        self._lexed = lexed
        self._index = 0

    @property
    def is_shared(self) -> bool:
        """Whether its tokens are those that others get."""
        return self._lexed.is_shared

    def renumber(self, line: int, file: str | None) -> None:
        """Makes the next physical line number `line` of `file` (C11 6.10.4)."""
        self._lexed = self._lexed.after(self._index, line, file or self._lexed.file)
        self._index = 0

    def __iter__(self) -> Iterator[tuple[list[Token], list[Token] | None]]:
        """Each line, and its words if it is a directive: none for an empty one, or line; None for text."""
        while (line := self._lexed.line(self._index)) is not None:
            self._index += 1
            yield line, self._lexed.words(self._index - 1, line)
