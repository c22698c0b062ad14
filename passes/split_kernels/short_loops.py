"""Loops that are known to have few iterations."""

from __future__ import annotations

from xdsl.dialects import acc, llvm, scf
from xdsl.ir import Block, Operation
from xdsl.traits import IsTerminator

from ...dialects.volatility import is_ordered
from ..decisions.short_rows import MOST_SHORT_ITERATIONS, SHORT_SIDE, joined_sides
from ..ir.loops.loop_facts import constant_trip
from ..ir.ops.acc_ops import loops_around
from ..ir.ops.building import constant_trips
from ..ir.ops.levels import is_parallel
from ..ir.ops.loop_bounds import bounds_of
from ..ir.ops.purity import is_pure
from ..ir.values.constant_ranges import most_trips


def is_short(loop: scf.ForOp) -> bool:
    """Whether a loop is known to have too few iterations to give each a thread."""
    return has_at_most(loop, MOST_SHORT_ITERATIONS)


def has_at_most(loop: scf.ForOp, iterations: int) -> bool:
    """Whether a loop has at most so many iterations each time it runs."""
    most = most_trips(bounds_of(loop)[0])
    return most is not None and most <= iterations


def only_loop(block: Block) -> scf.ForOp | None:
    """The only loop of a block that only computes and reads beside it; None if there is none."""
    loops = [op for op in block.ops if op.regions]
    alone = all(
        op in loops or op.has_trait(IsTerminator) or is_pure(op) or only_reads(op)
        for op in block.ops
    )
    first = loops[0] if len(loops) == 1 and alone else None
    return first if isinstance(first, scf.ForOp) and not first.results else None


def only_reads(op: Operation) -> bool:
    return isinstance(op, llvm.LoadOp) and not is_ordered(op)


def fills_lanes(inner: scf.ForOp, loop: acc.LoopOp) -> bool:
    """
    Whether `inner`, the short loops tightly around it, and those in it around sequential ones, have
    iterations enough to fill the lanes together, so that `join-short-loops` may make one loop of them.
    """
    inside = [inner]
    while (deeper := only_loop(inside[-1].body.block)) is not None:
        inside.append(deeper)
    if not any(isinstance(op, scf.ForOp) for op in inside[-1].body.block.ops):
        inside.pop()  # it runs over the terms of a sum in memory
    trips = [constant_trips(each.lb, each.ub, each.step) for each in inside]
    around = [constant_trip(each) for each in (loop, *loops_around(loop)) if is_parallel(each)]
    sides = [SHORT_SIDE if side is None else side for side in (*reversed(trips), *around)]
    return bool(inside) and joined_sides(sides) >= len(inside)


def may_fill_lanes(loop: scf.ForOp) -> bool:
    """Whether a short loop is the whole body of a parallel loop, and fills the lanes with those around."""
    around = loop.parent_op()
    return (
        is_short(loop)
        and isinstance(around, acc.LoopOp)
        and is_parallel(around)
        and len(around.region.blocks) == 1
        and only_loop(around.region.block) is loop
        and fills_lanes(loop, around)
    )
