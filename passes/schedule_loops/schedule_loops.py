"""
Map loops to gangs, workers and lanes, and give every construct a launch shape (OpenACC 3.4, 2.9).

Takes:  data level; every construct is an acc.parallel.
Leaves: the scheduled level of docs/design.md: sizes on every construct, `seq` or levels on every
        loop (`accx.schedule`, `accx.why`). Loops outside of constructs and routines are `seq`.
Fails:  on levels nested against the specification, and on a size that is only known inside the construct.

The decisions are in `decisions/schedule.py`. Options: `target` is `nvptx` or `host`; `strategy` is
`auto` or one of the numbered nest schedules there, which applies to every tight nest of its depth;
`rows`, `elements` and `lanes` set the iterations of a nest's outermost loop side by side, the iterations
per thread, and the threads, where the program leaves them open. For tuners: `space` lists a GPU construct's
legal schedules in `accx.schedules` (`decisions/schedule_space.py`), the default first, and
`choose="f.c:7=2"` takes the third of them for the first construct of that line (`f.c:7#1=2`: for its
second). With `sizes=as-written`, the pipeline's `free-mapping` keeps the clauses, which this pass honours.
`most="f.c:7=2"`: no more than two iterations side by side in the constructs of that line.

Before:
  acc.parallel {
    acc.loop control(%i : i32) = (%c0 : i32) to (%n : i32) step (%c1 : i32) { ... }
        attributes {independent = [#acc.device_type<none>]}
  }
After:
  %gangs = ... ceil(%n / (256 * 4)), at least 1 ...
  acc.parallel num_gangs({%gangs : i32}) num_workers(%c1 : i32) vector_length(%c256 : i32) {
    acc.loop gang vector control(%i : i32) = ... attributes {
        accx.schedule = #accx.schedule<elements = 4, covers>, accx.why = "..."}
  }
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Literal

from xdsl.context import Context
from xdsl.dialects import acc, arith, llvm
from xdsl.dialects.builtin import (
    ArrayAttr,
    DenseArrayBase,
    IntegerAttr,
    ModuleOp,
    StringAttr,
    i32,
)
from xdsl.ir import SSAValue
from xdsl.passes import ModulePass

from ...compiler.base.diagnostics import error
from ...dialects.accx import (
    FALLBACK,
    GIVEN_SIZES,
    NOTE,
    SCHEDULES,
    WHY,
)
from ..decisions.launch_shape import (
    DEFAULT_GANGS,
    HOST_GANGS,
    HOST_REDUCED,
    MAX_GANGS,
    MAX_GRID,
    MAX_THREADS,
    REDUCING_GANGS,
    RESIDENT_GANGS,
    Sizes,
)
from ..decisions.levels import Level
from ..decisions.loop_tree import LoopNode
from ..decisions.schedule import (
    LoopPlan,
    Schedule,
    ScheduleTuning,
    Strategy,
    Target,
    plan_construct,
)
from ..decisions.schedule_space import alternatives, describe
from ..ir.loops.loop_facts import LoopForest, gang_argument, loop_forest
from ..ir.ops.acc_ops import (
    NONE,
    bit_width,
    callee_of,
    drop_levels,
    loops_in,
    set_operand_groups,
    set_prop,
    source_loc,
)
from ..ir.ops.building import constant_value
from ..ir.ops.levels import routine_level
from ..ir.ops.machine import machine_of
from ..ir.ops.schedules import LoopSchedule, schedule_of, set_schedule
from ..ir.values.region_values import HostEmitter, RegionSymbols
from ..ir.values.trip_counts import Arithmetic, Count, trip_count
from .schedule_choices import construct_keys, parse_choices

LevelOf = Callable[[str], Level]
Roots = list[LoopNode]


# Reading the user's sizes.


def _clause_size(construct: acc.ParallelOp, group: str, emit: HostEmitter) -> list[SSAValue]:
    """The values of a size clause for every device type, as i32."""
    operands = getattr(construct, group)
    properties = {
        "num_gangs": (construct.num_gangs_device_type, construct.num_gangs_segments),
        "num_workers": (construct.num_workers_device_type, None),
        "vector_length": (construct.vector_length_device_type, None),
    }
    types, segments = properties[group]
    if not operands:
        return []
    if types is None:
        return [_as_i32(value, emit) for value in operands]
    counts = [int(n) for n in segments.get_values()] if segments is not None else [1] * len(types)
    start = 0
    for type_, count in zip(types, counts, strict=True):
        if type_.data is acc.DeviceType.NONE:
            return [_as_i32(value, emit) for value in operands[start : start + count]]
        start += count
    return []


def _as_i32(value: SSAValue, emit: HostEmitter) -> SSAValue:
    if value.type == i32:
        return value
    if (bit_width(value.type) or 64) < 32:
        return emit.value(arith.ExtSIOp(value, i32), value.name_hint)
    return emit.value(arith.TruncIOp(value, i32), value.name_hint)


def _loop_sizes(
    construct: acc.ParallelOp, symbols: RegionSymbols, emit: HostEmitter
) -> dict[str, SSAValue]:
    """Sizes given on loops (gang(num:), worker(n), vector(n), in former kernels constructs)."""
    found: dict[str, SSAValue] = {}
    for loop in loops_in(construct):
        given = {
            "num_gangs": gang_argument(loop, acc.GangArgType.NUM),
            "num_workers": next(iter(loop.worker_num_operands), None),
            "vector_length": next(iter(loop.vector_operands), None),
        }
        for group, value in given.items():
            if value is None or group in found:
                continue
            copied = emit.copy_expression(value, symbols)
            if copied is None:
                raise error(
                    source_loc(loop),
                    f"the {group} value of this loop is only known inside the construct",
                    "use a constant, or a variable set before the construct",
                )
            found[group] = _as_i32(copied, emit)
    return found


@dataclass
class _Given:
    gangs: list[SSAValue]
    workers: SSAValue | None
    lanes: SSAValue | None

    def names(self) -> list[str]:
        """The names of the sizes that clauses give."""
        groups = {
            "num_gangs": bool(self.gangs),
            "num_workers": self.workers is not None,
            "vector_length": self.lanes is not None,
        }
        return [name for name, is_given in groups.items() if is_given]

    def sizes(self) -> Sizes:
        values = [*self.gangs, self.workers, self.lanes]
        single = len(self.gangs) == 1 and all(
            v is not None and constant_value(v) == 1 for v in values
        )
        return Sizes(
            gangs=bool(self.gangs),
            workers=None if self.workers is None else constant_value(self.workers),
            lanes=None if self.lanes is None else constant_value(self.lanes),
            dynamic_lanes=self.lanes is not None and constant_value(self.lanes) is None,
            single=single,
        )


def _given_sizes(construct: acc.ParallelOp, symbols: RegionSymbols, emit: HostEmitter) -> _Given:
    on_loops = _loop_sizes(construct, symbols, emit)

    def size(group: str) -> list[SSAValue]:
        values = _clause_size(construct, group, emit)
        return values or ([on_loops[group]] if group in on_loops else [])

    workers, lanes = size("num_workers"), size("vector_length")
    return _Given(size("num_gangs"), workers[0] if workers else None, lanes[0] if lanes else None)


# Launch sizes.


class _LaunchShape:
    """Computes the launch shape of one construct."""

    def __init__(
        self,
        construct: acc.ParallelOp,
        symbols: RegionSymbols,
        emit: HostEmitter,
        given: _Given,
        schedule: Schedule,
        host: bool,
    ):
        self.construct = construct
        self.symbols = symbols
        self.emit = emit
        self.given = given
        self.schedule = schedule
        self.host = host
        self.math = Arithmetic(emit)
        self.gangs: dict[int, Count] = {}
        self.covered: set[LoopNode] = set()
        self.shared: set[int] = set()
        """The dimensions of the grid whose gangs are limited together with those of the others."""

    def i32(self, value: int) -> SSAValue:
        key = ("i32", value)
        if key not in self.emit.values:
            constant = arith.ConstantOp(IntegerAttr(value, i32))
            self.emit.values[key] = self.emit.value(constant, f"c{value}")
        return self.emit.values[key]

    def block(self) -> tuple[SSAValue, SSAValue]:
        """`num_workers` and `vector_length`, within the device's limit."""
        workers, lanes = self.schedule.num_workers, self.schedule.vector_length
        given_lanes, given_workers = self.given.lanes, self.given.workers
        if self.host:
            return self.i32(1), self.i32(1)
        dynamic = given_lanes is not None and constant_value(given_lanes) is None
        if not dynamic and (given_workers is None or constant_value(given_workers) is not None):
            return self.i32(workers), self.i32(lanes)
        lane_value = self._clamped(given_lanes, MAX_THREADS) if given_lanes else self.i32(lanes)
        room = self.emit.value(arith.DivSIOp(self.i32(MAX_THREADS), lane_value))
        wanted = self._clamped(given_workers, MAX_THREADS) if given_workers else self.i32(workers)
        return self.emit.value(arith.MinSIOp(wanted, room), "num_workers"), lane_value

    def _clamped(self, value: SSAValue, limit: int) -> SSAValue:
        least = self.emit.value(arith.MaxSIOp(value, self.i32(1)))
        return self.emit.value(arith.MinSIOp(least, self.i32(limit)), value.name_hint)

    def _tile(self, node: LoopNode, plan: LoopPlan, workers: SSAValue, lanes: SSAValue) -> Count:
        """The iterations that one gang takes at a time."""
        if self.host:
            return HOST_REDUCED if node.reduction and node.streaming else 1
        tile: Count = plan.elements
        for level, value in ((Level.WORKER, workers), (Level.VECTOR, lanes)):
            if level in plan.levels:
                known = constant_value(value)
                wide = self.emit.symbol(value) if known is None else known
                tile = self.math.multiply(tile, wide)
        return tile

    def gangs_for(
        self, node: LoopNode, loop: acc.LoopOp, workers: SSAValue, lanes: SSAValue
    ) -> None:
        """Records enough gangs in the loop's dimension for its iterations, and whether they cover it."""
        plan = self.schedule.loops[node]
        trip = trip_count(loop, self.symbols, self.math)
        dim = plan.gang_dim
        if trip is None:
            self._at_least(dim, HOST_GANGS if self.host else DEFAULT_GANGS)
            return
        count, exact = trip
        tile = self._tile(node, plan, workers, lanes)
        count = self.math.ceil_divide(count, tile)
        enough = isinstance(count, int) and count <= MAX_GRID[dim]
        if dim == 1 or not plan.by_clause:
            enough = enough or self._fits(loop, tile)
        covered = exact and enough and not self.host and not plan.capped
        limit = MAX_GANGS if covered else MAX_GRID[dim]
        if plan.capped and dim > 1 and not self.host:
            self.shared.add(dim)
        elif self.host or plan.capped:
            limit = HOST_GANGS if self.host else RESIDENT_GANGS
        self._at_least(dim, self.math.minimum(count, limit))
        if covered:
            self.covered.add(node)

    def _fits(self, loop: acc.LoopOp, tile: Count) -> bool:
        """Whether 2^31 gangs, in parts of a launch if the grid cannot have them, are always enough."""
        bits = sum(bit_width(value.type) or 64 for value in loop.upperbound)
        return bits <= 32 or (isinstance(tile, int) and tile >= WARP_TILE)

    def _at_least(self, dim: int, count: Count) -> None:
        known = self.gangs.get(dim)
        self.gangs[dim] = count if known is None else self.math.maximum(known, count)

    def grid(self) -> list[SSAValue]:
        """The values of `num_gangs`: the user's, or enough for the loops, at least 1 in each dimension."""
        if self.given.gangs:
            self.covered.clear()
            return [
                value if (constant_value(value) or 0) >= 1 else self._positive(value)
                for value in self.given.gangs
            ]
        self._limit_shared()
        sizes: list[SSAValue] = []
        for dim in range(1, max(self.gangs, default=1) + 1):
            if dim not in self.gangs:
                sizes.append(self.i32(1))
                continue
            count = self.math.maximum(self.gangs[dim], 1)
            if isinstance(count, int):
                sizes.append(self.i32(count))
            else:
                sizes.append(self.emit.value(arith.TruncIOp(count, i32), "num_gangs"))
        return sizes

    def _limit_shared(self) -> None:
        """Limits the gangs of all dimensions together by those of the dimensions `shared`."""
        for dim in sorted(self.shared):
            others: Count = 1
            for other, gangs in self.gangs.items():
                if other != dim:
                    others = self.math.multiply(others, self.math.maximum(gangs, 1))
            most = self.math.ceil_divide(REDUCING_GANGS, others)
            self.gangs[dim] = self.math.minimum(self.gangs[dim], most)

    def _positive(self, value: SSAValue) -> SSAValue:
        return self.emit.value(arith.MaxSIOp(value, self.i32(1)), "num_gangs")


