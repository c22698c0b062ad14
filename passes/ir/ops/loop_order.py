"""
Sequential loops, and parallel loops inside of them.

Gangs do not wait for each other: when one gang reaches the next iteration of a sequential loop, others may
still be at the previous one. So a loop found independent inside a sequential loop, with no parallel loop
around both, runs on the threads of one gang, which synchronise.
"""

from __future__ import annotations

from xdsl.dialects import acc, llvm, scf
from xdsl.dialects.builtin import StringAttr
from xdsl.ir import Operation

from ....dialects.accx import FROM_KERNELS, NOTE, WHY
from ...decisions.levels import Level
from .acc_ops import (
    NONE,
    child_loops,
    drop_gang,
    drop_levels,
    has_level,
    loops_around,
    loops_in,
    operations_around,
    set_prop,
)
from .levels import is_parallel, loop_levels

_LEVELS = ("gang", "worker", "vector")


def make_sequential(loop: acc.LoopOp, why: str) -> None:
    """Makes a loop `seq`; `why` is the reason for remarks."""
    set_prop(loop, "independent", None)
    set_prop(loop, "auto_", None)
    set_prop(loop, "seq", NONE)
    drop_levels(loop)
    loop.attributes[WHY] = StringAttr(why)


def _is_open(loop: acc.LoopOp) -> bool:
    """Whether a parallel loop's levels are the compiler's choice."""
    operands = loop.gang_operands or loop.worker_num_operands or loop.vector_operands
    return not operands and not any(has_level(getattr(loop, name)) for name in _LEVELS)


def _is_within_order(loop: acc.LoopOp, construct: Operation) -> bool:
    """Whether a sequential loop encloses `loop`, and no parallel loop encloses either."""
    ordered = False
    for around in operations_around(loop, construct):
        if is_parallel(around):
            return False
        ordered = ordered or isinstance(around, acc.LoopOp | scf.ForOp | scf.WhileOp)
    return ordered


def _is_within_work(loop: Operation, construct: Operation) -> bool:
    """
    Whether a parallel loop without levels encloses `loop` and has other work too: if gangs shared `loop`,
    every gang would repeat that work.
    """
    return any(
        bool(around.private_operands or around.reduction_operands) or _stores(around)
        for around in loops_around(loop, construct)
        if is_parallel(around) and _is_open(around)
    )


def _stores(op: Operation) -> bool:
    """Whether a loop stores to memory or calls functions outside the parallel loops in it."""
    return any(
        isinstance(inner, llvm.StoreOp | llvm.CallOp) or (not is_parallel(inner) and _stores(inner))
        for region in op.regions
        for block in region.blocks
        for inner in block.ops
    )


def _levels_inside(loop: acc.LoopOp) -> set[Level]:
    """The levels of the parallel loops inside a loop; those without a level count as `vector`."""
    found: set[Level] = set()
    for inner in loops_in(loop):
        if is_parallel(inner):
            found |= loop_levels(inner) or {Level.VECTOR}
    return found


def confine_to_gang(construct: Operation) -> None:
    """
    Restricts parallel loops without levels that are inside sequential loops to the threads of one gang. The
    same holds inside parallel loops that have other work, so that gangs share those; in kernels constructs
    it also holds for loops with levels.
    """
    for loop in loops_in(construct):
        takes_gangs = Level.GANG in loop_levels(loop) and FROM_KERNELS in construct.attributes
        if takes_gangs and _is_within_order(loop, construct):
            drop_gang(loop)
            loop.attributes[NOTE] = StringAttr("in one gang: the loop around runs sequentially")
        elif takes_gangs and _is_within_work(loop, construct):
            drop_gang(loop)
            loop.attributes[NOTE] = StringAttr(
                "in one gang: the enclosing iteration has other work too"
            )
        if not is_parallel(loop) or not _is_open(loop) or not _is_within_order(loop, construct):
            continue
        inside = _levels_inside(loop)
        if Level.GANG in inside or Level.WORKER in inside:
            make_sequential(loop, "loops inside have the levels that it could have")
            continue
        set_prop(loop, "worker", NONE)
        if not inside:
            set_prop(loop, "vector", NONE)
        for child in child_loops(loop):
            named = any(loop_levels(inner) for inner in loops_in(child))
            if is_parallel(child) and _is_open(child) and not named:
                set_prop(child, "vector", NONE)
