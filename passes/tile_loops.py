"""
Turn the tile clause into a loop over tiles around a loop over the elements of one tile (OpenACC 3.4,
2.9.8).

Takes:  data level; loops with tile operands have one variable per size.
Leaves: no tile operands. `gang` goes to the tile loop, `vector` to the element loop, `worker` to the tile
        loop if there is `vector` and otherwise to the element loop. An outermost independent loop without
        any level gets gang outside and vector inside. Both loops have the reductions, the element loop has
        the private variables. A size `*` (-1) is 32 for the innermost loop, else 4.
Fails:  never.

Before:
  acc.loop tile({%s : i32}) control(%i : i32) = (%c0 : i32) to (%n : i32) step (%c1 : i32) { ... }
After:
  acc.loop gang control(%i_tile : i32) = (%c0 : i32) to (%n : i32) step (%stride : i32) {
    %end = min(%i_tile + %stride, %n)
    acc.loop vector control(%i : i32) = (%i_tile : i32) to (%end : i32) step (%c1 : i32) { ... }
  }
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects import acc, arith
from xdsl.dialects.builtin import IntegerType, ModuleOp
from xdsl.ir import Block, Region, SSAValue
from xdsl.passes import ModulePass

from .decisions.levels import Level
from .ir.ops.acc_ops import (
    NONE,
    bit_width,
    has_level,
    loops_around,
    loops_in,
    operand_groups,
    replace_inside,
    set_operand_groups,
    set_prop,
)
from .ir.ops.building import Cursor, constant_value
from .ir.ops.levels import loop_levels

DEFAULT_INNERMOST = 32
DEFAULT_OUTER = 4
_SMALL = 1 << 12
"""The largest tile size, so that its product with a step stays small enough."""

_PROPERTIES = {
    Level.GANG: ("gang", "gangOperandsArgType", "gangOperandsSegments", "gangOperandsDeviceType"),
    Level.WORKER: ("worker", "workerNumOperandsDeviceType"),
    Level.VECTOR: ("vector", "vectorOperandsDeviceType"),
}
_OPERANDS = {
    Level.GANG: "gang_operands",
    Level.WORKER: "worker_num_operands",
    Level.VECTOR: "vector_operands",
}


def _sizes(loop: acc.LoopOp) -> list[SSAValue]:
    """The tile sizes for every device type, outermost first."""
    types, segments = loop.tile_operands_device_type, loop.tile_operands_segments
    operands = list(loop.tile_operands)
    if types is None or segments is None:
        return operands
    start = 0
    for type_, count in zip(types, segments.get_values(), strict=True):
        if type_.data is acc.DeviceType.NONE:
            return operands[start : start + int(count)]
        start += int(count)
    return []


def _stride(loop: acc.LoopOp, index: int, size: SSAValue, count: int) -> SSAValue:
    """
    The iteration space that one tile covers in a dimension: size times step, at most a quarter of the
    type's range.
    """
    step, at = loop.step[index], Cursor.before(loop)
    width = bit_width(step.type) or 64
    known = constant_value(size)
    if known == -1:
        known = DEFAULT_INNERMOST if index == count - 1 else DEFAULT_OUTER
    limit = (1 << (width - 2)) - 1
    if known is not None:
        size = at.constant(min(known, limit), IntegerType(width))
        if constant_value(step) == 1:
            return size
    elif (bit_width(size.type) or 64) < width:
        size = at.value(arith.ExtSIOp(size, IntegerType(width)))
    elif (bit_width(size.type) or 64) > width:
        size = at.value(arith.TruncIOp(size, IntegerType(width)))
    if known is None or known > _SMALL:
        most = at.constant(limit, IntegerType(width))
        most = at.value(arith.DivSIOp(most, step))
        size = at.value(arith.MinSIOp(size, most))
    return at.value(arith.MuliOp(size, step), "tile_stride")


def _distribute_levels(loop: acc.LoopOp, tiles: acc.LoopOp) -> None:
    """Moves the clauses that belong to the tile loop from the element loop `loop`."""
    levels = loop_levels(loop)
    moved = [Level.GANG]
    if Level.VECTOR in levels:
        moved.append(Level.WORKER)
    for level in moved:
        group = _OPERANDS[level]
        set_operand_groups(tiles, **{group: operand_groups(loop)[group]})
        set_operand_groups(loop, **{group: ()})
        for name in _PROPERTIES[level]:
            set_prop(tiles, name, loop.properties.get(name))
            set_prop(loop, name, None)
    alone = not [*loops_in(loop), *loops_around(tiles)]
    if not levels and alone and not has_level(loop.seq):
        set_prop(tiles, "gang", NONE)
        set_prop(loop, "vector", NONE)


def _share_reductions(loop: acc.LoopOp, tiles: acc.LoopOp) -> None:
    """
    Gives both loops the reductions: the tile loop reduces into the variable, the element loop into the tile
    loop's copy.
    """
    outer = list(loop.reduction_operands)
    set_operand_groups(tiles, reduction_operands=outer)
    inner: list[SSAValue] = []
    for value in outer:
        entry = value.owner
        assert isinstance(entry, acc.ReductionOp)
        again = entry.clone()
        again.operands[0] = value
        result = Cursor.before(loop).value(again, value.name_hint)
        replace_inside(loop, value, result)
        inner.append(result)
    set_operand_groups(loop, reduction_operands=inner)


def tile(loop: acc.LoopOp, sizes: Sequence[SSAValue]) -> None:
    """Makes `loop` the element loop inside a new loop over tiles."""
    strides = [_stride(loop, k, size, len(sizes)) for k, size in enumerate(sizes)]
    body = Block(arg_types=[value.type for value in loop.lowerbound])
    first = loop.region.blocks.first
    assert first is not None
    for variable, element in zip(body.args, first.args, strict=True):
        variable.name_hint = f"{element.name_hint or 'i'}_tile"
    tiles = acc.LoopOp(
        region=Region(body),
        lowerbound=list(loop.lowerbound),
        upperbound=list(loop.upperbound),
        step=strides,
        inclusive_upperbound=loop.inclusive_upperbound,
        seq=loop.seq,
        independent=loop.independent,
        auto_=loop.auto_,
        combined=loop.combined,
    )
    tiles.location = loop.location
    tiles.attributes.update(loop.attributes)
    block = loop.parent_block()
    assert block is not None
    block.insert_op_before(tiles, loop)
    loop.detach()
    body.add_ops([loop, acc.YieldOp()])
    ends: list[SSAValue] = []
    at = Cursor.before(loop)
    for variable, stride, upper in zip(body.args, strides, loop.upperbound, strict=True):
        reach = at.value(arith.AddiOp(variable, stride))
        ends.append(at.value(arith.MinSIOp(reach, upper), "tile_end"))
    set_operand_groups(loop, lowerbound=list(body.args), upperbound=ends, tile_operands=[])
    for name in ("tileOperandsSegments", "tileOperandsDeviceType", "combined"):
        set_prop(loop, name, None)
    _distribute_levels(loop, tiles)
    _share_reductions(loop, tiles)


@dataclass(frozen=True)
class TileLoopsPass(ModulePass):
    """See the module's description."""

    name = "tile-loops"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for loop in [inner for inner in op.walk() if isinstance(inner, acc.LoopOp)]:
            if not loop.tile_operands:
                continue
            sizes = _sizes(loop)
            if len(sizes) == len(loop.lowerbound):
                tile(loop, sizes)
            else:
                set_operand_groups(loop, tile_operands=[])
                set_prop(loop, "tileOperandsSegments", None)
                set_prop(loop, "tileOperandsDeviceType", None)