WARP_TILE = 32
"""With this many iterations per gang, 2^31 gangs cover more elements than any memory has."""


# Writing the schedule into the IR.


def write_loop(loop: acc.LoopOp, plan: LoopPlan, covered: bool) -> None:
    """Writes the levels of one loop in place of its clauses."""
    drop_levels(loop)
    for name in ("auto_", "independent", "seq"):
        set_prop(loop, name, None)
    for level, name in (
        (Level.GANG, "gang"),
        (Level.WORKER, "worker"),
        (Level.VECTOR, "vector"),
    ):
        if level in plan.levels:
            set_prop(loop, name, NONE)
    set_prop(loop, "independent" if plan.levels else "seq", NONE)
    set_schedule(
        loop,
        LoopSchedule(
            plan.gang_dim if Level.GANG in plan.levels else 1,
            plan.elements if plan.elements > 1 else schedule_of(loop).elements,
            covered,
            plan.by_clause,
        ),
    )
    note = loop.attributes.get(NOTE)
    if WHY not in loop.attributes or plan.levels:
        after = f"; {note.data}" if isinstance(note, StringAttr) else ""
        loop.attributes[WHY] = StringAttr(plan.why + after)


@dataclass(frozen=True)
class Policy:
    """The pass's options for deciding schedules; `choices` are indices into the schedule space."""

    target: Target
    strategy: Strategy
    tuning: ScheduleTuning
    choices: Mapping[str, int]
    most: Mapping[str, int]
    list_space: bool

    def decide(self, construct: acc.ParallelOp, key: str, roots: Roots, sizes: Sizes) -> Schedule:
        """The schedule of one construct, whose name in `choices` is `key`."""
        chosen = self.choices.get(key)
        most = self.most.get(key.partition("#")[0], 0)
        tuning = replace(self.tuning, most=1 if FALLBACK in construct.attributes else most)
        if self.target == "host" or (chosen is None and not self.list_space):
            return plan_construct(roots, sizes, self.target, self.strategy, Level.GANG, tuning)
        space = alternatives(roots, sizes, self.strategy, tuning)
        if self.list_space:
            lines = [StringAttr(describe(schedule)) for schedule in space]
            construct.attributes[SCHEDULES] = ArrayAttr(lines)
        if (chosen or 0) >= len(space):
            raise error(
                source_loc(construct),
                f"schedule {chosen} of '{key}' does not exist",
                f"it has 0 to {len(space) - 1} (accopt --schedules lists them)",
            )
        return space[chosen or 0]


