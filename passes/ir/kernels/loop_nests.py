"""
Loop nests for one CPU thread: the iteration space of an `acc.loop` as `scf.for` loops, whole or the
part that some gangs run.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.dialects import acc, arith
from xdsl.dialects.builtin import IntegerType, i64
from xdsl.ir import SSAValue

from ....compiler.base.diagnostics import SourceLoc, error
from ..ops.building import Cursor, constant_value

DEFAULT_TILE = 32
"""The size of a `tile(*)` dimension."""
_ALIGNED = 64
"""Iterations whose elements, of whatever size, are whole cache lines."""
_LONG = 256
"""The length of a chunk from which aligning it hardly changes the shares of threads."""


@dataclass(frozen=True)
class GangRange:
    """The gangs `[begin, end)`, of `count` in one gang dimension, that this code executes (all i64)."""

    begin: SSAValue
    end: SSAValue
    count: SSAValue


@dataclass(frozen=True)
class Dimension:
    """One loop of a nest. All values have one integer type; `upper` is exclusive, `step` positive."""

    lower: SSAValue
    upper: SSAValue
    step: SSAValue
    name: str

    @property
    def type(self) -> IntegerType:
        assert isinstance(self.lower.type, IntegerType)
        return self.lower.type


def _trip_count(cursor: Cursor, dim: Dimension) -> SSAValue:
    """The number of iterations as an i64, at least 0."""
    lower, upper = cursor.to_i64(dim.lower), cursor.to_i64(dim.upper)
    if dim.type == i64:  # their difference may wrap around
        upper = cursor.value(arith.MaxSIOp(upper, lower))
    span, zero = cursor.sub(upper, lower), cursor.i64(0)
    if constant_value(dim.step) != 1:
        step = cursor.to_i64(dim.step)
        rounded = cursor.add(span, cursor.sub(step, cursor.i64(1)))
        span = cursor.value(arith.DivSIOp(rounded, step))
    return cursor.value(arith.MaxSIOp(span, zero), "trip_count")


def _bound(cursor: Cursor, dim: Dimension, iteration: SSAValue) -> SSAValue:
    """The loop variable's value at i64 `iteration`, not beyond the upper bound."""
    step = cursor.mul(iteration, cursor.to_i64(dim.step))
    value = cursor.add(cursor.to_i64(dim.lower), step)
    value = cursor.value(arith.MinSIOp(value, cursor.to_i64(dim.upper)))
    return cursor.to_integer(value, dim.type)


def dimensions_of(loop: acc.LoopOp, at: Cursor) -> list[Dimension]:
    """The loop's control, outermost first, with exclusive upper bounds."""
    inclusive: list[bool] = []
    if loop.inclusive_upperbound is not None:
        inclusive = [bool(v) for v in loop.inclusive_upperbound.iter_values()]
    dims: list[Dimension] = []
    names = [arg.name_hint or "i" for arg in loop.region.blocks[0].args] if loop.lowerbound else []
    for position, (lower, upper, step) in enumerate(
        zip(loop.lowerbound, loop.upperbound, loop.step, strict=True)
    ):
        if position < len(inclusive) and inclusive[position]:
            upper = at.add(upper, at.constant(1, upper.type))
        dims.append(Dimension(lower, upper, step, names[position]))
    return dims


def tile_sizes(loop: acc.LoopOp, dims: Sequence[Dimension], at: Cursor) -> list[SSAValue] | None:
    """The tile sizes as i64, or None without a tile clause."""
    if not loop.tile_operands:
        return None
    sizes = list(loop.tile_operands)[: len(dims)]
    if len(sizes) != len(dims):
        raise error(
            SourceLoc.from_attr(loop.location),
            f"tile has {len(sizes)} sizes for {len(dims)} loops",
            "give one size per loop",
        )
    return [at.i64(DEFAULT_TILE) if (constant_value(s) or 1) < 0 else at.to_i64(s) for s in sizes]


