"""Replaces a nest by loops over blocks of iterations, each run by a gang's threads together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

from xdsl.dialects import acc, arith
from xdsl.dialects.builtin import (
    DenseArrayBase,
    IntegerAttr,
    IntegerType,
    StringAttr,
    UnitAttr,
    i1,
    i32,
)
from xdsl.ir import Block, Operation, Region, SSAValue

from ...dialects.accx import COVERS, GANG_DIM, WHY
from ...dialects.accx_cache import GangThreadsOp
from ..analysis.acc_ops import NONE, set_operand_groups
from ..analysis.region_values import HostEmitter, RegionSymbols
from ..analysis.schedule import MAX_GRID
from ..analysis.trip_counts import Arithmetic, Count, trip_count
from ..building import Cursor, constant_value, erase
from . import emulated, tiles
from .body import BlockBody, Output
from .choose import NestPlan
from .emit import minimum
from .nest import Nest, written_variables
from .tiles import AxisState, Planned

NSW = arith.IntegerOverflowAttr([arith.IntegerOverflowFlag.NSW])


@dataclass
class _Bounds:
    """One loop variable before the nest: its bounds, and for mapped loops iterations and blocks."""

    lower: SSAValue
    upper: SSAValue
    step: SSAValue
    trips: SSAValue | None = None
    blocks: SSAValue | None = None

    @property
    def type(self) -> IntegerType:
        assert isinstance(self.lower.type, IntegerType)
        return self.lower.type


@dataclass
class _OneLoop:
    """The bounds of one loop variable in the form that `trip_count` reads."""

    lowerbound: list[SSAValue]
    upperbound: list[SSAValue]
    step: list[SSAValue]
    inclusive_upperbound: None = None


def rewrite(plan: NestPlan) -> None:
    """Carries out `plan` (see `promote_cache_to_shared.py`)."""
    nest = plan.nest
    counts = _host_counts(plan)
    before = Cursor.before(nest.loops[0])
    bounds = [_bounds(before, plan, position) for position in range(len(nest.axes))]
    block = Block(arg_types=[bounds[position].type for position in range(len(nest.axes))])
    threads = _threads(plan, bounds, list(block.args))
    loops = _loops(plan, bounds, threads, list(block.args), counts)
    before.insert(loops)
    erase(nest.loops[0])
    _launch(plan, counts)


# Bounds and grid ----------------------------------------------------------------------------------


def _visible(at: Cursor, value: SSAValue) -> SSAValue:
    """`value` before the nest: constants between the loops are made again."""
    owner = value.owner
    if isinstance(owner, arith.ConstantOp):
        constant = constant_value(value)
        assert constant is not None
        return at.constant(constant, value.type)
    return value


def _bounds(at: Cursor, plan: NestPlan, position: int) -> _Bounds:
    lower, upper, step = (_visible(at, v) for v in plan.nest.bounds[position])
    found = _Bounds(lower, upper, step)
    if position not in plan.sharing.axes:
        return found
    width = plan.widths[plan.sharing.axes.index(position)]
    known = plan.nest.axes[position].trips
    type_ = found.type
    if known is not None:
        found.trips = at.constant(known, type_)
        found.blocks = at.constant(-(-known // width), type_)
        return found
    bounded = at.value(arith.MaxSIOp(upper, lower))
    distance = at.sub(bounded, lower)
    if constant_value(step) != 1:
        rounded = at.add(distance, at.sub(step, at.constant(1, type_)))
        distance = at.value(arith.DivUIOp(rounded, step))
    found.trips = distance
    distance.name_hint = distance.name_hint or "trips"
    rounded = at.add(distance, at.constant(width - 1, type_))
    found.blocks = at.value(arith.DivUIOp(rounded, at.constant(width, type_)), "blocks")
    return found


def _host_counts(plan: NestPlan) -> list[tuple[Count, bool] | None]:
    """Blocks (or iterations, of loops not mapped to threads) of every axis before the construct."""
    construct = plan.nest.construct
    symbols = RegionSymbols(construct)
    math = Arithmetic(HostEmitter(construct))
    out: list[tuple[Count, bool] | None] = []
    for position, (lower, upper, step) in enumerate(plan.nest.bounds):
        found = trip_count(_OneLoop([lower], [upper], [step]), symbols, math)  # type: ignore[arg-type]
        if found is not None and position in plan.sharing.axes:
            width = plan.widths[plan.sharing.axes.index(position)]
            found = math.ceil_divide(found[0], width), found[1]
        if found is not None:
            dim = len(plan.nest.axes) - position
            limited = math.minimum(found[0], MAX_GRID[dim])
            covers = found[1] and (dim == 1 or (isinstance(found[0], int) and limited == found[0]))
            found = math.maximum(limited, 1), covers
        out.append(found)
    return out


def _launch(plan: NestPlan, counts: Sequence[tuple[Count, bool] | None]) -> None:
    """The launch shape of the construct; other loops in it can no longer rely on the old one."""
    construct = plan.nest.construct
    for op in construct.walk():
        if isinstance(op, acc.LoopOp) and not _is_ours(op):
            op.attributes.pop(COVERS, None)
    emit = HostEmitter(construct)
    math = Arithmetic(emit)

    def size(count: Count) -> SSAValue:
        if isinstance(count, int):
            return emit.insert(arith.ConstantOp(IntegerAttr(count, i32)), f"c{count}")
        return emit.insert(arith.TruncIOp(math.value(count), i32), "num_gangs")

    x = plan.threads[-1]
    y = 1
    for other in plan.threads[:-1]:
        y *= other
    groups: dict[str, list[SSAValue]] = {"num_workers": [size(y)], "vector_length": [size(x)]}
    if not plan.given_gangs:
        grid: list[SSAValue] = []
        for dim, found in enumerate(reversed(counts)):
            old = list(construct.num_gangs)
            fallback = old[dim] if dim < len(old) else size(1)
            grid.append(fallback if found is None else size(found[0]))
        groups["num_gangs"] = grid
        construct.properties["numGangsSegments"] = DenseArrayBase.from_list(i32, [len(grid)])
    set_operand_groups(construct, **groups)


def _is_ours(loop: acc.LoopOp) -> bool:
    why = loop.attributes.get(WHY)
    return isinstance(why, StringAttr) and why.data.startswith(_WHY)


# Loops and threads ----------------------------------------------------------------------------------

_WHY = "blocks of iterations that share tiles in shared memory"


def _loops(
    plan: NestPlan,
    bounds: Sequence[_Bounds],
    threads: GangThreadsOp,
    placeholders: Sequence[SSAValue],
    counts: Sequence[tuple[Count, bool] | None],
) -> acc.LoopOp:
    """Gang loops over blocks (or iterations), the innermost one around `threads`."""
    inside: Operation = threads
    for position in reversed(range(len(bounds))):
        bound = bounds[position]
        location = plan.nest.loops[0].location
        body = Block(arg_types=[bound.type])
        placeholders[position].replace_all_uses_with(body.args[0])
        body.args[0].name_hint = plan.nest.axes[position].name
        body.add_op(inside)
        Cursor.at_end(body, location).insert(acc.YieldOp())
        covers = (found := counts[position]) is not None and found[1] and not plan.given_gangs
        inside = _loop(plan, bound, position, Region(body), covers)
    assert isinstance(inside, acc.LoopOp)
    return inside


def _loop(
    plan: NestPlan, bound: _Bounds, position: int, region: Region, covers: bool
) -> acc.LoopOp:
    anchor = Cursor.before(plan.nest.loops[0])
    lower, upper, step = bound.lower, bound.upper, bound.step
    if bound.blocks is not None:
        lower, step = anchor.constant(0, bound.type), anchor.constant(1, bound.type)
        upper = bound.blocks
    loop = acc.LoopOp(
        region=region,
        lowerbound=[lower],
        upperbound=[upper],
        step=[step],
        inclusive_upperbound=DenseArrayBase.from_list(i1, [0]),
        independent=NONE,
        gang=NONE,
        combined=plan.nest.loops[0].combined if position == 0 else None,
    )
    loop.location = plan.nest.loops[0].location
    dim = len(plan.nest.axes) - position
    if dim > 1:
        loop.attributes[GANG_DIM] = IntegerAttr(dim, i32)
    if covers:
        loop.attributes[COVERS] = UnitAttr()
    axis = plan.nest.axes[position].name
    text = (
        f"{_WHY}, along '{axis}'" if bound.blocks is not None else f"{_WHY}; '{axis}' shares none"
    )
    loop.attributes[WHY] = StringAttr(text)
    return loop


def _threads(plan: NestPlan, bounds: Sequence[_Bounds], gangs: Sequence[SSAValue]) -> GangThreadsOp:
    """The code of a block's threads; `gangs` stand for the variables of the loops around it."""
    nest = plan.nest
    body = Block(arg_types=[i32] * len(plan.threads))
    at = Cursor.at_end(body, nest.loops[-1].location)
    for position, arg in enumerate(body.args):
        arg.name_hint = "xyz"[len(plan.threads) - 1 - position]
    states, firsts, places = _axes(plan, bounds, gangs, list(body.args), at)
    thread: SSAValue = body.args[0]
    for size, arg in zip(plan.threads[1:], body.args[1:], strict=True):
        thread = at.add(at.mul(thread, at.i32(size)), arg, "thread")
    count = 1
    for size in plan.threads:
        count *= size
    shared = tiles.Block(states, count, thread, firsts)
    outputs = _outputs(plan, gangs, places, at)
    whole = [p for p in plan.planned if p.method != "ehc"]
    made = {p.cached.op: tiles.allocate(at, p) for p in whole}
    caches = {
        p.cached.op: emulated.allocate(at, p, shared, plan.sets, plan.ways)
        for p in plan.planned
        if p.method == "ehc"
    }
    for tile in made.values():
        for output in outputs:
            tiles.base_offset(at, tile, shared, output.coordinates)
    groups, renewed = _group(nest, whole)
    written = written_variables(nest)
    emitter = BlockBody(shared, outputs, groups, made, caches, renewed, written, nest.symbols)
    emitter.run([*nest.prelude, *nest.body.ops], at)
    op = GangThreadsOp(plan.threads, Region(body))
    op.location = nest.loops[-1].location
    return op


