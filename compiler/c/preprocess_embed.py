"""
`#embed "file"`: the bytes of a file as integer constants (C23 6.10.4), with the parameters `limit`, `prefix`,
`suffix` and `if_empty`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from ..base.diagnostics import error
from .preprocess_expr import evaluate
from .preprocess_lexer import Token, closing, strip

PARAMETERS = ("limit", "prefix", "suffix", "if_empty")


@dataclass
class Embed:
    """The contents of an `#embed` directive: the file's name, how it is quoted, and the tokens of its
    parameters."""

    target: str
    quoted: bool
    parameters: dict[str, list[Token]] = field(default_factory=dict[str, list[Token]])

    def tokens(self, data: bytes, limit: int | None, place: Token) -> list[Token]:
        """The tokens that replace the directive at `place`: one token holds all bytes, and macros are not
        expanded in it."""
        data = data[:limit]
        if not data:
            return self.parameters.get("if_empty", [])
        numbers = Token("CPP_INTEGER", ",".join(map(str, data)), place.source)
        return [*self.parameters.get("prefix", []), numbers, *self.parameters.get("suffix", [])]


def read_embed(args: Sequence[Token], name: Token) -> Embed:
    """Reads the directive `name` with the tokens after it. Raises `CompileError` for what C23 does not
    allow."""
    rest = [t for t in args if not t.is_space]
    if rest and rest[0].type == "CPP_STRING":
        found, at = Embed(rest[0].value[1:-1], quoted=True), 1
    else:
        close = next((i for i, t in enumerate(rest) if t.value == ">"), 0)
        if not close or rest[0].value != "<":
            raise error(name.loc, "#embed needs a file name", 'write <file> or "file"')
        found, at = Embed("".join(t.value for t in rest[1:close]), quoted=False), close + 1
    while at < len(rest):
        word = rest[at]
        key = word.value.strip("_")
        if key not in PARAMETERS:
            listed = ", ".join(PARAMETERS)
            raise error(word.loc, f"#embed has no parameter '{word.value}'", f"there are {listed}")
        end = closing(rest, at + 1)
        if end is None:
            raise error(
                word.loc,
                f"'{word.value}' of #embed needs an argument in parentheses",
                f"write {key}(…)",
            )
        found.parameters[key] = rest[at + 2 : end]
        at = end + 1
    return found


def limit_of(found: Embed, name: Token, expanded: Callable[..., list[Token]]) -> int | None:
    """The number of bytes that `limit` allows; None without it."""
    if "limit" not in found.parameters:
        return None
    tokens = [t for t in strip(expanded(found.parameters["limit"])) if not t.is_space]
    value = evaluate(tokens, name.loc) if tokens else -1
    if value < 0:
        raise error(name.loc, "the limit of #embed is not a number of bytes", "write limit(N)")
    return value
