"""
Where a tile begins in the array, and which part of it exists: blocks that are not full, and sections that
exceed the array.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.dialects import acc, arith
from xdsl.dialects.builtin import i64
from xdsl.ir import SSAValue

from ...compiler.base.names import value_name
from ...dialects.accx_cache import GangBarrierOp
from ..decisions.polynomials import ZERO, Polynomial
from ..ir.data.cached_accesses import Cached
from ..ir.data.cached_code import Values, mapped, polynomial, scaled, total
from ..ir.ops.acc_ops import MAPPING_OPS
from ..ir.ops.building import Cursor
from .extents import variable_bytes
from .tiles import Block, Tile


def start_of(at: Cursor, tile: Tile, block: Block, values: Values) -> SSAValue:
    """
    The offset in bytes (i64) from the array's start to the tile's first element, the same for all threads.
    """
    here = {**values, **block.first_values}
    poly = ZERO
    for dim in tile.plan.section.dims:
        poly = poly + dim.lower * dim.stride
    start = polynomial(at, poly, here, i64)
    for move in tile.plan.moves:
        if move.rate < 0:
            stride = tile.plan.dims[move.dim].stride * move.rate
            steps = at.to_i64(at.sub(block.axes[move.axis].width, at.i32(1)))
            start = at.add(start, at.mul(steps, polynomial(at, stride, here, i64)))
    start.name_hint = value_name(f"{tile.plan.section.name}_start")
    if tile.start_slot is None:
        return start
    # Communicating renewal: one thread computes where the tile begins, for the others.
    zero = at.value(arith.CmpiOp(block.thread, at.i32(0), "eq"))
    at.if_then(zero).store(start, tile.start_slot)
    at.insert(GangBarrierOp())
    return at.load(tile.start_slot, i64, start.name_hint)


def mapped_bytes(at: Cursor, cached: Cached, values: Values) -> tuple[SSAValue, SSAValue] | None:
    """
    The offsets (i64) from the array's start of its first mapped byte and of the end of the mapped part;
    None if not known.
    """
    size = variable_bytes(cached)
    if size is not None:
        return at.i64(0), at.i64(size)
    owner = cached.base.owner
    if not isinstance(owner, MAPPING_OPS) or not owner.bounds:
        return None
    bounds = owner.bounds[0].owner
    assert isinstance(bounds, acc.DataBoundsOp)
    if bounds.lowerbound is None or bounds.extent is None or bounds.stride is None:
        return None
    stride = at.to_i64(mapped(values, bounds.stride))
    low = at.mul(at.to_i64(mapped(values, bounds.lowerbound)), stride)
    span = at.mul(at.to_i64(mapped(values, bounds.extent)), stride)
    return low, at.add(low, span, "mapped_end")


def _reach(at: Cursor, tile: Tile, values: Values) -> tuple[SSAValue, SSAValue]:
    """
    The offsets in bytes (i64), from a full tile's first element, of its lowest element and of the end of
    its highest one.
    """
    below, above = ZERO, Polynomial.constant(tile.plan.section.element_bytes)
    lows: list[SSAValue] = []
    highs: list[SSAValue] = []
    for dim in tile.plan.dims:
        span = dim.stride * (dim.size - 1)
        known = span.as_constant
        if known is not None and known < 0:
            below = below + span
        elif known is not None or dim.section_dim is not None:
            above = above + span
        else:  # a loop's own dimension: its direction is known only at run time
            there = polynomial(at, span, values, i64)
            lows.append(at.value(arith.MinSIOp(there, at.i64(0))))
            highs.append(at.value(arith.MaxSIOp(there, at.i64(0))))
    low = total(at, polynomial(at, below, values, i64), *lows)
    high = total(at, polynomial(at, above, values, i64), *highs)
    return at.i64(0) if low is None else low, at.i64(0) if high is None else high


@dataclass
class Limits:
    """The limits of a careful copy: the iterations of each axis, the bytes of the array."""

    careful: bool
    mapped: tuple[SSAValue, SSAValue] | None


def conditions_of(
    at: Cursor, tile: Tile, block: Block, start: SSAValue, limits: Limits, values: Values
) -> list[SSAValue]:
    """The conditions (i1) under which the whole tile exists; none if it always does."""
    conditions: list[SSAValue] = []
    for axis in {move.axis for move in tile.plan.moves}:
        state = block.axes[axis]
        if not state.fixed:
            conditions.append(at.value(arith.CmpiOp(state.width, at.i32(state.full), "eq")))
    if limits.mapped is not None:
        low, end = limits.mapped
        below, above = _reach(at, tile, values)
        conditions.append(at.value(arith.CmpiOp(at.add(start, below), low, "sge")))
        conditions.append(at.value(arith.CmpiOp(at.add(start, above), end, "sle")))
    return conditions


def extent_of(at: Cursor, tile: Tile, block: Block, position: int) -> SSAValue:
    """The number (i32) of elements of a tile dimension that exist in this block."""
    dim = tile.plan.dims[position]
    length = 1 if dim.section_dim is None else tile.plan.section.dims[dim.section_dim].length
    extent: SSAValue = at.i32(length)
    for move in tile.plan.moves:
        if move.dim == position:
            more = at.sub(block.axes[move.axis].width, at.i32(1))
            extent = at.add(extent, scaled(at, more, abs(move.rate)))
    return extent
