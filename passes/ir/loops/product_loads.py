"""
The loads in the body of a product's loop over terms, and how their addresses move with the enclosing
parallel loops.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field

from xdsl.dialects import acc, arith, llvm, scf
from xdsl.ir import Attribute, Operation, SSAValue

from ....dialects.accx_compress import DECODES
from ....dialects.accx_element import Index
from ....dialects.volatility import is_ordered
from ...decisions.polynomials import ZERO, Polynomial
from ...decisions.shared_sections import TermPlace, place_of
from ..data.cached_accesses import Symbols
from ..ops.acc_ops import MAPPING_OPS, bit_width, is_defined_inside, variable_name
from ..ops.building import constant_value
from ..ops.layout import size_of
from ..ops.purity import only_computes
from ..values.addresses import base_of, steps_to


class ExactSymbols(Symbols):
    """As `Symbols`, but arithmetic that may wrap around in a narrower type is a symbol of its own."""

    def symbol(self, value: SSAValue) -> Hashable | None:
        owner = value.owner
        if isinstance(owner, arith.ExtUIOp | arith.TruncIOp) and self._may_wrap(owner.operands[0]):
            return value
        return super().symbol(value)

    def polynomial(self, value: SSAValue | Index) -> Polynomial:
        if isinstance(value, Index) and value.unsigned and self._is_narrow(value.value):
            return Polynomial.symbol(value.value)
        return super().polynomial(value)

    def _is_narrow(self, value: SSAValue) -> bool:
        width = bit_width(value.type)
        return width is not None and width < 64 and self._may_wrap(value)

    def _may_wrap(self, value: SSAValue) -> bool:
        """Whether `value` is arithmetic that may wrap; a difference that counts a loop down does not."""
        if constant_value(value) is not None:
            return False
        poly = super().polynomial(value)
        if poly == Polynomial.symbol(value) or is_plain(poly):
            return False
        return not (isinstance(value.owner, arith.SubiOp) and _counts(poly))


def is_plain(poly: Polynomial) -> bool:
    """Whether a polynomial is one symbol."""
    return list(poly.terms.values()) == [1] and poly.degree == 1


def _counts(poly: Polynomial) -> bool:
    """Whether a polynomial is linear, with coefficients 1 and -1 only."""
    return poly.degree == 1 and all(c in (-1, 1) for m, c in poly.terms.items() if m)


@dataclass(frozen=True)
class Factor:
    """A load whose address moves with one of the parallel loops and with the loop over terms."""

    load: llvm.LoadOp
    base: SSAValue
    place: TermPlace

    @property
    def element(self) -> Attribute:
        return self.load.dereferenced_value.type

    @property
    def name(self) -> str:
        return variable_name(self.base)

    def element_along(self, own: SSAValue) -> Hashable:
        """What identifies the elements that it reads if the parallel loop's variable `own` has no name."""
        place, side = self.place, Polynomial.symbol("side")
        where = tuple(poly.substitute(own, side) for poly in (place.row, place.column))
        return self.base, self.element, where, place.stride, place.terms_along, place.backwards


@dataclass
class Loads:
    """The factors, by the parallel loop they move with, and the number of loads that move with both loops."""

    outer: list[Factor] = field(default_factory=list[Factor])
    inner: list[Factor] = field(default_factory=list[Factor])
    both: int = 0


def offset_of(pointer: SSAValue, symbols: Symbols) -> tuple[SSAValue, Polynomial]:
    """The array that a pointer points into, and its distance in bytes from the array's start."""
    total = ZERO
    for step in steps_to(pointer):
        distance = step.in_bytes(symbols)
        assert distance is not None
        total = total + distance
    return base_of(pointer), total


def read_loads(loop: scf.ForOp | acc.LoopOp, outer: SSAValue, inner: SSAValue) -> Loads | None:
    """
    The loads in the body of `loop`, up to the first that moves with both parallel loops (the nest is then
    not a product); None if the body does more than load, compute and update variables.
    """
    symbols = ExactSymbols(loop)
    term = loop.regions[0].block.args[0]
    found = Loads()
    for op in loop.regions[0].block.ops:
        if isinstance(op, llvm.StoreOp):
            continue
        if not isinstance(op, llvm.LoadOp):
            if not only_computes(op) and not isinstance(op, scf.YieldOp | acc.YieldOp):
                return None
            continue
        if is_ordered(op):
            return None
        _classify(op, symbols, loop, (outer, inner, term), found)
        if found.both:
            break
    return found


def _classify(
    op: llvm.LoadOp,
    symbols: Symbols,
    loop: Operation,
    variables: tuple[SSAValue, SSAValue, SSAValue],
    found: Loads,
) -> None:
    outer, inner, term = variables
    base, offset = offset_of(op.ptr, symbols)
    moves = [variable in offset.symbols for variable in variables]
    if not isinstance(base.owner, MAPPING_OPS) or DECODES in base.owner.attributes:
        found.both += any(moves[:2]) and moves[2]
        return
    inside = any(
        isinstance(s, SSAValue) and s is not term and is_defined_inside(s, loop)
        for s in offset.symbols
    )
    if inside or all(moves):
        found.both += 1
        return
    if not moves[2] or not any(moves[:2]):
        return
    element = size_of(op.dereferenced_value.type)
    own, other = (outer, inner) if moves[0] else (inner, outer)
    place = place_of(offset, element, own, other, term)
    if place is None:
        found.both += 1
    else:
        (found.outer if moves[0] else found.inner).append(Factor(op, base, place))
