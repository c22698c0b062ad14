"""
Rewriting a construct whose subscripts combine two loops' variables (group-combined-subscripts): the loop over
groups, the sums that lanes share, and the launch shape.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.dialects import acc, arith, llvm, scf
from xdsl.dialects.builtin import (
    DenseArrayBase,
    IntegerAttr,
    IntegerType,
    i1,
    i32,
    i64,
)
from xdsl.ir import Block, Operation, Region, SSAValue

from ...dialects.accx import UNROLL
from ...dialects.accx_cache import GangThreadsOp
from ...dialects.llvm_ext import FreezeOp
from ..decisions.launch_shape import MAX_GRID
from ..ir.acc_ops import NONE, enclosing_module, is_defined_inside, set_operand_groups
from ..ir.addresses import base_of
from ..ir.building import Cursor, constant_value, erase
from ..ir.jamming import NSW, Jam, explain, if_full, set_bounds
from ..ir.layout import size_of
from ..ir.recipes import reduction_recipe
from ..ir.region_values import HostEmitter, RegionSymbols
from ..ir.schedules import LoopSchedule, drop_covers, schedule_of, set_schedule, take_elements
from ..ir.trip_counts import Arithmetic, trip_count
from .group_copies import WIDE_BYTES, GroupCopies, Values
from .group_loads import Pair, Spreads
from .staged_groups import THREADS, StagedGroups, Staging

AHEAD = 2
"""
Groups of the inner loop that a thread which adds up alone has loaded before their turn: a scheduler has
few such warps, and a group of 16 products takes one 16 cycles, less than a load.
"""
IN_FLIGHT = 8
"""Iterations of the inner loop that a lane takes side by side for a sum that is in no group."""
Variables = dict[Operation, list[list[SSAValue]]]
"""For each sequential loop and row, the variables of its sums."""
SUMS: tuple[type[Operation], ...] = (arith.AddfOp, arith.AddiOp)


@dataclass(frozen=True)
class GroupedLoops:
    """
    A construct that is one loop, and the sequential loops in it to take in groups of `side`. `ordered`: what
    they carry is computed in the program's order, by one thread for each row; with `staging`, which the one
    pair there is then has, from shared memory.
    """

    construct: acc.ParallelOp
    outer: acc.LoopOp
    pairs: tuple[Pair, ...]
    side: int
    ordered: bool = False
    staging: Staging | None = None


# Ranges ---------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class IterationRange:
    """`lower` to `upper` (i64, in order), and the part `start` to `stop` made of aligned groups."""

    lower: SSAValue
    start: SSAValue
    stop: SSAValue
    upper: SSAValue

    @property
    def starts_whole(self) -> bool:
        return self.start is self.lower


def _whole_groups(lower: SSAValue, upper: SSAValue, side: int, at: Cursor) -> IterationRange:
    low = at.to_i64(lower)
    high = at.value(arith.MaxSIOp(at.to_i64(upper), low))
    mask = at.i64(-side)
    start = low
    first = constant_value(lower)
    if first is None or first % side:
        above = at.value(arith.AddiOp(low, at.i64(side - 1), overflow=NSW))
        start = at.value(arith.MinSIOp(at.value(arith.AndIOp(above, mask)), high), "start")
    stop = at.value(arith.MaxSIOp(at.value(arith.AndIOp(high, mask)), start), "stop")
    return IterationRange(low, start, stop, high)


def _narrow(value: SSAValue, type: IntegerType, at: Cursor, hint: str | None = None) -> SSAValue:
    """An i64 that is known to fit as `type`."""
    if value.type == type:
        return value
    op = llvm.TruncOp(value, type)
    op.properties["overflowFlags"] = llvm.OverflowAttr((llvm.OverflowFlag.NO_SIGNED_WRAP,))
    return at.value(op, hint)


# The rewriting --------------------------------------------------------------------------------------


class _GroupedIterations:
    """
    Emits iterations of the outer loop, one for each of `maps`: an aligned group of them, or a single
    one. `variables`: for each sequential loop in `pairs` and row, the reduction variables of its sums.
    """

    def __init__(
        self,
        found: GroupedLoops,
        maps: list[Values],
        variables: Variables,
        aligned: SSAValue | None,
        elements: int,
        thread: SSAValue | None = None,
    ):
        self.found, self.maps, self.variables, self.aligned = found, maps, variables, aligned
        self.elements, self.thread = elements, thread
        self.pairs = {pair.inner: pair for pair in found.pairs}

    def operations(self, ops: Sequence[Operation], at: Cursor) -> None:
        jam = Jam(self.maps)
        for op in ops:
            if op in self.pairs:
                assert isinstance(op, scf.ForOp)
                self._sum(self.pairs[op], at)
            else:
                jam.operations([op], at)

    def _sum(self, pair: Pair, at: Cursor) -> None:
        inner = pair.inner
        location, at.loc = at.loc, inner.location
        sums = [[m.get(v, v) for v in inner.iter_args] for m in self.maps]
        lower, upper = (self.maps[0].get(v, v) for v in (inner.lb, inner.ub))
        assert isinstance(inner.lb.type, IntegerType)
        if len(self.maps) == 1 and self.found.ordered:
            sums = self._in_order(pair, lower, upper, sums, at, few=False)
        elif len(self.maps) == 1:
            self._together(pair, 1, lower, upper, sums, at)
            sums = self._totals(pair, at)
        else:
            whole = _whole_groups(lower, upper, self.found.side, at)
            start = lower
            if not whole.starts_whole:
                start = _narrow(whole.start, inner.lb.type, at)
                sums = self._in_order(pair, lower, start, sums, at)
            stop = _narrow(whole.stop, inner.lb.type, at, "stop")
            span = at.value(arith.SubiOp(whole.stop, whole.start, overflow=NSW))
            groups = at.value(arith.DivUIOp(span, at.i64(self.found.side)))
            groups = _narrow(groups, inner.lb.type, at, "groups")
            if self.thread is not None and self.found.staging is not None:
                arrays = frozenset(_arrays(pair))
                emit = StagedGroups(
                    pair, self.found.staging, self.maps, arrays, self.thread, start
                ).emit
                sums = [list(row) for row in emit(groups, sums, at)]
            else:
                self._together(pair, self.found.side, start, groups, sums, at)
                sums = self._totals(pair, at)
            sums = self._in_order(pair, stop, upper, sums, at)
        for values, row in zip(self.maps, sums, strict=True):
            values.update(zip(inner.results, row, strict=True))
        at.loc = location

    def _in_order(
        self,
        pair: Pair,
        lower: SSAValue,
        upper: SSAValue,
        sums: list[list[SSAValue]],
        at: Cursor,
        *,
        few: bool = True,
    ) -> list[list[SSAValue]]:
        """Iterations of the inner loop one by one; `few`: those outside of whole groups."""
        body = pair.inner.body.block
        flat = [v for row in sums for v in row]
        block = Block(arg_types=[lower.type, *(v.type for v in flat)])
        block.args[0].name_hint = body.args[0].name_hint
        loop = at.insert(scf.ForOp(lower, upper, at.constant(1, lower.type), flat, Region(block)))
        if few:
            loop.attributes[UNROLL] = IntegerAttr(1, i32)
        inside = Cursor.at_end(block, at.loc)
        spreads = Spreads(pair, len(self.maps), 1)
        copies = GroupCopies(spreads, self.maps, block.args[0], inside)
        width = len(pair.inner.iter_args)
        out = copies.emit(_rows(block.args[1:], width))
        inside.insert(scf.YieldOp(*(v for row in out for v in row)))
        return _rows(loop.results, width)

    def _together(
        self,
        pair: Pair,
        steps: int,
        lower: SSAValue,
        upper: SSAValue,
        sums: list[list[SSAValue]],
        at: Cursor,
    ) -> None:
        """
        The inner loop from `lower`, shared out to lanes unless its order is kept; adds to `sums`. If
        `steps` is more than one, it is `upper` groups of so many iterations, otherwise the iterations up
        to `upper`.
        """
        for row, values in zip(self.variables[pair.inner], sums, strict=False):
            for variable, value in zip(row, values, strict=True):
                at.store(value, variable)
        places: list[tuple[Cursor, frozenset[SSAValue]]] = [(at, frozenset())]
        if self.aligned is not None:
            wide, narrow = if_full(at, self.aligned)
            places = [(wide, frozenset(_arrays(pair))), (narrow, frozenset())]
        for place, arrays in places:
            emit = self._one_thread if self.found.ordered else self._vector_loop
            emit(pair, steps, arrays, lower, upper, place)

    def _one_thread(
        self,
        pair: Pair,
        steps: int,
        arrays: frozenset[SSAValue],
        lower: SSAValue,
        upper: SSAValue,
        at: Cursor,
    ) -> None:
        """The groups of the inner loop in order, on the variables of the sums."""
        some = at.value(arith.CmpiOp(upper, at.constant(0, upper.type), "sgt"), "some")
        inside = at.if_then(some)
        sums = self._ahead(pair, steps, arrays, lower, upper, self._totals(pair, inside), inside)
        rows = self.variables[pair.inner][: len(self.maps)]
        for row, values in zip(rows, sums, strict=True):
            for variable, value in zip(row, values, strict=True):
                inside.store(value, variable)

    def _ahead(
        self,
        pair: Pair,
        steps: int,
        arrays: frozenset[SSAValue],
        lower: SSAValue,
        groups: SSAValue,
        sums: list[list[SSAValue]],
        at: Cursor,
    ) -> list[list[SSAValue]]:
        """
        At least one group in order, each loaded while those before it are computed; the sums after them.
        """
        spreads = Spreads(pair, len(self.maps), steps, arrays, WIDE_BYTES if arrays else 1)
        type = lower.type
        last = at.value(arith.SubiOp(groups, at.constant(1, type), overflow=NSW), "last")

        def load(number: SSAValue, place: Cursor) -> list[SSAValue]:
            known = place.value(arith.MinSIOp(number, last))
            step = _first_step(pair, steps, lower, known, place)
            loads = GroupCopies(spreads, self.maps, step, place).loads()
            # LLVM would carry addresses instead and load when the values are wanted.
            return [place.value(FreezeOp(v), v.name_hint) for v in loads]

        width = len(pair.inner.iter_args)
        ready = [load(at.constant(number, type), at) for number in range(AHEAD)]
        carried = [v for values in (*sums, *ready) for v in values]
        block = Block(arg_types=[type, *(v.type for v in carried)])
        zero, one = at.constant(0, type), at.constant(1, type)
        loop = at.insert(scf.ForOp(zero, groups, one, carried, Region(block)))
        loop.attributes[UNROLL] = IntegerAttr(2 * AHEAD, i32)
        inside = Cursor.at_end(block, at.loc)
        number = block.args[0]
        ahead = inside.value(arith.AddiOp(number, inside.constant(AHEAD, type), overflow=NSW))
        later = load(ahead, inside)
        count = len(self.maps) * width
        values = block.args[1 + count :]
        step = _first_step(pair, steps, lower, number, inside)
        now = values[: len(later)]
        copies = GroupCopies(spreads, self.maps, step, inside, now)
        out = copies.emit(_rows(block.args[1 : 1 + count], width))
        inside.insert(scf.YieldOp(*(v for row in out for v in row), *values[len(later) :], *later))
        return _rows(loop.results[:count], width)

    def _vector_loop(
        self,
        pair: Pair,
        steps: int,
        arrays: frozenset[SSAValue],
        lower: SSAValue,
        upper: SSAValue,
        at: Cursor,
    ) -> None:
        type = lower.type
        assert isinstance(type, IntegerType)
        rows = len(self.maps)
        variables = [
            [self._reduction(v, at) for v in row] for row in self.variables[pair.inner][:rows]
        ]
        body = Block(arg_types=[type])
        inside = Cursor.at_end(body, at.loc)
        step = _first_step(pair, steps, lower, body.args[0], inside)
        spreads = Spreads(pair, rows, steps, arrays, WIDE_BYTES)
        copies = GroupCopies(spreads, self.maps, step, inside)
        old = [
            [inside.load(v, a.type, a.name_hint) for v, a in zip(row, _carried(pair), strict=True)]
            for row in variables
        ]
        for row, values in zip(variables, copies.emit(old), strict=True):
            for variable, value in zip(row, values, strict=True):
                inside.store(value, variable)
        inside.insert(acc.YieldOp())
        loop = acc.LoopOp(
            region=Region(body),
            lowerbound=[at.constant(0, type) if steps > 1 else lower],
            upperbound=[upper],
            step=[at.constant(1, type)],
            inclusive_upperbound=DenseArrayBase.from_list(i1, [0]),
            independent=NONE,
            vector=NONE,
            reduction_operands=[v for row in variables for v in row],
        )
        set_schedule(loop, LoopSchedule(elements=self.elements))
        at.insert(loop)

    def _reduction(self, variable: SSAValue, at: Cursor) -> SSAValue:
        owner = variable.owner
        assert isinstance(owner, llvm.AllocaOp)
        module = enclosing_module(self.found.construct)
        add = acc.ReductionOpKind.ADD
        recipe = reduction_recipe(module, add, owner.elem_type, module.location)
        op = acc.ReductionOp(
            var=variable,
            var_type=owner.elem_type,  # pyright: ignore[reportArgumentType]
            recipe=recipe,
            acc_var_type=variable.type,
            var_name=variable.name_hint,
        )
        return at.value(op, variable.name_hint)

    def _totals(self, pair: Pair, at: Cursor) -> list[list[SSAValue]]:
        rows = self.variables[pair.inner][: len(self.maps)]
        return [
            [at.load(v, a.type, a.name_hint) for v, a in zip(row, _carried(pair), strict=True)]
            for row in rows
        ]


def _first_step(pair: Pair, steps: int, lower: SSAValue, number: SSAValue, at: Cursor) -> SSAValue:
    """The inner variable in the first of `steps` iterations, of which `number` groups lie before them."""
    step = number
    if steps > 1:
        number.name_hint = "group"
        distance = at.value(arith.MuliOp(number, at.constant(steps, lower.type), overflow=NSW))
        step = at.value(arith.AddiOp(lower, distance, overflow=NSW))
    step.name_hint = pair.step.name_hint
    return step


def _carried(pair: Pair) -> Sequence[SSAValue]:
    return pair.inner.body.block.args[1:]


def _rows(values: Sequence[SSAValue], width: int) -> list[list[SSAValue]]:
    return [list(values[i : i + width]) for i in range(0, len(values), width)]


def _arrays(pair: Pair) -> list[SSAValue]:
    """The arrays from outside of the construct that the inner loop reads elements of, in order."""
    found: list[SSAValue] = []
    for op in pair.inner.body.block.ops:
        if isinstance(op, llvm.LoadOp):
            pointer = base_of(op.ptr)
            narrow = size_of(op.dereferenced_value.type) < WIDE_BYTES
            if narrow and not is_defined_inside(pointer, pair.outer) and pointer not in found:
                found.append(pointer)
    return found


def _aligned(found: GroupedLoops, at: Cursor) -> SSAValue | None:
    """Whether all arrays start at multiples of a wide load's bytes."""
    arrays = dict.fromkeys(array for pair in found.pairs for array in _arrays(pair))
    bits: SSAValue | None = None
    for array in arrays:
        number = at.value(llvm.PtrToIntOp(array, i64))
        bits = number if bits is None else at.value(arith.OrIOp(bits, number))
    if bits is None:
        return None
    low = at.value(arith.AndIOp(bits, at.i64(WIDE_BYTES - 1)))
    return at.value(arith.CmpiOp(low, at.i64(0), "eq"), "aligned")


