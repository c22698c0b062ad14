"""
Errors for accesses outside of the sections of `cache` directives, which a program compiled with
`--check-cache` detects (`passes/check_cache_sections.py` makes the table and fills the record).
"""

from __future__ import annotations

import ctypes

from .errors import AccRuntimeError, ErrorClass, ProgramPlace

_RECORD = ctypes.c_int64 * 5


def outside_error(table: int, record: int) -> AccRuntimeError:
    """
    The error for a finding: `table` is the address of a string with a line per access, of fields
    divided by tabs; `record` that of five i64: the number of the line (from 1), index, lower bound,
    length, findings.
    """
    words: list[int] = list(_RECORD.from_address(record))
    number, index, lower, length, count = words
    lines = ctypes.string_at(table).decode().split("\n")
    file, line, column, name, dim, dims, directive = lines[number - 1].split("\t")
    which = f" in dimension {dim}" if dims != "1" else ""
    others = f" ({count} accesses in all)" if count > 1 else ""
    message = (
        f"'{name}' is accessed at index {index}{which}, in column {column}, outside of the section"
        f" [{lower}:{length}] of the directive in line {directive}{others}"
    )
    return AccRuntimeError(
        ErrorClass.INVALID_DATA_SECTION,
        message,
        place=ProgramPlace("the scope of a cache directive", file, int(line)),
        remedy="make the section larger, or access only its elements: an iteration may access the"
        " array only there",
    )
