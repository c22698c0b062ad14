"""
Keep sums that a sequential loop accumulates in memory in registers.

`for i: out[j] += a[i][j]`, and a sum in a variable that the program declares before the nest, are then the
same code as a sum in a variable of the iteration, for later passes and for LLVM, which cannot always tell
that the element is not accessed otherwise.

Takes:  scheduled IR for a GPU. Considers sequential innermost loops directly in parallel loops, without
        branches, that load an element of fixed address first and store to it, if nothing else in the loop can
        be that element.
Leaves: a loop that carries the element's value, which is loaded before it, or is what was stored there
        before it, and stored after it, if the loop runs at all. Other loops are untouched.
Fails:  never.

Before:
  llvm.store %zero, %out[%j]
  scf.for %i = %c0 to %n step %c1 {
    %s = llvm.load %out[%j]
    llvm.store %s + %v, %out[%j]
  }
After:
  %sum = scf.for %i = %c0 to %n step %c1 iter_args(%s = %zero) -> (f32) { scf.yield %s + %v }
  llvm.store %sum, %out[%j]

Options: `target` (`host`: no change).
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.dialects import acc, scf
from xdsl.dialects.builtin import ModuleOp

from .ir.loops.kept_sums import keep_sums
from .ir.ops.acc_ops import parallel_constructs
from .ir.ops.gpu_pass import GpuPass


@dataclass(frozen=True)
class KeepSumsInRegistersPass(GpuPass):
    """See the contract at the top of this file."""

    name = "keep-sums-in-registers"

    def rewrite(self, module: ModuleOp) -> None:
        for construct in parallel_constructs(module):
            for loop in [op for op in construct.region.walk() if isinstance(op, scf.ForOp)]:
                if isinstance(loop.parent_op(), acc.LoopOp):
                    keep_sums(loop)