def _let_wrap(pair: Pair) -> None:
    """Sums in another order may leave the type's range on their way where the program's do not."""
    for argument in _carried(pair):
        value: SSAValue = argument
        while isinstance(user := next(iter(value.uses)).operation, SUMS):
            if isinstance(user, arith.AddiOp):
                user.properties["overflowFlags"] = arith.IntegerOverflowAttr("none")
            value = user.results[0]


@dataclass(frozen=True)
class _Shares:
    """
    How the outer loop's iterations are dealt out by number: `single` alone first, groups from `skipped` up to
    `count`. `head`: how many of the single ones lie before the groups.
    """

    found: GroupedLoops
    whole: IterationRange
    head: SSAValue
    single: SSAValue
    skipped: SSAValue
    count: SSAValue
    aligned: SSAValue | None
    elements: int

    @property
    def variable(self) -> SSAValue:
        return self.found.outer.region.block.args[0]

    @property
    def type(self) -> IntegerType:
        type = self.variable.type
        assert isinstance(type, IntegerType)
        return type

    def rows(self, number: SSAValue, at: Cursor) -> list[Values]:
        """The iterations of the group with a number."""
        hint, size = self.variable.name_hint, self.found.side
        place = at.value(arith.SubiOp(number, self.skipped, overflow=NSW))
        distance = at.value(arith.MuliOp(place, at.i64(size), overflow=NSW))
        first = at.value(arith.AddiOp(self.whole.start, distance, overflow=NSW))
        row = _narrow(first, self.type, at, hint)
        maps: list[Values] = [{self.variable: row}]
        for r in range(1, size):
            value = arith.AddiOp(row, at.constant(r, self.type), overflow=NSW)
            maps.append({self.variable: at.value(value, hint)})
        return maps

    def alone(self, number: SSAValue, at: Cursor) -> list[Values]:
        """The iteration with a number, which is in no group."""
        early = at.value(arith.AddiOp(self.whole.lower, number, overflow=NSW))
        past = at.value(arith.SubiOp(number, self.head, overflow=NSW))
        late = at.value(arith.AddiOp(self.whole.stop, past, overflow=NSW))
        is_early = at.value(arith.CmpiOp(number, self.head, "slt"))
        one = at.value(arith.SelectOp(is_early, early, late))
        return [{self.variable: _narrow(one, self.type, at, self.variable.name_hint)}]


