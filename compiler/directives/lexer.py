"""
The tokens of a directive's text, with their places in the user's file.

The text of a pragma is one line, though the user may have continued it over several or used macros in it.
The preprocessor marks the breaks with anchors (`c/preprocess_output.py`): the text after `/*@12:30*/` is at
line 12, column 30; all of the text after `/*@12:30=*/` has that place, as it is a macro's expansion.
`DirectiveText` removes anchors and comments and keeps the places.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass
from enum import Enum

from ..base.diagnostics import SourceLoc, error
from ..base.identifiers import BEYOND_ASCII, UNIVERSAL_NAME, decoded

_COMMENT = re.compile(
    r"/\*@(\d+):(\d+)(=?)\*/|/\*.*?\*/|//.*|\\[ \t]*\n|\"(?:\\.|[^\"\\])*\"|" + UNIVERSAL_NAME,
    re.S,
)
_TOKEN = re.compile(
    rf"""(?P<SPACE>\s+)
    |(?P<NAME>(?:[^\W\d]|[${BEYOND_ASCII}])[\w${BEYOND_ASCII}]*)
    |(?P<NUMBER>\.?[0-9](?:[eEpP][+-]|[\w.])*)
    |(?P<STRING>(?:L|u8|u|U)?"(?:[^"\\]|\\.)*")
    |(?P<CHARACTER>(?:L|u|U)?'(?:[^'\\]|\\.)+')
    |(?P<SYMBOL>\.\.\.|<<=|>>=|->|\+\+|--|<<|>>|<=|>=|==|!=|&&|\|\||[-+*/%&^|]=|.)
    """,
    re.VERBOSE | re.DOTALL,
)


class TokenKind(Enum):
    NAME = "name"
    NUMBER = "number"
    STRING = "string"
    CHARACTER = "character"
    SYMBOL = "symbol"
    END = "end of the directive"


@dataclass(frozen=True, slots=True)
class DirectiveToken:
    """`text` at [`start`, `end`) of the cleaned directive text."""

    kind: TokenKind
    text: str
    start: int
    end: int

    @property
    def described(self) -> str:
        """The token as messages name it."""
        return self.kind.value if self.kind is TokenKind.END else f"'{self.text}'"


@dataclass(frozen=True, slots=True)
class _Anchor:
    line: int
    column: int
    fixed: bool


class DirectiveText:
    """The cleaned `text` of a directive whose raw text begins at `loc`."""

    def __init__(self, raw: str, loc: SourceLoc) -> None:
        self._file = loc.file
        self._offsets = [0]
        self._anchors = [_Anchor(loc.line, loc.column, loc.column <= 0)]
        pieces: list[str] = []
        length = done = 0
        for match in _COMMENT.finditer(raw):
            if match.group().startswith('"'):
                continue
            pieces.append(raw[done : match.start()])
            length += match.start() - done
            done = match.end()
            if match[1] is not None:
                self._offsets.append(length)
                self._anchors.append(_Anchor(int(match[1]), int(match[2]), match[3] == "="))
            elif match.group()[1] in "uU":
                after = self._after(length, len(match.group()))
                pieces.append(decoded(match.group()))
                length += len(pieces[-1])
                self._offsets.append(length)
                self._anchors.append(after)
            else:
                pieces.append(" " * (match.end() - match.start()))
                length += match.end() - match.start()
        pieces.append(raw[done:])
        self.text = "".join(pieces)

    def _after(self, offset: int, length: int) -> _Anchor:
        """The place behind a word of `length` characters whose place is that of `offset`."""
        loc, fixed = self.loc_at(offset), self._anchors[-1].fixed
        return _Anchor(loc.line, loc.column + (0 if fixed else length), fixed)

    def loc_at(self, offset: int) -> SourceLoc:
        """The place in the user's file of the character at `offset` of `text`."""
        index = bisect_right(self._offsets, offset) - 1
        anchor = self._anchors[index]
        ahead = 0 if anchor.fixed else offset - self._offsets[index]
        return SourceLoc(self._file, anchor.line, anchor.column + ahead)

    def tokens(self) -> list[DirectiveToken]:
        """All tokens, and one of kind END after the last."""
        tokens: list[DirectiveToken] = []
        for match in _TOKEN.finditer(self.text):
            name = match.lastgroup or "SYMBOL"
            if name == "SPACE":
                continue
            text = match.group()
            if text in ('"', "'"):
                what = "string" if text == '"' else "character constant"
                raise error(
                    self.loc_at(match.start()), f"unterminated {what}", f"close it with {text}"
                )
            tokens.append(DirectiveToken(TokenKind[name], text, match.start(), match.end()))
        end = len(self.text.rstrip())
        tokens.append(DirectiveToken(TokenKind.END, "", end, end))
        return tokens
