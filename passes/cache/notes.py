"""Remarks on `cache` directives, kept as an attribute of the construct or routine they stand in."""

from __future__ import annotations

from collections.abc import Iterable

from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, IntegerAttr, StringAttr, i64
from xdsl.ir import Attribute, Operation

from ...dialects.accx import CACHE_REMARKS
from ..analysis.acc_ops import source_loc


def note(parent: Operation, texts: Iterable[tuple[Operation, str]]) -> None:
    """Adds remarks on directives (the operation says where) to those of `parent`."""
    known = parent.attributes.get(CACHE_REMARKS)
    found: list[Attribute] = list(known.data) if isinstance(known, ArrayAttr) else []
    for op, text in texts:
        loc = source_loc(op)
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
        parent.attributes[CACHE_REMARKS] = ArrayAttr(found)
