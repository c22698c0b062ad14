"""Characters beyond ASCII in identifiers of C (C11 6.4.2.1, 6.4.3 and annex D), and names without them."""

from __future__ import annotations

import re

BEYOND_ASCII = (
    "\\u00a8\\u00aa\\u00ad\\u00af\\u00b2-\\u00b5\\u00b7-\\u00ba\\u00bc-\\u00be\\u00c0-\\u00d6\\u00d8-\\u00f6\\u00f8-\\u167f"
    "\\u1681-\\u180d\\u180f-\\u1fff\\u200b-\\u200d\\u202a-\\u202e\\u203f\\u2040\\u2054\\u2060-\\u218f\\u2460-\\u24ff"
    "\\u2776-\\u2793\\u2c00-\\u2dff\\u2e80-\\u2fff\\u3004-\\u3007\\u3021-\\u302f\\u3031-\\ud7ff"
    "\\uf900-\\ufd3d\\ufd40-\\ufdcf\\ufdf0-\\ufe44\\ufe47-\\ufffd\\U00010000-\\U000efffd"
)
"""The ranges of annex D.1, as part of a set in a regular expression."""
NOT_FIRST = "\\u0300-\\u036f\\u1dc0-\\u1dff\\u20d0-\\u20ff\\ufe20-\\ufe2f"
"""Those of annex D.2, which no identifier begins with."""
UNIVERSAL_NAME = r"\\u[0-9A-Fa-f]{4}|\\U[0-9A-Fa-f]{8}"
"""Matches a universal character name, `\\u03b1`."""
_UNIVERSAL_NAME = re.compile(UNIVERSAL_NAME)
_NO_ASCII = re.compile(r"[^\x00-\x7f]")
_ENCODED = re.compile(r"\$u([0-9a-f]+)\$")


def decoded(identifier: str) -> str:
    """An identifier with characters in place of their universal names, but those of no character and those
    of the basic set (6.4.3)."""
    return _UNIVERSAL_NAME.sub(_character, identifier) if "\\" in identifier else identifier


def _character(name: re.Match[str]) -> str:
    code = int(name.group()[2:], 16)
    valid = 0xA0 <= code < 0xD800 or 0xDFFF < code <= 0x10FFFF
    return chr(code) if valid else name.group()


def ascii_name(name: str) -> str:
    """`name` with `$u3b1$` for characters beyond ASCII, which PTX and names of values in IR cannot have."""
    return name if name.isascii() else _NO_ASCII.sub(lambda m: f"$u{ord(m.group()):x}$", name)


def from_ascii_name(name: str) -> str:
    """The name of which `name` is the `ascii_name`."""
    return _ENCODED.sub(lambda m: chr(int(m[1], 16)), name) if "$u" in name else name
