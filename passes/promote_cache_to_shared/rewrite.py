"""Replaces a nest by loops over blocks of iterations, each run by a gang's threads together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

from xdsl.dialects import arith
from xdsl.dialects.builtin import i32
from xdsl.ir import Block, Operation, Region, SSAValue

from ...dialects.accx_cache import GangSumOp, GangThreadsOp
from ..ir.data.cached_code import minimum
from ..ir.ops.building import NSW, Cursor, constant_value, erase
from ..ir.ops.purity import erase_unused_inside
from ..ir.ops.sharing_cursor import sharing_at_end
from . import bulk, emulated, memory, reductions, tiles
from .blocks import Bounds, bounds_of, grid_of, launch, loops_over_blocks
from .body import BlockBody
from .matrix import Multiplier
from .pipeline import group_directives
from .plan import NestPlan
from .reductions import Accumulator
from .tile_access import Output
from .tiles import AxisState
from .uniformity import written_variables
from .wanted import where_wanted


def rewrite(plan: NestPlan) -> None:
    """Carries out `plan` (see `promote_cache_to_shared.py`)."""
    nest = plan.nest
    grid = grid_of(plan)
    before = Cursor.before(nest.loops[0])
    bounds = [bounds_of(before, plan, position) for position in range(len(nest.axes))]
    accumulators = reductions.declare(nest, plan.thread_count, before)
    placeholders = Block(arg_types=[bound.type for bound in bounds]).args
    threads = _threads(plan, bounds, list(placeholders), accumulators)
    memory.place(plan, threads)
    body = [threads]
    within = plan.form == "within"
    body += reductions.fold(accumulators, plan.thread_count, within=within, at=before)
    before.insert(loops_over_blocks(plan, bounds, body, placeholders, grid.covers))
    erase(nest.loops[0])
    for accumulator in accumulators if within else ():
        erase(accumulator.reduction.op)
    launch(plan, grid)


def _threads(
    plan: NestPlan,
    bounds: Sequence[Bounds],
    gangs: Sequence[SSAValue],
    accumulators: Sequence[Accumulator],
) -> Operation:
    """
    Emits the code of a block's threads; `gangs` are placeholders for the variables of the loops around it.
    """
    nest = plan.nest
    body = Block(arg_types=[i32] * len(plan.threads))
    at = sharing_at_end(body, nest.loops[-1].location)
    for position, arg in enumerate(body.args):
        arg.name_hint = "xyz"[len(plan.threads) - 1 - position]
    states, firsts, places = _axes(plan, bounds, gangs, list(body.args), at)
    thread: SSAValue = body.args[0]
    for size, arg in zip(plan.threads[1:], body.args[1:], strict=True):
        thread = at.add(at.mul(thread, at.i32(size)), arg, "thread")
    shared = tiles.Block(states, plan.thread_count, thread, firsts)
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
    groups, renewed = group_directives(nest, whole)
    written = written_variables(nest.construct)
    counter = bulk.start_counter(at, whole, shared)
    multiplier = None
    if plan.instruction is not None and plan.product is not None:
        multiplier = Multiplier(plan.product, plan.instruction, shared, plan.outputs[1])
    emitter = BlockBody(
        nest, shared, outputs, groups, made, caches, renewed, written, multiplier, counter
    )
    emitter.run(nest.operations, where_wanted(nest, states, firsts, at))
    if counter is not None:
        counter.end(at)
    results = [(output.active, output.values) for output in outputs]
    reductions.leave_partials(at, accumulators, results, thread)
    op = GangThreadsOp(plan.threads, Region(body))
    op.location = nest.loops[-1].location
    erase_unused_inside(op)  # addresses in the array of what is now read from tiles
    return op


@dataclass
class _AxisPlace:
    """
    One of a thread's iterations along an axis: the loop variable, the coordinate, and whether it exists.
    """

    variable: SSAValue
    coordinate: SSAValue
    active: SSAValue | None


def _axes(
    plan: NestPlan,
    bounds: Sequence[Bounds],
    gangs: Sequence[SSAValue],
    coordinates: Sequence[SSAValue],
    at: Cursor,
) -> tuple[list[AxisState], dict[SSAValue, SSAValue], list[list[_AxisPlace]]]:
    """
    For each mapped axis the state of the block, with its first iteration; and the thread's places along it.
    """
    states: list[AxisState] = []
    firsts: dict[SSAValue, SSAValue] = {}
    places: list[list[_AxisPlace]] = []
    for number, position in enumerate(plan.sharing.axes):
        axis, bound, width = plan.nest.axes[position], bounds[position], plan.widths[number]
        assert bound.trips is not None
        type_ = bound.type
        first = at.mul(gangs[position], at.constant(width, type_), "first")
        fixed = plan.has_fixed_width(number)
        here: SSAValue = at.i32(width)
        if not fixed:
            rest = at.sub(bound.trips, first)
            here = at.value(arith.MinSIOp(rest, at.constant(width, type_)))
            here = at.to_integer(here, i32)
            if plan.width == "synchronisation":
                here = _counted(at, plan, number, coordinates, here)
            here.name_hint = "width"
        start = _variable(at, bound, first, axis.name)
        variable = plan.nest.variables[position]
        states.append(AxisState(width, fixed, here, start))
        firsts[variable] = start
        own: list[_AxisPlace] = []
        for turn in range(plan.outputs[number]):
            coordinate = _coordinate(at, plan, number, coordinates[number], turn)
            active, number_here = None, coordinate
            if not fixed:
                active = at.value(arith.CmpiOp(coordinate, here, "slt"), "active")
                number_here = minimum(at, coordinate, at.sub(here, at.i32(1)))
            wide = at.to_integer(number_here, type_)
            iteration = at.value(arith.AddiOp(first, wide, overflow=NSW))
            own.append(_AxisPlace(_variable(at, bound, iteration, axis.name), coordinate, active))
        places.append(own)
    return states, firsts, places


def _counted(
    at: Cursor, plan: NestPlan, number: int, coordinates: Sequence[SSAValue], limit: SSAValue
) -> SSAValue:
    """
    The number of the block's iterations along an axis by the paper's synchronisation method (4.2.2): the
    threads that are first in the other direction count their iterations.
    """
    mine: SSAValue = at.i32(0)
    for turn in range(plan.outputs[number]):
        coordinate = _coordinate(at, plan, number, coordinates[number], turn)
        exists = at.value(arith.CmpiOp(coordinate, limit, "slt"), "exists")
        mine = at.add(mine, at.value(arith.ExtUIOp(exists, i32)), "mine")
    for other, place in enumerate(coordinates):
        if other != number:
            first = at.value(arith.CmpiOp(place, at.i32(0), "eq"))
            mine = at.value(arith.SelectOp(first, mine, at.i32(0)), "mine")
    return at.value(GangSumOp(mine))


def _coordinate(at: Cursor, plan: NestPlan, number: int, thread: SSAValue, turn: int) -> SSAValue:
    """
    The coordinate of a thread's output `turn` along a mapped axis: each thread takes as many neighbouring
    coordinates as one access to shared memory can load, and neighbouring threads take neighbouring groups.
    """
    together = plan.together[number]
    group, rest = divmod(turn, together)
    first = at.mul(thread, at.i32(together))
    return at.add(first, at.i32(group * together * plan.threads[number] + rest))


def _variable(at: Cursor, bound: Bounds, iteration: SSAValue, name: str) -> SSAValue:
    """The value of the loop variable in an iteration."""
    value = iteration
    if constant_value(bound.step) != 1:
        value = at.value(arith.MuliOp(value, bound.step, overflow=NSW))
    if constant_value(bound.lower) != 0:
        value = at.value(arith.AddiOp(bound.lower, value, overflow=NSW), name)
    return value


def _outputs(
    plan: NestPlan, gangs: Sequence[SSAValue], places: list[list[_AxisPlace]], at: Cursor
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
                active = at.both(active, place.active, "active")
        found.append(Output(values, [place.coordinate for place in choice], active))
    return found