@dataclass
class _Place:
    """One of the places of a thread along an axis: loop variable, coordinate, whether it exists."""

    variable: SSAValue
    coordinate: SSAValue
    active: SSAValue | None


def _axes(
    plan: NestPlan,
    bounds: Sequence[_Bounds],
    gangs: Sequence[SSAValue],
    coordinates: Sequence[SSAValue],
    at: Cursor,
) -> tuple[list[AxisState], dict[SSAValue, SSAValue], list[list[_Place]]]:
    """Along each mapped axis: the block's part of it, its first iteration, the thread's places."""
    states: list[AxisState] = []
    firsts: dict[SSAValue, SSAValue] = {}
    places: list[list[_Place]] = []
    for number, position in enumerate(plan.sharing.axes):
        axis, bound, width = plan.nest.axes[position], bounds[position], plan.widths[number]
        assert bound.trips is not None
        type_ = bound.type
        first = at.mul(gangs[position], at.constant(width, type_), "first")
        fixed = axis.trips is not None and axis.trips % width == 0
        here: SSAValue = at.i32(width)
        if not fixed:
            rest = at.sub(bound.trips, first)
            here = at.value(arith.MinSIOp(rest, at.constant(width, type_)))
            here = at.to_integer(here, i32)
            here.name_hint = "width"
        start = _variable(at, bound, first, axis.name)
        variable = plan.nest.variables[position]
        states.append(AxisState(width, fixed, here, start))
        firsts[variable] = start
        own: list[_Place] = []
        for turn in range(plan.outputs[number]):
            coordinate = _coordinate(at, plan, number, coordinates[number], turn)
            active, number_here = None, coordinate
            if not fixed:
                active = at.value(arith.CmpiOp(coordinate, here, "slt"), "active")
                number_here = minimum(at, coordinate, at.sub(here, at.i32(1)))
            wide = at.to_integer(number_here, type_)
            iteration = at.value(arith.AddiOp(first, wide, overflow=NSW))
            own.append(_Place(_variable(at, bound, iteration, axis.name), coordinate, active))
        places.append(own)
    return states, firsts, places


