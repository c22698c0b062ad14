"""
The loops over blocks of iterations that replace a nest, and the launch shape they need.

The blocks are distributed over gangs, with a dimension of the grid for each loop of the nest, or one
dimension for all loops if other loops of the construct use the grid too or the nest reduces. For a nest in
code of a gang, the gang runs its blocks one after the other.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.dialects import acc, arith, scf
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

from ...compiler.base.names import value_name
from ...dialects.accx import CACHE_BLOCKS, NOTE, RESIDENT, WHY
from ..decisions.cache_shapes import resident_blocks
from ..decisions.launch_shape import MAX_GRID
from ..ir.ops.acc_ops import NONE, set_operand_groups
from ..ir.ops.building import Cursor, constant_value
from ..ir.ops.fixed_values import computed_before
from ..ir.ops.schedules import LoopSchedule, drop_covers, set_schedule, take_elements
from ..ir.values.region_values import HostEmitter, RegionSymbols
from ..ir.values.trip_counts import Arithmetic, Count, trip_count
from .plan import NestPlan

_WHY = "blocks of iterations that share tiles in shared memory"


@dataclass
class Bounds:
    """
    The bounds of one loop variable, computed before the nest; for mapped loops also the numbers of
    iterations and blocks.
    """

    lower: SSAValue
    upper: SSAValue
    step: SSAValue
    trips: SSAValue | None = None
    blocks: SSAValue | None = None

    @property
    def type(self) -> IntegerType:
        assert isinstance(self.lower.type, IntegerType)
        return self.lower.type

    def of_blocks(self, at: Cursor) -> tuple[SSAValue, SSAValue, SSAValue]:
        """The lower bound, upper bound and step of the loop over blocks (or iterations)."""
        if self.blocks is None:
            return self.lower, self.upper, self.step
        return at.constant(0, self.type), self.blocks, at.constant(1, self.type)


@dataclass
class _OneLoop:
    """The bounds of one loop variable in the form that `trip_count` reads."""

    lowerbound: list[SSAValue]
    upperbound: list[SSAValue]
    step: list[SSAValue]
    inclusive_upperbound: None = None


def bounds_of(at: Cursor, plan: NestPlan, position: int) -> Bounds:
    """The bounds of the nest's loop variable `position`, computed before the nest."""
    lower, upper, step = (
        computed_before(v, plan.nest.loops[0], at) for v in plan.nest.bounds[position]
    )
    found = Bounds(lower, upper, step)
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


# Loops --------------------------------------------------------------------------------------------


def loops_over_blocks(
    plan: NestPlan,
    bounds: Sequence[Bounds],
    body: Sequence[Operation],
    placeholders: Sequence[SSAValue],
    covers: Sequence[bool],
) -> Operation:
    """Makes the loops around `body`, in which `placeholders` are replaced by their variables."""
    match plan.form:
        case "within":
            return _in_order(plan, bounds, body, placeholders)
        case "line":
            return _one_loop(plan, bounds, body, placeholders)
        case "grid":
            return _grid(plan, bounds, body, placeholders, covers)


def _block(
    plan: NestPlan, positions: Sequence[int], bounds: Sequence[Bounds], old: Sequence[SSAValue]
) -> Block:
    block = Block(arg_types=[bounds[position].type for position in positions])
    for argument, position in zip(block.args, positions, strict=True):
        old[position].replace_all_uses_with(argument)
        argument.name_hint = value_name(plan.nest.axes[position].name)
    return block


def _in_order(
    plan: NestPlan, bounds: Sequence[Bounds], body: Sequence[Operation], old: Sequence[SSAValue]
) -> Operation:
    """Sequential loops, in a gang, over all blocks."""
    anchor = Cursor.before(plan.nest.loops[0])
    inside = list(body)
    for position in reversed(range(len(bounds))):
        block = _block(plan, [position], bounds, old)
        block.add_ops(inside)
        Cursor.at_end(block, anchor.loc).insert(scf.YieldOp())
        lower, upper, step = bounds[position].of_blocks(anchor)
        loop = scf.ForOp(lower, upper, step, [], Region(block))
        loop.location = anchor.loc
        inside = [loop]
    inside[0].attributes[WHY] = StringAttr(f"{_WHY}, in a gang")
    return inside[0]