def _shares(found: GroupedLoops, lanes: int, elements: int) -> _Shares:
    outer, size = found.outer, found.side
    before = Cursor.before(outer)
    whole = _whole_groups(outer.lowerbound[0], outer.upperbound[0], size, before)
    side = before.i64(size)
    span = before.value(arith.SubiOp(whole.stop, whole.start, overflow=NSW))
    groups = before.value(arith.DivUIOp(span, side), "groups")
    head = before.value(arith.SubiOp(whole.start, whole.lower, overflow=NSW), "head")
    tail = before.value(arith.SubiOp(whole.upper, whole.stop, overflow=NSW))
    single = before.value(arith.AddiOp(head, tail, overflow=NSW))
    # They come first, as each takes longer than a group, and fill whole gangs: groups that lanes of one
    # warp take then lie side by side in memory.
    workers = THREADS // lanes
    above = before.value(arith.AddiOp(single, before.i64(workers - 1), overflow=NSW))
    skipped = before.value(arith.AndIOp(above, before.i64(-workers)), "skipped")
    count = before.value(arith.AddiOp(groups, skipped, overflow=NSW), "count")
    aligned = _aligned(found, before)
    return _Shares(found, whole, head, single, skipped, count, aligned, elements)


def _each_alone(
    shares: _Shares,
    originals: Sequence[Operation],
    variables: Variables,
    number: SSAValue,
    at: Cursor,
) -> None:
    """The group or the single iteration with a number."""
    found = shares.found
    together, apart = if_full(at, at.value(arith.CmpiOp(number, shares.skipped, "sge"), "whole"))
    maps = shares.rows(number, together)
    _GroupedIterations(found, maps, variables, shares.aligned, shares.elements).operations(
        originals, together
    )
    apart = apart.if_then(apart.value(arith.CmpiOp(number, shares.single, "slt"), "single"))
    maps = shares.alone(number, apart)
    _GroupedIterations(found, maps, variables, None, IN_FLIGHT).operations(originals, apart)


