"""
Uniformity within a block of threads: values that depend on the loops mapped to threads, memory that a
thread may write, operations with effects that other threads could observe.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from xdsl.dialects import acc, llvm, scf
from xdsl.ir import Operation, SSAValue

from ...dialects.accx_cache import HoldsInBlockOp
from ...dialects.volatility import is_ordered
from ..ir.data.cached_accesses import Cached
from ..ir.kernels.arguments import distinct_arguments
from ..ir.ops.acc_ops import MAPPING_OPS, is_inside, is_restrict
from ..ir.ops.purity import is_pure, is_pure_call
from ..ir.values.accesses import told_apart
from ..ir.values.addresses import AddressOp, base_of
from ..ir.values.region_values import same_variable, variable_of


def overlapping_store(cached: Cached) -> llvm.StoreOp | None:
    """
    A store in the directive's scope through another pointer, before a read of the section (or in one loop
    with it), that may change elements of the tile; None if there is none. `readonly:` promises that.
    """
    block = cached.op.parent_block()
    assert block is not None
    if cached.section.readonly:
        return None
    ops = list(block.ops)
    place = {inner: position for position, op in enumerate(ops) for inner in op.walk()}
    last_read = max(
        (place[access.op] for access in cached.accesses if not access.is_store), default=-1
    )
    views = {access.op for access in cached.accesses}
    for op in ops[place[cached.op] : last_read + 1]:
        for inner in op.walk():
            if not isinstance(inner, llvm.StoreOp) or inner in views:
                continue
            root = _root(inner.ptr)
            if (
                isinstance(root.owner, llvm.AllocaOp | acc.PrivateOp | acc.ReductionOp)
                or root is cached.base
            ):
                continue
            if is_restrict(cached.base) or is_restrict(root):
                continue
            if told_apart(cached.base, root, inner):
                continue
            if not any(distinct_arguments([cached.base, root], loads_pointers=False)):
                return inner
    return None


def is_repeatable(op: Operation, outermost: acc.LoopOp, written: Sequence[SSAValue]) -> bool:
    """
    Whether every thread may repeat `op`, in the code between parallel loops: it computes, reads memory that
    is not written, or uses a scalar variable that is declared inside the outermost loop.
    """
    match op:
        case llvm.AllocaOp():
            return not isinstance(op.elem_type, llvm.LLVMArrayType)
        case llvm.LoadOp() if not is_ordered(op):
            own = isinstance(_root(op.ptr).owner, llvm.AllocaOp)
            return own or _is_constant_memory(op.ptr, written)
        case llvm.StoreOp():
            owner = _root(op.ptr).owner
            return isinstance(owner, llvm.AllocaOp) and is_inside(owner, outermost)
        case scf.ForOp() | scf.IfOp() | scf.WhileOp():
            inner = (each for region in op.regions for block in region.blocks for each in block.ops)
            return all(is_repeatable(each, outermost, written) for each in inner)
        case llvm.CallOp():
            return is_pure_call(op)
        case _:
            return is_pure(op) or isinstance(op, acc.ReductionOp | scf.YieldOp | scf.ConditionOp)


def varying_values(
    ops: Sequence[Operation], mapped: Iterable[SSAValue], written: Sequence[SSAValue]
) -> set[SSAValue]:
    """
    The values of a nest's operations that may differ between threads: those that depend on the mapped
    loops' variables, on memory that the construct writes, or on thread-private variables.
    """
    varying: set[SSAValue] = set(mapped)
    inner = [each for op in ops for each in op.walk()]
    before = -1
    while before != len(varying):
        before = len(varying)
        for op in inner:
            _propagate(op, varying, written)
    return varying


def _propagate(op: Operation, varying: set[SSAValue], written: Sequence[SSAValue]) -> None:
    ends = [block.last_op for region in op.regions for block in region.blocks]
    used = (*op.operands, *(v for end in ends if end is not None for v in end.operands))
    mine = any(value in varying for value in used)
    if isinstance(op, HoldsInBlockOp):
        return
    if isinstance(op, llvm.LoadOp):
        mine = mine or not _is_constant_memory(op.ptr, written)
    elif isinstance(op, llvm.AllocaOp | llvm.CallOp):
        mine = mine or not is_pure_call(op)
    if not mine:
        return
    varying.update(op.results)
    if isinstance(op, scf.ForOp):
        varying.update(op.body.block.args[1:])
        if any(value in varying for value in (op.lb, op.ub, op.step)):
            varying.add(op.body.block.args[0])
    elif op.regions:
        varying.update(arg for region in op.regions for b in region.blocks for arg in b.args)


def written_variables(construct: Operation) -> list[SSAValue]:
    """The variables of the construct that are stored to, or whose address is used other than by loads."""
    return [
        variable_of(_root(operand))
        for region in construct.regions
        for op in region.walk()
        if not isinstance(op, llvm.LoadOp | AddressOp | acc.CacheOp | acc.DataBoundsOp)
        for operand in op.operands
        if isinstance(operand.type, llvm.LLVMPointerType)
    ]


def _root(pointer: SSAValue) -> SSAValue:
    pointer = base_of(pointer)
    while isinstance(pointer.owner, acc.CacheOp):
        pointer = base_of(pointer.owner.var)
    return pointer


def _is_constant_memory(pointer: SSAValue, written: Sequence[SSAValue]) -> bool:
    root = _root(pointer)
    if not isinstance(root.owner, MAPPING_OPS):
        return False
    return not any(same_variable(variable_of(root), other) for other in written)


def may_be_written(pointer: SSAValue, written: Sequence[SSAValue]) -> bool:
    """Whether another thread may write what `pointer` points to while the construct runs."""
    return not isinstance(_root(pointer).owner, llvm.AllocaOp) and not _is_constant_memory(
        pointer, written
    )


def has_effects(op: Operation) -> bool:
    """Whether `op` has effects that other threads could observe."""
    if isinstance(op, llvm.StoreOp):
        return not isinstance(base_of(op.ptr).owner, llvm.AllocaOp)
    return not (isinstance(op, llvm.LoadOp | llvm.AllocaOp) or is_pure(op) or is_pure_call(op))
