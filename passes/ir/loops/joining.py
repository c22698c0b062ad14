"""Makes one loop of several variables of two loops, one in the other."""

from __future__ import annotations

from xdsl.dialects import acc
from xdsl.dialects.builtin import DenseArrayBase, i1
from xdsl.ir import Block, Region, SSAValue

from ..ops.building import Cursor, erase


def joined_reductions(
    outer: acc.LoopOp, inner: acc.LoopOp
) -> dict[acc.ReductionOp, SSAValue] | None:
    """
    The inner loop's reductions, each with the outer loop's variable that it reduces; None if the two loops
    do not reduce the same variables.
    """
    found: dict[acc.ReductionOp, SSAValue] = {}
    wanted = list(outer.reduction_operands)
    for value in inner.reduction_operands:
        entry = value.owner
        if not isinstance(entry, acc.ReductionOp) or entry.var not in wanted:
            return None
        source = entry.var.owner
        if not isinstance(source, acc.ReductionOp) or source.recipe != entry.recipe:
            return None
        found[entry] = entry.var
    same = len(found) == len(wanted) == len(set(found.values()))
    return found if same else None


def join(outer: acc.LoopOp, inner: acc.LoopOp) -> acc.LoopOp:
    """Replaces both loops by one."""
    entries = joined_reductions(outer, inner)
    assert entries is not None
    before, body = outer.region.block, inner.region.block
    loops = outer, inner
    variables = [argument for loop in loops for argument in loop.region.block.args]
    block = Block(arg_types=[argument.type for argument in variables])
    for old, new in zip(variables, block.args, strict=True):
        new.name_hint = old.name_hint
        old.replace_all_uses_with(new)
    for op in list(before.ops):
        if op is not inner and not isinstance(op, acc.YieldOp) and op not in entries:
            op.detach()
            block.add_op(op)
    for op in list(body.ops):
        op.detach()
        block.add_op(op)
    for entry, variable in entries.items():
        entry.results[0].replace_uses_with_if(variable, lambda use: use.operation is not inner)
    new = acc.LoopOp(
        region=Region(block),
        lowerbound=[value for loop in loops for value in loop.lowerbound],
        upperbound=[value for loop in loops for value in loop.upperbound],
        step=[value for loop in loops for value in loop.step],
        inclusive_upperbound=DenseArrayBase.from_list(i1, [0] * len(variables)),
        reduction_operands=list(outer.reduction_operands),
        private_operands=list(inner.private_operands),
        firstprivate_operands=list(inner.firstprivate_operands),
        independent=outer.independent,
        combined=outer.combined,
    )
    new.attributes |= outer.attributes
    Cursor.before(outer).insert(new)
    new.location = outer.location
    erase(outer)
    return new
