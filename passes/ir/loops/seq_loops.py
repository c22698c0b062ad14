"""Loops marked `seq`, as loops without a directive."""

from __future__ import annotations

from xdsl.dialects import acc, scf
from xdsl.dialects.builtin import StringAttr
from xdsl.ir import Block, Operation, Region

from ....dialects.accx import WHY
from ..ops.acc_ops import enclosing, hands_on, has_level, loops_in
from ..ops.building import erase


def is_plain_seq(loop: acc.LoopOp) -> bool:
    """
    Whether `loop`, which is `seq`, can become `scf.for`s: it is in another loop, contains none, and has no
    clauses or values of its own that they could not express.
    """
    only_seq = has_level(loop.seq) and not (loop.gang or loop.worker or loop.vector)
    own = (
        *loop.private_operands,
        *loop.firstprivate_operands,
        *loop.reduction_operands,
        *loop.cache_operands,
        *loop.tile_operands,
    )
    whole = len(loop.region.blocks) == 1 and len(loop.lowerbound) > 0
    inner = any(True for _ in loops_in(loop))
    whole = whole and not hands_on(loop)
    return only_seq and not own and whole and not inner and enclosing(loop, acc.LoopOp) is not None


def to_for_loops(loop: acc.LoopOp) -> None:
    """Replaces `loop`, for which `is_plain_seq` holds, by nested `scf.for`s, one for each variable."""
    body = loop.region.block
    end = body.last_op
    assert end is not None
    erase(end)
    inside: list[Operation] = []
    for op in list(body.ops):
        op.detach()
        inside.append(op)
    bounds = list(zip(body.args, loop.lowerbound, loop.upperbound, loop.step, strict=True))
    for variable, lower_, upper, step in reversed(bounds):
        block = Block(arg_types=[variable.type])
        block.args[0].name_hint = variable.name_hint
        variable.replace_all_uses_with(block.args[0])
        end = scf.YieldOp()
        end.location = loop.location
        block.add_ops([*inside, end])
        plain = scf.ForOp(lower_, upper, step, [], Region(block))
        plain.location = loop.location
        inside = [plain]
    why = loop.attributes.get(WHY)
    inside[0].attributes[WHY] = why if isinstance(why, StringAttr) else StringAttr("marked seq")
    outer = loop.parent_block()
    assert outer is not None
    outer.insert_op_before(inside[0], loop)
    erase(loop)
