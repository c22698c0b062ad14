"""
Load arrays whose neighbouring elements are not on neighbouring lanes through tiles.

In `for i: for j: b[i][j] = a[j][i]` neighbouring iterations of j store neighbours and load elements a
row apart: every load of a warp touches 32 sectors. A gang that takes 32 × 32 iterations can load its part
of a with the lanes along i, store it to a tile in shared memory, and read the tile with the lanes along j.
A row of the tile has one element more than 32, which avoids bank conflicts on both sides. On a CPU thread,
where each such load touches a cache line of its own, the tile is on the stack (`host_tiles.py`).

Takes:  scheduled IR. Considers constructs that are one nest of two free parallel loops whose body is
        straight-line code, on a GPU without user-given sizes; on CPU threads with any sizes, with more
        loops around the two or between them, and with conditions in the body around other accesses.
Leaves: on a GPU the nest over tiles of 32 × 32 iterations (gangs), in it an `accx.gang_threads` of 8 × 32
        threads, four iterations each; loads that are contiguous in the variable in which the stores are not
        go through an `accx.shared_tile` each, filled before the first of them. The construct has the launch
        shape this needs. `accx.why` describes the result. For CPU threads the nest as it was, and beside it a
        gang loop over groups of rows, which fills a local array from pieces of rows and then runs their
        iterations; the number and the distance of the elements of a column select one
        (`decisions/host_tiles.py`).
Fails:  never. A nest without such loads, with a store before one of them, or with a loop known to be
        shorter than a tile stays as it is.

Before:
  acc.loop gang control(%i : i32) = … {
    acc.loop gang vector control(%j : i32) = … {
      %v = llvm.load %a[%j * n + %i]
      llvm.store %v, %b[%i * n + %j]
  } }
After:
  acc.loop gang control(%block_i : i32) = (0) to (ceil(trips_i / 32)) … {
    acc.loop gang control(%block_j : i32) = (0) to (ceil(trips_j / 32)) … {
      accx.gang_threads [8, 32] {
      ^bb0(%y : i32, %x : i32):
        %tile = accx.shared_tile "a" 4224
        accx.gang_barrier
        for k in 0 to 4: %tile[(%y + 8 * k) * 33 + %x] = %a[j(%y + 8 * k) * n + i(%x)]
        accx.gang_barrier
        for k in 0 to 4: %b[i(%y + 8 * k) * n + j(%x)] = %tile[%x * 33 + %y + 8 * k]
  } } }

On CPU threads:
  scf.if %tiled {
    acc.loop gang control(%group : i32) = (0) to (ceil(trips_i / rows)) … {
      %tile = llvm.alloca rows * pitch
      scf.for %piece = 0 to trips_j step 128 {
        scf.for %lane, %row: %tile[%row * pitch + %lane] = %a[j(%piece + %lane) * n + i(%row)]
        scf.for %row { acc.loop vector control(%lane : i32) = … {
          %b[i(%row) * n + j(%piece + %lane)] = %tile[%row * pitch + %lane]
      } }
    }
  } else { the nest }

Options: `target`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects import acc, arith, llvm
from xdsl.dialects.builtin import (
    DenseArrayBase,
    IntegerAttr,
    IntegerType,
    ModuleOp,
    i32,
)
from xdsl.ir import Block, BlockArgument, Region, SSAValue
from xdsl.passes import ModulePass

from ...dialects.accx_cache import GangBarrierOp, GangThreadsOp, SharedTileOp
from ..decisions.declined import Declined
from ..decisions.launch_shape import MAX_GRID
from ..decisions.schedule import Target
from ..ir.loops.jamming import Jam, body_of, explain, set_bounds, trip_count
from ..ir.ops.acc_ops import (
    has_level,
    set_operand_groups,
    tuned_constructs,
    variable_name,
)
from ..ir.ops.building import NSW, Cursor, constant_value, erase
from ..ir.ops.layout import size_of
from ..ir.ops.machine import machine_of
from ..ir.ops.schedules import LoopSchedule, set_schedule
from ..ir.values.region_values import HostEmitter, RegionSymbols
from ..ir.values.trip_counts import Arithmetic, Count
from ..ir.values.trip_counts import trip_count as host_trip_count
from .host_tiles import rewrite_for_host
from .transposed_nests import TransposedNest, bounds_outside, find_nest, operations_for

WIDTH = 32
"""The iterations of a tile along each of the two loops."""
ROWS = 8
"""The rows of threads of a gang; each thread has WIDTH / ROWS iterations."""
PITCH = WIDTH + 1
MAX_SHARED = 24 << 10
"""The most bytes of tiles for one gang, so that several gangs fit on a multiprocessor."""


# Rewriting ------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Axis:
    """
    One of the two loops in a gang: its variable, the tile's first iteration, and the number of iterations.
    """

    loop: acc.LoopOp
    first: SSAValue
    trips: SSAValue

    @property
    def variable(self) -> BlockArgument:
        return self.loop.region.block.args[0]

    def past(self, at: Cursor) -> SSAValue:
        """The first iteration after a whole tile."""
        width = at.constant(WIDTH, self.first.type)
        return at.value(arith.AddiOp(self.first, width, overflow=NSW))

    def iteration(self, at: Cursor, place: SSAValue) -> SSAValue:
        """The iteration at coordinate `place` (i32) of the tile."""
        type_ = self.first.type
        assert isinstance(type_, IntegerType)
        return at.value(arith.AddiOp(self.first, at.to_integer(place, type_), overflow=NSW))

    def value(self, at: Cursor, iteration: SSAValue) -> SSAValue:
        """The value of the loop variable in an iteration."""
        lower, step = self.loop.lowerbound[0], self.loop.step[0]
        value = iteration
        if constant_value(step) != 1:
            value = at.value(arith.MuliOp(value, step, overflow=NSW))
        if constant_value(lower) != 0:
            value = at.value(arith.AddiOp(lower, value, overflow=NSW), self.variable.name_hint)
        return value


Values = dict[SSAValue, SSAValue]
Place = tuple[SSAValue, SSAValue]
"""The coordinates (i32) of an iteration in the tile: along the rows' loop, along the lanes' loop."""


class _Threads:
    """Emits the code of a gang's threads for one tile."""

    def __init__(self, nest: TransposedNest, rows: _Axis, lanes: _Axis, y: SSAValue, x: SSAValue):
        self.nest, self.rows, self.lanes = nest, rows, lanes
        self.y, self.x = y, x
        self.tiles: dict[llvm.LoadOp, SSAValue] = {}

    def run(self, at: Cursor) -> None:
        for load in self.nest.staged:
            type_ = load.dereferenced_value.type
            name = load.ptr.name_hint or "staged"
            made = SharedTileOp(WIDTH * PITCH * size_of(type_), name)
            self.tiles[load] = at.value(made, f"{name}_tile")
        past_rows, past_lanes = self.rows.past(at), self.lanes.past(at)
        full = at.value(
            arith.AndIOp(
                at.value(arith.CmpiOp(past_rows, self.rows.trips, "sle")),
                at.value(arith.CmpiOp(past_lanes, self.lanes.trips, "sle")),
            ),
            "full",
        )
        at.insert(
            GangBarrierOp()
        )  # a gang may have several tiles, and must have read the previous one
        self._each(at, full, self._places(at, filling=True), self._fill)
        at.insert(GangBarrierOp())
        self._each(at, full, self._places(at, filling=False), self._compute)

    def _places(self, at: Cursor, *, filling: bool) -> list[Place]:
        """The places of a thread's iterations; while `filling`, lanes run along the rows' loop."""
        places: list[Place] = []
        for turn in range(WIDTH // ROWS):
            across = at.add(self.y, at.i32(turn * ROWS))
            places.append((self.x, across) if filling else (across, self.x))
        return places

    def _each(
        self,
        at: Cursor,
        full: SSAValue,
        places: Sequence[Place],
        emit: Callable[[Cursor, Sequence[Place], list[Values]], None],
    ) -> None:
        """
        Emits all iterations together if the tile is whole, otherwise the existing ones one after the other.
        """
        then, otherwise = at.if_else(full)
        emit(then, places, [self._values(then, place) for place in places])
        for place in places:
            row = self.rows.iteration(otherwise, place[0])
            lane = self.lanes.iteration(otherwise, place[1])
            exists = otherwise.value(
                arith.AndIOp(
                    otherwise.value(arith.CmpiOp(row, self.rows.trips, "slt")),
                    otherwise.value(arith.CmpiOp(lane, self.lanes.trips, "slt")),
                ),
                "exists",
            )
            inside, _ = otherwise.if_else(exists)
            emit(inside, [place], [self._values(inside, place)])

    def _values(self, at: Cursor, place: Place) -> Values:
        return {
            axis.variable: axis.value(at, axis.iteration(at, number))
            for axis, number in zip((self.rows, self.lanes), place, strict=True)
        }

    def _element(self, at: Cursor, load: llvm.LoadOp, place: Place) -> SSAValue:
        """
        The address of a place's element in the tile of `load`, in which neighbours along the rows' loop are
        adjacent.
        """
        row, lane = place
        index = at.add(at.mul(lane, at.i32(PITCH)), row)
        type = load.dereferenced_value.type
        return at.element(self.tiles[load], at.to_i64(index), type, "element")

    def _fill(self, at: Cursor, places: Sequence[Place], maps: list[Values]) -> None:
        for load in self.nest.staged:
            needed = operations_for(load, self.nest.ops)
            Jam(maps).operations(needed, at)
        for load in self.nest.staged:
            for place, values in zip(places, maps, strict=True):
                value = values[load.dereferenced_value]
                at.insert(llvm.StoreOp(value, self._element(at, load, place)))

    def _compute(self, at: Cursor, places: Sequence[Place], maps: list[Values]) -> None:
        for load in self.nest.staged:
            for place, values in zip(places, maps, strict=True):
                type_ = load.dereferenced_value.type
                found = llvm.LoadOp(self._element(at, load, place), type_)
                values[load.dereferenced_value] = at.value(found, load.dereferenced_value.name_hint)
        staged = set(self.nest.staged)
        Jam(maps).operations([op for op in self.nest.ops if op not in staged], at)


def rewrite(nest: TransposedNest) -> None:
    """
    Carries out the plan of `nest` for a GPU (see the contract above). Raises `Declined`, before any change,
    if it must stay as it is.
    """
    if not has_level(nest.inner.gang):
        raise Declined("its loops are not mapped to gangs and lanes")
    tile_bytes = sum(WIDTH * PITCH * size_of(op.dereferenced_value.type) for op in nest.staged)
    if tile_bytes > MAX_SHARED:
        raise Declined(f"its tiles would take {tile_bytes} bytes of shared memory")
    _launch(nest)
    outer, inner = nest.outer, nest.inner
    before = Cursor.before(outer)
    moved = bounds_outside(nest)
    trips = {loop: trip_count(before, loop) for loop in (outer, inner)}

    body = Block(arg_types=[i32, i32])
    body.args[0].name_hint, body.args[1].name_hint = "y", "x"
    gangs = {loop: body_of(loop).args[0] for loop in (outer, inner)}
    at = Cursor.at_end(body, inner.location)
    axes: dict[acc.LoopOp, _Axis] = {}
    for loop, number in trips.items():
        width = at.constant(WIDTH, number.type)
        # the old variable now counts tiles; the new body no longer uses it
        first = at.value(arith.MuliOp(gangs[loop], width, overflow=NSW), "first")
        axes[loop] = _Axis(loop, first, number)
    _Threads(nest, axes[nest.rows], axes[nest.lanes], body.args[0], body.args[1]).run(at)
    threads = GangThreadsOp((ROWS, WIDTH), Region(body))
    end = body_of(inner).last_op
    assert end is not None
    Cursor.before(end, inner.location).insert(threads)
    for op in reversed(nest.ops):
        if op.parent is not None and op not in moved:
            erase(op)
    for loop, number in trips.items():
        rounded = before.value(arith.AddiOp(number, before.constant(WIDTH - 1, number.type)))
        tiles = before.value(arith.DivUIOp(rounded, before.constant(WIDTH, number.type)), "tiles")
        set_bounds(before, loop, tiles)
    _map_levels(nest)


def _map_levels(nest: TransposedNest) -> None:
    """Makes both loops gang loops, the lanes' loop in the first dimension of the grid."""
    for loop in (nest.outer, nest.inner):
        loop.vector = None
    set_schedule(nest.rows, LoopSchedule(gang_dim=2))
    set_schedule(nest.lanes, LoopSchedule(covers=True))
    names = ", ".join(dict.fromkeys(variable_name(op.ptr) for op in nest.staged))
    explain(nest.inner, f"{names} read through tiles in shared memory")


def _launch(nest: TransposedNest) -> None:
    """
    Sets the launch shape of the construct. Raises `Declined` if it cannot be computed before the construct.
    """
    construct = nest.construct
    symbols = RegionSymbols(construct)
    emit = HostEmitter(construct)
    math = Arithmetic(emit)
    counts: list[Count] = []
    for loop, dim in ((nest.lanes, 1), (nest.rows, 2)):
        found = host_trip_count(loop, symbols, math)
        if found is None or not found[1]:
            raise Declined("its trip counts are not known before the construct")
        tiles = math.ceil_divide(found[0], WIDTH)
        counts.append(math.maximum(math.minimum(tiles, MAX_GRID[dim]), 1))

    def size(count: Count) -> SSAValue:
        if isinstance(count, int):
            return emit.value(arith.ConstantOp(IntegerAttr(count, i32)), f"c{count}")
        return emit.value(arith.TruncIOp(math.value(count), i32), "num_gangs")

    grid = [size(count) for count in counts]
    set_operand_groups(
        construct, num_gangs=grid, num_workers=[size(ROWS)], vector_length=[size(WIDTH)]
    )
    construct.properties["numGangsSegments"] = DenseArrayBase.from_list(i32, [len(grid)])


@dataclass(frozen=True)
class StageTransposedAccessesPass(ModulePass):
    """See the contract at the top of this file. Option `target` overrides the module's target."""

    name = "stage-transposed-accesses"

    target: Target | None = None

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        on_host = (self.target or machine_of(op).target) == "host"
        for construct in tuned_constructs(op):
            try:
                nest = find_nest(construct, WIDTH, on_threads=on_host)
                (rewrite_for_host if on_host else rewrite)(nest)
            except Declined:
                continue