def _one_loop(
    plan: NestPlan, bounds: Sequence[Bounds], body: Sequence[Operation], old: Sequence[SSAValue]
) -> acc.LoopOp:
    """One gang loop over all blocks, numbered consecutively, in the grid's first dimension."""
    anchor = Cursor.before(plan.nest.loops[0])
    block = _block(plan, range(len(bounds)), bounds, old)
    block.add_ops(body)
    triples = [bound.of_blocks(anchor) for bound in bounds]
    loop = _gang_loop(plan, anchor, block, triples, f"{_WHY}, all in one dimension of the grid")
    set_operand_groups(loop, reduction_operands=[r.op.acc_var for r in plan.nest.reductions])
    return loop


def _grid(
    plan: NestPlan,
    bounds: Sequence[Bounds],
    body: Sequence[Operation],
    old: Sequence[SSAValue],
    covers: Sequence[bool],
) -> acc.LoopOp:
    """Gang loops, each with a dimension of the grid."""
    anchor = Cursor.before(plan.nest.loops[0])
    inside = list(body)
    for position in reversed(range(len(bounds))):
        bound, name = bounds[position], plan.nest.axes[position].name
        block = _block(plan, [position], bounds, old)
        block.add_ops(inside)
        shares = bound.blocks is not None
        why = f"{_WHY}, along '{name}'" if shares else f"{_WHY}; '{name}' shares none"
        loop = _gang_loop(plan, anchor, block, [bound.of_blocks(anchor)], why)
        dim = len(plan.nest.axes) - position
        set_schedule(loop, LoopSchedule(gang_dim=dim, covers=covers[position]))
        inside = [loop]
    outermost = inside[0]
    assert isinstance(outermost, acc.LoopOp)
    set_operand_groups(outermost, reduction_operands=[r.op.acc_var for r in plan.nest.reductions])
    return outermost


def _gang_loop(
    plan: NestPlan,
    anchor: Cursor,
    block: Block,
    triples: Sequence[tuple[SSAValue, SSAValue, SSAValue]],
    why: str,
) -> acc.LoopOp:
    Cursor.at_end(block, anchor.loc).insert(acc.YieldOp())
    loop = acc.LoopOp(
        region=Region(block),
        lowerbound=[lower for lower, _, _ in triples],
        upperbound=[upper for _, upper, _ in triples],
        step=[step for _, _, step in triples],
        inclusive_upperbound=DenseArrayBase.from_list(i1, [0] * len(triples)),
        independent=NONE,
        gang=NONE,
        combined=plan.nest.loops[0].combined,
    )
    loop.location = anchor.loc
    loop.attributes[CACHE_BLOCKS] = UnitAttr()
    note = plan.nest.loops[0].attributes.get(NOTE)
    if isinstance(note, StringAttr):
        why += f"; {note.data}"
    loop.attributes[WHY] = StringAttr(why)
    return loop


# The grid -----------------------------------------------------------------------------------------


@dataclass
class CachedGrid:
    """The number of gangs in each dimension (None: unchanged), and the loops whose iterations they cover."""

    sizes: list[Count | None]
    covers: list[bool]