def schedule_construct(
    construct: acc.ParallelOp, key: str, policy: Policy, level_of: LevelOf
) -> None:
    """Decides and writes the schedule of one construct."""
    symbols = RegionSymbols(construct)
    emit = HostEmitter(construct)
    given = _given_sizes(construct, symbols, emit)
    forest = loop_forest(construct, symbols, level_of)
    schedule = policy.decide(construct, key, forest.roots, given.sizes())
    launch = _LaunchShape(construct, symbols, emit, given, schedule, policy.target == "host")
    workers, lanes = launch.block()
    if not given.gangs:
        _needed_gangs(launch, forest, workers, lanes, construct, level_of)
    grid = launch.grid()
    for node, loop in forest.loops.items():
        write_loop(loop, schedule.loops[node], node in launch.covered)
    set_operand_groups(construct, num_gangs=grid, num_workers=[workers], vector_length=[lanes])
    names = given.names()
    if names:
        construct.attributes[GIVEN_SIZES] = ArrayAttr([StringAttr(name) for name in names])
    construct.properties["numGangsSegments"] = DenseArrayBase.from_list(i32, [len(grid)])
    construct.properties["numGangsDeviceType"] = NONE
    construct.properties["numWorkersDeviceType"] = NONE
    construct.properties["vectorLengthDeviceType"] = NONE


