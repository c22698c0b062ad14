"""
Several versions of a compute construct, one of which the host selects at run time.

The data operations stay before the `scf.if` that selects, and serve all versions; operations that
give a construct its own copy of a variable are copied for each version.
"""

from __future__ import annotations

from xdsl.dialects import acc, arith
from xdsl.ir import Block, Operation, SSAValue

from ....compiler.base.abi import ASYNC_NOVAL
from .acc_ops import NONE, PRIVATIZING_OPS, set_operand_groups, set_prop
from .building import Cursor, constant_value, erase


def can_have_versions(construct: acc.ParallelOp) -> bool:
    """
    Whether the construct may be put inside an `scf.if`: not with a wait clause, which also orders its data
    operations.
    """
    return not construct.wait_operands and construct.wait_only is None


def drop_wait(construct: acc.ParallelOp) -> None:
    """Removes the wait clause from a construct."""
    set_operand_groups(construct, wait_operands=[])
    for name in ("waitOperandsDeviceType", "waitOperandsSegments", "hasWaitDevnum", "waitOnly"):
        set_prop(construct, name, None)


def queue_outside(construct: acc.ParallelOp) -> bool:
    """
    Makes the construct's queue an i64 defined before its data operations, so that these and all
    versions use the same; False, without a change, if it is not known before them.
    """
    block = construct.parent_block()
    assert block is not None
    owners = {operand.owner for operand in construct.data_clause_operands}
    first = next((op for op in block.ops if op in owners), construct)
    if len(construct.async_operands) > 1:
        return False
    at = Cursor.before(first, construct.location)
    if construct.async_operands:
        value = construct.async_operands[0]
        constant = constant_value(value)
        if constant is None and not _is_before(value, first, block):
            return False
        queue = at.to_i64(value) if constant is None else at.i64(constant)
    elif construct.async_only is not None:
        queue = at.i64(ASYNC_NOVAL)
        set_prop(construct, "asyncOnly", None)
        set_prop(construct, "asyncOperandsDeviceType", NONE)
    else:
        return True
    set_operand_groups(construct, async_operands=[queue])
    return True


def ready_for_versions(construct: acc.ParallelOp) -> bool:
    """Whether the construct may have versions; its queue is then defined before its data operations."""
    return can_have_versions(construct) and queue_outside(construct)


def _is_before(value: SSAValue, op: Operation, block: Block) -> bool:
    """Whether `value` is defined before `op`, which is in `block`."""
    owner = value.owner
    if not isinstance(owner, Operation) or owner.parent_block() is not block:
        return True
    return owner is not op and owner.is_before_in_block(op)


def copy_construct(construct: acc.ParallelOp, at: Cursor) -> acc.ParallelOp:
    """Places a copy of `construct` at `at`."""
    values: dict[SSAValue, SSAValue] = {}
    for operand in construct.operands:
        owner = operand.owner
        if isinstance(owner, PRIVATIZING_OPS) and operand not in values:
            at.insert(owner.clone(values))
    return at.clone(construct, values)


def move_construct(construct: acc.ParallelOp, at: Cursor) -> None:
    """Moves the construct itself to `at`, as one of the versions."""
    privatising = [v.owner for v in construct.operands if isinstance(v.owner, PRIVATIZING_OPS)]
    for op in (*dict.fromkeys(privatising), construct):
        at.move(op)


def second_version(construct: acc.ParallelOp, condition: SSAValue) -> acc.ParallelOp:
    """
    Puts the construct into an `scf.if`, where it runs if the i1 `condition`, known before it, holds; returns
    the copy that runs otherwise. The construct must have been made ready (`ready_for_versions`).
    """
    assert can_have_versions(construct), "its wait clause would not order its data operations"
    then, otherwise = Cursor.before(construct).if_else(condition)
    copy = copy_construct(construct, otherwise)
    move_construct(construct, then)
    return copy


def give_block(construct: acc.ParallelOp, workers: int, lanes: int) -> None:
    """Sets the block of a version: `workers` of `lanes` threads."""
    at = Cursor.before(construct)
    sizes = {"num_workers": [at.i32(workers)], "vector_length": [at.i32(lanes)]}
    set_operand_groups(construct, **sizes)
    construct.properties["numWorkersDeviceType"] = NONE
    construct.properties["vectorLengthDeviceType"] = NONE


def erase_original(construct: acc.ParallelOp) -> None:
    """Removes the construct, which its versions replace."""
    privatising = [v.owner for v in construct.operands if isinstance(v.owner, PRIVATIZING_OPS)]
    erase(construct)
    for op in dict.fromkeys(privatising):
        if not op.results[0].uses:
            erase(op)


def copies_that_fit(at: Cursor, elements: SSAValue, room: int, most: int) -> SSAValue:
    """The largest power of two, up to `most`, whose product with `elements` (an i64) is at most `room`."""
    copies = at.i64(1)
    factor = 2
    while factor <= most:
        fits = at.value(arith.CmpiOp(elements, at.i64(room // factor), "ule"))
        copies = at.value(arith.SelectOp(fits, at.i64(factor), copies), "copies")
        factor *= 2
    return copies
