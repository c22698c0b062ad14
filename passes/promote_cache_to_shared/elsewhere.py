"""
Accesses to a cached array outside of its directive's scope.

They matter because the scope ends with the block of C code, while a tile is written back at the end of the
block of IR; and because a thread may fill a tile with elements that another iteration has stored before the
directive.
"""

from __future__ import annotations

from xdsl.dialects import acc, llvm
from xdsl.ir import Operation, SSAValue

from ..ir.data.cached_accesses import Cached
from ..ir.data.cached_sections import first_directive
from ..ir.kernels.arguments import distinct_arguments
from ..ir.ops.acc_ops import is_restrict
from ..ir.values.accesses import told_apart
from ..ir.values.addresses import AddressOp, base_of
from .nest import CachedNest
from .uniformity import has_effects


def find_outside_accesses(cached: Cached, nest: CachedNest) -> None:
    """Sets `touched_elsewhere` and `stored_elsewhere` of a directive of the nest."""
    for outer in nest.operations:
        for op in outer.walk():
            if not _may_touch(op, cached):
                continue
            cached.touched_elsewhere = True
            if not isinstance(op, llvm.LoadOp):
                cached.stored_elsewhere = True
                return


def _may_touch(op: Operation, cached: Cached) -> bool:
    """Whether an operation may access the array other than through the directive's view."""
    if isinstance(op, llvm.CallOp):
        return has_effects(op)
    if isinstance(op, AddressOp | acc.CacheOp | acc.DataBoundsOp | acc.LoopOp | acc.ReductionOp):
        return False
    return any(
        isinstance(operand.type, llvm.LLVMPointerType) and _may_be(operand, cached)
        for operand in op.operands
    )


def _may_be(pointer: SSAValue, cached: Cached) -> bool:
    """Whether a pointer may point to the array, other than through the directive's view."""
    pointer = base_of(pointer)
    while isinstance(pointer.owner, acc.CacheOp):
        if first_directive(pointer.owner) is first_directive(cached.op):
            return False
        pointer = base_of(pointer.owner.var)
    base = cached.base
    if pointer is base:
        return True
    if isinstance(pointer.owner, llvm.AllocaOp | acc.PrivateOp | acc.ReductionOp):
        return False
    if is_restrict(base) or is_restrict(pointer) or told_apart(base, pointer, cached.op):
        return False
    return not any(distinct_arguments([base, pointer], loads_pointers=False))
