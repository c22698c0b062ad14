"""
Values inside a loop as polynomials, and the ranges of the loops in and around it.

A symbol is a value that does not change during the loop. Tests on the host before the construct can use
those symbols that are known by then: values from outside the construct, and scalar variables that the
construct does not write.
"""

from __future__ import annotations

from collections.abc import Hashable

from xdsl.dialects import arith, llvm, scf
from xdsl.dialects.builtin import IntegerType
from xdsl.ir import Attribute, BlockArgument, Operation, OpResult, SSAValue

from ....dialects.accx_element import Index
from ...decisions.dependence import Subscripts, Unknown
from ...decisions.polynomials import Polynomial
from ...decisions.ranges import LoopRange
from ..ops.acc_ops import bit_width, is_defined_inside, operations_around
from ..ops.loop_bounds import LoopLike, bounds_of
from ..ops.predicates import SGE, SGT, SLE, SLT
from ..ops.same_values import same_value
from .accesses import place_key
from .host_scalars import HostScalars
from .region_values import (
    HostExpression,
    HostLoad,
    RegionSymbols,
    variable_key,
    variable_of,
)
from .value_polynomials import from_value

Limit = tuple[Polynomial, int]
"""A polynomial, and the number of low bits that a conversion keeps of its value."""


class LoopSymbols(RegionSymbols):
    """Reads values in `loop` as polynomials; `host` is the construct before which tests may run."""

    def __init__(self, loop: LoopLike, host: Operation | None):
        super().__init__(loop)
        self.loop = loop
        self.before = None if host is None else RegionSymbols(host, at_once=False)
        self.scalars = None if host is None else HostScalars(host)
        self.stored_types = _stored_types(loop)
        self.ranges_of: dict[Operation, tuple[LoopRange, ...]] = {}
        self.limits: list[Limit] = []
        """The limits on which the polynomials read so far rely; callers may clear it."""
        self._limits_of: dict[SSAValue | Index, list[Limit]] = {}
        self.outer_ranges = self._ranges(loop, None)

    def is_invariant(self, symbol: Hashable) -> bool:
        """Whether a symbol has one value in all iterations of the loop."""
        match symbol:
            case SSAValue():
                return not is_defined_inside(symbol, self.loop)
            case HostLoad():
                return True
            case HostExpression():
                return all(self.is_invariant(s) for poly in symbol.operands for s in poly.symbols)
            case _:
                return False

    def symbol(self, value: SSAValue) -> Hashable | None:
        """As in `RegionSymbols`; loads of one variable in the loop and before it are one symbol."""
        if self.before is not None and not isinstance(value, BlockArgument):
            early = self.before.symbol(value)
            if isinstance(early, HostLoad | HostExpression):
                return early
        return super().symbol(value)

    def polynomial(self, value: SSAValue | Index) -> Polynomial | None:
        if value not in self._limits_of:
            others, self.limits = self.limits, []
            self._polynomials[value] = from_value(value, self.symbol, narrowed=self._note_limit)
            self._limits_of[value], self.limits = self.limits, others
        self.limits += self._limits_of[value]
        return self._polynomials[value]

    def _note_limit(self, poly: Polynomial, width: int) -> None:
        self.limits.append((poly, width))

    def is_known_before(self, symbol: Hashable) -> bool:
        """Whether a symbol already has its value before the construct."""
        assert self.before is not None
        match symbol:
            case SSAValue():
                return isinstance(symbol.type, IntegerType) and not self.before.is_inside(symbol)
            case HostLoad():
                inside = isinstance(symbol.variable, SSAValue) and self.before.is_inside(
                    symbol.variable
                )
                if symbol.variable in self.before.written or inside:
                    return False
                return self.scalars is not None and self.scalars.knows(symbol)
            case HostExpression():
                return all(self.is_known_before(s) for p in symbol.operands for s in p.symbols)
            case _:
                return False

    def is_host_pointer(self, load: llvm.LoadOp) -> bool:
        """Whether a pointer is loaded from a variable that the construct does not write."""
        assert self.before is not None
        variable = variable_of(load.ptr)
        if not isinstance(variable.owner, llvm.AllocaOp | llvm.AddressOfOp):
            return False
        if isinstance(variable.owner, llvm.AllocaOp) and self.before.is_inside(variable):
            return False
        return variable_key(variable) not in self.before.written

    def pointer_key(self, load: llvm.LoadOp) -> Hashable | None:
        """A key for a loaded pointer that stays the same during the loop; None if the pointer may change."""
        owner = load.ptr.owner
        if isinstance(owner, llvm.AllocaOp | llvm.AddressOfOp):
            key = variable_key(load.ptr)
            return None if key in self.written else ("value of", key)
        if not self._keeps_pointers():
            return None
        place = place_key(load.ptr, self)
        if place is None or self._names_variables(place[1]):
            return None
        return "value at", place

    def _keeps_pointers(self) -> bool:
        """Whether no operation of the loop may write a pointer in memory."""
        return not any(
            isinstance(type_, llvm.LLVMPointerType) or bit_width(type_) == 8
            for type_ in self.stored_types
        )

    def _names_variables(self, subscripts: Subscripts) -> bool:
        return any(
            isinstance(symbol, SSAValue) and is_defined_inside(symbol, self.loop)
            for poly in subscripts
            if poly is not None
            for symbol in poly.symbols
        )

    # Ranges

    def inner_ranges(self, op: Operation) -> tuple[LoopRange, ...]:
        """The loops between `op` and the loop, innermost first."""
        parent = op.parent_op()
        assert parent is not None
        if parent not in self.ranges_of:
            self.ranges_of[parent] = self._ranges(op, self.loop)
        return self.ranges_of[parent]

    def _ranges(self, op: Operation, end: Operation | None) -> tuple[LoopRange, ...]:
        return tuple(
            self.range_of(*bounds)
            for around in operations_around(op, end)
            for bounds in reversed(bounds_of(around))
        )

    def own_ranges(
        self, variable: SSAValue
    ) -> tuple[LoopRange, tuple[LoopRange, ...], tuple[LoopRange, ...]]:
        """
        The range of one of the loop's variables, and the ranges of its variables inside and outside that
        one.
        """
        ranges = [self.range_of(*bounds) for bounds in bounds_of(self.loop)]
        assert isinstance(variable, BlockArgument)
        index = variable.index
        return ranges[index], tuple(reversed(ranges[index + 1 :])), tuple(reversed(ranges[:index]))

    def step_of(self, variable: SSAValue) -> SSAValue:
        assert isinstance(variable, BlockArgument)
        return bounds_of(self.loop)[variable.index][3]

    def range_of(
        self, variable: SSAValue, lower: SSAValue, upper: SSAValue, step: SSAValue
    ) -> LoopRange:
        """The range between a loop's bounds; a bound that is not a polynomial becomes a symbol of its own."""
        low, high = self._bound(lower, arith.MaxSIOp), self._bound(upper, arith.MinSIOp)
        if low is None:
            low = Polynomial.symbol(Unknown(variable, "lower"))
        last = Polynomial.symbol(Unknown(variable, "last")) if high is None else high - 1
        return LoopRange(variable, low, last)

    def _bound(
        self, value: SSAValue, tightest: type[arith.MaxSIOp] | type[arith.MinSIOp]
    ) -> Polynomial | None:
        """
        A polynomial that bounds the loop at least as widely as `value` does: for a minimum or maximum
        (`tightest`), either operand.
        """
        found = self.polynomial(value)
        ends = ends_of(value, tightest) if found is None else None
        if ends is None:
            return found
        bounds = [self._bound(end, tightest) for end in ends]
        known = [bound for bound in bounds if bound is not None]
        # A block of a loop around, cut off where that ends: the block says more.
        moving = [p for p in known if any(isinstance(s, BlockArgument) for s in p.symbols)]
        return next(iter((*moving, *known)), None)