def _by_gangs(shares: _Shares, originals: Sequence[Operation], at: Cursor) -> SSAValue:
    """
    What the threads of a gang do in one iteration of the loop over gangs: groups together where all have one;
    how many iterations that loop has.
    """
    found = shares.found
    body = Block(arg_types=[i32])
    thread = body.args[0]
    thread.name_hint = "thread"
    inside = Cursor.at_end(body, at.loc)
    variables = _variables(found, inside)
    threads = inside.i64(THREADS)
    first = inside.value(
        arith.MuliOp(inside.to_i64(shares.variable), threads, overflow=NSW), "first"
    )
    number = inside.value(arith.AddiOp(first, inside.to_i64(thread), overflow=NSW), "number")
    past = inside.value(arith.AddiOp(first, threads, overflow=NSW))
    full = inside.value(arith.CmpiOp(first, shares.skipped, "sge"))
    full = inside.value(arith.AndIOp(full, inside.value(arith.CmpiOp(past, shares.count, "sle"))))
    if shares.aligned is not None:
        full = inside.value(arith.AndIOp(full, shares.aligned), "full")
    together, apart = if_full(inside, full)
    maps = shares.rows(number, together)
    _GroupedIterations(found, maps, variables, None, shares.elements, thread).operations(
        originals, together
    )
    valid = apart.value(arith.CmpiOp(number, shares.count, "slt"), "valid")
    _each_alone(shares, originals, variables, number, apart.if_then(valid))
    at.insert(GangThreadsOp((THREADS,), Region(body)))
    before = Cursor.before(found.outer)
    above = before.value(arith.AddiOp(shares.count, before.i64(THREADS - 1), overflow=NSW))
    return before.value(arith.DivUIOp(above, before.i64(THREADS)), "blocks")


