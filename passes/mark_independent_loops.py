"""
Find sequential loops of threads whose iterations are independent, on the host target, so that LLVM need not
find out.

A loop without a directive inside a parallel one, such as the row of an elimination, updates elements of which
only the program's subscripts tell that no other iteration reaches them. In LLVM's code, where these are
addresses, it is not known that rows and columns differ, nor that arrays which the host has compared do.

Takes:  transformed IR for the host. Considers `scf.for` in constructs without loops inside that store.
Leaves: `accx.independent` on those of which the subscripts show (`dependence/loop_dependence.py`), with what
        `accx.apart` says of the arrays, that no iteration reaches an element that another one stores. They
        may carry values.
Fails:  never.

Before:
  scf.for %j = %first to %n step %c1 { … a[i][j] -= a[i][k] * a[k][j] … }      // i > k, first = k + 1
After:
  scf.for %j = %first to %n step %c1 { … } {accx.independent}

Options: `target` (a GPU: no change).
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects import acc, llvm, scf
from xdsl.dialects.builtin import ModuleOp, UnitAttr
from xdsl.passes import ModulePass

from ..dialects.accx import INDEPENDENT
from .decisions.schedule import Target
from .ir.dependence.loop_dependence import is_independent
from .ir.ops.acc_ops import parallel_constructs
from .ir.ops.machine import machine_of
from .ir.values.addresses import base_of

_LOOPS = (scf.ForOp, scf.WhileOp, scf.ExecuteRegionOp, acc.LoopOp)


def _is_candidate(loop: scf.ForOp) -> bool:
    """Whether a loop has no loop inside, and stores to memory other than its function's own."""
    stores = False
    for op in loop.body.walk():
        if isinstance(op, _LOOPS):
            return False
        if isinstance(op, llvm.StoreOp):
            stores |= not isinstance(base_of(op.ptr).owner, llvm.AllocaOp)
    return stores


@dataclass(frozen=True)
class MarkIndependentLoopsPass(ModulePass):
    """See the contract at the top of this file."""

    name = "mark-independent-loops"

    target: Target | None = None

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        if (self.target or machine_of(op).target) != "host":
            return
        for construct in parallel_constructs(op):
            for loop in construct.walk():
                if not isinstance(loop, scf.ForOp) or not _is_candidate(loop):
                    continue
                if is_independent(loop, construct):
                    loop.attributes[INDEPENDENT] = UnitAttr()
