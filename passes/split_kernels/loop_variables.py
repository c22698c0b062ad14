"""
Variables that the bodies of loops without a directive declare. While loops are judged they are in these
bodies, so that each iteration is known to have its own; later passes expect them in the entry of the
innermost loop directive or construct, where every thread has its copy.
"""

from __future__ import annotations

from xdsl.dialects import acc, arith, llvm, scf
from xdsl.dialects.builtin import IntegerAttr, i32
from xdsl.ir import Block, Operation

from ..ir.ops.acc_ops import COMPUTE_OPS, enclosing, enclosing_function, entry_block
from ..ir.ops.building import constant_value


def hoist_loop_variables(parent: Operation) -> None:
    """
    Moves variables of constant size from the bodies of loops in `parent` to the entry of the loop directive
    or construct around; from a kernels construct to the function, so that its pieces can share them.
    """
    for op in list(parent.walk()):
        if not isinstance(op, llvm.AllocaOp) or not isinstance(op.parent_op(), scf.ForOp):
            continue
        count = constant_value(op.size)
        if count is not None:
            move_variable(op, count, _home(op))


def _home(op: llvm.AllocaOp) -> Block:
    around = enclosing(op, acc.LoopOp, *COMPUTE_OPS)
    if around is None or isinstance(around, acc.KernelsOp):
        return entry_block(enclosing_function(op))
    return around.regions[0].blocks[0]


def move_variable(op: llvm.AllocaOp, count: int, home: Block) -> None:
    """Moves the variable `op`, of `count` elements, behind the other variables at the beginning of `home`."""
    after: Operation | None = None
    for known in home.ops:
        if not isinstance(known, llvm.AllocaOp | arith.ConstantOp):
            break
        after = known if isinstance(known, llvm.AllocaOp) else after
    size = arith.ConstantOp(IntegerAttr(count, i32))
    size.location = op.location
    op.detach()
    op.operands[0] = size.result
    if after is not None:
        home.insert_ops_after([size, op], after)
    else:
        first = home.first_op
        assert first is not None
        home.insert_ops_before([size, op], first)
