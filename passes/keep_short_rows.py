"""
Let one thread process each short row: choose at launch between lanes and threads for an innermost loop.

Lanes share the innermost loop of a nest, so that they access neighbouring elements together. If it has few
iterations, most lanes are idle, while threads that process one row each access neighbouring elements, too, if
the rows follow one another in memory. The number of iterations is often known only at run time.

Takes:  data level, nests in their final order, a loop for each variable of a collapsed one, bounds of inner
        loops computed before the construct.
Leaves: a construct that is such a nest (`decisions/short_rows.py`), without levels and sizes, of which the
        innermost loop, or several in one loop, contain no loop, is in an `scf.if` on the number of iterations
        of the longest of them. The first version, for `lanes_from` and more, is unchanged, in the second the
        innermost loops are `seq`. A note on the construct says so. Other constructs are unchanged, also those
        with several nests, with a reduction over rows, with a `cache` directive, or with a queue or wait
        clause that versions cannot have.
Fails:  never.

Before:
  acc.parallel {
    acc.loop control(%i : i32) = … {
      acc.loop control(%j : i32) = (%c0 : i32) to (%m : i32) step (%c1 : i32) {
        … a[%i * %m + %j] …
      }
  } }
After:
  %long_rows = arith.cmpi sge, %trip, %c8 : i64
  scf.if %long_rows {
    acc.parallel { acc.loop … { acc.loop … } }
  } else {
    acc.parallel { acc.loop … { acc.loop … {seq} } }
  }

Options: `target` (`host`: nothing to do).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce

from xdsl.dialects import acc, arith, llvm, scf
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue

from .decisions.polynomials import Polynomial
from .decisions.short_rows import FEWEST_FOR_LANES, MANY_ROWS, RowAccess, lanes_from
from .ir.loops.loop_facts import is_tight
from .ir.ops.acc_ops import (
    child_loops,
    hands_on,
    is_defined_inside,
    loops_around,
    loops_in,
    parallel_constructs,
)
from .ir.ops.building import Cursor, constant_value
from .ir.ops.gpu_pass import GpuPass
from .ir.ops.levels import is_parallel, loop_levels
from .ir.ops.loop_order import make_sequential
from .ir.ops.machine import machine_of
from .ir.ops.notes import note
from .ir.ops.versions import (
    copy_construct,
    move_construct,
    ready_for_versions,
)
from .ir.values.addresses import base_of
from .ir.values.region_values import HostEmitter, RegionSymbols
from .ir.values.stable_loads import distance_from_base
from .ir.values.trip_counts import Arithmetic, trip_count

_INNER_LOOPS = (acc.LoopOp, scf.ForOp, scf.WhileOp, scf.ExecuteRegionOp)


def _is_open(loop: acc.LoopOp) -> bool:
    """Whether the schedule may give a loop of one variable any level."""
    one = len(loop.lowerbound) == 1 and not loop.tile_operands
    return one and is_parallel(loop) and not loop_levels(loop) and not hands_on(loop)


def rows_of(construct: acc.ParallelOp) -> list[acc.LoopOp]:
    """
    The innermost loops of a construct that is one nest of parallel loops, without levels, sizes and sections
    to cache, if they are in one loop, their bounds are the same, and known before the nest, their step is 1,
    they have no loops inside, and no other loop reduces anything; else an empty list.
    """
    loops = list(loops_in(construct))
    if len(child_loops(construct)) != 1 or len(loops) < 2 or not all(map(_is_open, loops)):
        return []
    if construct.num_gangs or construct.num_workers or construct.vector_length:
        return []
    around = [loop for loop in loops if child_loops(loop)]
    rows = child_loops(around[-1])
    if len(around) + len(rows) != len(loops) or any(loop.reduction_operands for loop in around):
        return []
    if any(loop.cache_operands for loop in loops):
        return []
    if any(isinstance(op, (*_INNER_LOOPS, acc.CacheOp)) for r in rows for op in r.region.walk()):
        return []
    if any(constant_value(row.step[0]) != 1 for row in rows):
        return []
    bounds = [value for row in rows for value in (*row.lowerbound, *row.upperbound)]
    return [] if any(is_defined_inside(value, loops[0]) for value in bounds) else rows


def _slope(address: Polynomial, variable: SSAValue) -> Polynomial | None:
    parts = address.split(variable)
    return None if parts is None else parts[1]


def _row_access(pointer: SSAValue, row: acc.LoopOp, symbols: RegionSymbols) -> RowAccess:
    around = next(loops_around(row))
    address = distance_from_base(pointer, symbols)
    if address is None:
        return RowAccess(None, None)
    inner, outer = row.region.block.args[-1], around.region.block.args[-1]
    return RowAccess(_slope(address, inner), _slope(address, outer))


def _lanes_from(rows: Sequence[acc.LoopOp], construct: acc.ParallelOp) -> int | None:
    """The number of iterations of `rows` from which on lanes should share them; None: always."""
    symbols = RegionSymbols(construct)
    around = next(loops_around(rows[0]))
    beside = not is_tight(around, child_loops(around), symbols)
    if beside and around.parent_op() is not construct:
        return None
    stores, accesses, lengths = 0, list[RowAccess](), list[Polynomial]()
    for row in rows:
        low, high = (symbols.polynomial(v) for v in (row.lowerbound[0], row.upperbound[0]))
        if low is None or high is None:
            return None
        lengths.append(high - low)
        ops = [op for op in row.region.walk() if isinstance(op, llvm.LoadOp | llvm.StoreOp)]
        accesses += [_row_access(op.ptr, row, symbols) for op in ops]
        stores += any(isinstance(op, llvm.StoreOp) and _is_shared(op, row) for op in ops)
    return lanes_from(accesses, lengths, stores, beside=beside)


def _is_shared(store: llvm.StoreOp, row: acc.LoopOp) -> bool:
    """Whether a store is to memory, not to a copy of a variable that the loop makes."""
    return base_of(store.ptr) not in (*row.reduction_operands, *row.private_operands)


def _has_enough(
    rows: Sequence[acc.LoopOp], construct: acc.ParallelOp, least: int
) -> SSAValue | None:
    """Emits the test that lanes should share `rows`; None if only the device knows their lengths."""
    symbols, math = RegionSymbols(construct), Arithmetic(HostEmitter(construct))
    found = [trip_count(row, symbols, math) for row in rows]
    known = [count[0] for count in found if count is not None]
    if len(known) != len(rows):
        return None
    trips = math.value(reduce(math.maximum, known))

    def test(value: SSAValue, limit: int, predicate: str) -> SSAValue:
        return math.emit.value(arith.CmpiOp(value, math.value(limit), predicate))

    enough = test(trips, FEWEST_FOR_LANES, "sge")
    number = trip_count(next(loops_around(rows[0])), symbols, math)
    if least > FEWEST_FOR_LANES and number is not None:
        few = test(math.value(number[0]), MANY_ROWS, "slt")
        either = math.emit.value(arith.OrIOp(few, test(trips, least, "sge")))
        enough = math.emit.value(arith.AndIOp(enough, either))
    enough.name_hint = "long_rows"
    return enough


def keep_short_rows(construct: acc.ParallelOp) -> None:
    """Makes a version of a construct with a thread for each row, if that pays."""
    rows = rows_of(construct)
    least = _lanes_from(rows, construct) if rows else None
    if least is None or not ready_for_versions(construct):
        return
    enough = _has_enough(rows, construct, least)
    if enough is None:
        return
    then, otherwise = Cursor.before(construct).if_else(enough)
    copy = copy_construct(construct, otherwise)
    for short in list(loops_in(copy))[-len(rows) :]:
        make_sequential(short, "it has too few iterations to give each one a thread")
    move_construct(construct, then)
    name = rows[0].region.block.args[0].name_hint or "…"
    text = f"loop over '{name}': lanes share it if it has {least} iterations or more"
    if least > FEWEST_FOR_LANES:
        text += f", or {FEWEST_FOR_LANES} in fewer than {MANY_ROWS} rows"
    note(construct, [(rows[0], f"{text} (tested at launch), else a thread runs all of them")])


@dataclass(frozen=True)
class KeepShortRowsPass(GpuPass):
    """See the module's description."""

    name = "keep-short-rows"

    def rewrite(self, module: ModuleOp) -> None:
        if machine_of(module).as_written:
            return
        for construct in parallel_constructs(module):
            keep_short_rows(construct)
