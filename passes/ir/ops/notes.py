"""
Remarks of passes on places in the program, stored as an attribute of the construct or function around them.
"""

from __future__ import annotations

from collections.abc import Iterable

from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, IntegerAttr, StringAttr, i64
from xdsl.ir import Attribute, Operation

from ....compiler.base.diagnostics import SourceLoc
from ....dialects.accx import REMARKS
from .acc_ops import source_loc


def note(parent: Operation, texts: Iterable[tuple[Operation | SourceLoc, str]]) -> None:
    """Adds remarks to those of `parent`, each with its C place or an operation there."""
    known = parent.attributes.get(REMARKS)
    found: list[Attribute] = list(known.data) if isinstance(known, ArrayAttr) else []
    for op, text in texts:
        loc = source_loc(op) if isinstance(op, Operation) else op
        found.append(
            DictionaryAttr(
                {
                    "text": StringAttr(text),
                    "file": StringAttr(loc.file),
                    "line": IntegerAttr(loc.line, i64),
                    "column": IntegerAttr(loc.column, i64),
                }
            )
        )
    if found:
        parent.attributes[REMARKS] = ArrayAttr(found)
