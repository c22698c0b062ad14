"""The loops whose iterations are grouped, and the part of a range that consists of whole groups."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.dialects import acc, arith, llvm
from xdsl.dialects.builtin import IntegerType
from xdsl.ir import SSAValue

from ..ir.ops.building import NSW, Cursor, constant_value
from .group_loads import Pair
from .staged_groups import Staging


@dataclass(frozen=True)
class GroupedLoops:
    """
    A construct that is one loop, and the sequential loops in it to group by `side` iterations. `ordered`:
    one thread computes the carried values of each row in program order; with `staging` (for a single pair
    of loops) it reads from shared memory.
    """

    construct: acc.ParallelOp
    outer: acc.LoopOp
    pairs: tuple[Pair, ...]
    side: int
    ordered: bool = False
    staging: Staging | None = None


@dataclass(frozen=True)
class IterationRange:
    """`lower` to `upper` (i64), and the part `start` to `stop` in it that consists of aligned groups."""

    lower: SSAValue
    start: SSAValue
    stop: SSAValue
    upper: SSAValue

    @property
    def starts_whole(self) -> bool:
        return self.start is self.lower


def whole_groups(lower: SSAValue, upper: SSAValue, side: int, at: Cursor) -> IterationRange:
    low = at.to_i64(lower)
    high = at.value(arith.MaxSIOp(at.to_i64(upper), low))
    mask = at.i64(-side)
    start = low
    first = constant_value(lower)
    if first is None or first % side:
        above = at.value(arith.AddiOp(low, at.i64(side - 1), overflow=NSW))
        start = at.value(arith.MinSIOp(at.value(arith.AndIOp(above, mask)), high), "start")
    stop = at.value(arith.MaxSIOp(at.value(arith.AndIOp(high, mask)), start), "stop")
    return IterationRange(low, start, stop, high)


def narrowed(value: SSAValue, type: IntegerType, at: Cursor, hint: str | None = None) -> SSAValue:
    """An i64 that fits `type`, truncated to it."""
    if value.type == type:
        return value
    op = llvm.TruncOp(value, type)
    op.properties["overflowFlags"] = llvm.OverflowAttr((llvm.OverflowFlag.NO_SIGNED_WRAP,))
    return at.value(op, hint)
