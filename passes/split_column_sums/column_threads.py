"""The code of the threads of gangs that share columns."""

from __future__ import annotations

from collections.abc import Callable, Sequence, Set
from dataclasses import dataclass
from typing import cast

from xdsl.dialects import acc, arith, llvm, scf
from xdsl.dialects.builtin import IntegerType, i1, i32
from xdsl.ir import Block, Operation, Region, SSAValue

from ...dialects.accx_cache import GangBarrierOp, SharedTileOp
from ...dialects.accx_gangs import LastGangOp, LaunchMemoryOp
from ..decisions.column_split import COLUMNS, MOST_GANGS, THREADS
from ..ir.loops.gang_shares import NestCode, outer_numbers
from ..ir.loops.sum_nests import contains
from ..ir.ops.acc_ops import branch_values
from ..ir.ops.building import NSW, Cursor
from ..ir.ops.layout import size_of
from ..ir.variables.combiners import ScalarOperator
from .column_sums import ColumnResult, ColumnSums

_STRIP = (arith.AddiOp, arith.SubiOp, arith.MuliOp)


@dataclass(frozen=True)
class ColumnSizes:
    """
    The sizes of `decisions/column_split.py` as values of the host (i64), and the iterations of each loop
    around the sum.
    """

    tiles: SSAValue
    width: SSAValue
    phases: SSAValue
    split: SSAValue
    trips: tuple[SSAValue, ...]