def _needed_gangs(
    launch: _LaunchShape,
    forest: LoopForest,
    workers: SSAValue,
    lanes: SSAValue,
    construct: acc.ParallelOp,
    level_of: LevelOf,
) -> None:
    for node, loop in forest.loops.items():
        if Level.GANG in launch.schedule.loops[node].levels:
            launch.gangs_for(node, loop, workers, lanes)
    calls_gang = any(
        (name := callee_of(op)) is not None and level_of(name) is Level.GANG
        for op in construct.walk()
    )
    if calls_gang and 1 not in launch.gangs:
        launch.gangs[1] = HOST_GANGS if launch.host else DEFAULT_GANGS


def _schedule_routines(
    module: ModuleOp, target: Target, strategy: Strategy, level_of: LevelOf
) -> set[acc.LoopOp]:
    """Schedules the loops of routines, with levels no wider than the routine's; returns these loops."""
    done: set[acc.LoopOp] = set()
    routines = [op for op in module.body.block.ops if isinstance(op, acc.RoutineOp)]
    levels = {op.func_name.string_value(): routine_level(op) for op in routines}
    for function in module.body.block.ops:
        if not isinstance(function, llvm.FuncOp) or function.sym_name.data not in levels:
            continue
        symbols = RegionSymbols(function)
        forest = loop_forest(function, symbols, level_of)
        widest = levels[function.sym_name.data]
        schedule = plan_construct(forest.roots, Sizes(), target, strategy, widest)
        for node, loop in forest.loops.items():
            plan = schedule.loops[node]
            plan = replace(plan, elements=1, capped=True)
            write_loop(loop, plan, False)
            done.add(loop)
    return done


