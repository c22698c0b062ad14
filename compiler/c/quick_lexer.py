"""
A faster lexer for pycparser: one regular expression matches names, punctuation, strings and plain numbers,
which are nearly all tokens, without memory for each character of a string. pycparser's own lexer handles
other tokens and all errors.
"""

# pyright: reportPrivateUsage=false

from __future__ import annotations

import re

from pycparser import c_lexer
from pycparser.c_lexer import CLexer, Token

from ..base.identifiers import BEYOND_ASCII, NOT_FIRST, UNIVERSAL_NAME, decoded

_FIRST = rf"(?:[A-Za-z_$]|(?![{NOT_FIRST}])[{BEYOND_ASCII}])"
_WIDE = re.compile(rf"{_FIRST}[0-9A-Za-z_${BEYOND_ASCII}]*+")
_TOKEN = re.compile(
    rf"""[ \t\f\v]*+(?:
    (?P<NEWLINE>\n)
    |(?P<LINE>\#(?=[ \t]*(?:line\W|[0-9])))
    |(?P<ID>[A-Za-z_$][0-9A-Za-z_$]*+(?!['"\\\x80-\U0010ffff]))
    |(?P<WIDE>(?:[A-Za-z_${BEYOND_ASCII}]|{UNIVERSAL_NAME})
        (?:[0-9A-Za-z_${BEYOND_ASCII}]|{UNIVERSAL_NAME})*+(?!['"]))
    |(?P<INT_CONST_DEC>[1-9][0-9]*+(?![0-9A-Za-z_.'$]))
    |(?P<INT_CONST_OCT>0(?![0-9A-Za-z_.'$]))
    |(?P<STRING_LITERAL>"[^"\\\n]*+(?:\\[0-9a-zA-Z._~!=&^\-\\?'"][^"\\\n]*+)*+")
    |(?P<FIXED>\.\.\.|<<=|>>=|\+\+|--|->|&&|\|\||<<|>>|::|[<>=!*/%+\-&|^]=
        |[-+*%=|&~^!<>?(){{}},;:\]]|\[(?!\s*\[)|\.(?![0-9])|/(?![/*]))
    )""",
    re.VERBOSE,
)
_INTERCHANGE_SUFFIX = re.compile(r"(?<=[fF])(?:16|32x?|64x?)(?![0-9A-Za-z_.])")
"""The rest of a suffix as in `1.0f16`, which pycparser ends at the `f`."""
_FIXED = {token.literal: token.tok_type for token in c_lexer._fixed_tokens}


class QuickLexer(CLexer):
    """Gives the same tokens as pycparser's lexer, except for the suffixes of C23's `_FloatN` types."""

    def token(self) -> Token | None:
        """The next token; None at the end."""
        if self._in_attribute or self._pending_tok is not None:
            return super().token()
        text = self._lexdata
        while (match := _TOKEN.match(text, self._pos)) is not None:
            kind = match.lastgroup
            assert kind is not None
            end = match.end()
            if kind == "NEWLINE":
                self._lineno += 1
                self._pos = self._line_start = end
                continue
            if kind == "LINE":
                self._pos = end
                self._handle_ppline()
                continue
            value = match[kind]
            if kind == "WIDE":
                value = decoded(value)
                if _WIDE.fullmatch(value) is None:
                    break
                kind = "ID"
            if kind == "ID":
                kind = self._keyword_map.get(value, "ID")
            elif kind == "FIXED":
                kind = _FIXED[value]
            self._pos = end
            column = match.start(match.lastindex or 0) - self._line_start + 1
            return Token(kind, value, self._lineno, column, self._filename)
        token = super().token()
        if token is not None and token.type in ("FLOAT_CONST", "HEX_FLOAT_CONST"):
            suffix = _INTERCHANGE_SUFFIX.match(text, self._pos)
            if suffix is not None:
                token.value += suffix[0]
                self._pos = suffix.end()
        return token
