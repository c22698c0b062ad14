"""
Rewrites a construct whose subscripts combine two loops' variables (group-combined-subscripts): the loop
over groups and the launch shape. `group_sums.py` emits the sums, `group_shares.py` numbers the work.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import acc, arith, llvm
from xdsl.dialects.builtin import i32
from xdsl.ir import Block, Operation, Region, SSAValue

from ...dialects.accx_cache import GangThreadsOp
from ..decisions.launch_shape import MAX_GRID
from ..ir.loops.jamming import explain, set_bounds
from ..ir.ops.acc_ops import NONE, set_operand_groups
from ..ir.ops.building import NSW, Cursor, erase
from ..ir.ops.layout import size_of
from ..ir.ops.schedules import drop_covers, schedule_of, take_elements
from ..ir.values.region_values import HostEmitter, RegionSymbols
from ..ir.values.trip_counts import Arithmetic, trip_count
from .group_loads import Pair
from .group_ranges import GroupedLoops, narrowed
from .group_shares import Shares, shares_of
from .group_sums import SUMS, GroupedIterations, Variables, carried_sums
from .staged_groups import THREADS

IN_FLIGHT = 8
"""The iterations of the inner loop that a lane takes side by side for a sum outside of groups."""


def _let_wrap(pair: Pair) -> None:
    """Removes no-wrap flags: sums in another order may exceed the type's range where the program's do not."""
    for argument in carried_sums(pair):
        value: SSAValue = argument
        while isinstance(user := next(iter(value.uses)).operation, SUMS):
            if isinstance(user, arith.AddiOp):
                user.properties["overflowFlags"] = arith.IntegerOverflowAttr("none")
            value = user.results[0]


def _each_alone(
    shares: Shares,
    originals: Sequence[Operation],
    variables: Variables,
    number: SSAValue,
    at: Cursor,
) -> None:
    """Emits the group or the single iteration `number`."""
    found = shares.found
    together, apart = at.if_else(at.value(arith.CmpiOp(number, shares.skipped, "sge"), "whole"))
    maps = shares.rows(number, together)
    GroupedIterations(found, maps, variables, shares.aligned, shares.elements).operations(
        originals, together
    )
    apart = apart.if_then(apart.value(arith.CmpiOp(number, shares.single, "slt"), "single"))
    maps = shares.alone(number, apart)
    GroupedIterations(found, maps, variables, None, IN_FLIGHT).operations(originals, apart)


def _by_gangs(shares: Shares, originals: Sequence[Operation], at: Cursor) -> SSAValue:
    """
    Emits the work of a gang's threads in one iteration of the loop over gangs: groups together if all
    threads have one. Returns the trip count of that loop.
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
    together, apart = inside.if_else(full)
    maps = shares.rows(number, together)
    GroupedIterations(found, maps, variables, None, shares.elements, thread).operations(
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
    shares = shares_of(found, lanes, elements)
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
    set_bounds(before, outer, narrowed(trips, shares.type, before))
    if not found.ordered:
        outer.vector, outer.worker = None, NONE
    elif found.staging is not None:
        outer.vector = None
    take_elements(outer)
    variable.name_hint = "group" if found.staging is None else "block"
    adding = (
        "one thread computes each sum sequentially"
        if found.ordered
        else f"{lanes} lanes share each sum"
    )
    where = "" if found.staging is None else " through tiles in shared memory"
    explain(
        outer,
        f"groups of {size} iterations and {size} of the loops inside share their reads{where}; {adding}",
    )


def _variables(found: GroupedLoops, at: Cursor) -> Variables:
    """Makes variables for the sums that the loops in `pairs` carry, row by row."""
    one = at.i32(1)
    return {
        pair.inner: [
            [
                at.value(llvm.AllocaOp(one, a.type, alignment=size_of(a.type)), a.name_hint)
                for a in carried_sums(pair)
            ]
            for _ in range(found.side)
        ]
        for pair in found.pairs
    }


def _resize(found: GroupedLoops, lanes: int) -> None:
    """
    Sets the launch shape: a worker per group (a lane if the order is kept), and gangs for all groups if
    there were gangs for all iterations.
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
            # At most side - 1 iterations at either end are not in groups; they have gangs of their own.
            most = at.add(at.value(arith.DivUIOp(value, at.i64(side))), at.i64(2 * side - 2))
            rounded = at.add(most, at.i64(2 * (workers - 1)))
            needed = at.value(arith.DivUIOp(rounded, at.i64(workers)))
            limited = at.value(arith.MinSIOp(needed, at.i64(MAX_GRID[1])))
            gangs[0] = at.value(arith.TruncIOp(limited, i32), "num_gangs")
    shape = (lanes, workers) if found.ordered else (workers, lanes)
    set_operand_groups(
        construct, num_gangs=gangs, num_workers=[at.i32(shape[0])], vector_length=[at.i32(shape[1])]
    )
