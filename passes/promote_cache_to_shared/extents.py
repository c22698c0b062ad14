"""
The mapped part of a cached array. A tile is filled with whole sections, including elements that the code
does not touch: these must be known to be mapped, or must not be read.
"""

from __future__ import annotations

from xdsl.dialects import scf
from xdsl.ir import Operation

from ..decisions.declined import Declined
from ..decisions.ranges import LoopRange, extremes
from ..ir.data.cached_accesses import Cached, Symbols
from ..ir.ops.acc_ops import MAPPING_OPS, mapped_variable, operations_around
from ..ir.ops.building import constant_value
from ..ir.ops.layout import size_of


def variable_bytes(cached: Cached) -> int | None:
    """The size in bytes of the variable, if the array is a variable that is mapped as a whole; else None."""
    owner = cached.base.owner
    type_ = mapped_variable(owner) if isinstance(owner, Operation) else None
    return None if type_ is None else size_of(type_)


def check_extent(cached: Cached, symbols: Symbols) -> None:
    """Raises `Declined` if a section may exceed the mapped part, and that part is not known."""
    owner = cached.base.owner
    if not isinstance(owner, MAPPING_OPS) or owner.bounds or variable_bytes(cached) is not None:
        return
    if not _touches_both_ends(cached, symbols):
        raise Declined(
            f"the mapped part of '{cached.section.name}' is not known: name a section of it in a "
            "data clause"
        )


def _touches_both_ends(cached: Cached, symbols: Symbols) -> bool:
    """
    Whether every iteration accesses the first and the last element of its section. Mapped memory is
    contiguous, so all elements in between are then mapped too.
    """
    first = last = False
    for access in cached.accesses:
        ranges = _loops_around(access.op, cached.op.parent_op(), symbols)
        if ranges is None or access.element is None:
            continue
        lows: list[int | None] = []
        highs: list[int | None] = []
        for delta in access.deltas:
            bounds = extremes(delta, ranges)
            if bounds is None or len(bounds.lows) != 1 or len(bounds.highs) != 1:
                return False
            lows.append(bounds.lows[0].as_constant)
            highs.append(bounds.highs[0].as_constant)
        first |= all(low == 0 for low in lows)
        ends = zip(highs, cached.section.dims, strict=True)
        last |= all(high == dim.length - 1 for high, dim in ends)
    return first and last


def _loops_around(
    op: Operation, scope: Operation | None, symbols: Symbols
) -> list[LoopRange] | None:
    """The loops between an operation and its scope, innermost first; None if the operation may not run."""
    found: list[LoopRange] = []
    for parent in operations_around(op, scope):
        if not isinstance(parent, scf.ForOp) or constant_value(parent.step) != 1:
            return None
        low, high = symbols.polynomial(parent.lb), symbols.polynomial(parent.ub)
        turns = (high - low).as_constant
        if turns is None or turns < 1:
            return None
        found.append(LoopRange(parent.body.block.args[0], low, high - 1))
    return found
