"""
What barriers forbid. Arrays through which the threads of a gang exchange values: what one has written before
a barrier, another reads or overwrites behind it; LLVM knows nothing of that for memory that
`noalias` says is the function's own. And loops with barriers cannot be unrolled with iterations left over.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import gpu, llvm, scf
from xdsl.dialects.builtin import IntegerAttr
from xdsl.ir import Block, Operation, SSAValue

from ...dialects import llvm_ext, nvvm
from ...dialects.accx import UNROLL
from .building import constant_value
from .purity import is_pure_call

_BARRIERS = (gpu.BarrierOp, nvvm.BarrierOp, nvvm.SyncWarpOp)


def leave_whole(module: Operation) -> None:
    """Takes the wish to be unrolled from loops with barriers whose trip count is not constant."""
    for op in module.walk():
        factor = op.attributes.get(UNROLL)
        if isinstance(op, scf.ForOp) and isinstance(factor, IntegerAttr) and factor.value.data > 1:
            constant = all(constant_value(v) is not None for v in (op.lb, op.ub, op.step))
            if not constant and any(isinstance(inner, _BARRIERS) for inner in op.body.walk()):
                del op.attributes[UNROLL]


def has_barrier(args: Sequence[SSAValue]) -> bool:
    """Whether threads wait for one another in the kernel with these arguments, or may in what it calls."""
    block = args[0].owner if args else None
    if not isinstance(block, Block) or block.parent is None:
        return False
    return any(
        isinstance(op, _BARRIERS) or (isinstance(op, llvm.CallOp) and not is_pure_call(op))
        for op in block.parent.walk()
    )


def _places(pointer: SSAValue) -> tuple[int, int]:
    """How many operations read, and how many write (or may), through a pointer."""
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
    Whether a thread may read or overwrite through the pointer what another has written. Where barriers
    order that, LLVM must not take the memory for the thread's own, as `noalias` lets it: it would keep
    values in registers, and drop stores, across the barrier.
    """
    reads, writes = _places(pointer)
    return writes > 1 or (writes > 0 and reads > 0)
