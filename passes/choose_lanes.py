"""
Choose at run time how many lanes work on each row, in a loop over rows of different lengths.

Takes:  data level, before scheduling.
Leaves: a construct whose outer parallel loop takes rows over gangs and workers and whose inner parallel
        loop, or several with the same bounds, has its bounds loaded per row, without sizes given by the
        user, as one version per number of lanes (`decisions/lane_choice.py`): clones with constant
        num_workers and vector_length, chosen by the mean length of a row, which the runtime reads from the
        device; a thread takes short rows under a condition. The same for rows of triangles (`j < i`) where no
        directive asks for lanes, by the length of the middle one. `accx.note` on the inner loops says which
        version they are. Other constructs are untouched.
Fails:  never.

Before:
  acc.parallel dataOperands(%offsets_1, …) {
    acc.loop gang worker control(%i : i32) = (%c0 : i32) to (%rows : i32) step (%c1 : i32) {
      %start = … load %offsets_1[%i] …
      %end = … load %offsets_1[%i + 1] …
      acc.loop vector control(%j : i32) = (%start : i32) to (%end : i32) step (%c1 : i32) { … }
    }
  }
After:
  %first = llvm.getelementptr %offsets_1[0] …
  %past = llvm.getelementptr %offsets_1[1] …
  %mean = llvm.call @__accopt_mean_trip(%first, %past, %rows, 4, 4)
  %fits = arith.cmpi sle, %mean, 48
  scf.if %fits {
    acc.parallel dataOperands(%offsets_1, …) num_workers(64) vector_length(4) { … }
  } else {
    … 8 lanes up to 96, 16 up to 192, else 32 …
  }

Options: `target`: only `nvptx` does anything. `elements`: the entries that a lane loads side by side
(default: see `decisions/lane_choice.py`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import reduce

from xdsl.context import Context
from xdsl.dialects import acc, arith
from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.ir import SSAValue
from xdsl.passes import ModulePass

from ..dialects.accx import IN_ORDER, NOTE, WHY
from .decisions.lane_choice import ELEMENTS as SIDE_BY_SIDE
from .decisions.lane_choice import LaneVersion, RowFacts, lane_versions
from .decisions.launch_shape import COMPUTE_LANES, Sizes
from .decisions.levels import Level
from .decisions.loop_tree import LoopNode
from .decisions.polynomials import ZERO, Polynomial
from .decisions.schedule import Target, plan_construct
from .ir.kernels.runtime_calls import RuntimeCalls
from .ir.loops.loop_facts import LoopForest, loop_forest, stores_to_memory
from .ir.loops.row_bounds import Bound, Bounds, loaded_bounds, triangle_length
from .ir.loops.seq_loops import is_plain_seq, to_for_loops
from .ir.ops.acc_ops import (
    MAPPING_OPS,
    child_loops,
    enclosing_module,
    tuned_constructs,
)
from .ir.ops.building import PTR, Cursor, constant_value
from .ir.ops.layout import size_of
from .ir.ops.levels import routine_level
from .ir.ops.loop_order import make_sequential
from .ir.ops.machine import machine_of
from .ir.ops.schedules import schedule_of, set_schedule
from .ir.ops.versions import (
    can_have_versions,
    copy_construct,
    erase_original,
    give_block,
    queue_outside,
)
from .ir.values.region_values import HostEmitter, RegionSymbols
from .ir.values.trip_counts import Arithmetic, Count, trip_count
from .ir.variables.reduction_reads import use_variables

LevelOf = Callable[[str], Level]


@dataclass(frozen=True)
class Rows:
    """
    A construct's loop over rows and the loops over a row's entries, which arrays bound for each row
    (`bounds`), or of which each has a row of a triangle (`lengths`).
    """

    construct: acc.ParallelOp
    outer: acc.LoopOp
    inner: tuple[acc.LoopOp, ...]
    bounds: Bounds | None
    lengths: tuple[tuple[Polynomial, Polynomial], ...] = ()


# Recognising rows.


def _open_sizes(construct: acc.ParallelOp) -> bool:
    """Whether the program gives no block sizes, and the construct can have versions."""
    if construct.num_workers or construct.vector_length or not can_have_versions(construct):
        return False
    return not any(
        loop.worker_num_operands or loop.vector_operands
        for loop in construct.walk()
        if isinstance(loop, acc.LoopOp)
    )


def _nest(forest: LoopForest) -> tuple[LoopNode, list[LoopNode]] | None:
    """
    The loop over rows and those over entries, if they are the only parallel loops of the construct; else
    None.
    """
    if len(forest.roots) != 1:
        return None
    root = forest.roots[0]
    inner = [n for n in root.walk() if n is not root and (n.parallel or bool(n.levels))]
    if not inner or any(n not in root.children or n.children for n in inner):
        return None
    if any(node.routine > Level.SEQ for node in root.walk()):
        return None
    return root, inner


def _rows_go_to_workers(forest: LoopForest) -> bool:
    """Whether the default schedule assigns each row to a worker, whose lanes share its entries."""
    nest = _nest(forest)
    if nest is None:
        return False
    root, inner = nest
    plan = plan_construct(forest.roots, Sizes(), "nvptx")
    if plan.loops[root].levels != frozenset((Level.GANG, Level.WORKER)):
        return False
    if any(plan.loops[node].levels != frozenset((Level.VECTOR,)) for node in inner):
        return False
    return all(node.trip is None and not node.host_trip for node in inner)


def _is_readable(bound: Bound | None) -> bool:
    """Whether the runtime can read a bound before the construct: of an array of a data clause."""
    if bound is None:
        return True
    clause = bound.array.owner
    if not isinstance(clause, MAPPING_OPS) or isinstance(clause, acc.NoCreateOp):
        return False
    return not isinstance(clause, acc.DevicePtrOp) or isinstance(bound.load.parent_op(), acc.LoopOp)


def find_rows(construct: acc.ParallelOp, level_of: LevelOf) -> Rows | None:
    """The loops of `construct` for which lanes can be chosen; None if there are none."""
    if not _open_sizes(construct):
        return None
    symbols = RegionSymbols(construct)
    forest = loop_forest(construct, symbols, level_of, measured=False)
    nest = _nest(forest)
    if nest is None:
        return None
    outer, inner = forest.loops[nest[0]], [forest.loops[node] for node in nest[1]]
    if len(outer.lowerbound) != 1 or constant_value(outer.step[0]) != 1:
        return None
    if not _rows_go_to_workers(loop_forest(construct, symbols, level_of)):
        return None
    bounds = {loaded_bounds(loop, outer, symbols) for loop in inner}
    if None not in bounds:
        (same, *more) = bounds
        readable = not more and same is not None and all(map(_is_readable, same))
        return Rows(construct, outer, tuple(inner), same) if readable else None
    if not all(WHY in loop.attributes for loop in inner):
        return None
    lengths = [triangle_length(loop, outer, symbols) for loop in inner]
    known = tuple(length for length in lengths if length is not None)
    grows = any(factor != ZERO for _, factor in known)
    all_known = grows and len(known) == len(lengths)
    return Rows(construct, outer, tuple(inner), None, known) if all_known else None


# Versions.


def _mean(rows: Rows) -> SSAValue | None:
    """The mean number of entries of a row (i64), computed before the construct."""
    symbols = RegionSymbols(rows.construct)
    emit = HostEmitter(rows.construct)
    math = Arithmetic(emit)
    trip = trip_count(rows.outer, symbols, math)
    begin = symbols.polynomial(rows.outer.lowerbound[0])
    if trip is None or begin is None:
        return None
    mean = (
        _mean_of_triangle(rows, begin, trip[0], emit)
        if rows.bounds is None
        else _mean_loaded(rows, rows.bounds, begin, trip[0], emit)
    )
    mean.name_hint = "mean"
    return mean


def _mean_of_triangle(rows: Rows, begin: Polynomial, trips: Count, emit: HostEmitter) -> SSAValue:
    """The length of the longest loop in the middle row."""
    math = Arithmetic(emit)
    middle = math.add(emit.emit(begin), math.divide(trips, 2))
    lengths: list[Count] = [
        math.add(emit.emit(fixed), math.multiply(emit.emit(factor), middle))
        for fixed, factor in rows.lengths
    ]
    return math.value(reduce(math.maximum, lengths))


def _mean_loaded(
    rows: Rows, bounds: Bounds, begin: Polynomial, trips: Count, emit: HostEmitter
) -> SSAValue:
    """The mean that the runtime reads from the arrays with the bounds."""
    variable = rows.outer.region.block.args[0]
    at = Cursor.before(rows.construct)

    def first(bound: Bound | None, hint: str) -> SSAValue:
        if bound is None:
            return at.zero(PTR)
        index = bound.index.substitute(variable, begin)
        assert index is not None
        return at.element(bound.array, emit.emit(index), bound.type, hint)

    lower, upper = first(bounds[0], "first"), first(bounds[1], "past")
    number = emit.i64(trips) if isinstance(trips, int) else trips
    size = size_of(bounds[1].type)
    calls = RuntimeCalls.in_module(enclosing_module(rows.construct))
    arguments = (lower, upper, number, at.i64(size), at.i32(size))
    return calls.value(at, "__accopt_mean_trip", *arguments)


def _version(construct: acc.ParallelOp, version: LaneVersion, elements: int, at: Cursor) -> None:
    """A copy of the construct with the version's block shape, at `at`."""
    copy = copy_construct(construct, at)
    if version.lanes == 1:
        give_block(copy, 1, COMPUTE_LANES)
        for loop in _rows_in(copy):
            use_variables(loop, list(loop.reduction_operands))
            make_sequential(loop, f"rows of at most {version.longest} iterations on average")
            if is_plain_seq(loop):
                to_for_loops(loop)
        return
    give_block(copy, version.workers, version.lanes)
    rows = "rows of any length"
    if version.longest is not None:
        rows = f"rows of at most {version.longest} iterations on average"
    for loop in _rows_in(copy):
        loop.attributes[NOTE] = StringAttr(f"the version for {rows}")
        set_schedule(loop, replace(schedule_of(loop), elements=elements))


