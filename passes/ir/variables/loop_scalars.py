"""
The first use of one variable in a piece of code, and whether it is live after an operation: for arrays, and
for questions about a single store. `scalar_flow` answers for all scalars of a function at once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from enum import Enum

from xdsl.dialects import acc, llvm, scf
from xdsl.ir import Operation, Region, SSAValue

from ..ops.loop_bounds import LoopLike, body_of, surely_runs
from ..values.accesses import root_of


class Flow(Enum):
    """The first use of a variable: none that is certain, a write, or possibly a read."""

    UNTOUCHED = 0
    WRITES = 1
    READS = 2


def first_use(ops: Iterable[Operation], root: SSAValue) -> Flow:
    """The first use of a variable in straight-line code with nested loops and branches."""
    for op in ops:
        flow = _of_operation(op, root)
        if flow is not Flow.UNTOUCHED:
            return flow
    return Flow.UNTOUCHED


def _of_operation(op: Operation, root: SSAValue) -> Flow:
    match op:
        case llvm.StoreOp() if root_of(op.ptr) is root and op.value is not root:
            return Flow.WRITES
        case scf.IfOp():
            return _of_branches(op, root)
        case scf.ForOp():
            return _of_loop(op, root)
        case acc.LoopOp() if len(op.region.blocks) == 1:
            if root in op.operands:
                return Flow.READS
            return _of_loop(op, root)
        case acc.PrivateOp():
            return Flow.UNTOUCHED
        case _ if any(_names(inner, root) for inner in op.walk()):
            return Flow.READS
        case _:
            return Flow.UNTOUCHED


def _names(op: Operation, root: SSAValue) -> bool:
    return any(
        isinstance(operand.type, llvm.LLVMPointerType) and root_of(operand) is root
        for operand in op.operands
    )


def _of_branches(op: scf.IfOp, root: SSAValue) -> Flow:
    flows = [
        first_use(region.block.ops, root) if region.blocks else Flow.UNTOUCHED
        for region in (op.true_region, op.false_region)
    ]
    if Flow.READS in flows:
        return Flow.READS
    return Flow.WRITES if flows == [Flow.WRITES, Flow.WRITES] else Flow.UNTOUCHED


def _of_loop(loop: LoopLike, root: SSAValue) -> Flow:
    flow = first_use(body_of(loop).block.ops, root)
    return Flow.UNTOUCHED if flow is Flow.WRITES and not surely_runs(loop) else flow


FirstUse = Callable[[Iterable[Operation], SSAValue], Flow]


def is_live_after(op: Operation, root: SSAValue, first: FirstUse = first_use) -> bool:
    """
    Whether the variable is live after `op`: code that runs after it may read the variable before writing
    it. `first` gives the first use of a variable in a list of operations.
    """
    child = op
    parent = op.parent_op()
    while parent is not None:
        block = child.parent_block()
        region = child.parent_region()
        if block is None or region is None:
            return True
        if len(region.blocks) > 1:
            return _read_in(region, child, root, first) or _wanted_outside(parent, root, first)
        rest: list[Operation] = []
        following = child.next_op
        while following is not None:
            rest.append(following)
            following = following.next_op
        flow = first(rest, root)
        if flow is not Flow.UNTOUCHED:
            return flow is Flow.READS
        if isinstance(parent, llvm.FuncOp):
            return not isinstance(root.owner, llvm.AllocaOp)
        if isinstance(parent, acc.LoopOp | acc.ParallelOp) and root in parent.private_operands:
            return False
        again = isinstance(parent, scf.ForOp | acc.LoopOp | scf.WhileOp)
        if again and any(
            first(inner.block.ops, root) is Flow.READS
            for inner in parent.regions
            if len(inner.blocks) == 1
        ):
            return True
        child, parent = parent, parent.parent_op()
    return True


def _read_in(region: Region, except_for: Operation, root: SSAValue, first: FirstUse) -> bool:
    """Whether any operation of a region with jumps, other than `except_for`, may read the variable."""
    return any(
        op is not except_for and first([op], root) is Flow.READS
        for block in region.blocks
        for op in block.ops
    )


def _wanted_outside(op: Operation, root: SSAValue, first: FirstUse) -> bool:
    return not isinstance(op, llvm.FuncOp) and is_live_after(op, root, first)
