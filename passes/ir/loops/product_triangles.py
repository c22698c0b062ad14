"""The triangles of products: nests whose inner loop is bounded by the variable of the outer one."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from xdsl.dialects import acc, llvm
from xdsl.ir import Operation, SSAValue

from ...decisions.polynomials import Polynomial
from ..data.cached_accesses import Symbols
from ..ops.acc_ops import is_defined_inside
from ..ops.purity import is_pure
from ..values.addresses import base_of
from .product_guards import tests_of_guards
from .products import OWN, Terms, is_fixed_in


@dataclass(frozen=True)
class Triangle:
    """
    The inner loop's bounds over all rows, the outer loop's bounds without empty rows, and the bound that
    moves with the outer loop (`below`: it is the upper bound).
    """

    outer: tuple[Polynomial, Polynomial]
    inner: tuple[Polynomial, Polynomial]
    below: bool

    @property
    def rows(self) -> Polynomial:
        """The number of iterations of the outer loop."""
        return self.outer[1] - self.outer[0]


def _bounds(loop: acc.LoopOp, symbols: Symbols) -> tuple[Polynomial, Polynomial]:
    first, end = (symbols.polynomial(v) for v in (loop.lowerbound[0], loop.upperbound[0]))
    return first, end


def _offset(bound: Polynomial, row: SSAValue) -> Polynomial | None:
    """The polynomial added to the outer variable in a bound; None if the bound has another form."""
    parts = bound.split(row)
    return None if parts is None or parts[1].as_constant != 1 else parts[0]


def is_own(op: Operation) -> bool:
    """Whether an operation has no effect on memory that other iterations may access."""
    if isinstance(op, llvm.LoadOp | llvm.StoreOp):
        return isinstance(base_of(op.ptr).owner, OWN)
    return isinstance(op, llvm.AllocaOp) or (is_pure(op) and not op.regions)


def find_triangle(
    terms: Terms, construct: acc.ParallelOp, without: Collection[Operation] = ()
) -> Triangle | None:
    """
    The triangle that the parallel loops around `terms` cover; None if it is not one that can become a
    rectangle. `without`: operations of the outer loop's body that will have been moved elsewhere.
    """
    outer, inner = terms.outer, terms.inner
    symbols = Symbols(construct)
    row = outer.region.block.args[0]
    first, end = _bounds(outer, symbols)
    low, high = _bounds(inner, symbols)
    known = first.symbols | end.symbols | ((low.symbols | high.symbols) - {row})
    if any(isinstance(s, SSAValue) and is_defined_inside(s, construct) for s in known):
        return None
    others = [op for op in outer.region.block.ops if op is not inner and op not in without]
    tight = all(isinstance(op, acc.YieldOp) or is_own(op) for op in others)
    if not tight or inner.private_operands or inner.firstprivate_operands:
        return None
    above, below = _offset(low, row), _offset(high, row)
    if below is not None and row not in low.symbols:
        start = low - below + 1
        if (missing := (start - first).as_constant) is None or missing > 0:
            return None if missing is None else Triangle((start, end), (low, end - 1 + below), True)
        return Triangle((first, end), (low, end - 1 + below), True)
    if above is not None and row not in high.symbols:
        stop = high - above
        if (missing := (end - stop).as_constant) is None or missing > 0:
            return (
                None if missing is None else Triangle((first, stop), (first + above, high), False)
            )
        return Triangle((first, end), (first + above, high), False)
    return None


def is_fixed(terms: Terms) -> bool:
    """Whether the inner loop has the same bounds in all iterations of the outer one."""
    bounds = (terms.inner.lowerbound[0], terms.inner.upperbound[0])
    return all(is_fixed_in(bound, terms.outer) for bound in bounds)


def can_be_tiled(
    terms: Terms, construct: acc.ParallelOp, without: Collection[Operation] = ()
) -> bool:
    """
    Whether the loops around `terms` are a rectangle, or a triangle that can become one, or the conditions
    around its loop may be left out; `without`: as for `find_triangle`.
    """
    if terms.guards:
        return tests_without_guards(terms, construct) is not None
    if is_fixed(terms):
        return True
    triangle = find_triangle(terms, construct, without)
    return triangle is not None and (not terms.independent or shares_all(terms, triangle))


def tests_without_guards(terms: Terms, construct: acc.ParallelOp) -> list[Polynomial] | None:
    """As `tests_of_guards`; None also if the loops are a triangle, or sums may overlap factors."""
    if terms.independent or not is_fixed(terms):
        return None
    return tests_of_guards(
        terms.guards, terms.loop, (terms.outer, terms.inner), terms.loads, construct
    )


def shares_all(terms: Terms, triangle: Triangle) -> bool:
    """
    Whether two iterations of a triangle of at least two rows read each element of its factors. Both sides
    must read the same elements, and the triangle must contain its diagonal or begin beside it: a column of
    one iteration is then also a row of the others (row `x` of `j > i` has `m - 1 - x` iterations, column `x`
    has `x`).
    """
    low, high = triangle.inner[0] - triangle.outer[0], triangle.inner[1] - triangle.outer[1]
    beside = high.as_constant in (0, -1) if triangle.below else low.as_constant in (0, 1)
    sides = (terms.outer, terms.loads.outer), (terms.inner, terms.loads.inner)
    read = [
        {factor.element_along(loop.region.block.args[0]) for factor in all_} for loop, all_ in sides
    ]
    return beside and read[0] == read[1]
