"""
What a construct accesses through the pointers in a variable that it maps implicitly: `a[i][j]` of
`double **a`.

OpenACC says nothing of it: an implicit attribute concerns the variable alone (3.4, 2.6.2), and its device
copy would hold host addresses. Where the nest says which part of every row is accessed, the attribute names
the rows, as `copy(a[0:n][0:m])` does (2.7.1). Otherwise there is a warning (`unmapped-rows`).
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import cast

from xdsl.dialects import acc, arith, llvm
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, SSAValue

from ..ir.data.data_spans import has_rows, is_attached
from ..ir.data.sections import (
    PointerUses,
    SectionAccess,
    TouchedSection,
    guards,
    pointer_uses,
    section_of,
)
from ..ir.ops.acc_ops import MAPPING_OPS, called, source_loc
from ..ir.ops.messages import Messages
from ..ir.ops.predicates import EQ, NE
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
    rows, first = PointerUses(), None
    in_all = PointerUses(), PointerUses()  # pointers and rows that are accessed in the whole length
    for access in uses.accesses:
        if not _reads_pointer(access):
            continue
        load = cast(llvm.LoadOp, access.op)
        found = pointer_uses(load.dereferenced_value, symbols.construct, symbols)
        if first is None and (found.accesses or found.escapes):
            first = load
        rows.accesses += found.accesses
        rows.escapes += found.escapes
        whole = [inner for inner in found.accesses if not _has_own_length(inner, symbols)]
        if whole:
            in_all[0].accesses.append(access)
            in_all[1].accesses += whole
    if first is None:
        return None
    if any(access.writes for access in uses.accesses):
        return RowUses("the construct stores pointers", rows.writes, first)
    section = section_of(rows, symbols)
    if not isinstance(section, TouchedSection):
        return RowUses(section, rows.writes, first)
    if len(in_all[1].accesses) < len(rows.accesses) and (
        section_of(in_all[1], symbols) != section
        or section_of(in_all[0], symbols) != section_of(uses, symbols)
    ):
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
    Whether a loop whose variable is in the subscript, or a condition that limits the variable there, ends at
    a value that differs from row to row, as in a triangle (`j <= i`) or in rows with their lengths in an
    array (`j < length[i]`): the rows may have been allocated in different lengths.
    """
    if access.index is None:
        return False  # so that no section is known
    ranges = {loop.variable: loop for loop in symbols.loop_ranges(access.op) or ()}
    subscript = [symbol for symbol in access.index.symbols if symbol in ranges]
    return any(
        inner in ranges
        for symbol in subscript
        for bound in (ranges[symbol].lower, ranges[symbol].last)
        for inner in bound.symbols
    ) or any(
        _limits(condition, set(subscript), symbols)
        for condition, _ in guards(access.op, symbols.construct)
    )


def _limits(condition: SSAValue, variables: set[Hashable], symbols: RegionSymbols) -> bool:
    """
    Whether a condition compares one of `variables`, or a sum with it, by `<`, `<=`, `>` or `>=` with what is
    different in other iterations.
    """
    owner = condition.owner
    if not isinstance(owner, arith.CmpiOp) or owner.predicate.value.data in (EQ, NE):
        return False
    sides = [symbols.polynomial(_without_widening(side)) for side in owner.operands]
    known = [side for side in sides if side is not None]
    if not known:
        return False
    difference = known[0] if len(known) == 1 else known[0] - known[1]
    for variable in variables & difference.symbols:
        parts = difference.split(variable)
        if parts is not None and parts[1].as_constant is not None:
            return len(known) == 1 or any(_is_of_region(s, symbols) for s in parts[0].symbols)
    return False


def _is_of_region(symbol: Hashable, symbols: RegionSymbols) -> bool:
    return isinstance(symbol, SSAValue) and symbols.is_inside(symbol)


def _without_widening(value: SSAValue) -> SSAValue:
    owner = value.owner
    while isinstance(owner, arith.ExtSIOp | arith.ExtUIOp):
        value, owner = owner.input, owner.input.owner
    return value


def warn_of_rows(
    name: str, rows: RowUses, section: TouchedSection | str, messages: Messages
) -> None:
    """Warns that the variable's `section` is mapped without what its pointers point to."""
    if has_pointers(section):
        reason, remedy = (
            f": {rows.sections}",
            f"name the rows in a data clause: copyin({name}[0:n][0:m])",
        )
    else:
        reason, remedy = (
            "",
            "map that, too: a data clause for p->x[0:n] attaches the pointer x of *p",
        )
    messages.warn(
        source_loc(rows.first),
        f"'{name}' is copied with the pointers in it, but not what they point to{reason}",
        remedy,
        option="unmapped-rows",
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
