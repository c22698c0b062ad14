"""
Loops over the terms of sums in kernels constructs, `for (k …) for (i …) c[i] += a[k][i] * b[k]`: the loop
over the elements is parallel, the one around it is not. Left in this order, the host would launch a kernel
for each term. With the terms inside, one kernel computes each element in a thread.
"""

from __future__ import annotations

from typing import TypeGuard

from xdsl.dialects import acc, scf
from xdsl.ir import Operation

from ..ir.dependence.loop_dependence import is_independent
from ..ir.loops.open_loops import is_bare
from ..ir.loops.sinking import is_sequential, sink
from ..ir.ops.acc_ops import has_level
from ..ir.ops.loop_bounds import LoopLike
from .kernel_constructs import operations_of


def sink_terms(kernels: acc.KernelsOp) -> None:
    """
    Puts the outermost loops whose iterations depend on each other, without a directive or `auto`, into the
    loops that are their bodies, as far in as the iterations of these are independent.
    """
    for loop in operations_of(kernels):
        if _is_undecided(loop) and not is_independent(loop, kernels):
            outer = sink(loop, kernels, scf.ForOp)
            while outer is not None:
                inner = [op for op in outer.body.block.ops if isinstance(op, scf.ForOp)]
                outer = sink(inner[0], kernels, scf.ForOp) if len(inner) == 1 else None


def _is_undecided(op: Operation) -> TypeGuard[LoopLike]:
    """Whether `op` is a counted loop of one variable about which no directive says anything."""
    if isinstance(op, acc.LoopOp):
        return has_level(op.auto_) and is_bare(op) and len(op.lowerbound) == 1
    return isinstance(op, scf.ForOp) and is_sequential(op)
