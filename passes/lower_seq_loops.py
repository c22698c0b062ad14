"""
Turn loops marked `seq`, and loops too short for lanes, into `scf.for` (OpenACC 3.4, 2.9.5).

Each thread runs a `loop seq` inside a parallel loop sequentially, like a loop without a directive. As the
same operation, both get the same optimisations: iterations of the enclosing loop side by side,
shared-memory tiles, unrolling.

A loop without levels and with few iterations, inside another loop without levels, is run by one thread: the
lanes then go to the enclosing loop, which has work for all of them. So is one in an iteration that declares
an array whose length the host cannot compute: threads that share the iteration would share the array, and
shared and scratch memory are sized before the launch; a thread's own stack is not.

Takes:  data level, tile and collapse clauses already carried out.
Leaves: no acc.loop that is `seq` for every device, is inside another acc.loop, contains none, and has no
        variables of its own, no cache directive and no values handed on between iterations: it becomes
        nested `scf.for`s, one for each variable, the outermost with the reason for remarks. One that reduces
        variables of the iteration around it works on these. A short loop that reduces others or has
        variables of its own is marked `seq`, and so is one that would share an array. Other loops are
        untouched. Scalars that an iteration of a loop declares become values (`promotion.py`).
Fails:  never.

Before:
  acc.loop control(%j : i32) = (%c0 : i32) to (%n : i32) step (%c1 : i32) {
    …
    acc.yield
  } attributes {seq = [#acc.device_type<none>]}
After:
  scf.for %j = %c0 to %n step %c1 : i32 {
    …
  } {accx.why = "marked seq"}
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

from xdsl.context import Context
from xdsl.dialects import acc, arith, llvm
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue
from xdsl.passes import ModulePass

from .decisions.short_rows import MOST_SHORT_ITERATIONS
from .ir.loops.seq_loops import is_plain_seq, to_for_loops
from .ir.ops.acc_ops import (
    enclosing,
    hands_on,
    has_level,
    is_defined_inside,
    loops_around,
    loops_in,
)
from .ir.ops.building import constant_value
from .ir.ops.expressions import parts_of
from .ir.ops.levels import loop_levels
from .ir.ops.loop_bounds import bounds_of
from .ir.ops.loop_order import make_sequential
from .ir.values.constant_ranges import most_trips
from .ir.values.values_outside import ARITHMETIC
from .ir.variables.promotion import promote
from .ir.variables.reduction_reads import reduces_own, use_variables


def _is_free(loop: acc.LoopOp) -> bool:
    """Whether the schedule may give `loop` any level."""
    return not loop.seq and not loop_levels(loop)


def _encloses_lanes(loop: acc.LoopOp) -> bool:
    """Whether an enclosing loop may get the lanes."""
    return any(map(_is_free, loops_around(loop)))


_SIZE_ARITHMETIC = (*ARITHMETIC, arith.DivSIOp)
"""Operations by which the host may compute the length of an array before a launch."""


def is_host_length(length: SSAValue, construct: acc.ParallelOp) -> bool:
    """Whether the host can compute `length`, of an array declared in `construct`, before it."""

    def is_outside(value: SSAValue) -> bool:
        return not is_defined_inside(value, construct)

    return all(
        is_outside(part) or isinstance(part.owner, _SIZE_ARITHMETIC)
        for part in parts_of(length, is_outside)
    )


def declaring_loops(op: ModuleOp) -> set[acc.LoopOp]:
    """The loops of constructs whose iterations declare arrays of lengths that the host cannot compute."""
    found = set[acc.LoopOp]()
    for alloca in op.walk():
        if not isinstance(alloca, llvm.AllocaOp) or constant_value(alloca.size) is not None:
            continue
        loop, construct = enclosing(alloca, acc.LoopOp), enclosing(alloca, acc.ParallelOp)
        if loop is None or construct is None or is_host_length(alloca.size, construct):
            continue
        found.add(loop)
    return found


def is_short(loop: acc.LoopOp) -> bool:
    """Whether `loop` has so few iterations that one thread should run it."""
    if not _is_free(loop) or not _encloses_lanes(loop) or hands_on(loop):
        return False
    if loop.cache_operands or any(True for _ in loops_in(loop)):
        return False
    trips = [most_trips(bounds) for bounds in bounds_of(loop)]
    known = [most for most in trips if most is not None]
    return len(known) == len(trips) and prod(known) <= MOST_SHORT_ITERATIONS


@dataclass(frozen=True)
class LowerSeqLoopsPass(ModulePass):
    """See the contract at the top of this file."""

    name = "lower-seq-loops"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        loops = [inner for inner in op.walk() if isinstance(inner, acc.LoopOp)]
        declaring = declaring_loops(op)
        for loop in reversed(loops):
            if declaring and _is_free(loop) and any(o in declaring for o in loops_around(loop)):
                make_sequential(loop, "threads would share an array of a length unknown at launch")
            if is_short(loop):
                make_sequential(loop, "it has too few iterations to give each one a thread")
            if has_level(loop.seq) and reduces_own(loop) and not any(True for _ in loops_in(loop)):
                use_variables(loop, loop.reduction_operands)
            if is_plain_seq(loop):
                to_for_loops(loop)
        for inner in list(op.walk()):
            if isinstance(inner, llvm.AllocaOp) and isinstance(inner.parent_op(), acc.LoopOp):
                promote(inner)
