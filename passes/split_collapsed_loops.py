"""
Turn a collapsed loop without levels into a nest of loops, so that each gets its own grid dimension.

`collapse(n)` only says that n loops are parallel together (OpenACC 3.4, 2.9.1). Numbering all of their
iterations costs a division per loop and hides which loop accesses neighbouring elements; a grid of two or
three dimensions avoids both, and lets neighbouring outer iterations share loads.

Takes:  data level, before scheduling.
Leaves: every `acc.loop` of several variables as tightly nested loops of one variable, outermost first,
        each with the clauses of the original, unless it has levels, tiles, reductions or a cache directive,
        or its innermost loop is short (a constant below 32), where one numbering of all iterations fills
        the lanes better. Variables of an iteration are the innermost loop's.
Fails:  never.

Before:
  acc.loop control(%i : i32, %j : i32) = (%c0, %c0 : i32, i32) to (%n, %m : i32, i32)
      step (%c1, %c1 : i32, i32) { … }
After:
  acc.loop control(%i : i32) = (%c0 : i32) to (%n : i32) step (%c1 : i32) {
    acc.loop control(%j : i32) = (%c0 : i32) to (%m : i32) step (%c1 : i32) { … }
  }
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects import acc
from xdsl.dialects.builtin import DenseArrayBase, ModuleOp, i1
from xdsl.ir import Block, Region
from xdsl.passes import ModulePass

from .ir.ops.building import Cursor, constant_value, erase

SHORT = 32


def is_splittable(loop: acc.LoopOp) -> bool:
    """Whether no clause or operation of the collapsed loop depends on its iterations being one sequence."""
    levels = (loop.gang, loop.worker, loop.vector, loop.seq)
    operands = (
        loop.gang_operands,
        loop.worker_num_operands,
        loop.vector_operands,
        loop.tile_operands,
        loop.cache_operands,
        loop.reduction_operands,
    )
    return (
        len(loop.lowerbound) > 1
        and all(level is None for level in levels)
        and not any(operands)
        and loop.unstructured is None
        and len(loop.region.blocks) == 1
    )


def is_short(loop: acc.LoopOp) -> bool:
    """Whether the innermost loop is known to be too short to fill a warp."""
    lower, upper = constant_value(loop.lowerbound[-1]), constant_value(loop.upperbound[-1])
    return lower is not None and upper is not None and upper - lower < SHORT


def _loop(like: acc.LoopOp, position: int, region: Region) -> acc.LoopOp:
    innermost = position == len(like.lowerbound) - 1
    new = acc.LoopOp(
        region=region,
        lowerbound=[like.lowerbound[position]],
        upperbound=[like.upperbound[position]],
        step=[like.step[position]],
        inclusive_upperbound=DenseArrayBase.from_list(i1, [0]),
        independent=like.independent,
        auto_=like.auto_,
        combined=like.combined if position == 0 else None,
        private_operands=like.private_operands if innermost else (),
        firstprivate_operands=like.firstprivate_operands if innermost else (),
    )
    new.attributes |= like.attributes
    new.location = like.location
    return new


def split(loop: acc.LoopOp) -> None:
    """Replaces `loop` by the nest."""
    variables = loop.region.block.args
    inner: acc.LoopOp | None = None
    for position in reversed(range(len(variables))):
        block = Block(arg_types=[variables[position].type])
        block.args[0].name_hint = variables[position].name_hint
        variables[position].replace_all_uses_with(block.args[0])
        if inner is None:
            for op in list(loop.region.block.ops):
                op.detach()
                block.add_op(op)
        else:
            block.add_op(inner)
            Cursor.at_end(block, loop.location).insert(acc.YieldOp())
        inner = _loop(loop, position, Region(block))
    assert inner is not None
    Cursor.before(loop).insert(inner)
    erase(loop)


@dataclass(frozen=True)
class SplitCollapsedLoopsPass(ModulePass):
    """See the contract at the top of this file."""

    name = "split-collapsed-loops"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for loop in [loop for loop in op.walk() if isinstance(loop, acc.LoopOp)]:
            if is_splittable(loop) and not is_short(loop):
                split(loop)