def group(found: GroupedLoops, lanes: int, elements: int) -> None:
    """Rewrites the construct (see the contract above)."""
    outer, size = found.outer, found.side
    block = outer.region.block
    variable = block.args[0]
    assert block.first_op is not None
    _resize(found, lanes)
    for pair in found.pairs if not found.ordered else ():
        _let_wrap(pair)
    originals = [op for op in block.ops if not isinstance(op, acc.YieldOp)]
    shares = _shares(found, lanes, elements)
    end = block.last_op
    assert end is not None
    at = Cursor.before(end, outer.location)
    trips = shares.count
    if found.staging is not None:
        trips = _by_gangs(shares, originals, at)
    else:
        variables = _variables(found, Cursor.before(block.first_op))
        _each_alone(shares, originals, variables, at.to_i64(variable), at)

    before = Cursor.before(outer)
    for op in reversed(originals):
        erase(op)
    set_bounds(before, outer, _narrow(trips, shares.type, before))
    if not found.ordered:
        outer.vector, outer.worker = None, NONE
    elif found.staging is not None:
        outer.vector = None
    take_elements(outer)
    variable.name_hint = "group" if found.staging is None else "block"
    adding = "a thread adds up each sequentially" if found.ordered else f"{lanes} lanes add up each"
    where = "" if found.staging is None else " through tiles in shared memory"
    explain(
        outer,
        f"groups of {size} iterations and {size} of the loops inside share what they read{where}; {adding}",
    )


