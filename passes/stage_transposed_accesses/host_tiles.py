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
from xdsl.ir import SSAValue

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
    values: Values = {_variable(loop): loop.lowerbound[0] for loop in (nest.rows, *nest.middle)}
    values[_variable(lanes)] = at.add(place, lanes.step[0]) if lane else place
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
    groups = at.value(arith.DivUIOp(rounded, at.constant(height, down.type)), "groups")
    outer, body = _emptied(nest.outer, "group", at)
    set_bounds(Cursor.before(outer), outer, groups)
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
    outside: Values = {}
    for loop in nest.middle:
        copy, body = _emptied(loop, _variable(loop).name_hint or "middle", body)
        outside[_variable(loop)] = _variable(copy)
    zero, step = (body.constant(bound, across.type) for bound in (0, LANES))
    pieces, piece = body.for_loop(zero, across, step, "piece")
    lanes = _part(nest.lanes, pieces.body.block.args[0], across, LANES, piece)
    tiles = _Tiles(nest, rows, lanes, dict(zip(nest.staged, arrays, strict=True)), size, outside)
    tiles.fill(piece)
    tiles.compute(piece)


@dataclass(frozen=True)
class _Tiles:
    """
    The code for one piece of a group of rows. `arrays`: a tile for each staged load, of elements of at most
    `size` bytes. `outside`: the values of the variables of loops around the piece.
    """

    nest: TransposedNest
    rows: _Part
    lanes: _Part
    arrays: dict[llvm.LoadOp, SSAValue]
    size: int
    outside: Values

    def fill(self, at: Cursor) -> None:
        """Emits the loops that load the tiles, along the lines of the arrays."""
        over_lanes, around = self.lanes.loop_over(at, "lane")
        over_rows, inside = self.rows.loop_over(around, "row")
        lane, row = (loop.body.block.args[0] for loop in (over_lanes, over_rows))
        values = self._values(self.rows.value(inside, row), self.lanes.value(inside, lane))
        needed = {op for load in self.arrays for op in operations_for(load, self.nest.ops)}
        for op in self.nest.ops:
            if op in needed:
                inside.clone(op, values)
        for load in self.arrays:
            value = values[load.dereferenced_value]
            inside.store(value, self._element(load, row, lane, inside))

    def compute(self, at: Cursor) -> None:
        """Emits the loops that run the nest's iterations, with loads from the tiles."""
        over_rows, around = self.rows.loop_over(at, "row")
        row = over_rows.body.block.args[0]
        at_row = self.rows.value(around, row)
        inner, inside = _emptied(self.nest.inner, "lane", around)
        set_bounds(Cursor.before(inner), inner, self.lanes.count)
        lane = _variable(inner)
        values = self._values(at_row, self.lanes.value(inside, lane))
        for op in self.nest.ops:
            if isinstance(op, llvm.LoadOp) and op in self.arrays:
                address = self._element(op, row, lane, inside)
                result = op.dereferenced_value
                values[result] = inside.load(address, result.type, result.name_hint)
            else:
                inside.clone(op, values)

    def _values(self, row: SSAValue, lane: SSAValue) -> Values:
        """The values of all loop variables of the nest."""
        return {**self.outside, _variable(self.nest.rows): row, _variable(self.nest.lanes): lane}

    def _element(self, load: llvm.LoadOp, row: SSAValue, lane: SSAValue, at: Cursor) -> SSAValue:
        """The address of an element of a tile, in which elements of an array's column are adjacent."""
        line = at.mul(at.to_i64(row), at.i64(pitch_of(self.size)))
        type_ = load.dereferenced_value.type
        return at.element(self.arrays[load], at.add(line, at.to_i64(lane)), type_, "element")
