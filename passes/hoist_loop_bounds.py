"""
Compute the bounds of inner loops before the construct, where the host can.

A nest of loops and the same nest collapsed mean the same, but the front end computes the bounds of
collapsed loops before the outermost loop, and the bounds of a nested loop immediately before that loop.
After this pass, other passes that compare bounds or look for rectangular nests need not distinguish the
two.

Takes:  data level.
Leaves: bounds and steps of loops in other loops of a compute construct as values from before the construct,
        where they are integer arithmetic on such values and constants (divisions only by constants other than
        0 and -1, which cannot trap).
        Constant bounds are values from before the outermost loop.
Fails:  never.

Before:
  acc.parallel {
    acc.loop control(%i : i32) = … {
      %j_end = arith.subi %n, %c1 : i32
      acc.loop control(%j : i32) = (%c0 : i32) to (%j_end : i32) step (%c1 : i32) { … }
  } }
After:
  %j_end = arith.subi %n, %c1 : i32
  acc.parallel {
    acc.loop control(%i : i32) = … {
      acc.loop control(%j : i32) = (%c0 : i32) to (%j_end : i32) step (%c1 : i32) { … }
  } }
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects import acc, arith
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.passes import ModulePass

from .ir.ops.acc_ops import is_defined_inside, loops_in, outermost_loop, parallel_constructs
from .ir.ops.building import Cursor
from .ir.ops.purity import erase_unused
from .ir.values.values_outside import ValuesOutside


class _Bounds:
    """Moves the bounds of one construct's loops before it, and constants before their nest."""

    def __init__(self, construct: acc.ParallelOp):
        self.outside = ValuesOutside(construct)
        self.constants: dict[tuple[Operation, Attribute], SSAValue] = {}

    def bound(self, value: SSAValue, outermost: Operation) -> SSAValue:
        """The value to use for a bound of a loop in `outermost`: one from before it if possible."""
        if not is_defined_inside(value, outermost):
            return value
        op = value.owner
        if not isinstance(op, arith.ConstantOp):
            return self.outside.value(value) or value
        key = outermost, op.value
        if key not in self.constants:
            for other in outermost.operands:
                if isinstance(other.owner, arith.ConstantOp) and other.owner.value == op.value:
                    self.constants[key] = other
        if key not in self.constants:
            copy = Cursor.before(outermost).insert(op.clone())
            copy.location = op.location
            self.constants[key] = copy.result
        return self.constants[key]


def hoist(construct: acc.ParallelOp) -> None:
    """Replaces the bounds of the loops in other loops of a construct."""
    bounds = _Bounds(construct)
    for loop in loops_in(construct):
        outermost = outermost_loop(loop, construct)
        if outermost is loop:
            continue
        for index in range(3 * len(loop.lowerbound)):
            old = loop.operands[index]
            loop.operands[index] = bounds.bound(old, outermost)
            erase_unused(old)


@dataclass(frozen=True)
class HoistLoopBoundsPass(ModulePass):
    """See the module's description."""

    name = "hoist-loop-bounds"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for construct in parallel_constructs(op):
            hoist(construct)
