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

from xdsl.dialects import acc, llvm, scf
from xdsl.dialects.builtin import ModuleOp

from ..dialects.volatility import is_ordered
from .ir.loops.kept_sums import keep_in_registers
from .ir.loops.products import find_accumulators
from .ir.ops.acc_ops import parallel_constructs
from .ir.ops.gpu_pass import GpuPass
from .ir.ops.purity import only_computes


def keep_sums(loop: scf.ForOp) -> None:
    """Keeps the sums of a loop in registers, if it has some and all its stores are to them."""
    stores = False
    for op in loop.body.block.ops:
        if isinstance(op, llvm.LoadOp | llvm.StoreOp):
            if is_ordered(op):
                return
            stores = stores or isinstance(op, llvm.StoreOp)
        elif not (isinstance(op, scf.YieldOp) or only_computes(op)):
            return
    if not stores:
        return
    found = find_accumulators(loop, ())
    if found is not None:
        keep_in_registers(loop, found.stores)


@dataclass(frozen=True)
class KeepSumsInRegistersPass(GpuPass):
    """See the contract at the top of this file."""

    name = "keep-sums-in-registers"

    def rewrite(self, module: ModuleOp) -> None:
        for construct in parallel_constructs(module):
            for loop in [op for op in construct.region.walk() if isinstance(op, scf.ForOp)]:
                if isinstance(loop.parent_op(), acc.LoopOp):
                    keep_sums(loop)