def _variables(found: GroupedLoops, at: Cursor) -> Variables:
    """Variables for the sums that the loops in `pairs` carry, row by row."""
    one = at.i32(1)
    return {
        pair.inner: [
            [
                at.value(llvm.AllocaOp(one, a.type, alignment=size_of(a.type)), a.name_hint)
                for a in _carried(pair)
            ]
            for _ in range(found.side)
        ]
        for pair in found.pairs
    }


def _resize(found: GroupedLoops, lanes: int) -> None:
    """
    A worker per group, a lane where the order is kept, and gangs for all groups where there were gangs for
    all iterations.
    """
    construct, outer, side = found.construct, found.outer, found.side
    at = Cursor.before(construct)
    workers = THREADS // lanes
    gangs = list(construct.num_gangs)
    if schedule_of(outer).covers:
        emit = HostEmitter(construct)
        counted = trip_count(outer, RegionSymbols(construct), Arithmetic(emit))
        if counted is None:
            drop_covers(outer)
        else:
            trips = counted[0]
            value = at.i64(trips) if isinstance(trips, int) else at.to_i64(trips)
            value = at.value(arith.MaxSIOp(value, at.i64(0)))
            # At most side - 1 iterations at either end stand for themselves, in gangs of their own.
            most = at.add(at.value(arith.DivUIOp(value, at.i64(side))), at.i64(2 * side - 2))
            rounded = at.add(most, at.i64(2 * (workers - 1)))
            needed = at.value(arith.DivUIOp(rounded, at.i64(workers)))
            limited = at.value(arith.MinSIOp(needed, at.i64(MAX_GRID[1])))
            gangs[0] = at.value(arith.TruncIOp(limited, i32), "num_gangs")
    shape = (lanes, workers) if found.ordered else (workers, lanes)
    set_operand_groups(
        construct, num_gangs=gangs, num_workers=[at.i32(shape[0])], vector_length=[at.i32(shape[1])]
    )
