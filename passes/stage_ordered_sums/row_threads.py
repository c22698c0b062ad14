"""
The code of a thread of a gang that computes the terms of 256 rows of a sparse matrix, which follow each other
(`for (k = begin[i]; k < begin[i + 1]; k++)`), and adds up those of one row.

The gang's rows have the terms from the first row's first to the last row's last. Each of these is a term of
one of them, whatever `begin` contains, if it rises on the whole: so the program reads what it names. A row
that lies elsewhere (where `begin` falls in between) is added up by its thread from memory, and so are
all rows of a gang with very many terms: few threads would have terms in a piece.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import arith, llvm, scf
from xdsl.dialects.builtin import IntegerType, i32
from xdsl.ir import Operation, SSAValue

from ...dialects.accx_cache import GangBarrierOp
from ...dialects.volatility import is_ordered
from ..decisions.declined import Declined
from ..decisions.ordered_sums import (
    ADDED_OF_ROWS,
    MOST_ROW_TERMS,
    PAD_SHIFT,
    ROW_TURNS,
    THREADS,
)
from ..ir.loops.gang_shares import NestCode
from ..ir.loops.jamming import iteration_value
from ..ir.loops.sum_nests import SumNest, contains, has_neighbours
from ..ir.ops.building import Cursor, constant_value
from ..ir.ops.layout import size_of
from ..ir.values.addresses import base_of
from ..ir.values.region_values import RegionSymbols
from ..ir.values.stable_loads import distance_from_base
from .ordered_terms import OrderedSums
from .sum_threads import SumThreads, Values


def check_rows(nest: SumNest) -> None:
    """Raises `Declined` unless the rows of a nest follow each other."""
    if len(nest.around) != 1 or not has_neighbours(nest):
        raise Declined("its terms are not neighbours in memory, or it has several loops around")
    row = nest.around[0].region.block.args[0]
    if not _follow(nest, row):
        raise Declined("its rows do not follow each other")


def check_terms(sums: OrderedSums) -> None:
    """Raises `Declined` if a term of a row depends on which row it is."""
    row = sums.nest.around[0].region.block.args[0]
    for op in (*sums.loading, *sums.computing):
        if any(contains(v, {row}) for inner in op.walk() for v in inner.operands):
            raise Declined("its terms are not known without their row")


def _follow(nest: SumNest, row: SSAValue) -> bool:
    """Whether the bounds of a row's terms are neighbouring elements of one array, one for each row."""
    (lower, upper, step), rows = nest.bounds, constant_value(nest.around[0].step[0])
    loads = [_loaded(lower), _loaded(upper)]
    if constant_value(step) != 1 or rows is None or None in loads:
        return False
    first, end = (load for load in loads if load is not None)
    if type(lower.owner) is not type(upper.owner) or base_of(first.ptr) is not base_of(end.ptr):
        return False
    symbols = RegionSymbols(nest.construct)
    places = [distance_from_base(load.ptr, symbols) for load in (first, end)]
    parts = None if places[0] is None else places[0].split(row)
    if parts is None or places[0] is None or places[1] is None:
        return False
    moved = (places[1] - places[0]).as_constant
    size = size_of(first.dereferenced_value.type)
    return (
        moved == size and parts[1].as_constant is not None and parts[1].as_constant * rows == size
    )


def _loaded(bound: SSAValue) -> llvm.LoadOp | None:
    """The load whose value, of an integer that may be extended with its sign, a bound is."""
    if isinstance(bound.owner, arith.ExtSIOp):
        bound = bound.owner.input
    op = bound.owner
    return op if isinstance(op, llvm.LoadOp) and not is_ordered(op) else None


