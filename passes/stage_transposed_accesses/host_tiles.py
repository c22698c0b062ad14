"""
Tiles on the stack of a CPU thread for loads that go across memory.

A thread that walks down a column touches a cache line for each element. With many rows, or with rows whose
distance is a multiple of a large power of two, which share few sets of the caches, the line is gone when the
next column needs it. So a tile is filled with whole lines first, each used for all of its elements.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.dialects import acc, arith, llvm, scf
from xdsl.dialects.builtin import i64
from xdsl.ir import Operation, SSAValue

from ..decisions.declined import Declined
from ..decisions.host_tiles import (
    CROWDED,
    LANES,
    LINE,
    LONG,
    MOST_BYTES,
    POWER,
    pitch_of,
    rows_of,
)
from ..ir.loops.jamming import body_of, explain, set_bounds, trip_count
from ..ir.ops.acc_ops import variable_name
from ..ir.ops.building import NSW, Cursor, constant_value, erase
from ..ir.ops.layout import size_of
from .transposed_nests import TransposedNest, bounds_outside, operations_for

Values = dict[SSAValue, SSAValue]


def rewrite_for_host(nest: TransposedNest) -> None:
    """
    Replaces the nest by two versions, with tiles and as it was; the first runs where columns are long or
    share sets of the caches. Raises `Declined`, before any change, if it must stay as it is.
    """
    if _variable(nest.rows).type != _variable(nest.lanes).type:
        raise Declined("its counters have different types")
    size = max(size_of(load.dereferenced_value.type) for load in nest.staged)
    if len(nest.staged) * rows_of(size) * pitch_of(size) * size > MOST_BYTES:
        raise Declined("its tiles would not stay in the cache")
    names = ", ".join(dict.fromkeys(variable_name(op.ptr) for op in nest.staged))
    explain(nest.inner, f"long columns of {names} are read through tiles on the stack")
    bounds_outside(nest)
    before = Cursor.before(nest.outer)
    trips = {loop: trip_count(before, loop) for loop in (nest.rows, nest.lanes)}
    tiled, otherwise = before.if_else(_pays(nest, trips[nest.lanes], before))
    _emit_tiles(nest, trips, size, tiled)
    otherwise.move(nest.outer)


def _pays(nest: TransposedNest, trips: SSAValue, at: Cursor) -> SSAValue:
    """Whether columns are long, or share sets of the caches."""
    first, second = (_address(nest, at, turn) for turn in range(2))
    apart = at.value(arith.AndIOp(at.sub(second, first), at.i64(POWER - 1)))
    crowded = at.value(arith.CmpiOp(apart, at.i64(0), "eq"), "crowded")
    least = at.value(arith.SelectOp(crowded, at.i64(CROWDED), at.i64(LONG)))
    return at.value(arith.CmpiOp(at.to_i64(trips), least, "sge"), "tiled")


def _address(nest: TransposedNest, at: Cursor, lane: int) -> SSAValue:
    """The address (i64) that the first staged load reads in iteration `lane` of the first row."""
    (load, *_), lanes = nest.staged, nest.lanes
    place = lanes.lowerbound[0]
    values: Values = {
        _variable(nest.rows): nest.rows.lowerbound[0],
        _variable(lanes): at.add(place, lanes.step[0]) if lane else place,
    }
    for op in operations_for(load, nest.ops):
        if op is not load:
            at.clone(op, values)
    return at.value(llvm.PtrToIntOp(values.get(load.ptr, load.ptr), i64))


def _variable(loop: acc.LoopOp) -> SSAValue:
    return body_of(loop).args[0]


def _emptied(loop: acc.LoopOp, hint: str, at: Cursor) -> tuple[acc.LoopOp, Cursor]:
    """A copy of a loop without its body, whose variable is called `hint`, and a cursor in it."""
    copy = at.clone(loop, {})
    block = body_of(copy)
    block.args[0].name_hint = hint
    for op in [op for op in reversed(list(block.ops)) if not isinstance(op, acc.YieldOp)]:
        erase(op)
    end = block.last_op
    assert end is not None
    return copy, at.inside_before(end)


@dataclass(frozen=True)
class _Part:
    """Iterations from `first` on, `count` of them, of one of the two loops."""

    loop: acc.LoopOp
    first: SSAValue
    count: SSAValue

    def value(self, at: Cursor, number: SSAValue) -> SSAValue:
        """The value of the loop variable in iteration `number` of the part."""
        value = at.value(arith.AddiOp(self.first, number, overflow=NSW))
        if constant_value(self.loop.step[0]) != 1:
            value = at.value(arith.MuliOp(value, self.loop.step[0], overflow=NSW))
        if constant_value(self.loop.lowerbound[0]) != 0:
            value = at.value(arith.AddiOp(self.loop.lowerbound[0], value, overflow=NSW))
        return value

    def loop_over(self, at: Cursor, hint: str) -> tuple[scf.ForOp, Cursor]:
        """A sequential loop over the part's iterations."""
        zero, one = (at.constant(bound, self.count.type) for bound in (0, 1))
        return at.for_loop(zero, self.count, one, hint)


