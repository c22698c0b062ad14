"""
Turn loops marked `seq`, and loops too short for lanes, into `scf.for` (OpenACC 3.4, 2.9.5).

Each thread runs a `loop seq` inside a parallel loop sequentially, like a loop without a directive. As the
same operation, both get the same optimisations: iterations of the enclosing loop side by side,
shared-memory tiles, unrolling.

A loop without levels and with few iterations, inside another loop without levels, is run by one thread: the
lanes then go to the enclosing loop, which has work for all of them.

Takes:  data level, tile and collapse clauses already carried out.
Leaves: no acc.loop that is `seq` for every device, is inside another acc.loop, contains none, and has no
        variables of its own, no cache directive and no values handed on between iterations: it becomes
        nested `scf.for`s, one for each variable, the outermost with the reason for remarks. A short loop
        that reduces or has variables of its own is marked `seq`. Other loops are untouched.
Fails:  never.

Before:
  acc.loop control(%j : i32) = (%c0 : i32) to (%n : i32) step (%c1 : i32) {
    …
    acc.yield
  } attributes {seq = [#acc.device_type<none>]}
After:
  scf.for %j = %c0 to %n step %c1 : i32 {
    …
  } {accx.why = "marked seq"}
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects import acc, scf
from xdsl.dialects.builtin import ArrayAttr, ModuleOp, StringAttr
from xdsl.ir import Block, Operation, Region
from xdsl.passes import ModulePass

from ..dialects.accx import WHY
from .ir.loops.loop_facts import constant_trip
from .ir.ops.acc_ops import enclosing, hands_on, has_level, loops_around, loops_in
from .ir.ops.building import erase
from .ir.ops.levels import loop_levels
from .ir.values.trip_counts import MOST_SHORT_ITERATIONS


def is_plain(loop: acc.LoopOp) -> bool:
    """Whether `loop` can become `scf.for`s (see the contract)."""
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


def _is_free(loop: acc.LoopOp) -> bool:
    """Whether the schedule may give `loop` any level."""
    return not loop.seq and not loop_levels(loop)


def _encloses_lanes(loop: acc.LoopOp) -> bool:
    """Whether an enclosing loop may get the lanes."""
    return any(map(_is_free, loops_around(loop)))


def is_short(loop: acc.LoopOp) -> bool:
    """Whether `loop` has so few iterations that one thread should run it."""
    if not _is_free(loop) or not _encloses_lanes(loop) or hands_on(loop):
        return False
    if loop.cache_operands or any(True for _ in loops_in(loop)):
        return False
    iterations = constant_trip(loop)
    return iterations is not None and iterations <= MOST_SHORT_ITERATIONS


def leave_to_one_thread(loop: acc.LoopOp) -> None:
    """Marks `loop` as `seq`."""
    for name in ("independent", "auto_"):
        loop.properties.pop(name, None)
    loop.properties["seq"] = ArrayAttr([acc.DeviceTypeAttr(acc.DeviceType.NONE)])
    loop.attributes[WHY] = StringAttr("it has too few iterations to give each one a thread")


def lower(loop: acc.LoopOp) -> None:
    """Replaces `loop` by nested `scf.for`s."""
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


@dataclass(frozen=True)
class LowerSeqLoopsPass(ModulePass):
    """See the contract at the top of this file."""

    name = "lower-seq-loops"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        loops = [inner for inner in op.walk() if isinstance(inner, acc.LoopOp)]
        for loop in reversed(loops):
            if is_short(loop):
                leave_to_one_thread(loop)
            if is_plain(loop):
                lower(loop)