class RowThreads(SumThreads):
    """Emits the code of one thread for its share of 256 rows, of `rows` (i64) in all."""

    def __init__(self, sums: OrderedSums, rows: SSAValue, share: SSAValue, thread: SSAValue):
        self.sums, self.nest = sums, sums.nest
        self.rows_in_all, self.share, self.thread = rows, share, thread
        self.turns = min(sums.turns, ROW_TURNS)

    def run(self, at: Cursor) -> None:
        """Emits all of the thread's code."""
        at.insert(GangBarrierOp())  # a gang with several shares has read the previous one's terms
        self._enter(at)
        length = THREADS * self.turns
        self._make_tiles(at, length + (length >> PAD_SHIFT))
        self.piece = at.i64(length)
        self.numbers = [at.add(self.thread, at.i32(k * THREADS)) for k in range(self.turns)]
        self.places = [self._padded(at, number) for number in self.numbers]
        starts, hints = self._starts(), self._hints()
        staged = at.either(
            self.fits, lambda inside: self._pieces(inside, starts), lambda _: starts, hints
        )
        results = at.either(self.inside, lambda _: staged, self._from_memory, hints)
        self._finish(at, results)

    def _bound(self, at: Cursor, number: SSAValue, bound: SSAValue) -> SSAValue:
        """
        The first bound (i64) of the terms of row `number` (i64), or the second. Nothing else of the row is
        read, which a thread of its own may write.
        """
        around = self.nest.around[0]
        lower, step = around.lowerbound[0], around.step[0]
        row = around.region.block.args[0]
        values: Values = {row: iteration_value(number, lower, step, row, at)}
        for op in self.nest.before[0]:
            if contains(bound, set(op.results)):
                at.clone(op, values)
        return at.to_i64(values[bound])

    def _enter(self, at: Cursor) -> None:
        """Sets the thread's row, its terms, and those of the gang."""
        last_row = at.sub(self.rows_in_all, at.i64(1))
        first_row = at.mul(self.share, at.i64(THREADS), "first_row")
        number = at.add(first_row, at.to_i64(self.thread))
        self.finishes = at.value(arith.CmpiOp(number, self.rows_in_all, "slt"), "finishes")
        end_row = at.value(arith.MinSIOp(at.add(first_row, at.i64(THREADS - 1)), last_row))
        lower, upper, _ = self.nest.bounds
        self.first = self._bound(at, first_row, lower)
        end = self._bound(at, end_row, upper)
        self.own = NestCode(self.nest)
        self.own.enter(at, [at.value(arith.MinSIOp(number, last_row), "row")])
        at.insert(GangBarrierOp())  # threads without a row have read the last one's values
        low, high = (at.to_i64(self.own.value(bound)) for bound in (lower, upper))
        self.trips = at.sub(end, self.first, "terms")
        self.last = at.sub(self.trips, at.i64(1))
        self.low, self.high = at.sub(low, self.first), at.sub(high, self.first)
        some = at.value(arith.CmpiOp(self.trips, at.i64(0), "sgt"))
        few = at.value(arith.CmpiOp(self.trips, at.i64(MOST_ROW_TERMS * THREADS), "sle"))
        self.fits = at.both(some, few, "fits")
        begins = at.value(arith.CmpiOp(self.low, at.i64(0), "sge"))
        ends = at.value(arith.CmpiOp(self.high, self.trips, "sle"))
        self.inside = at.both(self.fits, at.both(begins, ends), "inside")

    def _padded(self, at: Cursor, number: SSAValue) -> SSAValue:
        """The place of a term of a piece: lanes that read terms an even distance apart meet few conflicts."""
        return at.add(number, at.value(arith.ShRUIOp(number, at.i32(PAD_SHIFT))))

    def _maps(self, at: Cursor, piece: SSAValue) -> list[Values]:
        start = at.mul(piece, self.piece, "start")
        maps: list[Values] = []
        for mine in self.numbers:
            number = at.value(arith.MinSIOp(at.add(start, at.to_i64(mine)), self.last), "number")
            maps.append({**self.own.values, self.nest.variable: self._variable(at, number)})
        return maps

    def _variable(self, at: Cursor, number: SSAValue) -> SSAValue:
        type_ = self.nest.variable.type
        assert isinstance(type_, IntegerType)
        return at.to_integer(at.add(self.first, number), type_)

    def _added(
        self, at: Cursor, piece: SSAValue, buffer: SSAValue, sums: Sequence[SSAValue]
    ) -> list[SSAValue]:
        start = at.mul(piece, self.piece, "start")
        begin = at.value(arith.MaxSIOp(at.sub(self.low, start), at.i64(0)), "begin")
        end = at.value(arith.MinSIOp(at.sub(self.high, start), self.piece), "end")
        count = at.to_integer(at.value(arith.MaxSIOp(at.sub(end, begin), at.i64(0))), i32)
        first = at.to_integer(begin, i32)
        return self._in_order(
            at, count, at.add(start, begin), (first, at.i32(1)), sums, ADDED_OF_ROWS, buffer
        )

    def _slot_of(self, at: Cursor, place: SSAValue, buffer: SSAValue | None) -> SSAValue:
        padded = self._padded(at, place)
        return padded if buffer is None else at.add(buffer, padded)

    def _from_memory(self, at: Cursor) -> list[SSAValue]:
        """Adds up the thread's row like the program."""
        copy: Operation = at.clone(self.loop, dict(self.own.values))
        assert isinstance(copy, scf.ForOp)
        return [*copy.results]
