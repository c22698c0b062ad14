"""Loops over the entries of rows that have lengths of their own: loaded from an array, or of a triangle."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field

from xdsl.dialects import acc, arith, llvm, scf
from xdsl.dialects.builtin import IntegerType
from xdsl.ir import SSAValue

from ....dialects.volatility import is_ordered
from ...decisions.polynomials import Polynomial
from ..ops.building import constant_value
from ..ops.loop_bounds import LoopLike, bounds_of
from ..values.addresses import base_of, steps_to
from ..values.region_values import RegionSymbols
from ..values.value_polynomials import from_value


@dataclass(frozen=True)
class Bound:
    """A bound of row i: element `index` (a polynomial in i) of `array`, of `type`, as `load` reads it."""

    array: SSAValue
    index: Polynomial
    type: IntegerType
    load: llvm.LoadOp = field(compare=False)


Bounds = tuple[Bound | None, Bound]
"""The bounds of a row's entries (None: 0)."""


def _is_once(load: llvm.LoadOp, outer: acc.LoopOp) -> bool:
    """Whether an iteration of `outer` runs `load` at most once: in its body, or in conditionals there."""
    parent = load.parent_op()
    while isinstance(parent, scf.IfOp):
        parent = parent.parent_op()
    return parent is outer


def _bound(value: SSAValue, outer: acc.LoopOp, symbols: RegionSymbols) -> Bound | None:
    """`value` as element i + c of an array, loaded in every iteration i."""
    while isinstance(value.owner, arith.ExtSIOp | arith.ExtUIOp | arith.TruncIOp | arith.SelectOp):
        choice = isinstance(value.owner, arith.SelectOp)
        value = _without_choice(value) if choice else value.owner.operands[0]
    load = value.owner
    if not isinstance(load, llvm.LoadOp) or is_ordered(load) or not _is_once(load, outer):
        return None
    array, type = base_of(load.ptr), value.type
    steps = list(steps_to(load.ptr))
    if len(steps) != 1 or steps[0].member or not isinstance(type, IntegerType):
        return None
    index, unit = steps[0].read_flat(symbols)
    parts = None if index is None else index.split(outer.region.block.args[0])
    if index is None or parts is None or parts[1].as_constant != 1 or unit != type:
        return None
    if any(isinstance(s, SSAValue) and symbols.is_inside(s) for s in parts[0].symbols):
        return None
    return Bound(array, index, type, load)


def loaded_bounds(loop: LoopLike, outer: acc.LoopOp, symbols: RegionSymbols) -> Bounds | None:
    """
    The bounds of the entries of a row of `outer`, of which `loop` has as many iterations, apart from a
    constant: also where it counts from 0 to the difference of two, or from elsewhere. None if there are none.
    """
    (_, low, high, step), *more = bounds_of(loop)
    if more or constant_value(step) != 1:
        return None

    def symbol(value: SSAValue) -> Hashable | None:
        return _bound(value, outer, symbols) or symbols.symbol(value)

    first, past = (from_value(_without_choice(value), symbol) for value in (low, high))
    if first is None or past is None:
        return None
    found: dict[int, list[Bound]] = {1: [], -1: []}
    for monomial, factor in (past - first).terms.items():
        match monomial:
            case ():
                pass
            case (Bound() as bound,) if factor in found:
                found[factor].append(bound)
            case _:
                return None
    lower, upper = found[-1], found[1]
    if len(upper) != 1 or len(lower) > 1 or any(bound.type != upper[0].type for bound in lower):
        return None
    return lower[0] if lower else None, upper[0]


def triangle_length(
    loop: LoopLike, outer: acc.LoopOp, symbols: RegionSymbols
) -> tuple[Polynomial, Polynomial] | None:
    """
    The length of a row of `outer`, entries of which are the iterations of `loop`, where it is known before
    the construct or grows from one row to the next: a constant part, and the factor of the row's variable.
    """
    (_, low, high, step), *more = bounds_of(loop)
    first, past = symbols.polynomial(low), symbols.polynomial(high)
    if more or constant_value(step) != 1 or first is None or past is None:
        return None
    parts = (past - first).split(outer.region.block.args[0])
    used = () if parts is None else (*parts[0].symbols, *parts[1].symbols)
    if any(isinstance(s, SSAValue) and symbols.is_inside(s) for s in used):
        return None
    return parts


def _without_choice(value: SSAValue) -> SSAValue:
    """
    The first value of a choice: the other is taken only if an unsigned end leaves no iterations to a signed
    counter.
    """
    return value.owner.lhs if isinstance(value.owner, arith.SelectOp) else value


def follow_each_other(bounds: Bounds, outer: acc.LoopOp) -> bool:
    """Whether each row's entries end where the next row's begin."""
    lower, upper = bounds
    if lower is None or lower.array is not upper.array:
        return False
    return (upper.index - lower.index).as_constant == constant_value(outer.step[0])
