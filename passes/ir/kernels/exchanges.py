"""
Two optimisations that barriers forbid.

Threads of a gang exchange values through arrays: one thread writes
before a barrier, another reads or overwrites after it. An argument for such an array must not be `noalias`,
from which LLVM concludes that no other thread accesses the memory. And a loop with a barrier must not be
unrolled with a remainder loop.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import gpu, llvm, scf
from xdsl.dialects.builtin import IntegerAttr
from xdsl.ir import Block, Operation, SSAValue

from ....dialects import llvm_ext, nvvm
from ....dialects.accx import UNROLL
from ..ops.building import constant_value
from ..ops.purity import is_pure_call
from .routine_calls import Calls

_BARRIERS = (gpu.BarrierOp, nvvm.BarrierOp, nvvm.SyncWarpOp)


def leave_whole(module: Operation) -> None:
    """Removes the request to unroll from loops with barriers whose trip count is not constant."""
    for op in module.walk():
        if not isinstance(op, scf.ForOp):
            continue
        factor = op.attributes.get(UNROLL)
        if isinstance(factor, IntegerAttr) and factor.value.data > 1:
            constant = all(constant_value(v) is not None for v in (op.lb, op.ub, op.step))
            if not constant and any(isinstance(inner, _BARRIERS) for inner in op.body.walk()):
                del op.attributes[UNROLL]


def has_barrier(args: Sequence[SSAValue], calls: Calls) -> bool:
    """
    Whether the kernel with these arguments, or a function it may call, contains a barrier: routines of level
    `seq` have none.
    """
    block = args[0].owner if args else None
    if not isinstance(block, Block) or block.parent is None:
        return False
    return any(
        isinstance(op, _BARRIERS)
        or (isinstance(op, llvm.CallOp) and not (is_pure_call(op) or calls.is_sequential(op)))
        for op in block.parent.walk()
    )


def _places(pointer: SSAValue) -> tuple[int, int]:
    """The number of operations that read, and of those that (may) write, through a pointer."""
    reads = writes = 0
    for use in pointer.uses:
        op = use.operation
        if isinstance(op, llvm.GEPOp | llvm_ext.AddrSpaceCastOp):
            inner = _places(op.results[0])
            reads, writes = reads + inner[0], writes + inner[1]
        elif isinstance(op, llvm.LoadOp) or (
            isinstance(op, llvm_ext.MemcpyOp | llvm_ext.MemmoveOp) and use.index == 1
        ):
            reads += 1
        elif isinstance(op, llvm.StoreOp) and use.index == 1:
            writes += 1
        else:
            reads, writes = reads + 1, writes + 1
    return reads, writes


def is_exchanged(pointer: SSAValue) -> bool:
    """
    Whether a thread may read or overwrite, through this pointer, memory that another thread has written.
    LLVM must then not take the memory for the thread's own, as `noalias` allows: it would keep values in
    registers, and remove stores, across the barriers that order these accesses.
    """
    reads, writes = _places(pointer)
    return writes > 1 or (writes > 0 and reads > 0)