def _rows_in(construct: acc.ParallelOp) -> list[acc.LoopOp]:
    """The loops over entries of a construct."""
    return [loop for outer in child_loops(construct) for loop in child_loops(outer)]


def _row_facts(rows: Rows) -> RowFacts:
    """What decides how many lanes the rows have."""
    loops = rows.inner
    return RowFacts(
        conditional=any(loop.parent_op() is not rows.outer for loop in loops),
        asked=not any(WHY in loop.attributes for loop in loops),
        stores=any(map(stores_to_memory, loops)),
        in_order=any(IN_ORDER in loop.attributes for loop in loops),
        all_in_order=all(IN_ORDER in loop.attributes for loop in loops),
    )


def make_versions(rows: Rows, elements: int = SIDE_BY_SIDE) -> bool:
    """Replaces the construct by its versions; False, without a change, if the mean cannot be computed."""
    construct = rows.construct
    if not queue_outside(construct):
        return False
    mean = _mean(rows)
    if mean is None:
        return False
    at = Cursor.before(construct)
    for version in lane_versions(_row_facts(rows)):
        if version.longest is None:
            _version(construct, version, elements, at)
            break
        longest = at.i64(version.longest)
        fits = at.value(arith.CmpiOp(mean, longest, "sle"), "fits")
        then, at = at.if_else(fits)
        _version(construct, version, elements, then)
    erase_original(construct)
    return True


@dataclass(frozen=True)
class ChooseLanesPass(ModulePass):
    """See the contract at the top of this file."""

    name = "choose-lanes"

    target: Target | None = None
    elements: int = SIDE_BY_SIDE

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        target = self.target or machine_of(op).target
        if target != "nvptx":
            return
        levels = {
            inner.func_name.string_value(): routine_level(inner)
            for inner in op.body.block.ops
            if isinstance(inner, acc.RoutineOp)
        }
        for construct in tuned_constructs(op):
            rows = find_rows(construct, lambda name: levels.get(name, Level.SEQ))
            if rows is not None and not make_versions(rows, self.elements):
                rows.inner[0].attributes[NOTE] = StringAttr(
                    "lanes not chosen by the rows' lengths: the number of rows is not known before"
                    " the construct"
                )
