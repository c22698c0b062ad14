"""
Finds functions that headers declare and that a file never names, which are most of what a file includes.
They do not affect the file (C11 6.7p5), so they are checked only if there is a message to print, as
messages suggest names that a programmer may have meant.
"""

# pycparser has no type information: its trees are Any here.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import Any

from pycparser import c_ast

from ...base.diagnostics import SourceLoc
from ...base.library_headers import is_library

_WORD = re.compile(r"[A-Za-z_$][\w$]*")
_KNOWN_BY_THEM = ("omp.h",)
"""Headers whose inclusion `program.py` recognises by their functions."""


def without_idle(
    external: Sequence[Any], text: str, file: str
) -> tuple[Sequence[Any], frozenset[str]]:
    """
    The external declarations of the preprocessed `text` of `file` that are not idle, and the names of those
    functions of libraries that are. A prototype is idle if it is in a header, has no attribute, label or
    directive, declares nothing but a function, and its name occurs once.
    """
    words = Counter(_WORD.findall(text))
    active: list[Any] = []
    idle: list[str] = []
    before: Any = None
    for node in external:
        header = _header_of(node, file)
        if (
            header is None
            or words[node.name] != 1
            or isinstance(before, c_ast.Pragma)
            or not _is_plain(node)
        ):
            active.append(node)
        elif is_library(SourceLoc(header, 1)):
            idle.append(node.name)
        before = node
    return active, frozenset(idle)


def _header_of(node: Any, file: str) -> str | None:
    """The header that contains a declaration; None if it is in the file itself, or if `program.py` recognises
    the inclusion of the header by its functions."""
    place: str | None = node.coord.file if isinstance(node, c_ast.Decl) and node.coord else None
    return place if place != file and not (place or "").endswith(_KNOWN_BY_THEM) else None


def _is_plain(node: Any) -> bool:
    """Whether a declaration is only an external prototype, without attributes, whose result type is a
    name."""
    if not isinstance(node.type, c_ast.FuncDecl) or node.init is not None:
        return False
    if node.align or node.funcspec or node.storage not in ([], ["extern"]):
        return False
    result = node.type.type
    while isinstance(result, c_ast.PtrDecl):
        result = result.type
    # `struct s *f(void)` declares `struct s`
    return isinstance(result, c_ast.TypeDecl) and isinstance(result.type, c_ast.IdentifierType)