def _coordinate(at: Cursor, plan: NestPlan, number: int, thread: SSAValue, turn: int) -> SSAValue:
    """
    The place of a thread's output `turn` along a mapped axis: neighbouring threads take neighbouring
    places, but along the lanes each takes as many together as one access to shared memory can load.
    """
    together = plan.together if number == len(plan.threads) - 1 else 1
    group, rest = divmod(turn, together)
    first = at.mul(thread, at.i32(together))
    return at.add(first, at.i32(group * together * plan.threads[number] + rest))


def _variable(at: Cursor, bound: _Bounds, iteration: SSAValue, name: str) -> SSAValue:
    """The loop variable in an iteration."""
    value = iteration
    if constant_value(bound.step) != 1:
        value = at.value(arith.MuliOp(value, bound.step, overflow=NSW))
    if constant_value(bound.lower) != 0:
        value = at.value(arith.AddiOp(bound.lower, value, overflow=NSW), name)
    return value


def _outputs(
    plan: NestPlan, gangs: Sequence[SSAValue], places: list[list[_Place]], at: Cursor
) -> list[Output]:
    """The iterations of a thread, row by row."""
    shared = {
        variable: gangs[position]
        for position, variable in enumerate(plan.nest.variables)
        if position not in plan.sharing.axes
    }
    found: list[Output] = []
    for choice in product(*places):
        values: dict[SSAValue, SSAValue] = {**shared}
        active: SSAValue | None = None
        for position, place in zip(plan.sharing.axes, choice, strict=True):
            values[plan.nest.variables[position]] = place.variable
            if place.active is not None:
                active = (
                    place.active
                    if active is None
                    else at.value(arith.AndIOp(active, place.active), "active")
                )
        found.append(Output(values, [place.coordinate for place in choice], active))
    return found


def _group(
    nest: Nest, planned: Sequence[Planned]
) -> tuple[dict[acc.CacheOp, list[Planned]], set[acc.CacheOp]]:
    """
    Directives that are filled together: those of one block with nothing but arithmetic between them,
    where the last of them stands. Also those that a loop fills again.
    """
    by_op = {p.cached.op: p for p in planned}
    groups: dict[acc.CacheOp, list[Planned]] = {}
    renewed: set[acc.CacheOp] = set()
    blocks = dict.fromkeys(p.cached.op.parent_block() for p in planned)
    for block in blocks:
        assert block is not None
        open_: list[Planned] = []
        last: acc.CacheOp | None = None
        for op in block.ops:
            if isinstance(op, acc.CacheOp) and op in by_op:
                open_.append(by_op[op])
                last = op
            elif open_ and not _is_arithmetic(op):
                assert last is not None
                groups[last], open_ = open_, []
        if open_ and last is not None:
            groups[last] = open_
    for op in groups:
        if op.parent_op() is not nest.loops[-1]:
            renewed.add(op)
    return groups, renewed


def _is_arithmetic(op: Operation) -> bool:
    return op.name.startswith("arith.") or isinstance(op, acc.DataBoundsOp | acc.CacheOp)
