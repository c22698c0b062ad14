"""
Remedies for syntax errors, found from the words around them: misspelled keywords, a missing comma, code in
C++ or CUDA.

The parser's message names the first token that does not fit; the remedies here are for mistakes whose cause
is elsewhere.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..base.similar import did_you_mean, nearest

_STATEMENTS = ("if", "for", "while", "switch")
_BEFORE_STATEMENT = frozenset((";", "{", "}", ")", ":", "else", "do"))
_ELSE_IF = frozenset(("elseif", "elsif", "elif", "elseIf", "ElseIf", "else_if"))
_CUDA = frozenset(("__global__", "__device__", "__host__", "__shared__", "__constant__"))
_CXX = frozenset(("class", "template", "namespace", "using", "typename", "std", "nullptr", "auto"))
OTHER_HALVES = {
    "__fp16": "write '_Float16', which C23 has on every machine",
    "__bf16": "use 'float', or 'unsigned short' for the upper half of its bits",
}
"""Types of 16 bits that other compilers have on some machines: what to write instead."""
IS_CXX = "this is C++, and accopt compiles C: compile it with g++, and link the object file"
_LOOK_BACK = 64
"""The number of tokens before the error that are examined."""


def remedy_of_context(before: Sequence[str], token: str) -> str | None:
    """
    A remedy for a syntax error at `token`, from the tokens of the file before it (the last ones suffice);
    None if they do not show the cause.
    """
    before = before[-_LOOK_BACK:]
    line = before[-16:]
    if _CUDA.intersection(line) or (token == "<" and before[-1:] == ["<<"]):
        return "this is CUDA C++: compile it with nvcc, and link the object file"
    if _CXX.intersection((*line[-4:], token)) and token not in (")", "}"):
        return IS_CXX
    return _misspelled(before, token)


def _misspelled(before: Sequence[str], token: str) -> str | None:
    """A remedy if the name before the parentheses around or before the error looks like a misspelled
    keyword."""
    if token == "{" and before and nearest(before[-1], ("else",), 0.7):
        return "did you mean 'else'?"
    unclosed = _opening(before, inside=True) if token == "{" else None
    if unclosed and before[unclosed - 1] in _STATEMENTS:
        return "write ')' here"
    inside = token == ";" or before[-1:] == ["("]
    opening = _opening(before, inside=inside) if inside or token == "{" else None
    word = before[opening - 1] if opening else ""
    begins = opening == 1 or (opening and before[opening - 2] in _BEFORE_STATEMENT)
    if not word.replace("$", "_").isidentifier() or word in _STATEMENTS or not begins:
        return None
    if word in _ELSE_IF:
        return "write 'else if'"
    return did_you_mean(word, _STATEMENTS) or None


def _opening(before: Sequence[str], *, inside: bool) -> int | None:
    """The index of the parenthesis that the last token closes; with `inside`, of the innermost one that is
    still open."""
    if not inside and before[-1:] != [")"]:
        return None
    depth = 1 if inside else 0
    for at in range(len(before) - 1, -1, -1):
        depth += {")": 1, "(": -1}.get(before[at], 0)
        if depth == 0:
            return at
    return None


def is_cxx(name: str) -> bool:
    """Whether a name found in place of a type is a keyword or library name of C++."""
    return name in _CXX


def in_list(closing: str, token: str) -> str:
    """The remedy where the closing token of a list (`)`, `}`) was expected and `token` was found."""
    if token[0].isalnum() or token[0] in "_\"'":
        return f"write ',' or an operator before '{token}', or {closing} here"
    return f"write {closing} here"
