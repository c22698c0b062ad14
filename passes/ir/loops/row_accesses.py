"""What the rows of a nest access that a thread could process side by side."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import dataclass

from xdsl.dialects import llvm
from xdsl.ir import SSAValue

from ...decisions.polynomials import Polynomial
from ...decisions.row_sharing import RowAccesses
from ..ops.acc_ops import PRIVATIZING_OPS, is_defined_inside
from ..values.addresses import base_of
from ..values.region_values import RegionSymbols
from ..values.strides import flat_steps
from .jammed_nests import JammedNest


def is_own(pointer: SSAValue) -> bool:
    """Whether `pointer` points into a variable of the thread."""
    return isinstance(base_of(pointer).owner, (llvm.AllocaOp, *PRIVATIZING_OPS))


def _accesses(nest: JammedNest) -> Iterator[llvm.LoadOp | llvm.StoreOp]:
    """The loads and stores of a row, except for those of the thread's own variables."""
    for op in (inner for part in (*nest.sunk, nest.inner) for inner in part.walk()):
        if isinstance(op, llvm.LoadOp | llvm.StoreOp) and not is_own(op.ptr):
            yield op


@dataclass(frozen=True)
class _Rows:
    """The rows of a nest, of which the first is `variable`, and each `distance` after the one before."""

    nest: JammedNest
    symbols: RegionSymbols
    variable: SSAValue
    distance: Polynomial

    def elements(self, pointer: SSAValue) -> list[Hashable]:
        """
        The element at `pointer` in each row: equal ones are the same. Addresses that are not polynomials of
        what is known before the nest are assumed to differ from row to row.
        """
        rows = range(self.nest.elements)
        base, steps = base_of(pointer), flat_steps(pointer, self.symbols)
        if is_defined_inside(base, self.nest.outer):
            return [(pointer, row) for row in rows]
        found: list[Hashable] = []
        for row in rows:
            first = Polynomial.symbol(self.variable) + self.distance * row
            moved = [None if p is None else p.substitute(self.variable, first) for p, _ in steps]
            if None in moved:
                return [(pointer, row) for row in rows]
            found.append((base, *zip(moved, (type_ for _, type_ in steps), strict=True)))
        return found


def row_accesses(nest: JammedNest) -> RowAccesses:
    """What the rows of `nest` access, before it is jammed."""
    outer, symbols = nest.outer, RegionSymbols(nest.outer)
    step = symbols.polynomial(outer.step[0])
    distance = Polynomial.symbol(outer.step[0]) if step is None else step
    rows = _Rows(nest, symbols, outer.region.block.args[0], distance)
    single: set[Hashable] = set()
    together: set[Hashable] = set()
    for op in _accesses(nest):
        elements = rows.elements(op.ptr)
        single.add(elements[0])
        together.update(elements)
    return RowAccesses(nest.elements, len(single), len(together))
