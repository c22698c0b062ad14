"""
Run loops of few iterations sequentially, so that the lanes go to the loops around them.

Takes:  the data level: every `acc.loop` is still free, or has the levels its programmer gave it.
Leaves: `seq`, with the reason for remarks, on every innermost loop without levels whose trip count is a
        constant up to `trips`.
Fails:  never.

Before:
  acc.loop control(%k : i32) = (%c0 : i32) to (%c3 : i32) step (%c1 : i32) { … } {independent = …}
After:
  acc.loop control(%k : i32) = (%c0 : i32) to (%c3 : i32) step (%c1 : i32) { … } {seq = …}
"""

from __future__ import annotations

from dataclasses import dataclass

from accopt.passes.ir.ops.acc_ops import child_loops
from accopt.passes.ir.ops.building import constant_trips
from accopt.passes.ir.ops.loop_order import make_sequential
from xdsl.context import Context
from xdsl.dialects import acc
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass


def is_short(trips: int | None, limit: int) -> bool:
    """The decision, in plain Python: a loop of a known, small number of iterations."""
    return trips is not None and trips <= limit


def trips_of(loop: acc.LoopOp) -> int | None:
    """The iterations of a loop with one counter and constant bounds; None for any other."""
    if len(loop.lowerbound) != 1:
        return None
    return constant_trips(loop.lowerbound[0], loop.upperbound[0], loop.step[0])


def _is_free(loop: acc.LoopOp) -> bool:
    """No level was given, and no loop is inside."""
    levels = (loop.gang, loop.worker, loop.vector, loop.seq)
    return all(level is None for level in levels) and not child_loops(loop)


@dataclass(frozen=True)
class SerialiseShortLoopsPass(ModulePass):
    """`trips`: the largest number of iterations that counts as short."""

    name = "serialise-short-loops"

    trips: int = 16

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for loop in op.walk():
            if not isinstance(loop, acc.LoopOp) or not _is_free(loop):
                continue
            if not is_short(trips_of(loop), self.trips):
                continue
            make_sequential(loop, f"it has at most {self.trips} iterations")
