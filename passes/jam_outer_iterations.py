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
        reduce. Of a loop of several variables, the first has tiles, and the launch no longer covers the
        iterations. Sequential loops whose bounds are the same for all rows are fused. Other loops are
        untouched.
Fails:  never. For a loop that cannot be jammed, each iteration gets a gang of its own, and `accx.why` gives
        the reason: its body stores to variables that live outside of it, contains further loop directives,
        has bounds that change from row to row, or is too long.

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
from .decisions.row_sharing import check_length, rows_that_pay
from .ir.loops.jammed_nests import JammedNest, jammed_nest
from .ir.loops.jamming import Jam, body_of, copies_of_own, explain, set_bounds, trip_count
from .ir.loops.row_accesses import is_own, row_accesses
from .ir.loops.row_gangs import settle_rows
from .ir.ops.acc_ops import loops_in, parallel_constructs
from .ir.ops.building import NSW, Cursor, constant_value, erase
from .ir.ops.schedules import schedule_of


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


def jam(nest: JammedNest, construct: acc.ParallelOp, number: int) -> None:
    """Rewrites `nest`, the nest `number` of a construct (see the contract above)."""
    outer, inner, count = nest.outer, nest.inner, nest.elements
    type = outer.lowerbound[0].type
    assert isinstance(type, IntegerType)
    body = inner.region.block
    originals = [*nest.sunk, *(op for op in body.ops if not isinstance(op, acc.YieldOp))]

    before = Cursor.before(outer)
    trips = trip_count(before, outer)
    one, size = before.constant(1, type), before.constant(count, type)
    rounded = before.value(arith.AddiOp(trips, before.constant(count - 1, type)))
    tiles = before.value(arith.DivUIOp(rounded, size), "tiles")

    end = body.last_op
    assert end is not None
    cursor = Cursor.before(end, inner.location)
    tile = outer.region.block.args[0]
    first = cursor.value(arith.MuliOp(tile, size, overflow=NSW), "first")
    past = cursor.value(arith.AddiOp(first, size, overflow=NSW), "past")
    full = cursor.value(arith.CmpiOp(past, trips, "sle"), "full")
    then, otherwise = cursor.if_else(full)

    maps = _row_maps(nest, first, then)
    for values, copies in zip(maps, copies_of_own(inner, count), strict=True):
        values |= copies
    marked = number if _reads_after_storing(originals) else None
    Jam(maps, independent=marked).operations(originals, then)

    rows, each = otherwise.for_loop(first, trips, one, "row")
    rows.attributes[UNROLL] = IntegerAttr(1, i32)
    values = _row_values(nest, each.point.block.args[0], each)
    for op in originals:
        each.clone(op, values)

    for op in reversed(originals):
        erase(op)
    set_bounds(before, outer, tiles)
    settle_rows(outer, count, construct)


@dataclass(frozen=True)
class JamOuterIterationsPass(ModulePass):
    """See the contract at the top of this file."""

    name = "jam-outer-iterations"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
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
            except Declined as reason:
                explain(loop, f"rows not kept side by side: {reason}")
                settle_rows(loop, 1, construct)
                continue
            explain(loop, f"{nest.elements} iterations side by side in each thread")
            jammed[construct] = jammed.get(construct, -1) + 1
            jam(nest, construct, jammed[construct])
