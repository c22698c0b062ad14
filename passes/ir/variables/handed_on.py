"""Sequential loops that hand further values from one iteration to the next, or fewer."""

from __future__ import annotations

from collections.abc import Sequence, Set

from xdsl.dialects import scf
from xdsl.ir import SSAValue

from ..ops.building import Cursor, erase


def hand_on(loop: scf.ForOp, starts: Sequence[SSAValue], nexts: Sequence[SSAValue]) -> scf.ForOp:
    """
    Replaces `loop` by one that hands on further values: `starts` to the first iteration, `nexts` to the one
    after each. The arguments of its body that stand for them are there already, after all others. Returns the
    new loop, whose last results are the values after the last iteration.
    """
    body = loop.body.block
    end = body.last_op
    assert isinstance(end, scf.YieldOp)
    last = scf.YieldOp(*end.operands, *nexts)
    last.location = end.location
    body.insert_op_before(last, end)
    erase(end)
    at, region = Cursor.before(loop), loop.detach_region(loop.body)
    new = scf.ForOp(loop.lb, loop.ub, loop.step, [*loop.iter_args, *starts], region)
    new.attributes |= loop.attributes
    at.insert(new)
    new.location = loop.location
    for old, result in zip(loop.results, new.results, strict=False):
        result.name_hint = old.name_hint
        old.replace_all_uses_with(result)
    erase(loop)
    return new


def drop_carried(loop: scf.ForOp, positions: Set[int]) -> scf.ForOp:
    """Replaces `loop` by one without the carried values at `positions`, which are unused; returns it."""
    block, end = loop.body.block, loop.body.block.last_op
    assert end is not None
    kept = [i for i in range(len(loop.iter_args)) if i not in positions]
    end.operands = [end.operands[i] for i in kept]
    for position in sorted(positions, reverse=True):
        block.erase_arg(block.args[1 + position])
    inits = [loop.iter_args[i] for i in kept]
    results = [loop.results[i] for i in kept]
    new = Cursor.before(loop).insert(
        scf.ForOp(loop.lb, loop.ub, loop.step, inits, loop.detach_region(0))
    )
    new.attributes |= loop.attributes
    for old, result in zip(results, new.results, strict=True):
        result.name_hint = old.name_hint
        old.replace_all_uses_with(result)
    erase(loop)
    return new