def ends_of(
    value: SSAValue, kind: type[arith.MaxSIOp] | type[arith.MinSIOp]
) -> tuple[SSAValue, SSAValue] | None:
    """
    The two values of which `value` is the minimum (or maximum), also as `a < b ? a : b` or
    `if (b < a) a = b`; else None.
    """
    owner = value.owner
    match owner:
        case arith.MinSIOp() | arith.MaxSIOp():
            return (owner.lhs, owner.rhs) if isinstance(owner, kind) else None
        case arith.SelectOp():
            compare, chosen = owner.cond.owner, (owner.lhs, owner.rhs)
        case scf.IfOp() if isinstance(value, OpResult) and owner.false_region.blocks:
            ends = [region.block.last_op for region in (owner.true_region, owner.false_region)]
            yes, no = (None if end is None else end.operands[value.index] for end in ends)
            if yes is None or no is None:
                return None
            compare, chosen = owner.cond.owner, (yes, no)
        case _:
            return None
    if not isinstance(compare, arith.CmpiOp):
        return None
    sides = compare.lhs, compare.rhs
    predicate = compare.predicate.value.data
    if predicate in (SLT, SLE):
        least = sides
    elif predicate in (SGT, SGE):
        least = sides[::-1]
    else:
        return None
    # `least` is chosen if its first value is not greater than the second.
    wanted = least if kind is arith.MinSIOp else least[::-1]
    return chosen if all(map(same_value, chosen, wanted)) else None


def _stored_types(loop: Operation) -> set[Attribute]:
    return {op.value.type for op in loop.walk() if isinstance(op, llvm.StoreOp)}
