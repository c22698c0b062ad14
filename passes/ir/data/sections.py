"""
The part of an array that a compute construct accesses, from the subscripts in its loops.

`pointer_uses` follows one pointer through the region: every access with its first subscript as a
polynomial. `section_of` bounds those subscripts over the loops (and the conditions) around each
access. Inner subscripts of multidimensional arrays are taken to stay within their dimension, as C
demands, so a section is a range of the outermost one.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import dataclass, field
from functools import reduce

from xdsl.dialects import acc, arith, llvm, scf
from xdsl.dialects.builtin import i8
from xdsl.ir import Attribute, Block, Operation, SSAValue

from ....dialects.accx_element import ElementOp
from ...decisions.inequalities import Facts
from ...decisions.polynomials import ZERO, Polynomial, divide
from ...decisions.ranges import Extremes, LoopRange, NotNegative, extremes, joined
from ..ops.acc_ops import called, is_inside, operations_around, uses_inside
from ..ops.conditions import facts
from ..ops.layout import size_of
from ..ops.loop_bounds import bounds_of
from ..ops.predicates import EQ, NE, SGE, SGT, SLE, SLT, UGE, UGT, ULE, ULT
from ..values.addresses import AddressStep, base_of, steps_of
from ..values.region_values import RegionSymbols


@dataclass(frozen=True)
class SectionAccess:
    """
    One load or store through the pointer. `index` is in units of `unit`, None if not affine; the access
    touches a number of units from there.
    """

    op: Operation
    unit: Attribute
    index: Polynomial | None
    writes: bool
    width: int = 1

    def in_bytes(self) -> SectionAccess:
        """The same access with bytes as units."""
        size = size_of(self.unit)
        index = None if self.index is None else self.index * size
        return SectionAccess(self.op, i8, index, self.writes, self.width * size)


STORED = "its address is stored"
"""The reason why not every access is known if the pointer is stored to memory that outlives the region."""


@dataclass
class PointerUses:
    """All uses of a pointer in a region."""

    accesses: list[SectionAccess] = field(default_factory=list[SectionAccess])
    escapes: list[str] = field(default_factory=list[str])
    """The reasons why accesses may be unknown ("it is passed to 'f'"); empty if all are known."""
    as_variable: list[Operation] = field(default_factory=list[Operation])
    """Private and reduction operations that name the variable without reading it here."""

    @property
    def reads(self) -> bool:
        return bool(self.escapes) or any(not a.writes for a in self.accesses)

    @property
    def writes(self) -> bool:
        return bool(self.escapes) or any(a.writes for a in self.accesses)


@dataclass(frozen=True)
class _PointedPlace:
    """
    The place that a derived pointer points to: `index` units from the base, then `inside` within one unit.
    """

    unit: Attribute | None
    index: Polynomial | None
    inside: bool


def _next(place: _PointedPlace, step: AddressStep, symbols: RegionSymbols) -> _PointedPlace:
    """The place a subscript leads to."""
    if place.inside:
        return place
    steps, unit = step.read_flat(symbols)
    if place.unit is None:
        return _PointedPlace(unit, steps, False)
    if step.member or size_of(unit) < size_of(place.unit):
        return _PointedPlace(place.unit, place.index, True)
    if steps is None or place.index is None:
        return _PointedPlace(place.unit, None, False)
    if place.unit == i8:
        # Steps in bytes first, then in elements.
        return _PointedPlace(i8, place.index + steps * size_of(unit), False)
    return _PointedPlace(place.unit, place.index + steps if unit == place.unit else None, False)


def pointer_uses(base: SSAValue, construct: Operation, symbols: RegionSymbols) -> PointerUses:
    """All uses of `base` and pointers computed from it in the regions of `construct`."""
    found = PointerUses()
    work: list[tuple[SSAValue, _PointedPlace]] = [(base, _PointedPlace(None, None, False))]
    while work:
        value, place = work.pop()
        for use in uses_inside(value, construct) if value is base else value.uses:
            op = use.operation
            match op:
                case llvm.GEPOp() | ElementOp() if use.index == 0:
                    inner = place
                    for step in steps_of(op):
                        inner = _next(inner, step, symbols)
                        if inner.inside:
                            break
                    work.append((op.result, inner))
                case llvm.LoadOp():
                    found.accesses.append(_access(op, place, op.dereferenced_value.type, False))
                case llvm.StoreOp() if use.index == 1:
                    found.accesses.append(_access(op, place, op.value.type, True))
                case acc.AtomicReadOp() | acc.AtomicWriteOp() | acc.AtomicUpdateOp():
                    found.accesses += _atomic(op, use.index, place)
                case acc.CacheOp():
                    work.append((op.acc_var, place))
                case acc.PrivateOp() | acc.ReductionOp() | acc.FirstprivateOp():
                    found.as_variable.append(op)
                case llvm.ICmpOp() | llvm.PtrToIntOp() | acc.LoopOp():
                    pass
                case llvm.StoreOp() if not _is_local(op.ptr, construct):
                    found.escapes.append(STORED)
                case llvm.CallOp():
                    name = called(op)
                    found.escapes.append(f"it is passed to '{name}'")
                case _:
                    found.escapes.append(f"its address is used by '{op.name}'")
    return found


def _is_local(pointer: SSAValue, construct: Operation) -> bool:
    """Whether `pointer` points into a variable of the region."""
    owner = base_of(pointer).owner
    return isinstance(owner, llvm.AllocaOp) and is_inside(owner, construct)


def _access(op: Operation, place: _PointedPlace, type_: Attribute, writes: bool) -> SectionAccess:
    if place.unit is None:
        return SectionAccess(op, type_, Polynomial.constant(0), writes)
    width = size_of(type_) if place.unit == i8 else 1
    return SectionAccess(op, place.unit, place.index, writes, width)


def _atomic(
    op: acc.AtomicReadOp | acc.AtomicWriteOp | acc.AtomicUpdateOp, index: int, place: _PointedPlace
) -> list[SectionAccess]:
    match op:
        case acc.AtomicReadOp():
            return [_access(op, place, op.element_type, index == 1)]
        case acc.AtomicWriteOp():
            return [_access(op, place, op.expr.type, True)]
        case acc.AtomicUpdateOp():
            type_ = op.region.block.args[0].type
            return [_access(op, place, type_, True), _access(op, place, type_, False)]


@dataclass(frozen=True)
class TouchedSection:
    """
    The elements touched, in units of `unit`: from the least of `lows` to the greatest of `highs`. None is
    touched unless all of `loops`, those around every access, have iterations.
    """

    unit: Attribute
    bounds: Extremes
    loops: tuple[LoopRange, ...] = field(default=(), compare=False)


def section_of(uses: PointerUses, symbols: RegionSymbols) -> TouchedSection | str:
    """The section that contains all accesses, or the reason why it is not known."""
    if uses.escapes:
        return uses.escapes[0]
    accesses = uses.accesses
    if not accesses:
        return "it is not subscripted"
    if len({access.unit for access in accesses}) > 1:
        accesses = [access.in_bytes() for access in accesses]
    outside = _facts_around(symbols)
    bounds: list[Extremes] = []
    around: list[LoopRange] = []
    known: dict[Block | None, tuple[list[LoopRange], Facts]] = {}
    touched: set[tuple[Block | None, Polynomial | None, int]] = set()
    for access in accesses:
        elements = access.op.parent, access.index, access.width
        if elements in touched:
            continue
        touched.add(elements)
        if access.index is None:
            return "a subscript is not an affine expression of loop variables"
        ranges = symbols.loop_ranges(access.op)
        reason = "a subscript is not an affine expression of loop variables"
        if ranges is None:  # loops on which the subscript does not depend do not matter
            ranges = symbols.known_loop_ranges(access.op)
            reason = "the bounds of a loop around it are not known before the construct"
        here = {loop.variable for loop in ranges}
        around = [loop for loop in (around if bounds else ranges) if loop.variable in here]
        if access.op.parent not in known:
            ranges = refine_by_conditions(ranges, access.op, symbols)
            known[access.op.parent] = ranges, Facts.of_loops(ranges).union(outside)
        ranges, facts = known[access.op.parent]
        index, sums = _guarded_sums(access, ranges, facts, symbols)
        found = extremes(index, [*sums, *ranges], facts.proves)
        if found is None and sums:
            found = extremes(access.index, ranges, facts.proves)
        if found is not None and access.unit == accesses[0].unit:
            found = _within_guards(found, access, facts, symbols)
        if found is not None and access.width > 1:
            found = Extremes(found.lows, tuple(high + (access.width - 1) for high in found.highs))
        if found is None or _has_loop_variables(found, symbols):
            return reason
        bounds.append(found)
    loops = tuple(loop for loop in around if not _are_inside((loop.lower, loop.last), symbols))
    return TouchedSection(accesses[0].unit, joined(bounds), loops)


def _facts_around(symbols: RegionSymbols) -> Facts:
    """What the loops around the construct say: of part of a loop, as `i < k`, it is the sign of `k`."""
    ranges: list[LoopRange] = []
    least: dict[Hashable, int] = {}
    for bounds in (b for op in operations_around(symbols.construct) for b in bounds_of(op)):
        found, variable = symbols.loop_range(*bounds), symbols.polynomial(bounds[0])
        if found is None or variable is None:
            continue
        ranges.append(found)
        first = found.lower.as_constant
        if first is not None:
            least.update(dict.fromkeys(variable.symbols, first))
    return Facts.of_loops(ranges).union(Facts((), least))


def _has_loop_variables(bounds: Extremes, symbols: RegionSymbols) -> bool:
    return _are_inside(bounds.lows + bounds.highs, symbols)


def _are_inside(polys: tuple[Polynomial, ...], symbols: RegionSymbols) -> bool:
    """Whether some of `polys` depend on values that exist only in the construct."""
    return any(
        isinstance(symbol, SSAValue) and symbols.is_inside(symbol)
        for poly in polys
        for symbol in poly.symbols
    )


def _within_guards(
    found: Extremes, access: SectionAccess, facts: Facts, symbols: RegionSymbols
) -> Extremes:
    """
    The extremes of a subscript that are within the conditions on the subscript itself which guard the access,
    as in `if (first + i < n) a[first + i] = …`.
    """
    assert access.index is not None
    lows, highs = found.lows, found.highs
    for predicate, left, right in _known_comparisons(access.op, symbols, facts.proves):
        for sign in (1, -1):
            limit = access.index - (left - right) * sign
            if any(isinstance(s, SSAValue) and symbols.is_inside(s) for s in limit.symbols):
                continue
            sense = predicate if sign == 1 else _SWAPPED[predicate]
            if sense in (SLT, SLE, EQ):
                end = limit - (1 if sense == SLT else 0)
                highs = tuple(_tighter(high, end, -1) for high in highs)
            if sense in (SGT, SGE, EQ):
                first = limit + (1 if sense == SGT else 0)
                lows = tuple(_tighter(low, first, 1) for low in lows)
            break
    return Extremes(lows, highs)


def _guarded_sums(
    access: SectionAccess, ranges: list[LoopRange], facts: Facts, symbols: RegionSymbols
) -> tuple[Polynomial, list[LoopRange]]:
    """
    The subscript with a symbol of its own for each sum of several loop variables that conditions around the
    access bound, and the ranges of these symbols: where `0 <= y + k && y + k < h` guards
    `a[(y + k) * w + x]`, `y + k` takes no values outside of h rows, though y and k together do.
    """
    index, sums = access.index, list[LoopRange]()
    assert index is not None
    variables = {loop.variable for loop in ranges}
    limits: dict[Polynomial, list[tuple[int, Polynomial]]] = {}
    for predicate, left, right in _known_comparisons(access.op, symbols, facts.proves):
        difference = left - right
        terms = {m: c for m, c in difference.terms.items() if not variables.isdisjoint(m)}
        total = Polynomial(terms)
        if len(terms) < 2 or total == index or -total == index:
            continue  # refine_by_conditions and _within_guards do these
        limit = total - difference
        if any(isinstance(s, SSAValue) and symbols.is_inside(s) for s in limit.symbols):
            continue
        if -total in limits or (total not in limits and next(iter(terms.values())) < 0):
            total, limit, predicate = -total, -limit, _SWAPPED[predicate]
        limits.setdefault(total, []).append((predicate, limit))
    for total, bounds in limits.items():
        parts, natural = divide(index, total), extremes(total, ranges, facts.proves)
        if (
            parts is None
            or not parts[0].terms
            or not variables.isdisjoint(total.symbols & parts[1].symbols)
        ):
            continue
        lows = [*natural.lows] if natural is not None and len(natural.lows) == 1 else []
        highs = [*natural.highs] if natural is not None and len(natural.highs) == 1 else []
        for predicate, limit in bounds:
            if predicate in (SGT, SGE, EQ):
                lows.append(limit + (1 if predicate == SGT else 0))
            if predicate in (SLT, SLE, EQ):
                highs.append(limit - (1 if predicate == SLT else 0))
        if lows and highs:
            lower = reduce(lambda known, low: _tighter(known, low, 1), lows)
            last = reduce(lambda known, high: _tighter(known, high, -1), highs)
            sums.append(LoopRange(("sum", total), lower, last))
            index = parts[0] * Polynomial.symbol(sums[-1].variable) + parts[1]
    return index, sums


def guards(op: Operation, construct: Operation) -> Iterator[tuple[SSAValue, bool]]:
    """The comparisons around `op` in the construct, and whether each holds there."""
    child: Operation = op
    parent = op.parent_op()
    while parent is not None and parent is not construct:
        if isinstance(parent, scf.IfOp):
            yield from facts(parent.cond, child.parent_region() is parent.true_region)
        child, parent = parent, parent.parent_op()


def refine_by_conditions(
    ranges: list[LoopRange], op: Operation, symbols: RegionSymbols
) -> list[LoopRange]:
    """Narrows loop ranges by the comparisons of loop variables that guard `op`."""
    refined = {loop.variable: loop for loop in ranges}

    def proves(poly: Polynomial) -> bool:
        return Facts.of_loops(ranges).proves(poly)

    for comparison in _known_comparisons(op, symbols, proves):
        _refine(refined, *comparison)
    return [refined[loop.variable] for loop in ranges]


def _known_comparisons(
    op: Operation, symbols: RegionSymbols, proves: NotNegative
) -> Iterator[tuple[int, Polynomial, Polynomial]]:
    """What the conditions around `op` say of two polynomials (see `_comparisons`)."""
    for condition, holds in guards(op, symbols.construct):
        yield from _comparisons(condition, holds, symbols, proves)


_NEGATED = {EQ: NE, NE: EQ, SLT: SGE, SLE: SGT, SGT: SLE, SGE: SLT}
"""Signed predicates and those that hold where they fail."""

_SWAPPED = {EQ: EQ, NE: NE, SLT: SGT, SLE: SGE, SGT: SLT, SGE: SLE}
"""Signed predicates and those for exchanged operands."""


def _comparisons(
    condition: SSAValue, holds: bool, symbols: RegionSymbols, proves: NotNegative
) -> list[tuple[int, Polynomial, Polynomial]]:
    """
    What a condition says of two polynomials, by signed predicates, if it holds or fails. `a < b` of unsigned
    numbers says `0 <= a < b` where `proves` knows that b is not negative.
    """
    owner = condition.owner
    if not isinstance(owner, arith.CmpiOp):
        return []
    left, right = symbols.polynomial(owner.lhs), symbols.polynomial(owner.rhs)
    if left is None or right is None:
        return []
    predicate = owner.predicate.value.data
    if predicate in _NEGATED:
        return [(predicate if holds else _NEGATED[predicate], left, right)]
    if predicate in (UGT, UGE):
        predicate, left, right = (ULT if predicate == UGT else ULE), right, left
    if not holds:
        predicate, left, right = (ULE if predicate == ULT else ULT), right, left
    if not proves(right):
        return []
    return [(SGE, left, ZERO), (SLT if predicate == ULT else SLE, left, right)]


def _refine(
    ranges: dict[Hashable, LoopRange], predicate: int, left: Polynomial, right: Polynomial
) -> None:
    """Narrows the ranges of loop variables that a comparison bounds."""
    for variable in list(ranges):
        parts = (left - right).split(variable)
        if parts is None or parts[1].as_constant not in (1, -1):
            continue
        # variable + rest  <predicate>  0, or with the sides exchanged
        limit = -parts[0] if parts[1].as_constant == 1 else parts[0]
        sense = predicate if parts[1].as_constant == 1 else _SWAPPED[predicate]
        if any(symbol in ranges for symbol in limit.symbols):
            continue
        ranges[variable] = _narrow(ranges[variable], sense, limit)


def _narrow(loop: LoopRange, predicate: int, limit: Polynomial) -> LoopRange:
    """The range of the loop's variable where `variable <predicate> limit` also holds."""
    lower, last = loop.lower, loop.last
    if predicate == EQ:
        return LoopRange(loop.variable, limit, limit)
    if predicate in (SGT, SGE):
        lower = _tighter(lower, limit + (1 if predicate == SGT else 0), 1)
    elif predicate in (SLT, SLE):
        last = _tighter(last, limit - (1 if predicate == SLT else 0), -1)
    return LoopRange(loop.variable, lower, last)


def _tighter(known: Polynomial, condition: Polynomial, direction: int) -> Polynomial:
    """The condition's bound, unless the known bound is certainly tighter."""
    difference = (known - condition).as_constant
    if difference is not None and difference * direction > 0:
        return known
    return condition
