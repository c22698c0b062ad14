"""
Reconvergence of the lanes of a warp after recursion.

The lanes of a warp leave a recursive function one by one, because its levels share a convergence barrier.
ptxas assumes that they have converged after the branch that contains the call, and lets `shfl.sync` with a
full mask, and barriers, run without waiting for all lanes. A preceding `bar.warp.sync` whose mask ptxas
cannot know prevents that: here the mask of all lanes, computed from two special registers.

Before, in a function that calls a recursive one:
  %sum = nvvm.shfl.sync bfly %all, %part, … : i32
After:
  %below = llvm.call_intrinsic "llvm.nvvm.read.ptx.sreg.lanemask.le"() : () -> i32
  %above = llvm.call_intrinsic "llvm.nvvm.read.ptx.sreg.lanemask.gt"() : () -> i32
  %lanes = llvm.or %below, %above : i32
  nvvm.bar.warp.sync %lanes : i32
  %sum = nvvm.shfl.sync bfly %all, %part, … : i32
"""

from __future__ import annotations

from collections.abc import Mapping

from xdsl.dialects import gpu, llvm
from xdsl.dialects.builtin import i32
from xdsl.ir import Block, Operation

from ...dialects import nvvm
from ..ir.ops.acc_ops import callee_of
from ..ir.ops.building import Cursor, constant_value

_SREG = "llvm.nvvm.read.ptx.sreg.lanemask."


def bring_lanes_together(module: gpu.ModuleOp) -> None:
    """
    Inserts such a barrier before operations that lanes carry out together, in functions that reach a
    recursive one.
    """
    functions = {
        op.sym_name.data: op for op in module.body.ops if isinstance(op, gpu.FuncOp | llvm.FuncOp)
    }
    calls = {name: _called(func) & functions.keys() for name, func in functions.items()}
    for name in reaching_cycles(calls):
        for block in [b for op in functions[name].walk() for r in op.regions for b in r.blocks]:
            _wait_in(block)


def _called(func: Operation) -> set[str]:
    return {name for op in func.walk() if (name := callee_of(op)) is not None}


def reaching_cycles(calls: Mapping[str, set[str]]) -> list[str]:
    """
    The functions from which calls lead to a function that calls itself, directly or through others. They
    remain after repeatedly removing functions whose callees have all been removed.
    """
    callers: dict[str, list[str]] = {name: [] for name in calls}
    for name, callees in calls.items():
        for callee in callees:
            callers[callee].append(name)
    left = {name: len(callees) for name, callees in calls.items()}
    gone = [name for name, count in left.items() if count == 0]
    for name in gone:
        for caller in callers[name]:
            left[caller] -= 1
            if left[caller] == 0:
                gone.append(caller)
    return [name for name, count in left.items() if count > 0]


def _wait_in(block: Block) -> None:
    """Inserts barriers in a block, at whose start, and after every call, lanes may have diverged."""
    apart = True
    for op in list(block.ops):
        if isinstance(op, llvm.CallOp):
            apart = True
        elif apart and _needs_all_lanes(op):
            at = Cursor.before(op)
            below = at.value(llvm.CallIntrinsicOp(f"{_SREG}le", [], [i32]), "below")
            above = at.value(llvm.CallIntrinsicOp(f"{_SREG}gt", [], [i32]), "above")
            lanes = at.value(llvm.OrOp(below, above), "lanes")
            at.insert(nvvm.SyncWarpOp(lanes))
            apart = False


def _needs_all_lanes(op: Operation) -> bool:
    match op:
        case nvvm.Barrier0Op() | nvvm.MmaOp():
            return True
        case nvvm.ShflOp():
            mask = op.thread_mask
        case nvvm.VoteSyncOp():
            mask = op.mask
        case nvvm.ReduxOp():
            mask = op.mask_and_clamp
        case _:
            return False
    return constant_value(mask) == -1
