"""
Share sums of columns among gangs, so that every thread has rows to add and reads whole cache lines.

With a gang or a thread for each column, `for j: for i: s += a[i][j]` keeps few threads busy if there are few
columns, and gangs that share a column read one element of each cache line. Here, the threads of a gang
take neighbouring columns and several rows of them, and several gangs share the columns if that leaves
multiprocessors idle.

Takes:  scheduled IR for a GPU. Considers constructs that are one nest of parallel loops without user-given
        sizes around a loop whose results may be combined in any order: one with a `reduction` clause, or a
        sequential one of integers, with `--fast-math` also of floating-point numbers. Most of its loads walk
        down columns, whose neighbours belong to neighbouring iterations of the loop around it.
Leaves: one gang loop over shares of columns (`decisions/column_split.py`), in it an `accx.gang_threads` of
        1024 threads: their rows one after the other, the exchange of the results in an `accx.shared_tile`,
        and, where gangs have the same columns, in `accx.launch_memory`; the thread that has a column's
        total runs what follows the sum. Where the columns have too few elements in all (known at launch), a
        second version is the nest as it was. `accx.why` describes the result. Others are untouched.
Fails:  never.

Before:
  acc.loop gang control(%j : i32) = (%c0 : i32) to (%m : i32) step (%c1 : i32) {
    acc.loop vector reduction(%s : !llvm.ptr) control(%i : i32) = … { … a[%i * %m + %j] … }
    llvm.store %sum, %out[%j]
  }
After:
  acc.loop gang control(%share : i64) = (%c0) to (%groups * %split) step (%c1) {
    accx.gang_threads [1024] {
    ^bb0(%thread : i32):
      %exists = … column and phase of the thread …
      %partial = scf.for %turn = … iter_args(…) { … a[(%first + %turn * %stride) * %m + column] … }
      … store to %tile, accx.gang_barrier, the sum of each column's threads …
      %done = scf.if %alone { yield true } else {
        … store to %results …
        %last = accx.last_gang %ticket of %split
        scf.if %last { … the sum of %results over the gangs … }
        yield %last
      }
      scf.if %finishes { … llvm.store %total, %out[%j] }
  } }

Options: `target` (`host`: no change).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce

from xdsl.dialects import acc, arith
from xdsl.dialects.builtin import DenseArrayBase, IntegerAttr, ModuleOp, i32, i64
from xdsl.ir import Block, Region, SSAValue

from ...dialects.accx_cache import GangThreadsOp
from ..decisions.column_split import FEWEST_ELEMENTS, THREADS, ColumnShares, column_shares
from ..decisions.declined import Declined
from ..decisions.launch_shape import MAX_GRID
from ..ir.loops.jamming import explain
from ..ir.ops.acc_ops import NONE, parallel_constructs, set_operand_groups, set_prop
from ..ir.ops.building import Cursor, erase
from ..ir.ops.gpu_pass import GpuPass
from ..ir.ops.schedules import LoopSchedule, set_schedule
from ..ir.ops.versions import ready_for_versions, second_version
from ..ir.values.region_values import HostEmitter, RegionSymbols
from ..ir.values.trip_counts import Arithmetic, Count, distance, host_value, trip_count
from .column_sums import ColumnSums, find_sums
from .column_threads import ColumnSizes, ColumnThreads


@dataclass(frozen=True)
class _Sizes:
    """
    The iterations of the loops around a sum and of the sum, and the shares of gangs, before the construct.
    """

    trips: tuple[Count, ...]
    rows: Count
    shares: ColumnShares[SSAValue]


def _sizes(sums: ColumnSums, math: Arithmetic) -> _Sizes:
    """Emits the sizes of the launch. Raises `Declined` if only the device knows them."""
    symbols = RegionSymbols(sums.construct)
    lower, upper, step = sums.bounds
    span, stride = distance(lower, upper, symbols, math), host_value(step, symbols, math)
    found = [trip_count(loop, symbols, math) for loop in sums.around]
    known = [count[0] for count in found if count is not None and count[1]]
    if span is None or stride is None or len(known) != len(found):
        raise Declined("its trip counts are not known before the construct")
    rows = math.maximum(math.ceil_divide(span, stride), 0)
    trips = [math.maximum(count, 0) for count in known]
    groups = reduce(math.multiply, trips[:-1], 1)
    return _Sizes(tuple(trips), rows, column_shares(math, rows, trips[-1], groups))


def split_sums(construct: acc.ParallelOp) -> None:
    """ColumnSizes the columns of a construct among gangs. Raises `Declined` if that does not apply."""
    sums = find_sums(construct)
    if not ready_for_versions(construct):
        raise Declined("its versions would need a wait clause each")
    math = Arithmetic(HostEmitter(construct))
    sizes = _sizes(sums, math)
    elements = math.multiply(sizes.rows, sizes.trips[-1])
    if isinstance(elements, int):
        if elements < FEWEST_ELEMENTS:
            raise Declined("its columns are too short")
    else:
        least = math.value(FEWEST_ELEMENTS)
        enough = math.emit.value(arith.CmpiOp(elements, least, "sge"), "long_columns")
        second_version(construct, enough)
    _rewrite(sums, sizes, math)


def _rewrite(sums: ColumnSums, sizes: _Sizes, math: Arithmetic) -> None:
    """Replaces the nest by a gang loop over shares, and sets the launch shape."""
    root, loc = sums.around[0], sums.rows.location
    found = sizes.shares
    tiles, width, phases, split = map(
        math.value, (found.tiles, found.width, found.phases, found.split)
    )
    shares = ColumnSizes(tiles, width, phases, split, tuple(map(math.value, sizes.trips)))
    body = Block(arg_types=[i32])
    body.args[0].name_hint = "thread"
    block = Block(arg_types=[i64])
    block.args[0].name_hint = "share"
    ColumnThreads(sums, shares, block.args[0], body.args[0]).run(Cursor.at_end(body, loc))
    inside = Cursor.at_end(block, loc)
    inside.insert(GangThreadsOp((THREADS,), Region(body)))
    inside.insert(acc.YieldOp())
    at = Cursor.before(root)
    gangs = math.value(found.gangs)
    new = acc.LoopOp(
        region=Region(block),
        lowerbound=[at.i64(0)],
        upperbound=[gangs],
        step=[at.i64(1)],
        inclusive_upperbound=root.inclusive_upperbound,
        independent=root.independent,
        combined=root.combined,
    )
    new.attributes |= root.attributes
    set_prop(new, "gang", NONE)
    at.insert(new)
    new.location = root.location
    set_schedule(new, LoopSchedule())
    explain(new, "gangs share the columns, and the threads of a gang their rows")
    private = [v.owner for v in root.private_operands]
    erase(root)
    for entry in private:
        if isinstance(entry, acc.PrivateOp) and not entry.results[0].uses:
            erase(entry)
    _launch(sums.construct, math, found.gangs)


def _launch(construct: acc.ParallelOp, math: Arithmetic, gangs: Count) -> None:
    def size(count: Count) -> SSAValue:
        if isinstance(count, int):
            return math.emit.value(arith.ConstantOp(IntegerAttr(count, i32)), f"c{count}")
        return math.emit.value(arith.TruncIOp(count, i32), "num_gangs")

    grid = [size(math.maximum(math.minimum(gangs, MAX_GRID[1]), 1))]
    set_operand_groups(
        construct, num_gangs=grid, num_workers=[size(1)], vector_length=[size(THREADS)]
    )
    construct.properties["numGangsSegments"] = DenseArrayBase.from_list(i32, [1])


@dataclass(frozen=True)
class SplitColumnSumsPass(GpuPass):
    """See the contract at the top of this file."""

    name = "split-column-sums"

    def rewrite(self, module: ModuleOp) -> None:
        for construct in parallel_constructs(module):
            try:
                split_sums(construct)
            except Declined:
                continue
