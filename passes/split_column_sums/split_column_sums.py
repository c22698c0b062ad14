"""
Share sums of columns among gangs, so that every thread has rows to add and reads whole cache lines.

With a gang or a thread for each column, `for j: for i: s += a[i][j]` keeps few threads busy if there are few
columns, and gangs that share a column read one element of each cache line. Here, the threads of a gang
take neighbouring columns and several rows of them, and several gangs share the columns if that leaves
multiprocessors idle. In the same way, gangs share the sums of rows, `for i: for j: s += a[i][j]`, if these
are few and long.

Takes:  scheduled IR for a GPU. Considers constructs that are one nest of parallel loops without user-given
        sizes around a loop whose results may be combined in any order: one with a `reduction` clause, or a
        sequential one of integers, with `--fast-math` also of floating-point numbers. Most of its loads walk
        down columns, whose neighbours belong to neighbouring iterations of the loop around it, or along rows
        that have a gang each.
Leaves: one gang loop over shares of columns (`decisions/column_split.py`), in it an `accx.gang_threads` of
        1024 threads: their rows one after the other, the exchange of the results in an `accx.shared_tile`,
        and, where gangs have the same columns, in `accx.launch_memory`; the thread that has a column's
        total runs what follows the sum. Where the columns have too few elements in all, or rows are short or
        many (known at launch), a second version is the nest as it was. `accx.why` describes the result.
        Others are untouched.
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

from dataclasses import dataclass, replace
from functools import reduce

from xdsl.dialects import acc
from xdsl.dialects.builtin import ModuleOp

from ..decisions.column_split import (
    FEWEST_ELEMENTS,
    MOST_LONG_ROWS,
    THREADS,
    column_shares,
    row_shares,
)
from ..decisions.declined import Declined
from ..ir.loops.gang_shares import (
    LaunchBound,
    check_versions,
    keep_unshared,
    share_among_gangs,
    shared_where,
    trips_before,
)
from ..ir.ops.acc_ops import tuned_constructs
from ..ir.ops.gpu_pass import GpuPass
from ..ir.values.region_values import HostEmitter
from ..ir.values.trip_counts import Arithmetic
from .column_sums import find_sums
from .column_threads import ColumnSizes, ColumnThreads


def split_sums(construct: acc.ParallelOp) -> None:
    """Shares the sums of a construct among gangs. Raises `Declined` if that does not apply."""
    sums = find_sums(construct)
    check_versions(construct)
    math = Arithmetic(HostEmitter(construct))
    trips, rows = trips_before(sums.nest, math)
    number = reduce(math.multiply, trips)
    if sums.along:
        # A group is one row here; the tiles are the rows of the innermost loop around the sum.
        found = replace(row_shares(math, rows, number), tiles=math.maximum(trips[-1], 1))
        bounds = [
            LaunchBound(rows, "sge", FEWEST_ELEMENTS, "long_rows"),
            LaunchBound(number, "sle", MOST_LONG_ROWS, "few_rows"),
        ]
    else:
        groups = reduce(math.multiply, trips[:-1], 1)
        found = column_shares(math, rows, trips[-1], groups)
        elements = math.multiply(rows, trips[-1])
        bounds = [LaunchBound(elements, "sge", FEWEST_ELEMENTS, "long_columns")]
    keep_unshared(construct, shared_where(bounds, math, "few_long_rows"))
    tiles, width, phases, split = map(
        math.value, (found.tiles, found.width, found.phases, found.split)
    )
    columns = ColumnSizes(tiles, width, phases, split, tuple(map(math.value, trips)))
    why = "gangs share the columns, and the threads of a gang their rows"
    if sums.along:
        why = "gangs share the rows, and the threads of a gang their elements"
    share_among_gangs(
        sums.nest,
        found.gangs,
        THREADS,
        math,
        why,
        lambda at, share, thread: ColumnThreads(sums, columns, share, thread).run(at),
    )


@dataclass(frozen=True)
class SplitColumnSumsPass(GpuPass):
    """See the contract at the top of this file."""

    name = "split-column-sums"

    def rewrite(self, module: ModuleOp) -> None:
        for construct in tuned_constructs(module):
            try:
                split_sums(construct)
            except Declined:
                continue
