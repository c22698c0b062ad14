"""Whether several iterations of a loop may run side by side, operation by operation."""

from __future__ import annotations

from xdsl.dialects import acc, llvm
from xdsl.ir import Operation, SSAValue

from ...dialects import llvm_ext
from ..ir.acc_ops import PRIVATIZING_OPS
from ..ir.addresses import base_of, way_to_base
from .routines import CallKind, Calls

MAX_OPERATIONS = 200


def is_simple(loop: acc.LoopOp, calls: Calls) -> bool:
    """
    Whether the loop's body is straight-line code in which iterations share nothing but the arrays
    they index (independent by the loop's nature) and variables that each iteration has its own copy
    of: then operations of several iterations may be interleaved.
    """
    if len(loop.region.blocks) != 1:
        return False
    own = {
        *loop.private_operands,
        *loop.firstprivate_operands,
        *loop.reduction_operands,
    }
    body = list(loop.region.block.ops)
    if len(body) > MAX_OPERATIONS:
        return False
    return not any(op.regions or not _is_simple(op, own, loop, calls) for op in body)


def _is_simple(op: Operation, own: set[SSAValue], loop: acc.LoopOp, calls: Calls) -> bool:
    match op:
        case llvm.StoreOp():
            return _is_shared_or_own(op.ptr, own, loop)
        case llvm.CallOp():
            return calls.kind(op) is CallKind.PURE
        case llvm_ext.MemcpyOp() | llvm_ext.MemmoveOp() | llvm_ext.MemsetOp():
            return False
        case llvm_ext.FenceOp() | llvm.InlineAsmOp():
            return False
        case acc.PrivateOp() | acc.FirstprivateOp() | acc.ReductionOp() | acc.LoopOp():
            return False
        case _:
            return True


def _is_shared_or_own(pointer: SSAValue, own: set[SSAValue], loop: acc.LoopOp) -> bool:
    """
    Whether a store through `pointer` goes to memory that iterations do not share a copy of: an
    array, or a copy of the iteration's own. A variable of the thread that outlives the iteration is
    shared by iterations that run side by side.
    """
    if not own.isdisjoint(way_to_base(pointer)):
        return True
    owner = base_of(pointer).owner
    if isinstance(owner, llvm.AllocaOp):
        return owner.parent_block() is loop.region.block
    return not isinstance(owner, PRIVATIZING_OPS)
