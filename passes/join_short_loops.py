"""
Collapse short loops around sequential ones, so that their iterations fill the lanes together.

The loops over rows and columns of small matrices, inside a loop over many, are each too short for a warp.
With `collapse`, lanes share all elements of a matrix; without it, a thread would compute a whole matrix,
and neighbouring threads would access elements a matrix apart. On an H200, products of 300,000 pairs of 8 × 8
floats take 84 µs with a lane per element, 314 with a thread per product; derivatives of spectral elements
of 8 × 8 × 8 doubles 177 µs and 4,337. Where a matrix has fewer elements than a warp has lanes, lanes share
those of several: a million products of complex 3 × 3 matrices and 4 vectors take 130 µs with a lane per
element of the result, 560 with a thread per matrix.

Takes:  data level, collapsed loops in their final form, levels still open.
Leaves: tightly nested parallel loops without levels and reductions, inside another parallel loop, of a
        constant number of iterations each, less than 16, become one loop of several variables, if the
        innermost one contains loops and moves along memory, and the loop around them does not. If together
        they have less iterations than a warp has lanes, the loop around them becomes part of that loop; it
        must have no code beside them, no level and no variables of its own. A note on the construct says so.
        Nests whose innermost loop contains no loop are left to `keep-short-rows`.
Fails:  never.

Before:
  acc.loop control(%b : i32) = … {
    acc.loop control(%i : i32) = (%c0 : i32) to (%c8 : i32) step (%c1 : i32) {
      acc.loop control(%j : i32) = (%c0 : i32) to (%c8 : i32) step (%c1 : i32) { … scf.for … }
  } }
After:
  acc.loop control(%b : i32) = … {
    acc.loop control(%i : i32, %j : i32) = (%c0, %c0 : i32, i32) to (%c8, %c8 : i32, i32)
        step (%c1, %c1 : i32, i32) { … scf.for … }
  }

Options: `target` (`host`: no change).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce

from xdsl.dialects import acc, scf
from xdsl.dialects.builtin import ModuleOp

from .decisions.short_rows import SHORT_SIDE, joined_sides
from .ir.loops.joining import join
from .ir.loops.loop_facts import constant_trip, is_tight
from .ir.ops.acc_ops import child_loops, hands_on, loops_in, parallel_constructs
from .ir.ops.gpu_pass import GpuPass
from .ir.ops.levels import is_parallel, loop_levels
from .ir.ops.machine import machine_of
from .ir.ops.notes import note
from .ir.values.region_values import RegionSymbols
from .ir.values.strides import AccessCounter


def _is_open(loop: acc.LoopOp) -> bool:
    """Whether a loop of one variable may have any level, and has no variables of its own."""
    own = (*loop.reduction_operands, *loop.private_operands, *loop.firstprivate_operands)
    one = len(loop.lowerbound) == 1 and not loop.tile_operands and not loop.cache_operands
    return one and not own and is_parallel(loop) and not loop_levels(loop) and not hands_on(loop)


def _side(loop: acc.LoopOp) -> int:
    """The iterations of an open loop if they are few; otherwise as many as a loop that is not short."""
    trips = constant_trip(loop) if _is_open(loop) else None
    return SHORT_SIDE if trips is None else trips


def _is_around_sequential(loop: acc.LoopOp) -> bool:
    """
    Whether a loop contains loops, all of which a thread runs alone: marked seq, or reductions of few terms.
    """
    for inner in child_loops(loop):
        trips = constant_trip(inner)
        few = bool(inner.reduction_operands) and trips is not None and trips < SHORT_SIDE
        if is_parallel(inner) and not few:
            return False
    return any(isinstance(op, scf.ForOp | acc.LoopOp) for op in loop.region.walk())


def _nest(innermost: acc.LoopOp, symbols: RegionSymbols) -> list[acc.LoopOp]:
    """Parallel loops that end with `innermost`, each of which contains only the next one, innermost first."""
    found = [innermost]
    while isinstance(parent := found[-1].parent_op(), acc.LoopOp):
        if not is_parallel(parent) or not is_tight(parent, [found[-1]], symbols):
            break
        found.append(parent)
    return found


def join_short_loops(construct: acc.ParallelOp) -> None:
    """Collapses the short loops of a construct around sequential ones, where that applies."""
    loops = [
        loop
        for loop in loops_in(construct)
        if _side(loop) < SHORT_SIDE and _is_around_sequential(loop)
    ]
    if not loops or any(isinstance(op, acc.CacheOp) for op in construct.walk()):
        return
    symbols = RegionSymbols(construct)
    counter = AccessCounter(symbols)
    chosen: list[list[acc.LoopOp]] = []
    for innermost in loops:
        nest = _nest(innermost, symbols)
        joined = nest[: joined_sides([_side(loop) for loop in nest])]
        if not joined or not all(map(_is_open, joined)):
            continue
        has_around = _side(joined[-1]) >= SHORT_SIDE
        around = joined[-1] if has_around else joined[-1].parent_op()
        if not isinstance(around, acc.LoopOp) or not is_parallel(around):
            continue
        ops = list(innermost.region.walk())
        inside, outside = (
            counter.count(ops, loop.region.block.args[-1]).contiguous
            for loop in (innermost, around)
        )
        if inside > outside:
            chosen.append(joined)
    for joined in chosen:
        new = reduce(join, reversed(joined))
        note(construct, [(new, "loops collapsed: each is too short for the lanes")])


@dataclass(frozen=True)
class JoinShortLoopsPass(GpuPass):
    """See the module's description."""

    name = "join-short-loops"

    def rewrite(self, module: ModuleOp) -> None:
        if machine_of(module).as_written:
            return
        for construct in parallel_constructs(module):
            if not (construct.num_gangs or construct.num_workers or construct.vector_length):
                join_short_loops(construct)
