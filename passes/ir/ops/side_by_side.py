"""Loops whose threads run several iterations at a time (`accx.side_by_side`)."""

from __future__ import annotations

from xdsl.dialects import acc
from xdsl.ir import Operation, Region

from ....dialects.accx_side_by_side import SideBySideOp
from .acc_ops import set_operand_groups
from .building import erase


def side_by_side_of(loop: acc.LoopOp) -> SideBySideOp | None:
    """The `accx.side_by_side` of the loop's body; None if the loop runs single iterations."""
    first = loop.region.blocks[0].first_op
    return first if isinstance(first, SideBySideOp) else None


def each_of(loop: acc.LoopOp) -> Region:
    """The region that a single iteration runs; it may have no terminator."""
    coarse = side_by_side_of(loop)
    return loop.region if coarse is None else coarse.each


def separate(loop: acc.LoopOp) -> None:
    """Replaces `accx.side_by_side` by its single-iteration region, for code that one thread runs."""
    coarse = side_by_side_of(loop)
    if coarse is None:
        return
    for op in list(coarse.each.block.ops):
        op.detach()
        loop.region.block.insert_op_before(op, coarse)
    erase(coarse)
    clauses = ("private_operands", "firstprivate_operands", "reduction_operands")
    own = {clause: list(getattr(loop, clause)) for clause in clauses}
    unused = [v for values in own.values() for v in values if not v.has_more_than_one_use()]
    left = {clause: [v for v in values if v not in unused] for clause, values in own.items()}
    set_operand_groups(loop, **left)
    for value in unused:
        assert isinstance(value.owner, Operation)
        erase(value.owner)
