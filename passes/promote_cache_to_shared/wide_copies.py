"""
Copies of tiles in words of 16 bytes, the widest access: which tiles have a layout for them, and the
conditions for them that are known only at run time.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from xdsl.dialects import arith, llvm
from xdsl.dialects.builtin import i1, i8, i64
from xdsl.ir import Operation, SSAValue

from ...dialects.accx_compress import PACKED
from ..decisions.cache_plan import TilePlan
from ..decisions.device import WIDE_BYTES
from ..ir.data.cached_code import polynomial, scaled
from ..ir.ops.building import Cursor, constant_value
from .limits import Limits, extent_of
from .sweeps import Sweep
from .words import word_steps


def is_at_edges(sweep: Sweep) -> bool:
    """Whether blocks at an edge may have fewer iterations than others, and so only a part of the tile."""
    axes = {move.axis for move in sweep.tile.plan.moves}
    return sweep.tile.planned.edges and any(not sweep.block.axes[axis].fixed for axis in axes)


def clipped(at: Cursor, sweeps: Sequence[Sweep], limits: Sequence[Limits]) -> SSAValue:
    """
    An i1: a block at an edge may copy the existing part of its tiles in words of 16 bytes. Rows are
    aligned, their lengths are multiples of 16 bytes, and the part lies within the mapped array.
    """
    conditions: list[SSAValue] = []
    if (even := aligned(at, sweeps)) is not None:
        conditions.append(even)
    for sweep, limit in zip(sweeps, limits, strict=True):
        plan = sweep.tile.plan
        last = len(plan.dims) - 1
        row = scaled(at, extent_of(at, sweep.tile, sweep.block, last), plan.section.element_bytes)
        if constant_value(row) is None:
            conditions.append(at.is_multiple(row, WIDE_BYTES))
        if limit.mapped is None:
            continue
        low, high = sweep.start, at.add(sweep.start, at.to_i64(row))
        for position, dim in enumerate(plan.dims[:-1]):
            steps = at.sub(extent_of(at, sweep.tile, sweep.block, position), at.i32(1))
            there = at.mul(at.to_i64(steps), polynomial(at, dim.stride, sweep.values, i64))
            low = at.add(low, at.value(arith.MinSIOp(there, at.i64(0))))
            high = at.add(high, at.value(arith.MaxSIOp(there, at.i64(0))))
        conditions.append(at.value(arith.CmpiOp(low, limit.mapped[0], "sge")))
        conditions.append(at.value(arith.CmpiOp(high, limit.mapped[1], "sle")))
    found = conditions[0] if conditions else at.constant(1, i1)
    for condition in conditions[1:]:
        found = at.both(found, condition, "clipped")
    return found


def widened(at: Cursor, sweeps: Sequence[Sweep]) -> list[Sweep] | None:
    """The same asynchronous copies in words of 16 bytes; None if the layout of a tile does not allow them."""
    found: list[Sweep] = []
    for sweep in sweeps:
        planned, owner = sweep.tile.planned, sweep.tile.planned.cached.base.owner
        packed = isinstance(owner, Operation) and PACKED in owner.attributes
        if not planned.asynchronous or packed or not _has_wide_places(planned.plan):
            return None
        tile = replace(sweep.tile, planned=replace(planned, wide=True))
        if word_steps(at, tile, sweep.block) is None:
            return None
        found.append(replace(sweep, tile=tile))
    return found


def _has_wide_places(plan: TilePlan) -> bool:
    """
    Whether the elements of a tile's row are neighbours in the array, and rows are multiples of 16 bytes
    long and apart.
    """
    row, element = plan.dims[-1], plan.section.element_bytes
    if plan.transposed or row.stride.as_constant != element:
        return False
    return all(
        bytes % WIDE_BYTES == 0
        for bytes in (row.size * element, *(dim.pitch for dim in plan.dims[:-1]))
    )


def aligned(at: Cursor, sweeps: Sequence[Sweep]) -> SSAValue | None:
    """An i1, the same for all threads: all rows begin at multiples of 16 bytes. None if they always do."""
    bits: SSAValue | None = None
    for sweep in sweeps:
        first = at.element(sweep.base, sweep.start, i8, sweep.tile.plan.section.name)
        parts = [at.value(llvm.PtrToIntOp(first, i64))]
        for dim in sweep.tile.plan.dims[:-1]:
            if dim.size > 1 and any(factor % WIDE_BYTES for factor in dim.stride.terms.values()):
                parts.append(polynomial(at, dim.stride, sweep.values, i64))
        for part in parts:
            bits = at.any_bits(bits, part)
    return None if bits is None else at.is_multiple(bits, WIDE_BYTES, "aligned")
