"""
Finds the unsigned conversions of a construct that can be signed, and the conditions for that.

A 32-bit expression equals its polynomial modulo 2^32, read as signed or as unsigned. If the polynomial is
non-negative and less than 2^31 in all iterations of the enclosing loops, both readings equal it.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field

from xdsl.dialects import acc, arith, scf
from xdsl.dialects.builtin import i32, i64
from xdsl.ir import Block, BlockArgument, Operation, SSAValue

from ....dialects.accx_element import ElementOp, Index
from ...decisions.inequalities import Facts
from ...decisions.polynomials import Polynomial
from ...decisions.ranges import LoopRange, extremes
from ..ops.acc_ops import bit_width, is_defined_inside, is_inside, operations_around
from ..ops.building import constant_value, never_wraps
from ..ops.loop_bounds import LoopLike, bounds_of
from ..values.host_scalars import HostScalars
from ..values.region_values import RegionSymbols
from .sections import refine_by_conditions

INT_BITS = 32
INT_MAX = (1 << (INT_BITS - 1)) - 1
FARTHEST, MOST_STEPS = 1 << 30, 1 << 10
"""
The largest end and step of loops with a 32-bit variable, which may exceed the end by a step for each thread
of a grid.
"""
Arithmetic = arith.AddiOp | arith.SubiOp | arith.MuliOp | arith.ShLIOp
ARITHMETIC = (arith.AddiOp, arith.SubiOp, arith.MuliOp, arith.ShLIOp)


class SignedSymbols(RegionSymbols):
    """
    Symbols for which an unsigned conversion before the construct is not a symbol, but read through like one
    inside.
    """

    def symbol(self, value: SSAValue) -> Hashable | None:
        owner = value.owner
        if isinstance(owner, arith.ExtUIOp) and bit_width(owner.input.type) == INT_BITS:
            return None
        return super().symbol(value)


@dataclass
class Readings:
    """
    The changes that are allowed if none of `needed`, polynomials over values the host knows, is negative:
    `arithmetic` does not overflow; `extensions` and the subscripts of `elements` (by position) can be
    signed; the 64-bit variables of `loops` (by position) and the subscripts `narrow` fit into 32 bits.
    """

    needed: list[Polynomial] = field(default_factory=list[Polynomial])
    arithmetic: dict[Arithmetic, None] = field(default_factory=dict[Arithmetic, None])
    extensions: dict[arith.ExtUIOp, None] = field(default_factory=dict[arith.ExtUIOp, None])
    elements: dict[ElementOp, set[int]] = field(default_factory=dict[ElementOp, set[int]])
    loops: list[tuple[LoopLike, int]] = field(default_factory=list[tuple[LoopLike, int]])
    narrow: list[tuple[ElementOp, int]] = field(default_factory=list[tuple[ElementOp, int]])

    def add(self, other: Readings) -> None:
        """Adds the conditions, arithmetic and conversions of `other`."""
        self.needed += other.needed
        self.arithmetic |= other.arithmetic
        self.extensions |= other.extensions


class Reader:
    """Finds the possible changes in one construct. `wide`: also finds 64-bit values that fit into 32 bits."""

    def __init__(self, construct: acc.ParallelOp, *, wide: bool = False):
        self.construct = construct
        self.wide = wide
        self.symbols = SignedSymbols(construct)
        self.scalars = HostScalars(construct)
        self._ranges: dict[Block, tuple[list[LoopRange], Facts]] = {}
        self._known: dict[SSAValue, Readings | None] = {}
        self._narrow: dict[SSAValue, Readings | None] = {}

    def read(self) -> Readings:
        """All changes of the construct."""
        found = Readings()
        for op in self.construct.walk():
            match op:
                case arith.ExtUIOp():
                    if (part := self.value(op.result)) is not None:
                        found.add(part)
                case ElementOp():
                    self._subscripts(op, found)
                case acc.LoopOp() | scf.ForOp():
                    self._variables(op, found)
                case _:
                    pass
        return found

    def _subscripts(self, op: ElementOp, found: Readings) -> None:
        steps = [step for step in op.steps() if isinstance(step, Index)]
        for position, step in enumerate(steps):
            if self.wide and step.value.type == i64 and constant_value(step.value) is None:
                part = self._narrowed(step.value)
                if part is not None:
                    found.add(part)
                    found.narrow.append((op, position))
            if not step.unsigned or bit_width(step.value.type) != INT_BITS:
                continue
            part = self.value(step.value)
            needed = self.within(step.value, op, 0)
            if part is not None and needed is not None:
                found.add(part)
                found.needed += needed
                found.elements.setdefault(op, set()).add(position)

    def _variables(self, loop: LoopLike, found: Readings) -> None:
        """
        Adds the 64-bit variables of a loop that represent 32-bit ones of the program and fit into 32 bits.
        """
        if isinstance(loop, acc.LoopOp) and any_inclusive(loop):
            return
        for position, (variable, lower, upper, step) in enumerate(bounds_of(loop)):
            counts = self.wide or any(_is_narrowed(use.operation) for use in variable.uses)
            if variable.type != i64 or not counts:
                continue
            by = constant_value(step)
            if by is None or not 0 < by <= MOST_STEPS:
                continue
            parts = [self.value(bound) for bound in (lower, upper)]
            needed = [self.within(bound, loop, 0, FARTHEST) for bound in (lower, upper)]
            if None in parts or None in needed:
                continue
            for part, polys in zip(parts, needed, strict=True):
                if part is not None and polys is not None:
                    found.add(part)
                    found.needed += polys
            found.loops.append((loop, position))

    def _narrowed(self, value: SSAValue) -> Readings | None:
        """
        The changes and conditions under which the 64-bit arithmetic that computes `value` gives the same in
        32 bits; None if no test before the construct can establish it.
        """
        if value not in self._narrow:
            self._narrow[value] = self._read_narrowed(value)
        return self._narrow[value]

    def _read_narrowed(self, value: SSAValue) -> Readings | None:
        part = self.value(value)
        if part is None or value.type != i64:
            return part
        found = Readings()
        found.add(part)
        op, place = value.owner, value.owner
        if isinstance(place, Block):
            place = place.first_op
        needed = None if place is None else self.within(value, place, -INT_MAX - 1)
        if needed is None:
            return None
        found.needed += needed
        if isinstance(op, ARITHMETIC) and is_defined_inside(value, self.construct):
            for operand in op.operands:
                inner = self._narrowed(operand)
                if inner is None:
                    return None
                found.add(inner)
        return found

    def value(self, value: SSAValue) -> Readings | None:
        """
        The changes and conditions under which `value`, read as signed, equals its polynomial; None if no
        test before the construct can establish it.
        """
        if value not in self._known:
            self._known[value] = self._read(value)
        return self._known[value]

    def _read(self, value: SSAValue) -> Readings | None:
        if constant_value(value) is not None:
            return Readings()
        if self.symbols.symbol(value) is not None:
            return Readings() if self._is_counter(value) or self._is_host(value) else None
        op = value.owner
        if not isinstance(op, (*ARITHMETIC, arith.ExtSIOp, arith.ExtUIOp, arith.TruncIOp)):
            return None
        found = Readings()
        for operand in op.operands:
            part = self.value(operand)
            if part is None:
                return None
            found.add(part)
        needed: list[Polynomial] | None = []
        if isinstance(op, arith.ExtUIOp):
            needed = self.within(op.input, op, 0)
            if is_defined_inside(value, self.construct):
                found.extensions[op] = None
        elif bit_width(value.type) == INT_BITS and not _is_exact(op):
            needed = self.within(value, op, -INT_MAX - 1)
            if isinstance(op, ARITHMETIC) and is_defined_inside(value, self.construct):
                found.arithmetic[op] = None
        if needed is None:
            return None
        found.needed += needed
        return found

    def _is_counter(self, value: SSAValue) -> bool:
        """Whether a symbol is a loop variable of the construct."""
        return isinstance(value, BlockArgument) and is_defined_inside(value, self.construct)

    def _is_host(self, value: SSAValue) -> bool:
        """Whether the host knows the integer of a symbol."""
        poly = self.symbols.polynomial(value)
        return poly is not None and self.knows([poly])

    def knows(self, polys: Sequence[Polynomial]) -> bool:
        """Whether the host knows the values of all symbols of the polynomials."""
        inside = any(
            isinstance(symbol, SSAValue) and self.symbols.is_inside(symbol)
            for poly in polys
            for symbol in poly.symbols
        )
        return not inside and self.scalars.knows_all(polys)

    def within(
        self, value: SSAValue, op: Operation, least: int, most: int = INT_MAX
    ) -> list[Polynomial] | None:
        """
        The polynomials that must not be negative for `value` to be from `least` to `most` whenever `op`
        runs; None if the host cannot test that, or if it certainly does not hold.
        """
        poly = self.symbols.polynomial(value)
        if poly is None:
            return None
        ranges, facts = self._around(op)
        found = extremes(poly, ranges, facts.proves)
        if found is None or not self.knows(found.lows + found.highs):
            return None
        needed = [*(low - least for low in found.lows), *(-high + most for high in found.highs)]
        if any((poly.as_constant or 0) < 0 for poly in needed):
            return None
        return [poly for poly in needed if poly.as_constant is None]

    def _around(self, op: Operation) -> tuple[list[LoopRange], Facts]:
        """
        The ranges, known before the construct, of its loops around `op`, innermost first, and facts from
        them.
        """
        block = op.parent_block()
        assert block is not None
        if block not in self._ranges:
            inside = is_inside(op, self.construct)
            found = (
                self.symbols.loop_range(*bounds)
                for around in (operations_around(op, self.construct) if inside else ())
                for bounds in reversed(bounds_of(around))
            )
            ranges = [each for each in found if each is not None]
            ranges = refine_by_conditions(ranges, op, self.symbols) if ranges else []
            self._ranges[block] = ranges, Facts.of_loops(ranges)
        return self._ranges[block]


def _is_exact(op: Operation) -> bool:
    """Whether an operation does not overflow by the rules of C."""
    return isinstance(op, arith.ExtSIOp) or never_wraps(op)


def _is_narrowed(op: Operation) -> bool:
    return isinstance(op, arith.TruncIOp) and op.result.type == i32


def any_inclusive(loop: acc.LoopOp) -> bool:
    """Whether an upper bound of the loop is inclusive."""
    ends = loop.inclusive_upperbound
    return ends is not None and any(ends.get_values())
