"""
Give every thread several iterations of an outer gang loop, side by side (unroll and jam).

A stencil's neighbouring rows share most of their loads, and the rows of a matrix product share a whole
column: with n rows in one thread the shared values stay in registers. The schedule requests this by
`elements = n` on a gang loop without lanes.

Takes:  scheduled IR.
Leaves: no `elements` on a gang-only loop whose lanes are on a loop below it. Such a loop runs over
        tiles of n iterations (`decisions/row_sharing.py` may choose fewer); the innermost loop's body has
        the n iterations interleaved operation by operation (loads of all rows before the stores of any;
        `accx.iteration` says whose they are where a row reads after it has stored), and a second copy, row
        after row, for a tile that is not full. Values of a row that are computed before the inner loop move
        into it, also loads of what it does not change. Each row has a copy of the scalars that both loops
        reduce. If threads with n rows would leave much of the device idle, the launch chooses tiles of one
        row, which the second copy runs. Of a loop of several variables, the first has tiles, and the launch
        no longer covers the iterations. Sequential loops whose bounds are the same for all rows are fused.
        Other loops are untouched.
Fails:  never. For a loop that cannot be jammed, each iteration gets a gang of its own, and `accx.why` gives
        the reason: its body stores to variables that live outside of it, contains further loop directives,
        has bounds that change from row to row, or is too long, or the nest has too few iterations.

Before:
  acc.loop gang control(%i : i32) = (%lb : i32) to (%ub : i32) step (%c1 : i32) {
    acc.loop vector control(%j : i32) = (%c0 : i32) to (%m : i32) step (%c1 : i32) {
      body(%i, %j)
    }
  } attributes {accx.schedule = #accx.schedule<elements = 4>}
After:
  acc.loop gang control(%tile : i32) = (%c0 : i32) to (%tiles : i32) step (%c1 : i32) {
    %first = 4 * %tile
    acc.loop vector control(%j : i32) = (%c0 : i32) to (%m : i32) step (%c1 : i32) {
      scf.if (%first + 4 <= trips) { body of rows %first … %first + 3, jammed }
      else { scf.for %r = %first to trips { body(%lb + %r, %j) } }
    }
  }
With trip counts that are known at launch, `%rows`, 4 or 1, stands for the 4 of tiles; the first copy runs if
it is 4, and the loop over %r ends at %first + %rows.

Options: `threads`: the number of threads with several rows that keep the device busy (default: that of a
large one, 0 in the simulator; 0: all rows are side by side).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from xdsl.context import Context
from xdsl.dialects import acc, arith, llvm
from xdsl.dialects.builtin import IntegerAttr, IntegerType, ModuleOp, i32
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass

from ..dialects.accx import UNROLL
from .decisions.declined import Declined
from .decisions.row_sharing import LEAST_THREADS, check_length, rows_that_pay
from .ir.loops.jammed_nests import JammedNest, jammed_nest
from .ir.loops.jamming import Jam, body_of, copies_of_own, explain, set_bounds, trip_count
from .ir.loops.row_accesses import is_own, row_accesses
from .ir.loops.row_gangs import settle_rows
from .ir.ops.acc_ops import loops_in, parallel_constructs
from .ir.ops.building import NSW, Cursor, constant_value, erase
from .ir.ops.machine import machine_of
from .ir.ops.schedules import schedule_of
from .ir.values.region_values import HostEmitter, RegionSymbols
from .ir.values.trip_counts import Arithmetic, Count
from .ir.values.trip_counts import trip_count as host_trip_count


def _row_values(nest: JammedNest, row: SSAValue, cursor: Cursor) -> dict[SSAValue, SSAValue]:
    """The value map of one row: the C variable is `lower + row * step`."""
    variable = nest.outer.region.block.args[0]
    lower, step = nest.outer.lowerbound[0], nest.outer.step[0]
    value = row
    if constant_value(step) != 1:
        value = cursor.value(arith.MuliOp(value, step, overflow=NSW))
    if constant_value(lower) != 0:
        value = cursor.value(arith.AddiOp(lower, value, overflow=NSW), variable.name_hint)
    return {variable: value}


def _row_maps(nest: JammedNest, first: SSAValue, cursor: Cursor) -> list[dict[SSAValue, SSAValue]]:
    """
    The value maps of the rows of a full tile. Row r is row 0 plus a constant, so that LLVM finds that row r
    of one iteration is row r - 1 of the next.
    """
    variable = nest.outer.region.block.args[0]
    step = constant_value(nest.outer.step[0])
    zero = _row_values(nest, first, cursor)
    maps = [zero]
    for r in range(1, nest.elements):
        if step is None:
            row = cursor.value(arith.AddiOp(first, cursor.constant(r, first.type), overflow=NSW))
            maps.append(_row_values(nest, row, cursor))
        else:
            distance = cursor.constant(r * step, first.type)
            value = arith.AddiOp(zero[variable], distance, overflow=NSW)
            maps.append({variable: cursor.value(value, variable.name_hint)})
    return maps


def _reads_after_storing(ops: Sequence[Operation]) -> bool:
    """Whether a load of memory that threads share follows a store in a body of `ops`."""
    stored = False
    for op in (inner for each in ops for inner in each.walk()):
        if isinstance(op, llvm.LoadOp | llvm.StoreOp) and not is_own(op.ptr):
            if stored and isinstance(op, llvm.LoadOp):
                return True
            stored = stored or isinstance(op, llvm.StoreOp)
    return False


def _rows_at_launch(nest: JammedNest, construct: acc.ParallelOp, threads: int) -> int | SSAValue:
    """
    The rows of a thread: those of `nest`, or an i64 before the construct that is 1 where `threads` threads
    would not have so many. Raises `Declined` if that is known now.
    """
    if threads == 0:
        return nest.elements
    math, symbols = Arithmetic(HostEmitter(construct)), RegionSymbols(construct)
    iterations: Count = 1
    for loop in (nest.outer, *loops_in(nest.outer)):
        found = host_trip_count(loop, symbols, math)
        if found is None:
            return nest.elements
        iterations = math.multiply(iterations, math.maximum(found[0], 0))
    many = math.at_least(iterations, nest.elements * threads, "many")
    if many is False:
        raise Declined("too few iterations to fill the device")
    if many is True:
        return nest.elements
    at = math.emit
    return at.value(arith.SelectOp(many, at.i64(nest.elements), at.i64(1)), "rows")


def jam(nest: JammedNest, construct: acc.ParallelOp, number: int, rows: int | SSAValue) -> None:
    """
    Rewrites `nest`, the nest `number` of a construct (see the contract above), with `rows` rows to a thread,
    those of the nest or fewer.
    """
    outer, inner, count = nest.outer, nest.inner, nest.elements
    type = outer.lowerbound[0].type
    assert isinstance(type, IntegerType)
    body = inner.region.block
    originals = [*nest.sunk, *(op for op in body.ops if not isinstance(op, acc.YieldOp))]
    at_launch = isinstance(rows, SSAValue)

    before = Cursor.before(outer)
    trips = trip_count(before, outer)
    one, most = before.constant(1, type), before.constant(count, type)
    size = before.to_integer(rows, type) if at_launch else most
    rounded = before.value(arith.AddiOp(trips, before.sub(size, one)))
    tiles = before.value(arith.DivUIOp(rounded, size), "tiles")

    end = body.last_op
    assert end is not None
    cursor = Cursor.before(end, inner.location)
    tile = outer.region.block.args[0]
    first = cursor.value(arith.MuliOp(tile, size, overflow=NSW), "first")
    past = cursor.value(arith.AddiOp(first, size, overflow=NSW), "past")
    full = cursor.value(arith.CmpiOp(past, trips, "sle"), "full")
    end_of_rows = trips
    if at_launch:
        several = cursor.value(arith.CmpiOp(size, most, "eq"), "several")
        full = cursor.value(arith.AndIOp(several, full))
        end_of_rows = cursor.value(arith.MinSIOp(past, trips))
    then, otherwise = cursor.if_else(full)

    maps = _row_maps(nest, first, then)
    for values, copies in zip(maps, copies_of_own(inner, count), strict=True):
        values |= copies
    marked = number if _reads_after_storing(originals) else None
    Jam(maps, independent=marked).operations(originals, then)

    rest, each = otherwise.for_loop(first, end_of_rows, one, "row")
    rest.attributes[UNROLL] = IntegerAttr(1, i32)
    values = _row_values(nest, each.point.block.args[0], each)
    for op in originals:
        each.clone(op, values)

    for op in reversed(originals):
        erase(op)
    set_bounds(before, outer, tiles)
    settle_rows(outer, rows, construct)


@dataclass(frozen=True)
class JamOuterIterationsPass(ModulePass):
    """See the contract at the top of this file."""

    name = "jam-outer-iterations"

    threads: int | None = None

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        threads = 0 if machine_of(op).simulated else LEAST_THREADS
        if self.threads is not None:
            threads = self.threads
        loops = [
            (construct, loop)
            for construct in parallel_constructs(op)
            for loop in loops_in(construct)
            if schedule_of(loop).elements > 1 and loop.vector is None
        ]
        jammed: dict[acc.ParallelOp, int] = {}
        for construct, loop in loops:
            try:
                nest = jammed_nest(loop)
                check_length(sum(1 for _ in body_of(nest.inner).walk()))
                nest = replace(nest, elements=rows_that_pay(row_accesses(nest)))
                rows = _rows_at_launch(nest, construct, threads)
            except Declined as reason:
                explain(loop, f"rows not kept side by side: {reason}")
                settle_rows(loop, 1, construct)
                continue
            text = f"{nest.elements} iterations side by side in each thread"
            if isinstance(rows, SSAValue):
                text += f", one if there are fewer than {threads} threads with so many"
            explain(loop, text)
            jammed[construct] = jammed.get(construct, -1) + 1
            jam(nest, construct, jammed[construct], rows)