class ColumnThreads:
    """Emits the code of one thread for the share `unit` (i64) of a gang, and keeps its values."""

    def __init__(self, sums: ColumnSums, shares: ColumnSizes, unit: SSAValue, thread: SSAValue):
        self.sums, self.shares, self.unit, self.thread = sums, shares, unit, thread
        self.code = NestCode(sums.nest)
        self.operators = [result.operator for result in sums.results]

    def run(self, at: Cursor) -> None:
        """Emits the whole share: partial results, their exchange, and what follows the sum."""
        at.insert(GangBarrierOp())  # a gang with several shares has read the previous one's results
        self._place(at)
        self.code.enter(at, self.numbers)
        self.tiles = [
            at.value(SharedTileOp(THREADS * size_of(o.type), "sums"), "tile")
            for o in self.operators
        ]
        self._exchange(at, self._partial(at))
        done = self._across_gangs(at)
        first = at.value(arith.CmpiOp(self.phase, at.i32(0), "eq"))
        mine = at.both(at.both(done, first), self.exists, "finishes")
        self._leave(at.if_then(mine))

    # Where the thread works

    def _place(self, at: Cursor) -> None:
        """Computes the thread's column and rows."""
        shares, unit = self.shares, self.unit
        self.group = at.value(arith.DivUIOp(unit, shares.split), "group")
        self.part = at.to_integer(at.value(arith.RemUIOp(unit, shares.split)), i32)
        width = at.to_integer(shares.width, i32)
        self.width, self.phases = width, at.to_integer(shares.phases, i32)
        self.split = at.to_integer(shares.split, i32)
        self.lane = at.value(arith.RemUIOp(self.thread, width), "lane")
        self.phase = at.value(arith.DivUIOp(self.thread, width), "phase")
        tile = at.value(arith.RemUIOp(self.group, shares.tiles), "tile")
        place = at.value(arith.DivUIOp(self.group, shares.tiles))
        numbers = outer_numbers(at, place, shares.trips[:-1])
        column = at.add(at.mul(tile, shares.width), at.to_i64(self.lane), "column")
        columns = shares.trips[-1]
        in_row = at.value(arith.CmpiOp(column, columns, "slt"))
        has_rows = at.value(arith.CmpiOp(self.phase, self.phases, "slt"))
        self.exists = at.both(in_row, has_rows, "exists")
        last = at.sub(columns, at.i64(1))
        self.numbers = [*numbers, at.value(arith.MinSIOp(column, last), "column")]

    # Partial results

    def _partial(self, at: Cursor) -> list[SSAValue]:
        """The thread's results for its rows."""
        terms = self.sums.nest.terms
        if isinstance(terms, acc.LoopOp):
            self.code.private(at, terms)
        carried: list[SSAValue] = []
        places: list[tuple[ColumnResult, SSAValue]] = []
        for result in self.sums.results:
            neutral = result.operator.neutral(at)
            if result.variable is None:
                carried.append(neutral)
                continue
            place = at.alloca(result.operator.type, result.inside.name_hint or "sum")
            at.store(neutral, place)
            places.append((result, place))
        outside = dict(self.code.values)
        self.code.values.update((result.inside, place) for result, place in places)
        found = self._loop(at, carried)
        for result, place in places:
            found.append(at.load(place, result.operator.type, "partial"))
            for use in place.uses:
                if isinstance(use.operation, llvm.StoreOp):
                    loads = {u.operation.results[0] for u in place.uses if u.operation.results}
                    _without_overflow(use.operation.value, loads)
        self.code.values = outside
        return found

    def _loop(self, at: Cursor, neutral: Sequence[SSAValue]) -> list[SSAValue]:
        """The loop over every (F·S)th row from the thread's first on; carries `neutral`."""
        lower, upper, step = map(self.code.value, self.sums.nest.bounds)
        type_ = cast(IntegerType, self.sums.nest.variable.type)
        one, zero = at.constant(1, type_), at.constant(0, type_)
        bounded = at.value(arith.MaxSIOp(upper, lower))
        distance = at.add(at.sub(bounded, lower), at.sub(step, one))
        trips = at.value(arith.DivUIOp(distance, step), "trips")
        first = at.to_integer(at.add(at.mul(self.part, self.phases), self.phase), type_)
        stride = at.to_integer(at.mul(self.split, self.phases), type_)
        rest = at.sub(at.value(arith.MaxSIOp(trips, first)), first)
        rounded = at.add(rest, at.sub(stride, one))
        count = at.value(arith.DivUIOp(rounded, stride))
        count = at.value(arith.SelectOp(self.exists, count, zero), "count")
        block = Block(arg_types=[type_, *(value.type for value in neutral)])
        block.args[0].name_hint = "turn"
        for new, carried in zip(block.args[1:], self.sums.nest.body.args[1:], strict=False):
            new.name_hint = carried.name_hint
        inside = Cursor.at_end(block, self.sums.nest.terms.location)
        far = inside.value(arith.MuliOp(block.args[0], stride, overflow=NSW))
        number = inside.value(arith.AddiOp(first, far, overflow=NSW), "row")
        old = self.sums.nest.body
        self.code.values[old.args[0]] = _variable(
            inside, number, lower, step, old.args[0].name_hint
        )
        self.code.values.update(zip(old.args[1:], block.args[1:], strict=True))
        end = old.last_op
        assert end is not None
        self.code.copy(inside, [op for op in old.ops if op is not end])
        results = [self.code.value(v) for v in end.operands] if neutral else []
        for value, carried in zip(results, block.args[1:], strict=True):
            _without_overflow(value, {carried})
        inside.insert(scf.YieldOp(*results))
        loop = at.insert(scf.ForOp(zero, count, one, list(neutral), Region(block)), "partial")
        return list(loop.results)

    # Exchange

    def _slot(self, at: Cursor, number: int, index: SSAValue) -> SSAValue:
        tile, operator = self.tiles[number], self.operators[number]
        return at.element(tile, at.to_i64(index), operator.type, "slot")

    def _each(self, emit: Callable[[int, ScalarOperator], None]) -> None:
        for number, operator in enumerate(self.operators):
            emit(number, operator)

    def _exchange(self, at: Cursor, results: Sequence[SSAValue]) -> None:
        """Leaves each column's total over the gang in the slot of its first thread, after a barrier."""
        for number, value in enumerate(results):
            at.store(value, self._slot(at, number, self.thread))
        at.insert(GangBarrierOp())
        test, body = Block(arg_types=[i32]), Block(arg_types=[i32])
        test.args[0].name_hint = body.args[0].name_hint = "several"
        inside = Cursor.at_end(test, at.loc)
        more = inside.value(arith.CmpiOp(test.args[0], inside.i32(1), "sgt"), "more")
        inside.insert(scf.ConditionOp(more, test.args[0]))
        inside = Cursor.at_end(body, at.loc)
        count = body.args[0]
        half = inside.value(arith.ShRUIOp(inside.add(count, inside.i32(1)), inside.i32(1)), "half")
        other = inside.add(self.phase, half)
        pairs = inside.value(arith.CmpiOp(other, count, "slt"))
        first = inside.value(arith.CmpiOp(self.phase, half, "slt"))
        branch = inside.if_then(inside.both(first, pairs))
        partner = branch.add(self.thread, branch.mul(half, self.width), "partner")

        def fold(number: int, operator: ScalarOperator) -> None:
            mine = self._slot(branch, number, self.thread)
            theirs = branch.load(self._slot(branch, number, partner), operator.type, "theirs")
            own = branch.load(mine, operator.type, "own")
            branch.store(operator.combine(branch, own, theirs), mine)

        self._each(fold)
        inside.insert(GangBarrierOp())
        inside.insert(scf.YieldOp(half))
        at.insert(scf.WhileOp([self.phases], [i32], Region(test), Region(body)))

    def _across_gangs(self, at: Cursor) -> SSAValue:
        """Adds up the results of the gangs with the same columns; an i1: this gang has the totals."""
        alone = at.value(arith.CmpiOp(self.split, at.i32(1), "eq"), "alone")

        def meet(inside: Cursor) -> list[SSAValue]:
            return [self._meet(inside)]

        def nothing(inside: Cursor) -> list[SSAValue]:
            return [inside.constant(1, i1)]

        return at.either(alone, nothing, meet, ["done"])[0]

    def _meet(self, at: Cursor) -> SSAValue:
        memory = [
            at.value(LaunchMemoryOp(MOST_GANGS * COLUMNS * size_of(o.type), "results"))
            for o in self.operators
        ]
        tickets = at.value(LaunchMemoryOp(MOST_GANGS * size_of(i32), "tickets"))
        line = at.i64(COLUMNS)
        first = at.value(arith.CmpiOp(self.phase, at.i32(0), "eq"))
        leaving = at.if_then(first)
        mine = leaving.add(leaving.mul(self.unit, line), leaving.to_i64(self.lane))

        def leave(number: int, operator: ScalarOperator) -> None:
            value = leaving.load(self._slot(leaving, number, self.thread), operator.type)
            leaving.store(value, leaving.element(memory[number], mine, operator.type))

        self._each(leave)
        ticket = at.element(tickets, self.group, i32, "ticket")
        last = at.value(LastGangOp(ticket, self.split), "last")
        inside = at.if_then(last)
        start = inside.mul(self.group, self.shares.split)
        works = inside.value(arith.CmpiOp(self.phase, self.phases, "slt"))
        limit = inside.value(arith.SelectOp(works, self.split, inside.i32(0)), "limit")
        totals: list[SSAValue] = []
        for number, operator in enumerate(self.operators):
            block = Block(arg_types=[i32, operator.type])
            block.args[0].name_hint = "gang"
            one = Cursor.at_end(block, inside.loc)
            place = one.add(start, one.to_i64(block.args[0]))
            place = one.add(one.mul(place, line), one.to_i64(self.lane))
            value = one.load(one.element(memory[number], place, operator.type), operator.type)
            one.insert(scf.YieldOp(operator.combine(one, block.args[1], value)))
            neutral = operator.neutral(inside)
            loop = scf.ForOp(self.phase, limit, self.phases, [neutral], Region(block))
            totals.append(inside.value(loop, "total"))
        self._exchange(inside, totals)
        return last

    # After the sum

    def _leave(self, at: Cursor) -> None:
        """Folds the totals into the variables, and runs what follows the sum."""
        rows = self.sums.nest.terms
        for number, result in enumerate(self.sums.results):
            operator = result.operator
            total = at.load(self._slot(at, number, self.thread), operator.type, "total")
            if result.variable is None:
                assert isinstance(rows, scf.ForOp)
                start = self.code.value(rows.iter_args[number])
                self.code.values[rows.results[number]] = operator.combine(at, start, total, "total")
            else:
                variable = self.code.value(result.variable)
                old = at.load(variable, operator.type)
                at.store(operator.combine(at, old, total, "total"), variable)
        self.code.copy(at, self.sums.nest.after)


def _variable(
    at: Cursor, number: SSAValue, lower: SSAValue, step: SSAValue, hint: str | None
) -> SSAValue:
    """The value of the rows' variable in iteration `number`, of its type."""
    value = at.value(arith.MuliOp(number, step, overflow=NSW))
    return at.value(arith.AddiOp(lower, value, overflow=NSW), hint)


def _without_overflow(value: SSAValue, starts: Set[SSAValue]) -> None:
    """
    Removes from the operations between `starts` and an iteration's result `value` the promise that nothing
    overflows, which holds for the program's order only.
    """
    op = value.owner
    if not isinstance(op, Operation) or value in starts or not contains(value, starts):
        return
    if isinstance(op, _STRIP):
        op.properties["overflowFlags"] = arith.IntegerOverflowAttr("none")
        for operand in op.operands:
            _without_overflow(operand, starts)
    elif isinstance(op, scf.IfOp):
        for branch in branch_values(op, value):
            _without_overflow(branch, starts)
