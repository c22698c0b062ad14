"""
Accesses with what conditions around them and choices in their subscripts say, for
`decisions/guarded_dependence.py`.

A subscript `j == 0 ? m - 1 : j - 1` makes two places of an access: at `m - 1`, where `j` is 0, and at
`j - 1`, where it is not. An `scf.if` around an access says that its condition holds. Conditions are read if
they compare polynomials, in which remainders are symbols.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from xdsl.dialects import arith, llvm, scf
from xdsl.dialects.builtin import i1
from xdsl.ir import Operation, OpResult, SSAValue

from ....dialects.accx_element import Index
from ...decisions.guarded_dependence import GuardedPlace, Residue
from ...decisions.polynomials import Polynomial
from ...decisions.ranges import LoopRange
from ..ops.acc_ops import is_defined_inside, operations_around
from ..ops.building import constant_value
from ..ops.loop_bounds import Bounds, bounds_of
from ..ops.predicates import EQ, NE, SGE, SGT, SLE, SLT
from ..ops.purity import is_pure
from ..values.accesses import LoopAccess, subscripts_of
from ..values.loop_symbols import LoopSymbols
from ..values.value_polynomials import from_value
from .loop_accesses import wraps_at_once

MOST_PLACES = 16
"""The most places of one access; choices multiply."""

_EXPANDED = (
    arith.AddiOp,
    arith.SubiOp,
    arith.MuliOp,
    arith.ShLIOp,
    arith.ExtSIOp,
    arith.ExtUIOp,
    arith.TruncIOp,
    arith.IndexCastOp,
    arith.ConstantOp,
)
"""Operations that polynomials are made of."""


@dataclass(frozen=True)
class _Choice:
    """A symbol for one of two values."""

    condition: SSAValue
    yes: SSAValue
    no: SSAValue


@dataclass(frozen=True)
class _Fixed:
    """A symbol for a value that is computed in the loop, and is the same in all iterations."""

    value: SSAValue


@dataclass(frozen=True)
class _Facts:
    """What holds in a place: polynomials that are 0, that are not 0, and that are at least 0."""

    zeros: tuple[Polynomial, ...] = ()
    others: tuple[Polynomial, ...] = ()
    positive: tuple[Polynomial, ...] = ()

    def __add__(self, more: _Facts) -> _Facts:
        return _Facts(
            self.zeros + more.zeros, self.others + more.others, self.positive + more.positive
        )

    def replaced(self, choice: _Choice, value: Polynomial) -> _Facts:
        return _Facts(
            _replaced(self.zeros, choice, value),
            _replaced(self.others, choice, value),
            _replaced(self.positive, choice, value),
        )


def _replaced(
    polys: Sequence[Polynomial], choice: _Choice, value: Polynomial
) -> tuple[Polynomial, ...]:
    def put(symbol: Hashable) -> Polynomial:
        if symbol == choice:
            return value
        if isinstance(symbol, Residue):
            dividend, modulus = symbol.dividend.mapped(put), symbol.modulus.mapped(put)
            return Polynomial.symbol(Residue(dividend, modulus, symbol.floored))
        return Polynomial.symbol(symbol)

    return tuple(poly.mapped(put) for poly in polys)


def _choice_in(polys: Iterable[Polynomial]) -> _Choice | None:
    work = list(polys)
    while work:
        for symbol in work.pop().symbols:
            if isinstance(symbol, _Choice):
                return symbol
            if isinstance(symbol, Residue):
                work += [symbol.dividend, symbol.modulus]
    return None


class GuardedAccesses:
    """Reads the accesses of the loop of `symbols`."""

    def __init__(self, symbols: LoopSymbols):
        self.symbols = symbols
        self.steps: dict[Hashable, int] = {}
        self.starts: dict[Hashable, Polynomial] = {}
        self.fixed: dict[Hashable, LoopRange] = {}
        """The ranges of values that are computed in the loop, and the same in all iterations."""
        self._known: dict[SSAValue | Index, Polynomial | None] = {}
        self._places: dict[tuple[LoopAccess, SSAValue], list[GuardedPlace] | None] = {}

    def places(self, access: LoopAccess, variable: SSAValue) -> list[GuardedPlace] | None:
        """The places of an access in the loop over `variable`; None if they are not known, or too many."""
        key = access, variable
        if key not in self._places:
            self._places[key] = self._read(access, variable)
        return self._places[key]

    # Values.

    def polynomial(self, value: SSAValue | Index) -> Polynomial | None:
        if value not in self._known:
            narrowed: list[Polynomial] = []
            found = from_value(
                value, self._symbol, narrowed=lambda poly, width: narrowed.append(poly)
            )
            wraps = narrowed or (found is not None and wraps_at_once(found))
            self._known[value] = None if wraps else found
        return self._known[value]

    def _symbol(self, value: SSAValue) -> Hashable | None:
        owner = value.owner
        if isinstance(owner, arith.RemSIOp | arith.RemUIOp | arith.AndIOp):
            residue = self._residue(owner)
            if residue is not None:
                return residue
        symbol = self.symbols.symbol(value)
        if symbol is not None or isinstance(owner, _EXPANDED) or not isinstance(owner, Operation):
            return symbol
        if self._is_fixed(value):
            self._note_range(_Fixed(value), owner)
            return _Fixed(value)
        return self._choice(value)

    def _residue(self, op: arith.RemSIOp | arith.RemUIOp | arith.AndIOp) -> Residue | None:
        if op.result.type == i1:
            return None
        dividend, number = self.polynomial(op.lhs), constant_value(op.rhs)
        if dividend is None:
            return None
        if isinstance(op, arith.RemSIOp):
            modulus = self.polynomial(op.rhs)
            fixed = modulus is not None and all(map(self.symbols.is_invariant, modulus.symbols))
            usable = fixed and (number is None or number > 0)
            return Residue(dividend, modulus) if modulus is not None and usable else None
        if number is None:
            return None
        modulus = number + 1 if isinstance(op, arith.AndIOp) else number
        power = modulus > 1 and modulus & (modulus - 1) == 0
        return Residue(dividend, Polynomial.constant(modulus), floored=True) if power else None

    def _is_fixed(self, value: SSAValue) -> bool:
        """Whether a value is the same in all iterations of the loop."""
        if not is_defined_inside(value, self.symbols.loop):
            return True
        op = value.owner
        if not isinstance(op, Operation) or not is_pure(op) or op.regions:
            return False
        return all(map(self._is_fixed, op.operands))

    def _note_range(self, symbol: _Fixed, op: Operation) -> None:
        if isinstance(op, arith.SelectOp):
            ends = [constant_value(value) for value in (op.lhs, op.rhs)]
            known = [end for end in ends if end is not None]
            if len(known) == len(ends):
                low, high = Polynomial.constant(min(known)), Polynomial.constant(max(known))
                self.fixed[symbol] = LoopRange(symbol, low, high)

    def _choice(self, value: SSAValue) -> _Choice | None:
        op = value.owner
        if isinstance(op, arith.SelectOp) and value.type != i1:
            return _Choice(op.cond, op.lhs, op.rhs)
        if isinstance(op, scf.IfOp) and isinstance(value, OpResult) and value.type != i1:
            ends = [region.block.last_op for region in (op.true_region, op.false_region)]
            yes, no = (None if end is None else end.operands[value.index] for end in ends)
            return None if yes is None or no is None else _Choice(op.cond, yes, no)
        return None

    # Conditions.

    def _facts(self, condition: SSAValue, *, holds: bool) -> _Facts:
        op = condition.owner
        match op:
            case arith.CmpiOp():
                return self._comparison(op, holds=holds)
            case arith.AndIOp() if holds:
                return self._facts(op.lhs, holds=True) + self._facts(op.rhs, holds=True)
            case arith.OrIOp() if not holds:
                return self._facts(op.lhs, holds=False) + self._facts(op.rhs, holds=False)
            case arith.XOrIOp() if constant_value(op.rhs) in (1, -1):
                return self._facts(op.lhs, holds=not holds)
            case _:
                return _Facts()

    def _comparison(self, op: arith.CmpiOp, *, holds: bool) -> _Facts:
        left, right = self.polynomial(op.lhs), self.polynomial(op.rhs)
        if left is None or right is None:
            return _Facts()
        predicate, over = op.predicate.value.data, left - right
        if predicate in (EQ, NE):
            if (predicate == EQ) == holds:
                return _Facts(zeros=(over,))
            return _Facts(zeros=_odd(over), others=(over,))
        if not holds:
            opposite = {SLT: SGE, SGE: SLT, SGT: SLE, SLE: SGT}
            if predicate not in opposite:
                return _Facts()
            predicate = opposite[predicate]
        positive = {SLT: -over - 1, SLE: -over, SGT: over - 1, SGE: over}
        return _Facts(positive=(positive[predicate],)) if predicate in positive else _Facts()

    def _guards(self, op: Operation) -> _Facts:
        """What the conditions around an operation in the loop say."""
        facts, inner = _Facts(), op
        for around in operations_around(op, self.symbols.loop):
            if isinstance(around, scf.IfOp):
                holds = around.true_region.is_ancestor(inner)
                facts += self._facts(around.cond, holds=holds)
            inner = around
        return facts

    # Places.

    def _read(self, access: LoopAccess, variable: SSAValue) -> list[GuardedPlace] | None:
        op = access.op
        if not isinstance(op, llvm.LoadOp | llvm.StoreOp):
            return None
        found, units = subscripts_of(op.ptr, self)
        known = [poly for poly in found if poly is not None]
        if units != access.units or len(known) < len(found):
            return None
        loops = [self._range(*bounds) for bounds in self._bounds_around(op, variable)]
        own = next(self._range(*b) for b in bounds_of(self.symbols.loop) if b[0] is variable)
        options = [(tuple(known), self._guards(op))]
        places: list[GuardedPlace] = []
        while options:
            subscripts, facts = options.pop()
            choice = _choice_in((*subscripts, *facts.zeros))
            if choice is None:
                inner = tuple(self._narrowed(loop, facts, variable) for loop in loops)
                zeros = tuple(zero for zero in facts.zeros)
                holes = self._holes([*loops, own], facts, variable)
                places.append(
                    GuardedPlace(
                        subscripts, zeros, inner, self._narrowed(own, facts, variable), holes
                    )
                )
            else:
                for value, holds in ((choice.yes, True), (choice.no, False)):
                    poly = self.polynomial(value)
                    if poly is None:
                        return None
                    more = facts + self._facts(choice.condition, holds=holds)
                    options.append(
                        (_replaced(subscripts, choice, poly), more.replaced(choice, poly))
                    )
            if len(places) + len(options) > MOST_PLACES:
                return None
        return places

    def _bounds_around(self, op: Operation, variable: SSAValue) -> Iterator[Bounds]:
        """The loops around an operation inside the one over `variable`, innermost first."""
        for around in operations_around(op, self.symbols.loop):
            yield from reversed(bounds_of(around))
        for bounds in reversed(bounds_of(self.symbols.loop)):  # of a collapsed loop
            if bounds[0] is variable:
                return
            yield bounds

    def _range(
        self, variable: SSAValue, lower: SSAValue, upper: SSAValue, step: SSAValue
    ) -> LoopRange:
        """As `LoopSymbols.range_of`, with remainders in bounds; notes the step."""
        known = self.symbols.range_of(variable, lower, upper, step)
        low, high, by = self.polynomial(lower), self.polynomial(upper), constant_value(step)
        if low is not None and _choice_in((low,)) is None:
            known = replace(known, lower=low)
            if by is not None and by > 1:
                self.steps[variable], self.starts[variable] = by, low
        if high is not None and _choice_in((high,)) is None:
            known = replace(known, last=high - 1)
        return known

    def _narrowed(self, loop: LoopRange, facts: _Facts, variable: SSAValue) -> LoopRange:
        """The iterations of a loop in which `facts` hold, as far as they say something about its variable."""
        for poly in facts.positive:
            end = self._end(poly, loop.variable, variable)
            if end is not None and end[1] > 0:
                loop = replace(loop, lower=end[0])
            elif end is not None:
                loop = replace(loop, last=end[0])
        return loop

    def _holes(
        self, loops: Sequence[LoopRange], facts: _Facts, variable: SSAValue
    ) -> tuple[tuple[Hashable, Polynomial], ...]:
        """The values that variables of loops do not have where `facts` hold."""
        found = [
            (loop.variable, self._end(poly, loop.variable, variable))
            for poly in facts.others
            for loop in loops
        ]
        return tuple((counter, end[0]) for counter, end in found if end is not None)

    def _end(
        self, poly: Polynomial, counter: Hashable, variable: SSAValue
    ) -> tuple[Polynomial, int] | None:
        """Where `poly`, the counter or its negative plus values from before the loop, is 0; and its slope."""
        parts = poly.split(counter)
        slope = None if parts is None else parts[1].as_constant
        if parts is None or slope not in (1, -1):
            return None
        end = parts[0] * -slope
        outside = all(self.symbols.is_invariant(s) or s is variable for s in end.symbols)
        return (end, slope) if outside and counter not in end.symbols else None


def _odd(poly: Polynomial) -> tuple[Polynomial, ...]:
    """For a polynomial that is not 0: if it is a remainder of a division by 2, what is 0 then."""
    symbols = list(poly.symbols)
    residue = symbols[0] if len(symbols) == 1 else None
    two = Polynomial.constant(2)
    if not isinstance(residue, Residue) or residue.modulus != two:
        return ()
    if poly == Polynomial.symbol(residue):
        return (Polynomial.symbol(Residue(residue.dividend - 1, two)),)
    if residue.floored and poly == Polynomial.symbol(residue) - 1:
        return (Polynomial.symbol(residue),)
    return ()
