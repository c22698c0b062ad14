"""
Emits loops that lanes leave one by one: an iteration is one loop over all lanes, in which lanes that have
left are inactive, and the loop continues while any lane is active.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from xdsl.dialects import arith, cf, scf
from xdsl.dialects.builtin import IntegerType, i32
from xdsl.ir import Block, Operation, Region, SSAValue

from ..ir.loops.lane_loops import is_lane_wise
from ..ir.loops.loop_flow import LoopFlow
from ..ir.ops.building import Cursor
from .lane_code import Lane

if TYPE_CHECKING:
    from .interchange_lanes import Interchange


class _Masks:
    """The array of masks of one loop, and the code around an iteration."""

    def __init__(self, parent: Interchange, array: SSAValue, at: Cursor):
        self.parent = parent
        self.type = IntegerType(8 * parent.lanes.element)
        self.array = array
        self.loop = at.insert(scf.WhileOp([], [], Region(Block()), Region(Block())))
        self.at = Cursor.at_end(self.loop.before_region.block, at.loc)
        lanes, self.body = _lane_loop(parent, self.at)
        self.any = lanes.body.block.args[1]
        self.lanes = lanes
        self.lane = Lane(parent, lanes.body.block.args[0], self.body)

    def mask(self) -> SSAValue:
        """The lane's mask before an iteration: an i1."""
        body = self.body
        held = body.load(self.lane.element(self.array, self.type), self.type, "mask")
        return body.value(arith.CmpiOp(held, body.constant(0, self.type), "ne"), "mask")

    def finish(self, mask: SSAValue) -> None:
        """Ends the iteration; `mask` is the lane's mask for the next one."""
        body = self.body
        wide = body.value(arith.ExtSIOp(mask, self.type))
        body.store(wide, self.lane.element(self.array, self.type))
        some = body.value(arith.OrIOp(self.any, body.value(arith.ExtUIOp(mask, i32))))
        body.insert(scf.YieldOp(some))
        self.parent.mark(self.lanes)
        outer = self.at
        goes_on = outer.value(arith.CmpiOp(self.lanes.results[0], outer.constant(0, i32), "ne"))
        outer.insert(scf.ConditionOp(goes_on))
        Cursor.at_end(self.loop.after_region.block, outer.loc).insert(scf.YieldOp())


def _lane_loop(parent: Interchange, at: Cursor) -> tuple[scf.ForOp, Cursor]:
    """A loop over lanes that carries an i32, and a cursor at the end of its body."""
    assert parent.block is not None
    type_ = parent.block.type
    block = Block(arg_types=[type_, i32])
    block.args[0].name_hint, block.args[1].name_hint = "lane", "any"
    lower, upper, step = (at.constant(n, type_) for n in (0, parent.lanes.iterations, 1))
    loop = at.insert(scf.ForOp(lower, upper, step, [at.constant(0, i32)], Region(block)))
    return loop, Cursor.at_end(block, at.loc)


def _copy_alike(parent: Interchange, blocks: list[Block], at: Cursor) -> set[Operation]:
    """
    Emits at `at` the operations of a loop that compute the same for all lanes and iterations; returns
    these.
    """
    done: set[Operation] = set()
    inside = {op for block in blocks for op in block.ops}
    for op in (op for block in blocks for op in block.ops):
        alike = not op.regions and op.results and is_lane_wise(op) and not parent.varying.holds(op)
        if alike and all(o.owner in done or o.owner not in inside for o in op.operands):
            parent.copy(op, at)
            done.add(op)
    return done


def shared_state(op: scf.WhileOp) -> dict[SSAValue, SSAValue]:
    """
    Results of a `while` loop that equal block arguments of its condition region, mapped to these: the
    argument when its lane leaves, or an argument whose next value the condition region has computed.
    """
    before, after = op.before_region.block, op.after_region.block
    condition, end = before.last_op, after.last_op
    assert isinstance(condition, scf.ConditionOp) and end is not None
    found: dict[SSAValue, SSAValue] = {}
    for result, value, passed in zip(op.results, condition.args, after.args, strict=True):
        same = [argument for argument in before.args if argument is value]
        same += [a for a, next_ in zip(before.args, end.operands, strict=True) if next_ is passed]
        free = [argument for argument in same if argument not in found.values()]
        if free:
            found[result] = free[0]
    return found


def masked_while(parent: Interchange, op: scf.WhileOp, masks_at: SSAValue, at: Cursor) -> None:
    """
    Emits a `while` loop. Its carried values are in the arrays of its block arguments and results, which
    already contain the initial values; `masks_at` is the array of its masks.
    """
    before, after = op.before_region.block, op.after_region.block
    alike = _copy_alike(parent, [before, after], at)
    masks = _Masks(parent, masks_at, at)
    lane = masks.lane
    mask = masks.mask()
    *ops, condition = before.ops
    assert isinstance(condition, scf.ConditionOp)
    for inner in ops:
        if inner not in alike:
            lane.masked(inner, mask)
    values = [lane.value(value) for value in condition.args]
    stays = lane.both(mask, lane.value(condition.condition))
    lane.values.update(zip(after.args, values, strict=True))
    *ops, end = after.ops
    for inner in ops:
        if inner not in alike:
            lane.masked(inner, stays)
    following = [lane.value(value) for value in end.operands]
    state = shared_state(op)
    computed: set[SSAValue] = set()
    for result, value, old in zip(op.results, values, condition.args, strict=True):
        if state.get(result) is not old:
            lane.keep(mask, value, parent.arrays[result])
            computed.add(parent.arrays[result])
    for argument, value in zip(before.args, following, strict=True):
        if parent.arrays[argument] not in computed:
            lane.keep(stays, value, parent.arrays[argument])
    masks.finish(stays)


def masked_blocks(parent: Interchange, flow: LoopFlow, masks_at: SSAValue, at: Cursor) -> None:
    """Emits the loop of a region with jumps; `masks_at` is the array of its masks."""
    alike = _copy_alike(parent, list(flow.blocks), at)
    masks = _Masks(parent, masks_at, at)
    lane = masks.lane
    arriving: dict[Block, list[SSAValue]] = {flow.header: [masks.mask()]}
    again: list[SSAValue] = []

    def jump(target: Block, mask: SSAValue, values: list[SSAValue]) -> None:
        if target is flow.header:
            again.append(mask)
            return
        for argument, value in zip(target.args, values, strict=True):
            known, new = lane.values.get(argument), lane.value(value)
            merged = new if known is None else lane.at.value(arith.SelectOp(mask, new, known))
            lane.values[argument] = merged
        arriving.setdefault(target, []).append(mask)

    for block in flow.blocks:
        mask = _any_of(lane.at, arriving[block])
        *ops, end = block.ops
        for inner in ops:
            if inner not in alike:
                lane.masked(inner, mask)
        if isinstance(end, cf.BranchOp):
            jump(end.successor, mask, list(end.arguments))
        else:
            assert isinstance(end, cf.ConditionalBranchOp)
            condition = lane.value(end.cond)
            jump(end.then_block, lane.both(mask, condition), list(end.then_arguments))
            jump(end.else_block, lane.but_not(mask, condition), list(end.else_arguments))
    masks.finish(_any_of(lane.at, again))


def _any_of(at: Cursor, masks: list[SSAValue]) -> SSAValue:
    found = masks[0]
    for mask in masks[1:]:
        found = at.value(arith.OrIOp(found, mask), "mask")
    return found
