"""
Warnings for accesses that certainly lie outside of the section of an array that a data construct around the
compute construct maps: device memory has no such elements (OpenACC 3.4, 2.7.1).

Only what every execution does is reported: subscripts and bounds of loops are constants, no condition is
around the access, and no other directive maps the array, which could have made all of it present.
"""

from __future__ import annotations

from xdsl.dialects import acc, llvm, scf
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, SSAValue

from ...dialects.layout import size_of
from ..decisions.ranges import extremes
from ..ir.data.sections import PointerUses, SectionAccess
from ..ir.ops.acc_ops import ENTRY_OPS, EntryOp, is_inside, operations_around, source_loc
from ..ir.ops.building import constant_value
from ..ir.ops.loop_bounds import bounds_of
from ..ir.ops.messages import Messages
from ..ir.values.region_values import RegionSymbols

_MAPPING = (acc.DataOp, acc.EnterDataOp, acc.DeclareEnterOp)

Span = tuple[int, int]
"""The first byte of an array, and the one after the last."""


def warn_of_short_section(
    entry: EntryOp, name: str, uses: PointerUses, symbols: RegionSymbols, messages: Messages
) -> None:
    """Warns of the first access to the array `name` that leaves the section of `entry`."""
    mapped = _mapped(entry)
    if mapped is None:
        return
    for access in uses.accesses:
        reached = _reached(access, symbols)
        if reached is not None and (reached[0] < mapped[0] or mapped[1] < reached[1]):
            if _mapped_elsewhere(entry, messages.module):
                return
            before = reached[0] < mapped[0]
            distance = mapped[0] - reached[0] if before else reached[1] - mapped[1]
            messages.warn(
                source_loc(access.op),
                f"this accesses '{name}' up to {distance} bytes {'before' if before else 'after'} the section"
                " that is mapped",
                "name a section with all elements that constructs access",
                [(source_loc(entry), "it is mapped here")],
                option="short-section",
            )
            return


def outlives_constructs(entry: EntryOp) -> bool:
    """Whether a data operation is of a directive other than a compute construct."""
    return any(isinstance(use.operation, _MAPPING) for use in entry.acc_var.uses)


def _mapped_elsewhere(entry: EntryOp, module: ModuleOp) -> bool:
    """Whether another data directive of the module maps the variable of `entry`."""
    return any(
        isinstance(op, ENTRY_OPS)
        and op is not entry
        and _is_same(op.var, entry.var)
        and outlives_constructs(op)
        for op in module.walk()
    )


def _is_same(a: SSAValue, b: SSAValue) -> bool:
    if isinstance(a.owner, llvm.AddressOfOp) and isinstance(b.owner, llvm.AddressOfOp):
        return a.owner.global_name == b.owner.global_name
    return a is b


def _mapped(entry: EntryOp) -> Span | None:
    """
    The bytes that the section of an array spans, for a clause that may allocate it; None if they are not
    known, or without a section.
    """
    if isinstance(entry, acc.PresentOp | acc.NoCreateOp):
        return None
    if not entry.bounds or not isinstance(entry.var_type, llvm.LLVMArrayType):
        return None
    first, last, element = 0, 0, size_of(entry.var_type)
    for value in entry.bounds:
        bounds = value.owner
        if not isinstance(bounds, acc.DataBoundsOp) or bounds.stride is None:
            return None
        parts = (bounds.lowerbound, bounds.extent, bounds.stride)
        lower, extent, stride = (None if p is None else constant_value(p) for p in parts)
        if lower is None or extent is None or stride is None or bounds.stride_in_bytes is None:
            return None
        first, last = first + lower * stride, last + (lower + extent - 1) * stride
        element = min(element, stride)
    return first, last + element


def _reached(access: SectionAccess, symbols: RegionSymbols) -> Span | None:
    """The bytes from the first to the last that the iterations certainly access; None if not known."""
    ranges = symbols.loop_ranges(access.op) if _always_runs(access.op, symbols.construct) else None
    if access.index is None or ranges is None:
        return None
    if any(r.lower.as_constant is None or r.last.as_constant is None for r in ranges):
        return None
    if any((r.last - r.lower).as_constant < 0 for r in ranges):  # type: ignore[operator]
        return None
    found = extremes(access.index, ranges)
    if found is None or len(found.lows) != 1 or len(found.highs) != 1:
        return None
    low, high = found.lows[0].as_constant, found.highs[0].as_constant
    unit = size_of(access.unit)
    return None if low is None or high is None else (low * unit, (high + access.width) * unit)


def _always_runs(op: Operation, construct: Operation) -> bool:
    """Whether only loops that count by 1 are between `op` and the construct."""
    return is_inside(op, construct) and all(
        isinstance(around, scf.ForOp | acc.LoopOp)
        and all(constant_value(step) == 1 for _, _, _, step in bounds_of(around))
        for around in operations_around(op, construct)
    )
