"""Names of values in IR, made of names in C."""

from __future__ import annotations

import re

_NOT_IN_NAMES = re.compile(r"[^\w$]+")
_ONLY_NUMBERS = re.compile(r"(?:_\d+)+")


def value_name(text: str) -> str:
    """
    A name for a value made of `text`, which may be a C expression such as `p->x`. xDSL takes `_` and a
    number at the end of a name away each time that it is given to a value, so `_0` and `_0_1`, ordinary
    names in C, would have nothing left: they are `v0` and `v0_1`.
    """
    name = _NOT_IN_NAMES.sub("_", text)
    if _ONLY_NUMBERS.fullmatch(name):
        return f"v{name[1:]}"
    return name if name and (name[0].isascii() and not name[0].isdigit()) else f"v{name}"
