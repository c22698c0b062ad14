"""The conditions around the loop over terms of a product: `if (j <= i) for k: sum += a[i][k] * b[j][k]`."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence

from xdsl.dialects import acc, arith, scf
from xdsl.ir import Operation, SSAValue

from ....dialects.accx_cache import HoldsInBlockOp
from ...decisions.polynomials import Polynomial
from ...decisions.product_guards import ProductGuard, Sides, guard_of, what_reads_all
from ..ops.acc_ops import is_defined_inside
from ..ops.building import constant_value
from ..ops.predicates import EQ, NE, SGE, SGT, SLE, SLT, UGE, UGT, ULE, ULT
from .product_loads import ExactSymbols, Factor, Loads

_OPPOSITE = {
    EQ: NE,
    NE: EQ,
    SLT: SGE,
    SGE: SLT,
    SLE: SGT,
    SGT: SLE,
    ULT: UGE,
    UGE: ULT,
    ULE: UGT,
    UGT: ULE,
}
_SIGNED = {ULT: SLT, ULE: SLE, UGT: SGT, UGE: SGE}


def guards_around(loop: Operation) -> tuple[Operation | None, tuple[scf.IfOp, ...]]:
    """The operation around the conditions that `loop` is under, and these, innermost first."""
    found: list[scf.IfOp] = []
    around = loop.parent_op()
    while isinstance(around, scf.IfOp):
        if not isinstance(around.cond.owner, HoldsInBlockOp):
            found.append(around)
        around = around.parent_op()
    return around, tuple(found)


def holds_inside(guard: scf.IfOp, op: Operation) -> bool:
    """Whether the condition of `guard` holds where `op` is; otherwise `op` is in its other branch."""
    return op.parent_region() is guard.true_region


def comparisons(value: SSAValue, *, holds: bool) -> Iterator[tuple[arith.CmpiOp, int] | None]:
    """
    Comparisons, each with a predicate, that hold if `value` (i1) does, or does not, and whose conjunction
    implies it; None among them for others.
    """
    match value.owner:
        case arith.CmpiOp() as op:
            predicate = op.predicate.value.data
            yield op, predicate if holds else _OPPOSITE[predicate]
        case arith.XOrIOp() as op if constant_value(op.rhs) is not None:
            yield from comparisons(op.lhs, holds=holds != bool(constant_value(op.rhs)))
        case arith.AndIOp() as op if holds:
            yield from comparisons(op.lhs, holds=True)
            yield from comparisons(op.rhs, holds=True)
        case arith.OrIOp() as op if not holds:
            yield from comparisons(op.lhs, holds=False)
            yield from comparisons(op.rhs, holds=False)
        case arith.SelectOp() as op if holds and constant_value(op.rhs) == 0:
            yield from comparisons(op.cond, holds=True)
            yield from comparisons(op.lhs, holds=True)
        case arith.SelectOp() as op if not holds and constant_value(op.lhs) not in (None, 0):
            yield from comparisons(op.cond, holds=False)
            yield from comparisons(op.rhs, holds=False)
        case _:
            yield None


def _nonnegative(predicate: int, difference: Polynomial) -> list[Polynomial]:
    """Polynomials that are at least 0 exactly if a difference of two values satisfies a predicate."""
    return {
        EQ: [difference, -difference],
        SLT: [-difference - 1],
        SLE: [-difference],
        SGT: [difference - 1],
        SGE: [difference],
    }[predicate]


def _is_counter(poly: Polynomial, sides: Sides) -> bool:
    """Whether a polynomial is a parallel loop's variable, or a sum with it, that is never negative."""
    for variable, (first, _) in ((sides.row, sides.rows), (sides.column, sides.columns)):
        least = first.as_constant
        rest = (poly - Polynomial.symbol(variable)).as_constant
        if least is not None and rest is not None:
            return least + rest >= 0
    return False


def _guard_of(
    op: arith.CmpiOp, predicate: int, symbols: ExactSymbols, sides: Sides
) -> ProductGuard | None:
    left, right = symbols.polynomial(op.lhs), symbols.polynomial(op.rhs)
    if predicate in _SIGNED:
        if not (_is_counter(left, sides) and _is_counter(right, sides)):
            return None
        predicate = _SIGNED[predicate]
    if predicate != NE:
        return guard_of(_nonnegative(predicate, left - right), sides)
    if guard_of([left - right], sides) is None:
        return None
    return ProductGuard(unequal=True)


def _bounds(loop: acc.LoopOp, symbols: ExactSymbols) -> tuple[Polynomial, Polynomial]:
    return symbols.polynomial(loop.lowerbound[0]), symbols.polynomial(loop.upperbound[0])


def tests_of_guards(
    guards: Sequence[scf.IfOp],
    loop: Operation,
    loops: tuple[acc.LoopOp, acc.LoopOp],
    loads: Loads,
    construct: acc.ParallelOp,
) -> list[Polynomial] | None:
    """
    Polynomials over values from outside the construct that are at least 0 only if the program reads all that
    the sums of `loop` read without its guards; None if that cannot be known. `loops`: the parallel loops
    around it, outermost first, which have the same bounds in all their iterations.
    """
    outer, inner = loops
    symbols = ExactSymbols(construct)
    row, column = (each.region.block.args[0] for each in loops)
    moving = {row, column, *loop.regions[0].block.args}
    for factor in (*loads.outer, *loads.inner):
        if any(_is_of_iteration(s, outer) for s in _symbols(factor) - moving):
            return None
    alike = _elements(loads.outer, row) == _elements(loads.inner, column)
    sides = Sides(row, column, _bounds(outer, symbols), _bounds(inner, symbols), alike)
    total = ProductGuard()
    place = loop
    for guard in guards:
        while place.parent_op() is not guard:
            parent = place.parent_op()
            assert parent is not None
            place = parent
        for found in comparisons(guard.cond, holds=holds_inside(guard, place)):
            each = None if found is None else _guard_of(*found, symbols, sides)
            both = None if each is None else total.and_also(each)
            if both is None:
                return None
            total = both
    tests = what_reads_all(total, sides)
    if tests is None or any(_is_of_iteration(s, construct) for poly in tests for s in poly.symbols):
        return None
    return tests


def _is_of_iteration(symbol: Hashable, around: Operation) -> bool:
    return not isinstance(symbol, SSAValue) or is_defined_inside(symbol, around)


def _symbols(factor: Factor) -> set[Hashable]:
    place = factor.place
    return {s for poly in (place.row, place.column, place.stride) for s in poly.symbols}


def _elements(factors: Sequence[Factor], own: SSAValue) -> set[Hashable]:
    return {factor.element_along(own) for factor in factors}