@dataclass(frozen=True)
class ScheduleLoopsPass(ModulePass):
    """See the module's description."""

    name = "schedule-loops"

    target: Target | None = None
    strategy: Strategy = "auto"
    rows: int = 0
    elements: int = 0
    lanes: int = 0
    space: bool = False
    choose: tuple[str, ...] = ()
    most: tuple[str, ...] = ()
    sizes: Literal["advice", "as-written"] = "advice"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        target = self.target or machine_of(op).target
        levels = {
            inner.func_name.string_value(): routine_level(inner)
            for inner in op.body.block.ops
            if isinstance(inner, acc.RoutineOp)
        }

        def level_of(name: str) -> Level:
            return levels.get(name, Level.SEQ)

        done = _schedule_routines(op, target, self.strategy, level_of)
        tuning = ScheduleTuning(self.rows, self.elements, self.lanes)
        keys = construct_keys(op)
        choices = parse_choices("choose", self.choose, keys.values())
        most = parse_choices("most", self.most, keys.values())
        policy = Policy(target, self.strategy, tuning, choices, most, self.space)
        for construct, key in keys.items():
            schedule_construct(construct, key, policy, level_of)
            done.update(loops_in(construct))
        for loop in [inner for inner in op.walk() if isinstance(inner, acc.LoopOp)]:
            if loop not in done:
                write_loop(loop, LoopPlan(why="host code"), False)
