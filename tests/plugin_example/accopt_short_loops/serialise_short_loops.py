"""
Run loops of few iterations in order, so that the lanes go to the loops around them.

Takes:  the data level: every `acc.loop` is still free, or has the levels its programmer gave it.
Leaves: `seq` on every innermost loop without levels whose trip count is a constant up to `trips`.
Fails:  never.

Before:
  acc.loop control(%k : i32) = (%c0 : i32) to (%c3 : i32) step (%c1 : i32) { … } {independent = …}
After:
  acc.loop control(%k : i32) = (%c0 : i32) to (%c3 : i32) step (%c1 : i32) { … } {seq = …}
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects import acc, arith
from xdsl.dialects.builtin import ArrayAttr, IntegerAttr, ModuleOp
from xdsl.ir import SSAValue
from xdsl.passes import ModulePass


def is_short(trips: int | None, limit: int) -> bool:
    """The decision, in plain Python: a loop of a known, small number of iterations."""
    return trips is not None and trips <= limit


def constant_trips(loop: acc.LoopOp) -> int | None:
    """The iterations of a loop with one counter and constant bounds; None for any other."""
    bounds = [_constant(v) for v in (*loop.lowerbound, *loop.upperbound, *loop.step)]
    if len(bounds) != 3 or None in bounds:
        return None
    lower, upper, step = (bound or 0 for bound in bounds)
    return max(0, -(-(upper - lower) // step))


def _constant(value: SSAValue) -> int | None:
    owner = value.owner
    if isinstance(owner, arith.ConstantOp) and isinstance(owner.value, IntegerAttr):
        return owner.value.value.data
    return None


def _is_free(loop: acc.LoopOp) -> bool:
    """No level was given, and no loop stands inside."""
    levels = (loop.gang, loop.worker, loop.vector, loop.seq)
    inner = any(isinstance(op, acc.LoopOp) for op in loop.walk() if op is not loop)
    return all(level is None for level in levels) and not inner


@dataclass(frozen=True)
class SerialiseShortLoopsPass(ModulePass):
    """`trips`: the largest number of iterations that counts as short."""

    name = "serialise-short-loops"

    trips: int = 16

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for loop in op.walk():
            if not isinstance(loop, acc.LoopOp) or not _is_free(loop):
                continue
            if not is_short(constant_trips(loop), self.trips):
                continue
            loop.properties.pop("independent", None)
            loop.properties.pop("auto_", None)
            loop.properties["seq"] = ArrayAttr([acc.DeviceTypeAttr(acc.DeviceType.NONE)])
