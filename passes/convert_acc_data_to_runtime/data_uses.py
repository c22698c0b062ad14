"""
Queries on the data operations of a block: which belong together, which use a device address, and which use
is first.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import acc, gpu, scf
from xdsl.ir import Block, Operation, Region, SSAValue, Use

from ...compiler.base.abi import ASYNC_BORDER
from ...compiler.base.diagnostics import SourceLoc, error
from ...dialects.accx import LaunchHostOp
from ...dialects.accx_compress import COMPRESSION_OPS
from ..ir.kernels.host_loops import replace_yields
from ..ir.kernels.outline import DATA_ENTRY, queue_value
from ..ir.ops.building import Cursor, constant_value, erase
from ..ir.ops.purity import is_pure, may_trap
from .data_records import EXIT_OPS, EntryOp, ExitOp

_CLAIMING = (
    acc.DataOp,
    acc.HostDataOp,
    acc.EnterDataOp,
    acc.ExitDataOp,
    acc.UpdateOp,
    acc.DeclareEnterOp,
    acc.DeclareExitOp,
)
_NAMING = (*_CLAIMING, *COMPRESSION_OPS)
_LAUNCHES = (LaunchHostOp, gpu.LaunchFuncOp)


def entries_of(operands: Sequence[SSAValue]) -> list[EntryOp]:
    return [o.owner for o in operands if isinstance(o.owner, DATA_ENTRY)]


def is_claimed(op: Operation) -> bool:
    """Whether a directive names `op` among its operands."""
    return any(isinstance(use.operation, _CLAIMING) for use in op.results[0].uses)


def is_address(use: Use) -> bool:
    """
    Whether a use of a data operation's result needs the device address, rather than just identify the data
    operation (the operands of constructs, `accPtr` of exit operations).
    """
    if isinstance(use.operation, EXIT_OPS):
        return use.index != 0
    return not isinstance(use.operation, _NAMING)


def following_exits(op: Operation, operands: Sequence[SSAValue]) -> list[ExitOp]:
    """The exit operations of `operands` after `op`, in program order."""
    block = op.parent_block()
    wanted = {
        use.operation
        for operand in operands
        for use in operand.uses
        if isinstance(use.operation, EXIT_OPS)
        and use.index == 0
        and use.operation.parent_block() is block
    }
    found: list[ExitOp] = []
    following = op.next_op
    while following is not None and len(found) < len(wanted):
        if isinstance(following, EXIT_OPS) and following in wanted:
            found.append(following)
        following = following.next_op
    return found


def launch_queue(op: Operation) -> SSAValue | None:
    match op:
        case LaunchHostOp():
            return op.queue
        case gpu.LaunchFuncOp():
            return op.asyncObject
        case _:
            return None


def is_of_border(launch: Operation) -> bool:
    """
    Whether a launch computes the border of a construct, which follows it and to which the data operations
    belong.
    """
    queue = launch_queue(launch)
    return queue is not None and constant_value(queue) == ASYNC_BORDER


def launch_in(op: Operation) -> Operation | None:
    return next((inner for inner in op.walk() if isinstance(inner, _LAUNCHES)), None)


def contains_use(op: Operation, entries: Sequence[EntryOp]) -> bool:
    """Whether `op` contains a use of `entries` or a launch, other than that of a border."""
    launch = launch_in(op)
    if launch is not None:
        return not is_of_border(launch)
    results = {entry.acc_var for entry in entries}
    return any(operand in results for inner in op.walk() for operand in inner.operands)


def entry_queue(at: Cursor, entry: EntryOp) -> SSAValue:
    """The queue that a data operation itself names."""
    return queue_value(
        at, list(entry.async_operands), entry.async_operands_device_type, entry.async_only
    )


def first_use(entries: Sequence[EntryOp], place: Operation) -> Operation:
    """The first operation between the last of `entries` and `place` that uses a device address."""
    block = place.parent_block()
    assert block is not None
    users: set[Operation] = set()
    for entry in entries:
        for use in entry.acc_var.uses:
            user = block.find_ancestor_op_in_block(use.operation)
            if user is not None and is_address(use):
                users.add(user)
    op = entries[-1].next_op
    while op is not None and op is not place and op not in users:
        op = op.next_op
    return place if op is None else op


def available(value: SSAValue, at: Cursor) -> SSAValue:
    """
    `value`, or a copy at `at` of the arithmetic that computes it. Raises `CompileError` if it is not known
    there.
    """
    if _dominates(value, at):
        return value
    op = value.owner
    if not isinstance(op, Operation) or not is_pure(op) or may_trap(op):
        raise error(
            SourceLoc.from_attr(at.loc),
            "the queue of a construct is not known where its data operations are",
            "a pass that puts the construct into versions must call 'ready_for_versions' first",
        )
    return at.clone(op, {operand: available(operand, at) for operand in op.operands}).results[0]


def _dominates(value: SSAValue, at: Cursor) -> bool:
    """Whether `value` can be used at `at`: it is defined before it, or in a block around it."""
    owner = value.owner
    block = at.point.block
    if isinstance(owner, Block):
        return True
    if owner.parent_block() is not block:
        outer, inner = owner.parent_block(), block.parent_op()
        assert outer is not None and inner is not None
        return outer.find_ancestor_op_in_block(inner) is not None
    before = at.point.insert_before
    return before is None or owner.is_before_in_block(before)


def inline_region(op: acc.DataOp | acc.HostDataOp) -> Operation | None:
    """Replaces `op` by the operations of its region; returns the operation to continue with."""
    following = op.next_op
    region = op.region
    if len(region.blocks) > 1:
        whole = Region()
        region.move_blocks(whole)
        replace_yields(whole)
        wrapper = Cursor.before(op).insert(scf.ExecuteRegionOp([], whole))
        erase(op)
        return wrapper
    first: Operation | None = None
    at = Cursor.before(op)
    for inner in list(region.blocks[0].ops) if region.blocks else ():
        if isinstance(inner, acc.TerminatorOp | acc.YieldOp):
            continue
        loc = inner.location
        inner.detach()
        at.insert(inner)
        inner.location = loc
        first = first or inner
    erase(op)
    return first or following
