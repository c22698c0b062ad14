"""
Writing preprocessed text so that every token keeps its line and column.

Tokens are padded to the column they have in the source. Where a macro's expansion is longer than its name,
the tokens after it would drift to the right; the writer then starts a new line with a line marker (`# 12
"file.c"`) and pads again. A pragma must stay on one line, so there the writer leaves an *anchor* comment
instead: `/*@12:30*/` says that the text after it is at line 12, column 30, and `/*@12:30=*/` that all text
up to the next anchor was expanded from a macro used there. The directive parser understands anchors; to C
they are comments.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from .preprocess_lexer import Position, Token, escaped

_NEAR = 8
"""Up to this many lines ahead, newlines are shorter than a line marker."""

_MARKER = re.compile(r'# \d+ "(.*)"\n')
_GLUE = frozenset("+-<>=&|!*/.#%^:")


def _would_join(left: str, right: str) -> bool:
    """Whether two tokens written without space between them would read as something else."""
    a, b = left[-1:], right[:1]
    if (a.isalnum() or a in "_$.") and (b.isalnum() or b in "_$.\"'"):
        return True
    return a in _GLUE and b in _GLUE


@dataclass(frozen=True)
class Written:
    """Text from a line marker on, the marker's `file`, quoted, and the writer's place after the text."""

    file: str
    text: str
    end: tuple[str, int, int, Token | None]


class OutputWriter:
    """Collects the text of one preprocessed file; `text` is the text written so far."""

    def __init__(self, file: str) -> None:
        self._parts: list[str] = []
        self._file = file
        self._line = 1
        self._column = 1
        self._previous: Token | None = None
        self._use: Position | None = None
        """The place of the macro use from which the previous token was expanded, if it was."""
        self._marker(file, 1)

    def text(self) -> str:
        return "".join([*self._parts, "\n"])

    def length(self) -> int:
        """How much has been written, for `since`."""
        return len(self._parts)

    def since(self, length: int) -> Written | None:
        """What has been written since then. None if it does not begin with a line marker."""
        parts = self._parts[length:]
        first = 1 if parts[:1] == ["\n"] else 0
        found = _MARKER.fullmatch(parts[first]) if len(parts) > first else None
        if found is None:
            return None
        end = self._file, self._line, self._column, self._previous
        return Written(found[1], "".join(parts[first:]), end)

    def is_at(self, file: str) -> bool:
        """Whether what is written next from `file`, a quoted name, needs no line marker."""
        return escaped(self._file) == file

    def again(self, written: Written) -> None:
        """Writes that text again; `is_at` its file does not hold."""
        if self._column > 1:
            self._parts.append("\n")
        self._parts.append(written.text)
        self._file, self._line, self._column, self._previous = written.end
        self._use = None

    def _marker(self, file: str, line: int) -> None:
        if self._parts and self._column > 1:
            self._parts.append("\n")
        self._parts.append(f'# {line} "{escaped(file)}"\n')
        self._file, self._line, self._column = file, line, 1

    def _move(self, place: Position, *, fresh_line: bool = False) -> None:
        """Move the output to `place` by padding, newlines or a line marker."""
        file, line, column = place
        ahead = line - self._line
        if file != self._file or not 0 <= ahead <= _NEAR:
            self._marker(file, line)
        elif ahead:
            self._parts.append("\n" * ahead)
            self._line, self._column = line, 1
        elif column < self._column or (fresh_line and self._column > 1):
            self._marker(file, line)
        if column > self._column:
            self._parts.append(" " * (column - self._column))
            self._column = column

    def tokens(self, tokens: Sequence[Token]) -> None:
        """Write ordinary tokens; space and newline tokens only separate."""
        spaced = False
        for token in tokens:
            value = token.value
            if token.type == "CPP_WS":
                spaced = True
                continue
            if not value:
                continue
            place = token.source
            previous = self._previous
            if previous is not None and self._use is place:
                if spaced or _would_join(previous.value, value):
                    self._parts.append(" ")
                    self._column += 1
            elif place[0] != self._file or place[1] != self._line or place[2] != self._column:
                self._move(place)
            elif (
                previous is not None
                and self._column > 1
                and (token.is_expanded or previous.is_expanded)
                and _would_join(previous.value, value)
            ):
                self._marker(place[0], place[1])
                self._move(place)
            self._parts.append(value)
            self._column += len(value)
            self._previous, self._use = token, place
            spaced = False

    def apart(self) -> None:
        """Tells the writer that the next tokens come from another inclusion, perhaps of the same file,
        whose tokens are the same objects."""
        self._use = None

    def pragma(self, place: Position, tokens: Sequence[Token], word: str = "acc") -> None:
        """
        Write `#pragma acc` (or another `word`) at `place`, and `tokens` after it, all on one line, with an
        anchor before each token whose place does not follow from the text before it.
        """
        self._move(place, fresh_line=True)
        head = f"#pragma {word}"
        self._parts.append(head)
        line, column = place[1], place[2] + len(head)
        fixed = False  # whether an `=` anchor applies
        previous: Token | None = None
        spaced = False
        written = [token for token in tokens if token.value]
        for index, token in enumerate(written):
            if token.type == "CPP_WS":
                spaced = True
                continue
            at = token.source
            gap = " " if spaced or previous is None else ""
            spaced = False
            if fixed and previous is not None and previous.source is at:
                glue = _would_join(previous.value, token.value)
                self._parts.append((" " if gap or glue else "") + token.value)
                previous = token
                continue
            after = next((t for t in written[index + 1 :] if t.type != "CPP_WS"), None)
            several = after is not None and after.source is at
            fits = at[1] == line and (at[2] > column or (at[2] == column and previous is not None))
            if fits and not fixed and not several:
                self._parts.append(" " * (at[2] - column) + token.value)
            else:
                fixed = several
                self._parts.append(f"{gap}/*@{at[1]}:{at[2]}{'=' * fixed}*/{token.value}")
            line, column = at[1], at[2] + len(token.value)
            previous = token
        self._parts.append("\n")
        self._line += 1
        self._column = 1
        self._previous = None
