"""
Compute the terms of sums in order by all threads of a gang, through shared memory.

Without a `reduction` clause the order of floating-point additions counts, so one thread adds up a sum. If it
also loads the terms, it waits for memory after every few of them; and if neighbouring terms are neighbours
in memory, the threads of a warp read a sector each. Here, all threads of a gang load and compute pieces of
the terms of 32 sums, in the order in which they are in memory, and one warp adds them, in the program's
order, while the loads of the next piece are in flight. What the loop writes to elements along its row, as
prefix sums do, takes the place of the terms, and is stored by all threads.

Takes:  scheduled IR for a GPU, after split-column-sums. Considers constructs that are one nest of parallel
        loops without user-given sizes around a sequential loop that carries values, if what is computed from
        these uses no memory except for elements along its row that it stores, if no iteration loads what
        another one stores, and the rest of the loop loads from contiguous memory along it or across it.
Leaves: one gang loop over groups of up to 32 iterations of the innermost parallel loop, in it an
        `accx.gang_threads` of 256 threads with a loop over pieces: each thread stores its terms to
        `accx.shared_tile`s, an `accx.gang_barrier`, the loads for the next piece, the stores of the one
        before, and the rest of the body in the threads that have a sum. Where sums are short or many (known
        at launch), a second version is the nest as it was. Rows of a sparse matrix that follow each other,
        whose length only the device knows, are shared by 256 threads with a row each, which compute the
        terms of all of them in the order in which they are in memory (`row_threads.py`). `accx.why`
        describes the result. Others are untouched.
Fails:  never.

Before:
  acc.loop gang vector control(%j : i32) = (%c0 : i32) to (%m : i32) step (%c1 : i32) {
    %sum = scf.for %i = %c0 to %n step %c1 iter_args(%s = %zero) -> (f32) : i32 {
      %v = load %a[%i * %m + %j]
      scf.yield %s + %v * %v
    }
    llvm.store %sum, %out[%j]
  }
After:
  acc.loop gang control(%share : i64) = (%c0) to (ceil(%m / 32)) step (%c1) {
    accx.gang_threads [256] {
    ^bb0(%thread : i32):
      %tile = accx.shared_tile "terms"
      %first = loads of the thread's terms of piece 0
      scf.for %piece = 0 to ceil(%n / 128) step 1 iter_args(%v = %first, %t = %zero) {
        … %v * %v to %tile, accx.gang_barrier …
        %next = loads of its terms of the next piece
        %u = scf.if (%thread < 32) { scf.for %k = … iter_args(%s = %t) { %s + %tile[…] } } else { %t }
        scf.yield %next, %u
      }
      … llvm.store of the sum by the threads that have one …
  } }

Options: `target` (`host`: no change).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce

from xdsl.dialects import acc, arith, scf
from xdsl.dialects.builtin import ModuleOp, i64

from ..decisions.declined import Declined
from ..decisions.ordered_sums import MOST_ACROSS, SHORTEST_ACROSS, SHORTEST_ALONG, SUMS, THREADS
from ..ir.loops.conditional_sums import split_conditional_sums
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
from ..ir.values.region_values import HostEmitter, RegionSymbols
from ..ir.values.trip_counts import Arithmetic, Count, trip_count
from .ordered_terms import carrying_nest, find_sums, split_body
from .row_threads import RowThreads, check_rows, check_terms
from .sum_threads import SumShape, SumThreads


def stage_sums(construct: acc.ParallelOp) -> None:
    """Stages the terms of a construct. Raises `Declined` if that does not apply."""
    sums = find_sums(construct)
    check_versions(construct)
    math = Arithmetic(HostEmitter(construct))
    trips, terms = trips_before(sums.nest, math)
    groups = reduce(math.multiply, trips[:-1], 1)
    bounds = [
        LaunchBound(terms, "sge", SHORTEST_ALONG if sums.along else SHORTEST_ACROSS, "long_sums")
    ]
    if not sums.along:
        number = math.multiply(groups, trips[-1])
        bounds.append(LaunchBound(number, "sle", MOST_ACROSS, "few_sums"))
    shared = shared_where(bounds, math, "few_long_sums")
    shift = SUMS.bit_length() - 1 if sums.along else _shift(trips[-1], math)
    width = (
        1 << shift
        if isinstance(shift, int)
        else math.emit.value(arith.ShLIOp(math.value(1), shift))
    )
    # 0 if there are no sums: no thread may read then.
    shares = math.ceil_divide(trips[-1], width)
    tiles = math.maximum(shares, 1)
    keep_unshared(construct, shared)
    shape = SumShape(math.value(shift), math.value(tiles), tuple(map(math.value, trips)))
    why = "all threads of a gang compute the terms of sums, which a thread each adds up in order"
    share_among_gangs(
        sums.nest,
        math.multiply(groups, shares),
        THREADS,
        math,
        why,
        lambda at, share, thread: SumThreads(sums, shape, share, thread).run(at),
    )


def stage_rows(construct: acc.ParallelOp) -> None:
    """
    Stages the terms of a construct's rows of a sparse matrix, also of integers. Raises `Declined` if that
    does not apply.
    """
    nest = carrying_nest(construct)
    check_rows(nest)
    assert isinstance(nest.terms, scf.ForOp)
    split_conditional_sums(nest.terms)
    sums = split_body(nest, along=True)
    check_terms(sums)
    symbols, math = RegionSymbols(construct), Arithmetic(HostEmitter(construct))
    count = trip_count(sums.nest.around[0], symbols, math)
    if count is None or not count[1]:
        raise Declined("its number of rows is not known before the construct")
    rows = math.maximum(count[0], 0)
    number = math.value(rows)
    why = "all threads of a gang compute the terms of rows, of which each adds up one in order"
    share_among_gangs(
        sums.nest,
        math.ceil_divide(rows, THREADS),
        THREADS,
        math,
        why,
        lambda at, share, thread: RowThreads(sums, number, share, thread).run(at),
    )


def _shift(sums: Count, math: Arithmetic) -> Count:
    """The logarithm of the sums of a gang: the least power of two that is enough, up to `SUMS`."""
    if isinstance(sums, int):
        return min((max(sums, 1) - 1).bit_length(), SUMS.bit_length() - 1)
    found: Count = 0
    for bit in range(SUMS.bit_length() - 1):
        more = math.emit.value(arith.CmpiOp(sums, math.value(1 << bit), "sgt"))
        found = math.add(math.emit.value(arith.ExtUIOp(more, i64)), found)
    return found


@dataclass(frozen=True)
class StageOrderedSumsPass(GpuPass):
    """See the contract at the top of this file."""

    name = "stage-ordered-sums"

    def rewrite(self, module: ModuleOp) -> None:
        for construct in tuned_constructs(module):
            for stage in (stage_sums, stage_rows):
                try:
                    stage(construct)
                    break
                except Declined:
                    continue
