"""
Pairs of parallel loops in one construct of which the later reads or overwrites results that other gangs
produce in the earlier, or overwrites what other gangs read there. Gangs do not wait for each other (OpenACC
3.4, 2.5.1), so the later loop may see old values, and the earlier new ones.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from itertools import combinations

from xdsl.dialects import acc, llvm, scf
from xdsl.ir import Operation

from ...decisions.levels import Level
from ...decisions.polynomials import Polynomial
from ...decisions.ranges import LoopRange
from ..ops.acc_ops import (
    PRIVATIZING_OPS,
    has_level,
    is_inside,
    loops_around,
    loops_in,
    operations_around,
    variable_name,
)
from ..ops.building import constant_value
from ..ops.levels import is_parallel, loop_levels
from ..values.loop_symbols import LoopSymbols
from .array_accesses import ArrayAccess, array_accesses


@dataclass(frozen=True)
class Unordered:
    """
    `later` accesses elements of the array `name` that another gang stores in a loop before it, or stores
    (`overwrites`) those that another gang reads there.
    """

    later: acc.LoopOp
    name: str
    store: Operation
    access: Operation
    overwrites: bool = False


@dataclass(frozen=True)
class _Loop:
    loop: acc.LoopOp
    variable: Hashable
    own: LoopRange
    ranges: dict[Hashable, LoopRange]
    accesses: tuple[ArrayAccess, ...]


def unordered_loops(construct: acc.ParallelOp) -> Iterator[Unordered]:
    """
    The loops of `construct` that certainly use elements which another gang assigns in an earlier loop, or
    assign elements which another gang uses there, each once for an array.
    """
    gangs = construct.num_gangs
    if len(gangs) == 1 and constant_value(gangs[0]) == 1:
        return
    shared = [loop for loop in loops_in(construct) if _may_be_shared(loop, construct)]
    loops = [_known(loop) for loop in shared] if len(shared) > 1 else []
    told: set[tuple[acc.LoopOp, Hashable]] = set()
    pairs = list(combinations(loops, 2))
    ordered = [(a, b, False) for a, b in pairs]
    ordered += [(b, a, False) for a, b in pairs if _repeat_together(a.loop, b.loop, construct)]
    ordered += [(b, a, True) for a, b in pairs]
    for storing, other, overwrites in ordered:
        later = storing.loop if overwrites else other.loop
        for store in storing.accesses:
            if not isinstance(store.op, llvm.StoreOp) or (later, store.key) in told:
                continue
            for access in other.accesses:
                if access.key == store.key and _in_another_gang(storing, store, other, access):
                    told.add((later, store.key))
                    name = variable_name(store.root)
                    yield Unordered(later, name, store.op, access.op, overwrites)
                    break


def _may_be_shared(loop: acc.LoopOp, construct: Operation) -> bool:
    """Whether gangs may share a loop: an outermost parallel one of a single variable."""
    block = loop.region.blocks.first
    if not is_parallel(loop) or block is None or len(block.args) != 1:
        return False
    levels = loop_levels(loop)
    if levels and Level.GANG not in levels:
        return False
    return all(has_level(around.seq) for around in loops_around(loop, construct))


def _known(loop: acc.LoopOp) -> _Loop:
    symbols = LoopSymbols(loop, None)
    block = loop.region.blocks.first
    assert block is not None
    (variable,) = block.args
    own, _, _ = symbols.own_ranges(variable)
    found = tuple(a for a in array_accesses(loop, symbols) if not a.missing and not _is_private(a))
    ranges = {known.variable: known for known in symbols.outer_ranges}
    for access in found:
        ranges |= {known.variable: known for known in symbols.inner_ranges(access.op)}
    return _Loop(loop, own.variable, own, ranges, found)


def _repeat_together(one: Operation, other: Operation, construct: Operation) -> bool:
    """Whether a sequential loop encloses both, so that the first runs again after the second."""
    return any(
        isinstance(around, acc.LoopOp | scf.ForOp | scf.WhileOp) and is_inside(other, around)
        for around in operations_around(one, construct)
    )


def _is_private(access: ArrayAccess) -> bool:
    return isinstance(access.root.owner, PRIVATIZING_OPS)


def _in_another_gang(first: _Loop, store: ArrayAccess, later: _Loop, access: ArrayAccess) -> bool:
    """
    Whether iterations of `later` access elements that iterations of `first` with a different number store;
    the order of the two loops makes no difference.
    """
    if store.units != access.units or not store.subscripts:
        return False
    shared = False
    for stored, used in zip(store.subscripts, access.subscripts, strict=True):
        if stored is None or used is None:
            return False
        if first.variable in stored.symbols:
            where = _crosses(first, stored, later, used)
            if where is None:
                return False
            shared = shared or where
        elif not _may_meet(stored, first, used, later):
            return False
    return shared


def _may_meet(stored: Polynomial, first: _Loop, used: Polynomial, later: _Loop) -> bool:
    """
    Whether subscripts that lack the first loop's shared variable may be equal: they are equal, or one
    varies.
    """
    runs = stored.symbols & first.ranges.keys() or used.symbols & (
        later.ranges.keys() | {later.variable}
    )
    return bool(runs) or (used - stored).terms == {}


def _crosses(first: _Loop, stored: Polynomial, later: _Loop, used: Polynomial) -> bool | None:
    """
    Whether the iteration of `later` that accesses an element differs in number from the one of `first` that
    stores it; None if that is unknown.
    """
    offset = stored - Polynomial.symbol(first.variable)
    if first.variable in offset.symbols:
        return None
    if later.variable in used.symbols:
        rest = used - Polynomial.symbol(later.variable)
        if later.variable in rest.symbols:
            return None
        shift = (rest + later.own.lower - offset - first.own.lower).as_constant
        return None if shift is None else shift != 0
    running = [later.ranges[symbol] for symbol in used.symbols if symbol in later.ranges]
    start = used
    for known in running:
        replaced = start.substitute(known.variable, known.lower)
        if replaced is None:
            return None
        start = replaced
    distance = (start - offset - first.own.lower).as_constant
    extent = (first.own.last - first.own.lower).as_constant
    if distance is None:
        return None
    within = distance >= 0 and (distance == 0 if extent is None else distance <= extent)
    return True if running or within else None
