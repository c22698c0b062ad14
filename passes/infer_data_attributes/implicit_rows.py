"""
What a construct accesses through the pointers in a variable that it maps implicitly: `a[i][j]` of
`double **a`.

OpenACC says nothing of it: an implicit attribute concerns the variable alone (3.4, 2.6.2), and its device
copy would hold host addresses. Where the nest says which part of every row is accessed, the attribute names
the rows, as `copy(a[0:n][0:m])` does (2.7.1). Otherwise there is a warning (`unmapped-rows`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

from xdsl.dialects import acc, llvm
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from ..ir.data.data_spans import has_rows, is_attached
from ..ir.data.sections import (
    PointerUses,
    SectionAccess,
    TouchedSection,
    pointer_uses,
    section_of,
)
from ..ir.ops.acc_ops import MAPPING_OPS, called
from ..ir.values.region_values import RegionSymbols
from .short_sections import outlives_constructs

_MAPPING_CALLS = ("acc_", "omp_target_", "cuda", "cu", "__builtin_acc")
"""Beginnings of the names of functions that may store device addresses in an array, or attach pointers."""


@dataclass(frozen=True)
class RowUses:
    """
    The accesses through the pointers in a variable. `sections`: those of the rows, one for each level of
    pointers that is followed, outermost first; or the reason why they are not known. `writes`: a row is
    written. `first`: the first pointer that is followed.
    """

    sections: tuple[TouchedSection, ...] | str
    writes: bool
    first: Operation


def row_uses(uses: PointerUses, symbols: RegionSymbols) -> RowUses | None:
    """What is accessed through the pointers that `uses` reads; None if none is followed."""
    loads = [access.op for access in uses.accesses if _reads_pointer(access)]
    rows, first = PointerUses(), None
    for load in loads:
        found = pointer_uses(cast(llvm.LoadOp, load).dereferenced_value, symbols.construct, symbols)
        if first is None and (found.accesses or found.escapes):
            first = load
        rows.accesses += found.accesses
        rows.escapes += found.escapes
    if first is None:
        return None
    if any(access.writes for access in uses.accesses):
        return RowUses("the construct stores pointers", rows.writes, first)
    section = section_of(rows, symbols)
    if not isinstance(section, TouchedSection):
        return RowUses(section, rows.writes, first)
    if any(_has_own_length(access, symbols) for access in rows.accesses):
        return RowUses("the part that is accessed differs from row to row", rows.writes, first)
    inner = row_uses(rows, symbols)
    if inner is None:
        return RowUses((section,), rows.writes, first)
    if isinstance(inner.sections, str) or not _is_pointers(section):
        reason = inner.sections if isinstance(inner.sections, str) else "they are in structures"
        return RowUses(reason, inner.writes or rows.writes, first)
    return RowUses((section, *inner.sections), inner.writes or rows.writes, first)


def has_pointers(section: TouchedSection | str) -> bool:
    """Whether a section is known and its elements are pointers, so that sections of rows can follow it."""
    return isinstance(section, TouchedSection) and _is_pointers(section)


def _is_pointers(section: TouchedSection) -> bool:
    return isinstance(section.unit, llvm.LLVMPointerType)


def _reads_pointer(access: SectionAccess) -> bool:
    op = access.op
    return isinstance(op, llvm.LoadOp) and isinstance(
        op.dereferenced_value.type, llvm.LLVMPointerType
    )


def _has_own_length(access: SectionAccess, symbols: RegionSymbols) -> bool:
    """
    Whether the bounds of a loop whose variable is in the subscript depend on another loop, as in a triangle:
    its rows may have been allocated in different lengths.
    """
    assert access.index is not None
    ranges = {loop.variable: loop for loop in symbols.loop_ranges(access.op) or ()}
    return any(
        inner in ranges
        for symbol in access.index.symbols
        if symbol in ranges
        for bound in (ranges[symbol].lower, ranges[symbol].last)
        for inner in bound.symbols
    )


def may_attach(module: ModuleOp) -> bool:
    """
    Whether a directive or call of the module may let pointers in device copies point to device memory, so
    that what they point to may be mapped although the construct does not say so.
    """
    return any(
        (
            isinstance(op, MAPPING_OPS)
            and (is_attached(op) or has_rows(op))
            and outlives_constructs(op)
        )
        or (isinstance(op, acc.AttachOp) and outlives_constructs(op))
        or (isinstance(op, llvm.CallOp) and called(op).startswith(_MAPPING_CALLS))
        for op in module.walk()
    )