def grid_of(plan: NestPlan) -> CachedGrid:
    """The grid for a plan, computed before the construct; `covers` is by loop variable."""
    counts = _host_counts(plan)
    axes = len(plan.nest.axes)
    if plan.form == "within":
        return CachedGrid([], [False] * axes)
    math = Arithmetic(HostEmitter(plan.nest.construct))
    if plan.form == "line":
        known = [found[0] for found in counts if found is not None]
        if len(known) < axes:
            return CachedGrid([None], [False] * axes)
        product: Count = 1
        for count in known:
            product = math.multiply(product, count)
        return CachedGrid([math.maximum(math.minimum(product, MAX_GRID[1]), 1)], [False] * axes)
    sizes: list[Count | None] = []
    covers: list[bool] = []
    for position, found in enumerate(counts):
        if found is None:
            sizes.insert(0, None)
            covers.append(False)
            continue
        dim = axes - position
        limited = math.minimum(found[0], MAX_GRID[dim])
        fits = dim == 1 or (isinstance(found[0], int) and limited == found[0])
        sizes.insert(0, math.maximum(limited, 1))
        free = not plan.given_gangs and not plan.nest.reductions
        covers.append(found[1] and fits and free)
    return CachedGrid(sizes, covers)


def trips_before(plan: NestPlan, math: Arithmetic) -> list[tuple[Count, bool] | None]:
    """The trip count of every axis, computed before the construct as by `trip_count`."""
    symbols = RegionSymbols(plan.nest.construct)
    return [
        trip_count(_OneLoop([lower], [upper], [step]), symbols, math)  # type: ignore[arg-type]
        for lower, upper, step in plan.nest.bounds
    ]


def _host_counts(plan: NestPlan) -> list[tuple[Count, bool] | None]:
    """
    The number of blocks (or of iterations, for loops not mapped to threads) of every axis, computed before
    the construct.
    """
    if plan.form == "within":
        return []
    math = Arithmetic(HostEmitter(plan.nest.construct))
    out: list[tuple[Count, bool] | None] = []
    for position, found in enumerate(trips_before(plan, math)):
        if found is not None and position in plan.sharing.axes:
            width = plan.widths[plan.sharing.axes.index(position)]
            found = math.ceil_divide(found[0], width), found[1]
        out.append(found)
    return out


def launch(plan: NestPlan, grid: CachedGrid) -> None:
    """Sets the launch shape of the construct; other loops in it no longer rely on the old one."""
    if plan.form == "within":
        return
    construct = plan.nest.construct
    for op in construct.walk():
        if isinstance(op, acc.LoopOp) and not _is_ours(op):
            drop_covers(op)
    for loop in plan.nest.outer:
        take_elements(loop)
    emit = HostEmitter(construct)
    math = Arithmetic(emit)

    def size(count: Count) -> SSAValue:
        if isinstance(count, int):
            return emit.value(arith.ConstantOp(IntegerAttr(count, i32)), f"c{count}")
        return emit.value(arith.TruncIOp(math.value(count), i32), "num_gangs")

    x = plan.threads[-1]
    y = 1
    for other in plan.threads[:-1]:
        y *= other
    groups: dict[str, list[SSAValue]] = {"num_workers": [size(y)], "vector_length": [size(x)]}
    if not plan.given_gangs:
        old = list(construct.num_gangs)
        gangs: list[SSAValue] = []
        for dim, count in enumerate(grid.sizes):
            before = old[dim] if dim < len(old) else size(1)
            if count is None:
                gangs.append(before)
            elif plan.nest.reductions:
                gangs.append(emit.value(arith.MinSIOp(size(count), before), "num_gangs"))
            elif plan.shares_grid:
                gangs.append(emit.value(arith.MaxSIOp(size(count), before), "num_gangs"))
            else:
                gangs.append(size(count))
        gangs += old[len(gangs) :] if plan.nest.outer else []
        groups["num_gangs"] = gangs
        construct.properties["numGangsSegments"] = DenseArrayBase.from_list(i32, [len(gangs)])
    set_operand_groups(construct, **groups)
    ahead = any(planned.ahead for planned in plan.planned)
    if resident := resident_blocks(plan.threads, plan.outputs, ahead=ahead):
        construct.attributes[RESIDENT] = IntegerAttr(resident, i32)


def _is_ours(loop: acc.LoopOp) -> bool:
    return CACHE_BLOCKS in loop.attributes