def saturating_product(at: Cursor, dim: Dimension, size: SSAValue) -> SSAValue:
    """`step * size` in the loop's type, at most a quarter of its range, so that adding it is safe."""
    product = at.mul(at.to_i64(dim.step), size)
    limit = at.i64((1 << (dim.type.width.data - 2)) - 1)
    if constant_value(product) is None:
        product = at.value(arith.MinSIOp(product, limit))
    return at.to_integer(product, dim.type)


def plain_loops(at: Cursor, dims: Sequence[Dimension]) -> tuple[Cursor, list[SSAValue]]:
    inductions: list[SSAValue] = []
    for dim in dims:
        _, at = at.for_loop(dim.lower, dim.upper, dim.step, dim.name)
        inductions.append(at.point.block.args[0])
    return at, inductions


def _chunk(at: Cursor, gang: GangRange, total: SSAValue) -> tuple[SSAValue, SSAValue]:
    """
    The iterations `[low, high)` of `total` that the gangs of `gang` run, in chunks that differ by one
    iteration. Long chunks begin at multiples of `_ALIGNED` iterations, so that threads do not write the same
    cache lines, and vectors are in one line, if the first iteration's is aligned.
    """
    each = at.value(arith.DivSIOp(total, gang.count), "chunk")
    rest = at.sub(total, at.mul(each, gang.count), "longer_chunks")
    is_long = at.value(arith.CmpiOp(each, at.i64(_LONG), "sge"))
    mask = at.value(arith.SelectOp(is_long, at.i64(-_ALIGNED), at.i64(-1)), "mask")

    def start(number: SSAValue, hint: str) -> SSAValue:
        before = at.add(at.mul(number, each), at.value(arith.MinSIOp(number, rest)))
        is_end = at.value(arith.CmpiOp(number, gang.count, "eq"))
        return at.value(arith.SelectOp(is_end, total, at.value(arith.AndIOp(before, mask))), hint)

    return start(gang.begin, "low"), start(gang.end, "high")


def gang_loops(
    at: Cursor, dims: Sequence[Dimension], gang: GangRange
) -> tuple[Cursor, list[SSAValue]]:
    """
    The gangs' chunk of the iteration space. With several dimensions the space is taken row by row:
    a loop over the rows that the chunk touches, and in it the part of the row.
    """
    trips = [_trip_count(at, dim) for dim in dims]
    inner = dims[-1]
    if len(dims) == 1:
        low, high = _chunk(at, gang, trips[0])
        return plain_loops(
            at, [Dimension(_bound(at, inner, low), _bound(at, inner, high), inner.step, inner.name)]
        )
    total = trips[0]
    for trip in trips[1:]:
        total = at.mul(total, trip, "iterations")
    low, high = _chunk(at, gang, total)
    one, zero = at.i64(1), at.i64(0)
    row_length = at.value(arith.MaxSIOp(trips[-1], one), "row_length")
    first = at.value(arith.DivSIOp(low, row_length), "first_row")
    last = at.value(arith.DivSIOp(at.add(high, at.sub(row_length, one)), row_length), "last_row")
    last = at.value(arith.SelectOp(at.value(arith.CmpiOp(low, high, "slt")), last, first))
    _, body = at.for_loop(first, last, one, "row")
    row = body.point.block.args[0]
    inductions: list[SSAValue] = []
    rest = row
    for position in range(len(dims) - 2, -1, -1):
        dim, index = dims[position], rest
        if position > 0:
            index = body.value(arith.RemSIOp(rest, trips[position]))
            rest = body.value(arith.DivSIOp(rest, trips[position]))
        scaled = body.mul(body.to_integer(index, dim.type), dim.step)
        inductions.insert(0, body.add(dim.lower, scaled, dim.name))
    start = body.mul(row, row_length, "row_start")
    begin = body.value(arith.MaxSIOp(body.sub(low, start), zero))
    end = body.value(arith.MinSIOp(body.sub(high, start), trips[-1]))
    part = Dimension(_bound(body, inner, begin), _bound(body, inner, end), inner.step, inner.name)
    innermost, last_induction = plain_loops(body, [part])
    return innermost, inductions + last_induction
