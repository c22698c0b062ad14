"""
Whether two values of one piece of code are certainly equal, and whether code certainly writes no memory.
"""

from __future__ import annotations

from xdsl.dialects import llvm, scf
from xdsl.ir import Operation, SSAValue

from ....dialects.volatility import is_plain_load
from .purity import only_computes


def same_value(left: SSAValue, right: SSAValue) -> bool:
    """
    Whether two values are one SSA value, or computed by equal operations from loads with no write in
    between.
    """
    if left is right:
        return True
    one, other = left.owner, right.owner
    if not isinstance(one, Operation) or type(one) is not type(other):
        return False
    assert isinstance(other, Operation)
    if isinstance(one, llvm.LoadOp) and not _quiet_between(one, other):
        return False
    if isinstance(one, scf.IfOp) and isinstance(other, scf.IfOp):
        return _same_choice(one, other)
    return (
        (only_computes(one) or is_plain_load(one))
        and one.properties == other.properties
        and len(one.operands) == len(other.operands)
        and all(same_value(a, b) for a, b in zip(one.operands, other.operands, strict=True))
    )


def _same_choice(one: scf.IfOp, other: scf.IfOp) -> bool:
    """Whether two `?:` have equal conditions and operands."""
    if len(one.results) != 1 or len(other.results) != 1 or not same_value(one.cond, other.cond):
        return False
    for left, right in zip(one.regions, other.regions, strict=True):
        ends = left.blocks[0].last_op, right.blocks[0].last_op
        if not all(isinstance(end, scf.YieldOp) for end in ends) or not is_quiet(one):
            return False
        if not same_value(ends[0].operands[0], ends[1].operands[0]):  # pyright: ignore
            return False
    return True


def is_quiet(op: Operation) -> bool:
    """Whether an operation writes nothing."""
    if op.regions:
        return all(is_quiet(inner) for r in op.regions for b in r.blocks for inner in b.ops)
    return isinstance(op, llvm.LoadOp) or only_computes(op)


def _quiet_between(first: Operation, second: Operation) -> bool:
    """Whether there is no write between two operations of one block, or of branches in it."""
    return _quiet_from(first, second) or _quiet_from(second, first)


def _quiet_from(first: Operation, second: Operation) -> bool:
    """
    As `_quiet_between`, where `second` may be in a branch after `first`, or both in branches of one choice.
    """
    outer = first
    while True:
        inner = _quiet_ancestor(second, outer)
        if inner is not None:
            return inner is outer or _quiet_before(inner, outer)
        around = outer.parent_op()
        if not isinstance(around, scf.IfOp) or not is_quiet(around):
            return False
        outer = around


def _quiet_ancestor(op: Operation, beside: Operation) -> Operation | None:
    """
    The operation that contains `op` in the block of `beside`, if between are only branches without a write
    before `op`; else None.
    """
    current = op
    while current.parent_block() is not beside.parent_block():
        around = current.parent_op()
        if not isinstance(around, scf.IfOp) or not _quiet_before(current, None):
            return None
        current = around
    return current


def _quiet_before(op: Operation, start: Operation | None) -> bool:
    """Whether the operations of a block from `start` up to `op` write nothing."""
    before = op.prev_op
    while before is not None and before is not start:
        if not is_quiet(before):
            return False
        before = before.prev_op
    return before is start