def _part(loop: acc.LoopOp, first: SSAValue, trips: SSAValue, size: int, at: Cursor) -> _Part:
    """The iterations from `first` on, at most `size`."""
    rest = at.value(arith.SubiOp(trips, first, overflow=NSW))
    return _Part(loop, first, at.value(arith.MinSIOp(rest, at.constant(size, trips.type)), "part"))


def _emit_tiles(
    nest: TransposedNest, trips: dict[acc.LoopOp, SSAValue], size: int, at: Cursor
) -> None:
    """Emits the version with tiles, for elements of at most `size` bytes."""
    down, across = trips[nest.rows], trips[nest.lanes]
    height = rows_of(size)
    rounded = at.add(down, at.constant(height - 1, down.type))
    tiles = at.value(arith.DivUIOp(rounded, at.constant(height, down.type)), "tiles")
    outer, body = _emptied(nest.outer, "group", at)
    set_bounds(Cursor.before(outer), outer, tiles)
    arrays = [
        body.value(
            llvm.AllocaOp(
                body.i32(1),
                llvm.LLVMArrayType(height * pitch_of(size), load.dereferenced_value.type),
                alignment=LINE,
            ),
            "tile",
        )
        for load in nest.staged
    ]
    number = _variable(outer)
    first = body.value(
        arith.MuliOp(number, body.constant(height, down.type), overflow=NSW), "first"
    )
    rows = _part(nest.rows, first, down, height, body)
    zero, step = (body.constant(bound, across.type) for bound in (0, LANES))
    pieces, piece = body.for_loop(zero, across, step, "piece")
    lanes = _part(nest.lanes, pieces.body.block.args[0], across, LANES, piece)
    places = dict(zip(nest.staged, arrays, strict=True))
    _fill(nest, rows, lanes, places, size, piece)
    _compute(nest, rows, lanes, places, size, piece)


def _element(
    array: SSAValue, row: SSAValue, lane: SSAValue, load: llvm.LoadOp, size: int, at: Cursor
) -> SSAValue:
    """The address of an element of a tile, whose neighbours in a column of the array are adjacent."""
    line = at.mul(at.to_i64(row), at.i64(pitch_of(size)))
    return at.element(array, at.add(line, at.to_i64(lane)), load.dereferenced_value.type, "element")


def _fill(
    nest: TransposedNest,
    rows: _Part,
    lanes: _Part,
    places: dict[llvm.LoadOp, SSAValue],
    size: int,
    at: Cursor,
) -> None:
    """Emits the loops that load the tiles, along the lines of the arrays."""
    over_lanes, outside = lanes.loop_over(at, "lane")
    lane = over_lanes.body.block.args[0]
    over_rows, inside = rows.loop_over(outside, "row")
    row = over_rows.body.block.args[0]
    at_lane, at_row = lanes.value(inside, lane), rows.value(inside, row)
    values: Values = {_variable(nest.rows): at_row, _variable(nest.lanes): at_lane}
    needed: set[Operation] = set()
    for load in nest.staged:
        needed |= set(operations_for(load, nest.ops))
    for op in nest.ops:
        if op in needed:
            inside.clone(op, values)
    for load, array in places.items():
        value = values[load.dereferenced_value]
        inside.store(value, _element(array, row, lane, load, size, inside))


def _compute(
    nest: TransposedNest,
    rows: _Part,
    lanes: _Part,
    places: dict[llvm.LoadOp, SSAValue],
    size: int,
    at: Cursor,
) -> None:
    """Emits the loops that run the nest's iterations, with loads from the tiles."""
    over_rows, outside = rows.loop_over(at, "row")
    row = over_rows.body.block.args[0]
    at_row = rows.value(outside, row)
    inner, inside = _emptied(nest.inner, "lane", outside)
    set_bounds(Cursor.before(inner), inner, lanes.count)
    lane = _variable(inner)
    at_lane = lanes.value(inside, lane)
    values: Values = {_variable(nest.rows): at_row, _variable(nest.lanes): at_lane}
    for op in nest.ops:
        if isinstance(op, llvm.LoadOp) and op in places:
            address = _element(places[op], row, lane, op, size, inside)
            type_ = op.dereferenced_value.type
            loaded = inside.load(address, type_, op.dereferenced_value.name_hint)
            values[op.dereferenced_value] = loaded
        else:
            inside.clone(op, values)
