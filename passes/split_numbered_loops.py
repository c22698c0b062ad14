"""
Split a parallel loop over the elements of rows into two: `e / m` is the row, `e % m` the column.

Takes:  data level, before the schedule.
Leaves: a parallel loop from 0 with step 1 whose variable `e` is divided by a length `m` known before the
        construct has become collapsed loops over rows and columns. Their variables replace the quotient and
        the remainder, and `e` is computed from them. Shifts and masks by constants count as divisions. The
        host tests that `m` is at least 128 and that all rows are complete; otherwise it runs the original
        construct. The loop over rows is split again for divisions by multiples of `m` (`e / (n * m)`,
        `e / m % n`). Loops with levels, tiles or chunks are unchanged.
Fails:  never.

Before:
  acc.loop control(%e : i32) = (%c0 : i32) to (%nm : i32) step (%c1 : i32) {
    %i = arith.divsi %e, %m : i32
    %j = arith.remsi %e, %m : i32
    … %e …
After:
  acc.loop control(%i : i32, %j : i32) = (%c0, %c0) to (%n, %m) step (%c1, %c1) {
    %0 = arith.muli %i, %m overflow<nsw> : i32
    %e = arith.addi %0, %j overflow<nsw> : i32
    … %e …

Options: `target` (`host`: nothing to do).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

from xdsl.dialects import acc, arith, scf
from xdsl.dialects.builtin import (
    ArrayAttr,
    DenseArrayBase,
    IntegerAttr,
    IntegerType,
    ModuleOp,
    i1,
    i64,
)
from xdsl.ir import Operation, SSAValue

from .decisions.polynomials import Polynomial, divide
from .ir.data.signed_readings import Reader, any_inclusive
from .ir.ops.acc_ops import (
    NONE,
    has_level,
    is_defined_inside,
    loops_in,
    set_operand_groups,
    set_prop,
    tuned_constructs,
)
from .ir.ops.building import NSW, Cursor, constant_value, erase
from .ir.ops.gpu_pass import GpuPass
from .ir.ops.levels import loop_levels
from .ir.ops.loop_bounds import bounds_of
from .ir.ops.notes import note
from .ir.ops.versions import (
    ready_for_versions,
    second_version,
)
from .ir.values.host_tests import emit_test
from .ir.values.region_values import HostEmitter
from .ir.values.values_outside import ValuesOutside

SHORTEST = 128
"""The least number of columns for which the split pays."""
MOST_DIMENSIONS = 3
_QUOTIENTS = (arith.DivSIOp, arith.DivUIOp)
_REMAINDERS = (arith.RemSIOp, arith.RemUIOp)
_SHIFTS = (arith.ShRSIOp, arith.ShRUIOp)


@dataclass(frozen=True)
class Division:
    """
    An operation that divides a loop variable by `length`: its quotient or, if not `quotient`, its
    remainder.
    """

    op: Operation
    length: SSAValue | int
    quotient: bool


def _division(op: Operation) -> Division | None:
    """The division that `op`, whose first operand is an element's number, computes; None if it is none."""
    if not isinstance(op, (*_QUOTIENTS, *_REMAINDERS, *_SHIFTS, arith.AndIOp)):
        return None
    right = op.operands[1]
    known = constant_value(right)
    if isinstance(op, (*_QUOTIENTS, *_REMAINDERS)):
        return Division(op, right if known is None else known, isinstance(op, _QUOTIENTS))
    if known is None or known <= 0:
        return None
    if isinstance(op, _SHIFTS):
        return Division(op, 1 << known, True) if known < 31 else None
    return Division(op, known + 1, False) if known & (known + 1) == 0 else None


def numbers(variable: SSAValue, *, narrowed: bool = False) -> list[SSAValue]:
    """A loop variable and its conversions to other types; `narrowed`: only those to fewer bits."""
    kinds = arith.TruncIOp if narrowed else arith.TruncIOp | arith.ExtSIOp
    found = [] if narrowed else [variable]
    for use in variable.uses:
        if isinstance(use.operation, kinds):
            found.append(use.operation.results[0])
    return found


