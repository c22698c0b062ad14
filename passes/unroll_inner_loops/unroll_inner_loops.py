"""
Unroll the sequential innermost loops of kernels, so that several loads are in flight.

Takes:  scheduled IR, after jam-outer-iterations and jam-strided-iterations, which change the size of a
        body.
Leaves: `accx.unroll = n` on the `scf.for`s in compute constructs that contain no other loop and have a
        short body; lower-scf-to-cf passes it to LLVM, which unrolls. `accx.unroll = 0`, completely, on all
        loops whose variables are in subscripts of an array of an iteration's own, or in bounds of such loops
        (`k < j`), if every subscript of the array then is constant, so that LLVM keeps it in
        registers. A loop of a triangle around which a longer loop stays runs over its largest range for
        that, under conditions (`bounded_loops.py`); an element at a subscript that is known at run time only,
        such as the row of a pivot, is selected among those that it may be, if these are few. A loop that has
        `accx.unroll` keeps it. No change for other targets than GPUs: LLVM unrolls and vectorises for the
        CPU by itself.
Fails:  never.

Before:
  acc.parallel {
    %sum = scf.for %j = %c0 to %n step %c1 iter_args(%s = %zero) -> (f32) : i32 {
      %p = accx.element %a[%j] of f32 : i32
      %v = llvm.load %p : !llvm.ptr -> f32
      %t = arith.addf %s, %v : f32
      scf.yield %t : f32
    }
  }
After: the loop has the attribute {accx.unroll = 8 : i32}.

Options: `target`: only `nvptx` does anything. `factor`: the factor for all such loops (0: by the
loop's body).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects import acc, scf
from xdsl.dialects.builtin import IntegerAttr, ModuleOp, i32
from xdsl.ir import Operation
from xdsl.passes import ModulePass

from ...dialects.accx import UNROLL
from ..decisions.schedule import Target
from ..decisions.unrolling import unroll_factor
from ..ir.kernels.body_costs import read_body
from ..ir.ops.acc_ops import parallel_constructs
from ..ir.ops.machine import machine_of
from .own_arrays import unroll_over_own_arrays

_LOOPS = (scf.ForOp, scf.WhileOp, acc.LoopOp)


def _innermost(construct: Operation) -> Iterator[scf.ForOp]:
    """The innermost `scf.for`s in a compute construct."""
    for op in construct.walk():
        if isinstance(op, scf.ForOp) and not any(
            isinstance(inner, _LOOPS) for inner in op.body.walk()
        ):
            yield op


@dataclass(frozen=True)
class UnrollInnerLoopsPass(ModulePass):
    """See the contract at the top of this file."""

    name = "unroll-inner-loops"

    target: Target | None = None
    factor: int = 0

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        machine = machine_of(op)
        if (self.target or machine.target) != "nvptx":
            return
        for construct in parallel_constructs(op):
            if not self.factor:
                # the simulator reports elements that are read before they are set
                unroll_over_own_arrays(construct.walk(), selects=not machine.simulated)
            for loop in _innermost(construct):
                if UNROLL in loop.attributes:
                    continue
                factor = self.factor or unroll_factor(read_body(loop))
                if factor is not None:
                    loop.attributes[UNROLL] = IntegerAttr(factor, i32)
