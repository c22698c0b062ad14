"""
Recovery after a syntax error, so that one compilation reports all errors that are independent of one
another.

An undeclared name where only a type is possible is taken as a type. Other text that does not parse is
removed, and the rest is parsed again: first the statement around the error is removed; if that does not
help, the body of the function; outside of functions, the declaration. Line breaks stay, so that places
remain right.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from dataclasses import dataclass, field, replace
from typing import Any

from ..base.diagnostics import CompileError, Diagnostic, SourceLoc, error
from ..base.library_headers import is_library
from .parse import UnknownType, blank, line_marker, mask_gnu, parse_masked, place

_MOST_MISTAKES = 20
_MAY_BE_OPEN = "this '{' may be the one that is not closed"
_TOKENS = re.compile(
    r'"(?:\\.|[^"\\\n])*"' r"|'(?:\\.|[^'\\\n])*'" r"|^[ \t]*\#[^\n]*" r"|[;{}()]", re.MULTILINE
)
_BRACE_OF_DIRECTIVE = re.compile(
    r"^([ \t]*#[ \t]*pragma[ \t]+acc\b[^\n{]*)(\{)([ \t]*\n)", re.MULTILINE
)
_WORD = re.compile(r"\b[A-Za-z_]\w*")


@dataclass
class Parsed:
    """A tree, None if the text could not be parsed at all, with the mistakes that were removed from it."""

    tree: Any = None
    mistakes: list[Diagnostic] = field(default_factory=list[Diagnostic])
    lost: set[str] = field(default_factory=set[str])
    """Names whose declarations may be lost, and which are therefore not reported as undeclared."""


def parse_what_can_be(text: str, filename: str) -> Parsed:
    """Parses preprocessed text as `parse.parse_text` does, but continues after syntax errors."""
    parsed = Parsed()
    types: set[str] = set()
    last = -1
    closed = False
    try:
        text = mask_gnu(_with_braces_apart(text, filename, parsed.mistakes), filename)
        while len(parsed.mistakes) < _MOST_MISTAKES:
            try:
                parsed.tree = parse_masked(text, filename, types)
                return parsed
            except UnknownType as mistake:
                if mistake.name in types:
                    return parsed
                types.add(mistake.name)
                if mistake.name not in parsed.lost:
                    parsed.mistakes += mistake.diagnostics
                    parsed.lost.add(mistake.name)
            except CompileError as mistake:
                (diagnostic, *_) = mistake.diagnostics
                position = _position(text, diagnostic.loc, filename, max(last, 0))
                opening = _unclosed(text, position) if _is_about_braces(diagnostic) else None
                if opening is not None:
                    note = (place(text, opening, filename), _MAY_BE_OPEN)
                    diagnostic = replace(diagnostic, remedy="write the missing '}'", notes=(note,))
                if closed:
                    return parsed  # the missing brace belongs elsewhere
                if position > last:
                    parsed.mistakes.append(diagnostic)
                if opening is not None:
                    text, closed = _closed(text, position), True
                    continue
                cut = _cut(text, position, small=position > last)
                last = position
                if cut is None:
                    return parsed
                start, end, instead = cut
                if not text[start:end].strip(" \n;"):
                    return parsed
                parsed.lost |= set(_WORD.findall(text[start:end]))
                text = text[:start] + instead + blank(text[start:end])[len(instead) :] + text[end:]
    except CompileError as mistake:
        parsed.mistakes += mistake.diagnostics
    return parsed


def _with_braces_apart(text: str, filename: str, mistakes: list[Diagnostic]) -> str:
    """`text` with braces on the lines of directives moved to the next line; each is reported as a
    mistake."""

    def apart(m: re.Match[str]) -> str:
        loc = place(text, m.start(2), filename)
        message = "'{' is on the line of the directive"
        mistakes.extend(error(loc, message, "write it on the next line").diagnostics)
        return f"{m[1]} {m[3]}{{"

    return _BRACE_OF_DIRECTIVE.sub(apart, text)


def _position(text: str, loc: SourceLoc, filename: str, start: int) -> int:
    """The position of the first character of `text`, from `start` on, whose place is `loc`; the end if
    there is none."""
    file, line = filename, 1
    at = 0
    for row in text.splitlines(keepends=True):
        marker = line_marker(row)
        if marker is not None:
            line, file = marker[0], marker[1] or file
        else:
            place = at + max(loc.column - 1, 0)
            if line == loc.line and file == loc.file and place >= start:
                return min(place, at + len(row))
            line += 1
        at += len(row)
    return len(text)


def _cut(text: str, position: int, *, small: bool) -> tuple[int, int, str] | None:
    """
    The text to remove for a mistake at `position`: its start, its end, and its replacement. `small`: a
    statement, otherwise the body of the function. None if nothing would remain.
    """
    tokens = [m for m in _TOKENS.finditer(text) if m.group()[0] not in "\"'"]
    at = bisect_left([m.start() for m in tokens], position)
    opened: list[int] = []
    for i, m in enumerate(tokens[:at]):
        if m.group() == "{":
            opened.append(i)
        elif m.group() == "}" and opened:
            opened.pop()
    if opened and small:
        start = next((tokens[i].end() for i in range(at - 1, -1, -1) if _is_boundary(tokens[i])), 0)
        end = next((m for m in tokens[at:] if m.group() in ";{}"), None)
        if end is not None:
            stop = end.end() if end.group() == ";" else end.start()
            if stop > start:
                return start, stop, ""
    outermost = opened[0] if opened else None
    if outermost is None:
        first = next((i for i in range(at - 1, -1, -1) if tokens[i].group() in ";}"), -1)
        start = tokens[first].end() if first >= 0 else 0
        end = _end_of_declaration(tokens, max(first + 1, 0), position)
        return (start, end, "") if end is not None and end > start else None
    end = _end_of_braces(tokens, outermost)
    return None if end is None else (tokens[outermost].start(), end, ";")


def _closed(text: str, position: int) -> str:
    """`text` with the braces that are open at `position` closed before the declaration there."""
    tokens = [m for m in _TOKENS.finditer(text, 0, position) if m.group()[0] not in "\"'"]
    depth = sum({"{": 1, "}": -1}.get(m.group(), 0) for m in tokens)
    at = next((m.end() for m in reversed(tokens) if _is_boundary(m)), position)
    return (
        text[:at] + "}" * max(depth, 0) + text[at:] if position < len(text) else text + "}" * depth
    )


def _is_boundary(token: re.Match[str]) -> bool:
    return token.group() in ";{}" or token.group().lstrip().startswith("#")


def _end_of_braces(tokens: list[re.Match[str]], opening: int) -> int | None:
    """The position after the brace that closes the one at token `opening`; None if none does."""
    depth = 0
    for m in tokens[opening:]:
        depth += {"{": 1, "}": -1}.get(m.group(), 0)
        if depth == 0:
            return m.end()
    return None


def _end_of_declaration(tokens: list[re.Match[str]], first: int, position: int) -> int | None:
    """The end of the declaration at file scope with a mistake at `position`."""
    depth = 0
    for m in tokens[first:]:
        depth += {"{": 1, "}": -1}.get(m.group(), 0)
        if depth <= 0 and m.group() in ";}" and m.end() > position:
            return m.end()
    return None


def _is_about_braces(diagnostic: Diagnostic) -> bool:
    """Whether a brace that is not closed explains the mistake."""
    inside = "functions cannot be defined inside" in (diagnostic.remedy or "")
    return inside or diagnostic.message == "unexpected end of file"


def _unclosed(text: str, position: int) -> int | None:
    """
    The position of a brace before `position` that is probably not closed: its closing brace is indented
    less than its own line, or is missing, and the line of `position` is not indented more. None if there is
    none.
    """
    opened: list[int] = []
    suspect: int | None = None
    for m in _TOKENS.finditer(text, 0, position):
        if m.group() == "{":
            opened.append(m.start())
        elif m.group() == "}" and opened:
            opening = opened.pop()
            outdented = _indent(text, opening) > _indent(text, m.start())
            if suspect is None and outdented and not _is_of_library(text, opening):
                suspect = opening
    if suspect is None and opened and position < len(text):
        after_line = text.find("\n", opened[-1], position) >= 0
        return (
            opened[-1]
            if after_line and _indent(text, position) <= _indent(text, opened[-1])
            else None
        )
    return suspect if suspect is not None or not opened else opened[-1]


def _is_of_library(text: str, position: int) -> bool:
    """Whether the brace is in a header of a library, where all braces are closed."""
    start = text.rfind("\n# ", 0, position) + 1
    marker = line_marker(text[start : text.find("\n", start)])
    return marker is not None and is_library(SourceLoc(marker[1] or "", 1))


def _indent(text: str, position: int) -> int:
    """The width of the white space at the beginning of the line of `position`."""
    line = text[text.rfind("\n", 0, position) + 1 : position + 1]
    return len(line) - len(line.lstrip())