def divisions(variable: SSAValue) -> list[Division]:
    """The divisions of a loop variable."""
    found = [
        _division(use.operation)
        for value in numbers(variable)
        for use in value.uses
        if use.index == 0
    ]
    return [each for each in found if each is not None]


@dataclass(frozen=True)
class Size:
    """A length or an upper bound that equals `poly` on the host if none of `needed` is negative."""

    poly: Polynomial
    needed: tuple[Polynomial, ...] = ()

    def over(self, other: Size) -> Polynomial | None:
        """The exact quotient by `other`; None if it is not a polynomial."""
        mine, divisor = self.poly.as_constant, other.poly.as_constant
        if mine is not None and divisor:
            return None if mine % divisor else Polynomial.constant(mine // divisor)
        parts = divide(self.poly, other.poly)
        return None if parts is None or parts[1].terms else parts[0]


@dataclass(frozen=True)
class NumberedRows:
    """
    A loop variable, by position, that numbers the elements of rows of one length. `needed`: the polynomials
    that must not be negative for that; `count`: the number of rows, None if the host must divide and test
    that no rest is left. `divisions`: each with the number of rows whose length it divides by.
    """

    loop: acc.LoopOp
    position: int
    length: SSAValue | int
    size: Size
    end: Size
    count: Polynomial | None
    needed: tuple[Polynomial, ...]
    divisions: tuple[tuple[Division, Polynomial], ...]


class Finder:
    """Finds the rows of a construct's loops by values that are known before `anchor`."""

    def __init__(self, construct: acc.ParallelOp, anchor: Operation):
        self.reader = Reader(construct)
        self.anchor = anchor

    def rows(self, loop: acc.LoopOp, position: int, shortest: int) -> NumberedRows | None:
        """
        The rows, of at least `shortest` elements, that the loop's variable at `position` numbers; None if
        it numbers none.
        """
        variable, lower, upper, step = bounds_of(loop)[position]
        end = self._size(upper)
        if constant_value(lower) != 0 or constant_value(step) != 1 or end is None:
            return None
        sizes = [(d, size) for d in divisions(variable) if (size := self._size(d.length))]
        if not sizes:
            return None
        length, best = max(sizes, key=lambda each: _rank(each[1], [s for _, s in sizes]))
        whole = [(d, size, by) for d, size in sizes if (by := size.over(best)) is not None]
        needed = [*end.needed, best.poly - shortest]
        for _, size, by in whole:
            needed += [*size.needed, by - 1]
        if any(d.op.operands[0] in numbers(variable, narrowed=True) for d, _, _ in whole):
            within = self.reader.within(upper, loop, 0)
            if within is None:
                return None
            needed += within
        if any((poly.as_constant or 0) < 0 for poly in needed):
            return None
        count = end.over(best)
        if count is None and (end.poly - best.poly).as_constant is not None:
            return None
        wanted = tuple(poly for poly in needed if poly.as_constant is None)
        found = tuple((d, by) for d, _, by in whole)
        return NumberedRows(loop, position, length.length, best, end, count, wanted, found)

    def _size(self, value: SSAValue | int) -> Size | None:
        if isinstance(value, int):
            return Size(Polynomial.constant(value))
        part, poly = self.reader.value(value), self.reader.symbols.polynomial(value)
        if part is None or poly is None or not self.reader.knows([poly]):
            return None
        if any(isinstance(s, SSAValue) and is_defined_inside(s, self.anchor) for s in poly.symbols):
            return None
        return Size(poly, tuple(part.needed))


def _rank(size: Size, others: Sequence[Size]) -> tuple[int, int]:
    """A sort key for lengths of rows: better ones divide more of the others, and have a lower degree."""
    return sum(other.over(size) is not None for other in others), -size.poly.degree


def _may_split(loop: acc.LoopOp) -> bool:
    """Whether no clause refers to the loop's iterations as one sequence."""
    return (
        len(loop.region.blocks) == 1
        and not has_level(loop.seq)
        and not loop_levels(loop)
        and not loop.tile_operands
        and not loop.gang_operands
        and not any_inclusive(loop)
        and len(loop.lowerbound) < MOST_DIMENSIONS
    )


class Splitter:
    """Rewrites one loop; computations of the host for it are added before `anchor`."""

    def __init__(self, rows: NumberedRows, anchor: Operation):
        self.rows = rows
        self.outside = ValuesOutside(anchor)
        self.emit = HostEmitter(anchor)
        self.before = Cursor.before(anchor)

    def split(self) -> None:
        """Replaces the loop's variable by one for rows and one for columns."""
        rows = self.rows
        loop, position = rows.loop, rows.position
        block = loop.region.block
        old = block.args[position]
        type_ = cast(IntegerType, old.type)
        count = self._count(type_)
        length = self._length(type_)
        zero, one = (self.before.constant(n, type_) for n in (0, 1))
        groups = {"lowerbound": [zero, zero], "upperbound": [count, length], "step": [one, one]}
        for name, values in groups.items():
            before = list(getattr(loop, name))
            before[position : position + 1] = values
            set_operand_groups(loop, **{name: before})
        dimensions = len(loop.lowerbound)
        set_prop(loop, "inclusiveUpperbound", DenseArrayBase.from_list(i1, [0] * dimensions))
        set_prop(loop, "collapse", ArrayAttr([IntegerAttr(dimensions, i64)]))
        set_prop(loop, "collapseDeviceType", NONE)
        row, place = (block.insert_arg(type_, position + more) for more in (0, 1))
        row.name_hint, place.name_hint = self._hints()
        for division, by in rows.divisions:
            self._replace(division, by, row, place)
        going = {value.owner for value in numbers(old)}
        at = Cursor.before(next(op for op in block.ops if op not in going), loop.location)
        for value in reversed(numbers(old)):
            if value.first_use is not None:
                exact = not isinstance(value.owner, arith.TruncIOp)
                value.replace_all_uses_with(self._number(at, row, place, value, exact=exact))
            if isinstance(value.owner, Operation):
                erase(value.owner)
        block.erase_arg(old)

    def _hints(self) -> tuple[str, str]:
        """Names for the variables: those of the quotient and remainder in the program."""
        hints: dict[bool, str | None] = {}
        for division, by in self.rows.divisions:
            if by.as_constant == 1:
                hints.setdefault(division.quotient, division.op.results[0].name_hint)
        return hints.get(True) or "row", hints.get(False) or "place"

    def _count(self, type_: IntegerType) -> SSAValue:
        if self.rows.count is not None:
            return self._polynomial(self.rows.count, type_)
        end, length = self.emit.emit(self.rows.end.poly), _divisor(self.rows.size, self.emit)
        return self.before.to_integer(self.before.value(arith.DivSIOp(end, length), "rows"), type_)

    def _length(self, type_: IntegerType) -> SSAValue:
        length = self.rows.length
        if isinstance(length, int):
            return self.before.constant(length, type_)
        return self._polynomial(self.rows.size.poly, type_, self.outside.value(length))

    def _polynomial(
        self, poly: Polynomial, type_: IntegerType, value: SSAValue | None = None
    ) -> SSAValue:
        """
        A polynomial that the host knows, as a value: a symbol of its own, or `value`, if it is one; else
        computed.
        """
        known = poly.as_constant
        if known is not None:
            return self.before.constant(known, type_)
        ((monomial, coefficient), *others) = poly.terms.items()
        if not others and coefficient == 1 and len(monomial) == 1:
            (symbol,) = monomial
            value = symbol if isinstance(symbol, SSAValue) else value
        return self.before.to_integer(self.emit.emit(poly) if value is None else value, type_)

    def _replace(self, division: Division, by: Polynomial, row: SSAValue, place: SSAValue) -> None:
        """Replaces a division by its result, computed from `row` and `place`."""
        op = division.op
        type_ = cast(IntegerType, op.results[0].type)
        at = Cursor.before(op)
        found = at.to_integer(row, type_)
        several = by.as_constant != 1
        if several:
            rows = self._polynomial(by, type_)
            kind = arith.DivSIOp if division.quotient else arith.RemSIOp
            found = at.value(kind(found, rows))
        if not division.quotient:
            inner = at.to_integer(place, type_)
            found = self._sum(at, found, inner, type_) if several else inner
        found.name_hint = found.name_hint or op.results[0].name_hint
        op.results[0].replace_all_uses_with(found)
        erase(op)

    def _number(
        self, at: Cursor, row: SSAValue, place: SSAValue, old: SSAValue, *, exact: bool
    ) -> SSAValue:
        """The number of an element in the type of `old`; `exact`: that type certainly holds it."""
        type_ = cast(IntegerType, old.type)
        row, place = at.to_integer(row, type_), at.to_integer(place, type_)
        found = self._sum(at, row, place, type_, exact=exact)
        found.name_hint = old.name_hint
        return found

    def _sum(
        self, at: Cursor, row: SSAValue, place: SSAValue, type_: IntegerType, *, exact: bool = True
    ) -> SSAValue:
        flags = NSW if exact else arith.IntegerOverflowAttr("none")
        first = at.value(arith.MuliOp(row, self._length(type_), overflow=flags))
        return at.value(arith.AddiOp(first, place, overflow=flags))


def _choose(
    rows: NumberedRows, construct: acc.ParallelOp, choice: Operation | None
) -> Operation | None:
    """
    Makes the host choose between the construct and an unchanged copy by the conditions of `rows`. `choice`
    is the `scf.if` that already does so, if there is one; returns the one that does so now, None if no
    condition is needed.
    """
    anchor = construct if choice is None else choice
    condition = emit_test(anchor, rows.needed) if rows.needed else None
    if rows.count is None:
        condition = _whole(rows, anchor, condition)
    if condition is None:
        return choice
    if isinstance(choice, scf.IfOp):
        both = Cursor.before(choice).value(arith.AndIOp(choice.cond, condition), "in_rows")
        choice.operands[0] = both
        return choice
    condition.name_hint = "in_rows"
    second_version(construct, condition)
    return construct.parent_op()


def _divisor(size: Size, emit: HostEmitter) -> SSAValue:
    """A length by which the host may divide even if a test of it has failed: at least 1."""
    return emit.value(arith.MaxSIOp(emit.emit(size.poly), emit.i64(1)))


def _whole(rows: NumberedRows, anchor: Operation, condition: SSAValue | None) -> SSAValue:
    """Emits the test that there are only whole rows, and that `condition`, if given, holds."""
    emit = HostEmitter(anchor)
    rest = emit.value(arith.RemSIOp(emit.emit(rows.end.poly), _divisor(rows.size, emit)))
    whole = emit.value(arith.CmpiOp(rest, emit.i64(0), "eq"), "whole_rows")
    return emit.both(condition, whole)


def split_numbered(construct: acc.ParallelOp) -> None:
    """Splits the loops of a construct whose variables number elements of rows."""
    choice: Operation | None = None
    for loop in list(loops_in(construct)):
        if not _may_split(loop):
            continue
        position, shortest, split = 0, SHORTEST, False
        while position < len(loop.lowerbound) and len(loop.lowerbound) < MOST_DIMENSIONS:
            anchor = construct if choice is None else choice
            rows = Finder(construct, anchor).rows(loop, position, shortest)
            tested = rows is not None and (rows.needed or rows.count is None)
            if rows is None or (tested and not ready_for_versions(construct)):
                position += 1
                continue
            choice = _choose(rows, construct, choice)
            Splitter(rows, choice or construct).split()
            shortest, split = 1, True
        if split:
            text = (
                "its variable numbers the elements of rows: split into loops over rows and columns"
            )
            note(construct, [(loop, text)])


@dataclass(frozen=True)
class SplitNumberedLoopsPass(GpuPass):
    """See the module's description."""

    name = "split-numbered-loops"

    def rewrite(self, module: ModuleOp) -> None:
        for construct in tuned_constructs(module):
            split_numbered(construct)
