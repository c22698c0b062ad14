"""
Give short rows fewer lanes: choose at launch between versions of a nest by the length of its rows.

Lanes share the innermost loop of a nest, so that they access neighbouring elements together. If it has few
iterations, most lanes are idle. The number of iterations is often known only at run time.

Takes:  data level, nests in their final order, a loop for each variable of a collapsed one, bounds of inner
        loops computed before the construct.
Leaves: a construct that is such a nest (`decisions/short_rows.py`), without levels and sizes, of which the
        innermost loop, or several in one loop, contain no loop, is in an `scf.if` on the number of
        iterations of the longest of them. If the nest is tight, its first version, for short rows, is one
        loop of several variables. If other statements are beside the innermost loops, these are `seq` in
        the first version, and the construct has several workers of a few lanes, for a row each, in the
        others; each needs enough rows to fill a device. The last version is unchanged, except for a warp for
        each row if the order of a sum counts; before it is one of wide gangs, for long rows that several
        loops read. If the number of iterations is a constant, there are only the versions for it. A note on
        the construct says so. Other constructs are unchanged, also those with several nests, with a
        reduction over rows, with a `cache` directive, or with a queue or wait clause that versions cannot
        have.
Fails:  never.

Before:
  acc.parallel {
    acc.loop control(%i : i32) = … {
      acc.loop control(%j : i32) = (%c0 : i32) to (%m : i32) step (%c1 : i32) {
        … a[%i * %m + %j] …
      }
  } }
After:
  %short_rows = arith.cmpi slt, %trip, %c128 : i64
  scf.if %short_rows {
    acc.parallel { acc.loop control(%i : i32, %j : i32) = (%c0, %c0) to (%n, %m) … { … } }
  } else {
    acc.parallel { acc.loop … { acc.loop … } }
  }

Options: `target` (`host`: nothing to do). `threads`: the threads of all rows together from which on a version
for short rows runs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import Literal

from xdsl.dialects import acc, arith, llvm, scf
from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.ir import SSAValue

from ..dialects.accx import IN_ORDER, NOTE
from ..dialects.accx_element import ElementOp
from .decisions.device import WARP
from .decisions.lane_choice import BLOCK
from .decisions.launch_shape import COMPUTE_LANES
from .decisions.polynomials import Polynomial
from .decisions.short_rows import (
    MANY_THREADS,
    MOST_SHORT_ITERATIONS,
    SIDE_BY_SIDE,
    RowAccess,
    RowLoop,
    RowVersion,
    row_versions,
    wide_versions,
)
from .ir.loops.joining import join
from .ir.loops.loop_facts import is_tight, stores_to_memory
from .ir.ops.acc_ops import (
    PRIVATIZING_OPS,
    child_loops,
    hands_on,
    is_defined_inside,
    loops_around,
    loops_in,
    tuned_constructs,
)
from .ir.ops.building import Cursor, constant_value
from .ir.ops.gpu_pass import GpuPass
from .ir.ops.levels import is_parallel, loop_levels
from .ir.ops.loop_order import make_sequential
from .ir.ops.machine import machine_of
from .ir.ops.notes import note
from .ir.ops.purity import only_computes
from .ir.ops.schedules import schedule_of, set_schedule
from .ir.ops.versions import (
    copy_construct,
    give_block,
    move_construct,
    ready_for_versions,
)
from .ir.values.addresses import base_of
from .ir.values.region_values import HostEmitter, RegionSymbols
from .ir.values.stable_loads import distance_from_base
from .ir.values.trip_counts import Arithmetic, Count, trip_count

_INNER_LOOPS = (acc.LoopOp, scf.ForOp, scf.WhileOp, scf.ExecuteRegionOp)


_CHEAP = (
    *(arith.ConstantOp, ElementOp, arith.AddiOp, arith.SubiOp, arith.MuliOp),
    *(arith.ExtSIOp, arith.ExtUIOp, arith.TruncIOp),
)


def _is_open(loop: acc.LoopOp) -> bool:
    """Whether the schedule may give a loop of one variable any level."""
    one = len(loop.lowerbound) == 1 and not loop.tile_operands
    return one and is_parallel(loop) and not loop_levels(loop) and not hands_on(loop)


def rows_of(construct: acc.ParallelOp) -> list[acc.LoopOp]:
    """
    The innermost loops of a construct that is one nest of parallel loops, without levels, sizes and sections
    to cache, if they are in one loop, their bounds are the same, and known before the nest, their step is 1,
    they have no loops inside, and no other loop reduces anything; else an empty list.
    """
    loops = list(loops_in(construct))
    if len(child_loops(construct)) != 1 or len(loops) < 2 or not all(map(_is_open, loops)):
        return []
    if construct.num_gangs or construct.num_workers or construct.vector_length:
        return []
    around = [loop for loop in loops if child_loops(loop)]
    rows = child_loops(around[-1])
    if len(around) + len(rows) != len(loops) or any(loop.reduction_operands for loop in around):
        return []
    if any(loop.cache_operands for loop in loops):
        return []
    if any(isinstance(op, (*_INNER_LOOPS, acc.CacheOp)) for r in rows for op in r.region.walk()):
        return []
    if any(constant_value(row.step[0]) != 1 for row in rows):
        return []
    bounds = [value for row in rows for value in (*row.lowerbound, *row.upperbound)]
    return [] if any(is_defined_inside(value, loops[0]) for value in bounds) else rows


def _slope(address: Polynomial, variable: SSAValue) -> Polynomial | None:
    parts = address.split(variable)
    return None if parts is None else parts[1]


def _row_access(pointer: SSAValue, row: acc.LoopOp, symbols: RegionSymbols) -> RowAccess:
    around = next(loops_around(row))
    address = distance_from_base(pointer, symbols)
    if address is None:
        return RowAccess(None, None)
    inner, outer = row.region.block.args[-1], around.region.block.args[-1]
    across, step = _slope(address, outer), symbols.polynomial(around.step[-1])
    across = None if across is None or step is None else _in_rows(across * step, row, symbols)
    return RowAccess(_slope(address, inner), across, base_of(pointer))


def _in_rows(across: Polynomial, row: acc.LoopOp, symbols: RegionSymbols) -> Polynomial:
    """
    Bytes in the number of iterations of `row`, if that is the quotient `len / 2` of a number that they are
    computed from. (A rest does not matter to a choice of lanes.)
    """
    length = row.upperbound[0]
    op = length.owner
    if not isinstance(op, arith.DivSIOp | arith.DivUIOp | arith.ShRSIOp | arith.ShRUIOp):
        return across
    number, known = symbols.polynomial(length), constant_value(op.operands[1])
    whole = symbols.polynomial(op.operands[0])
    if number is None or whole is None or len(whole.terms) != 1 or known is None or known <= 0:
        return across
    ((monomial, factor),) = whole.terms.items()
    if len(monomial) != 1 or factor != 1:
        return across
    shifts = isinstance(op, arith.ShRSIOp | arith.ShRUIOp)
    return across.substitute(monomial[0], number * (1 << known if shifts else known)) or across


def _versions(
    rows: Sequence[acc.LoopOp], construct: acc.ParallelOp
) -> tuple[list[RowVersion], dict[int, int]]:
    """
    The versions that `rows` should have, from short rows to long ones; none if the schedule suits all. For
    long rows, numbers of lanes, and of the iterations from which on.
    """
    symbols = RegionSymbols(construct)
    around = next(loops_around(rows[0]))
    beside = not is_tight(around, child_loops(around), symbols)
    if beside and around.parent_op() is not construct:
        return [], {}
    loops: list[RowLoop] = []
    for row in rows:
        low, high = (symbols.polynomial(v) for v in (row.lowerbound[0], row.upperbound[0]))
        if low is None or high is None:
            return [], {}
        ops = [op for op in row.region.walk() if isinstance(op, llvm.LoadOp | llvm.StoreOp)]
        accesses = [_row_access(op.ptr, row, symbols) for op in ops]
        loops.append(RowLoop(high - low, accesses, stores_to_memory(row), _operations(row)))
    known = [loop.trips.as_constant for loop in loops]
    short = all(trips is not None and trips <= MOST_SHORT_ITERATIONS for trips in known)
    if short and (beside or any(map(_has_atomics, rows))):
        return [], {}
    if not beside and not _can_be_joined(rows[0], construct):
        return [], {}
    in_order = sum(len(row.reduction_operands) for row in rows if IN_ORDER in row.attributes)
    versions = row_versions(loops, beside=beside, in_order=in_order)
    return versions, wide_versions(loops) if beside else {}


def _operations(row: acc.LoopOp) -> int:
    """The operations of an iteration that compute, without constants and what mostly is for addresses."""
    return sum(
        only_computes(op) and not isinstance(op, _CHEAP) and not op.regions
        for op in row.region.walk()
    )


def _has_atomics(row: acc.LoopOp) -> bool:
    """
    Whether a row updates memory atomically: programs also read such memory plainly in rows of few iterations,
    which is in order where one thread has them all.
    """
    return any(op.name.startswith("acc.atomic") for op in row.region.walk())


def _can_be_joined(row: acc.LoopOp, construct: acc.ParallelOp) -> bool:
    """Whether the loops around `row` and it may be one loop of several variables."""
    loops = list(loops_in(construct))
    around = [loop for loop in loops if loop is not row]
    inner = [v for loop in loops[1:] for v in (*loop.lowerbound, *loop.upperbound, *loop.step)]
    own = [v for loop in around for v in (*loop.private_operands, *loop.firstprivate_operands)]
    copies = [
        op for loop in around for op in loop.region.block.ops if isinstance(op, PRIVATIZING_OPS)
    ]
    values = (*inner, *(v for op in copies for v in op.operands))
    return not own and not any(is_defined_inside(value, loops[0]) for value in values)


Condition = SSAValue | bool
"""An i1 before the construct, or a constant."""


class _Tests:
    """Tests of the rows of a construct, before it. `trips`: their length; `number`: how many they are."""

    def __init__(self, rows: Sequence[acc.LoopOp], construct: acc.ParallelOp, threads: int):
        self._threads = threads
        symbols, self._math = RegionSymbols(construct), Arithmetic(HostEmitter(construct))

        def counts(loops: Iterable[acc.LoopOp]) -> list[Count | None]:
            found = [trip_count(loop, symbols, self._math) for loop in loops]
            return [None if count is None else count[0] for count in found]

        around = [loop for loop in loops_in(construct) if loop not in rows]
        self.trips = self._combined(counts(rows), self._math.maximum)
        self.number = self._combined(counts(around), self._math.multiply)

    @staticmethod
    def _combined(
        counts: Sequence[Count | None], operation: Callable[[Count, Count], Count]
    ) -> Count | None:
        known = [count for count in counts if count is not None]
        return reduce(operation, known) if len(known) == len(counts) else None

    def _is(self, count: Count, predicate: Literal["slt", "sge"], limit: int) -> Condition:
        if isinstance(count, int):
            return count < limit if predicate == "slt" else count >= limit
        compare = arith.CmpiOp(count, self._math.value(limit), predicate)
        return self._math.emit.value(compare)

    def _combine(self, a: Condition, b: Condition) -> Condition:
        for known, other in ((a, b), (b, a)):
            if isinstance(known, bool):
                return other if known else False
        assert isinstance(a, SSAValue) and isinstance(b, SSAValue)
        return self._math.emit.value(arith.AndIOp(a, b))

    def fits(self, version: RowVersion) -> Condition:
        """Whether the rows should be processed by `version` if no version for shorter ones fits."""
        assert self.trips is not None
        short = self._is(self.trips, "slt", version.below)
        if version.lanes is None:
            return self._named(short)
        if self.number is None:
            return False
        enough = self._is(self.number, "sge", self._threads // version.lanes)
        return self._named(self._combine(short, enough))

    def has_from(self, limit: int) -> Condition:
        """Whether the rows have at least `limit` iterations."""
        condition = False if self.trips is None else self._is(self.trips, "sge", limit)
        if isinstance(condition, SSAValue):
            condition.name_hint = "long_rows"
        return condition

    @staticmethod
    def _named(condition: Condition) -> Condition:
        if isinstance(condition, SSAValue):
            condition.name_hint = "short_rows"
        return condition


def _number_iterations(loops: Sequence[acc.LoopOp]) -> None:
    """Makes one loop of a tight nest."""
    for loop in loops[:-1]:
        before = Cursor.before(loops[0])
        for op in [op for op in loop.region.block.ops if isinstance(op, PRIVATIZING_OPS)]:
            before.move(op)
    reduce(join, loops)


def _apply(version: RowVersion, construct: acc.ParallelOp, rows: int) -> None:
    """
    Makes a construct, whose last `rows` loops are the rows, the version `version`. Its block is given, so
    that passes that would change it for long rows leave it alone.
    """
    loops = list(loops_in(construct))
    if version.lanes is None:
        _number_iterations(loops)
        return
    if version.lanes == 1:
        give_block(construct, 1, COMPUTE_LANES)
    else:
        give_block(construct, BLOCK // version.lanes, version.lanes)
    for row in loops[-rows:]:
        if version.lanes == 1:
            make_sequential(row, "it has too few iterations to give each one a thread")
            continue
        text = f"the version for rows of fewer than {version.below} iterations"
        row.attributes[NOTE] = StringAttr(text)
        set_schedule(row, replace(schedule_of(row), elements=SIDE_BY_SIDE))


_WHO = {None: "the iterations of all rows are one sequence for rows", 1: "one thread takes a row"}


def _text(row: acc.LoopOp, versions: Sequence[RowVersion], wide: dict[int, int]) -> str:
    """The remark on a loop with versions, and with others for long rows."""
    name = row.region.block.args[0].name_hint or "…"
    parts = [
        f"{_WHO.get(v.lanes, f'{v.lanes} lanes take a row')} of fewer than {v.below} iterations"
        for v in versions
    ]
    parts += [f"{lanes} lanes take a row of {n} iterations or more" for lanes, n in wide.items()]
    return f"loop over '{name}': {', '.join(parts)} (tested at launch)"


def keep_short_rows(construct: acc.ParallelOp, threads: int = MANY_THREADS) -> None:
    """Makes the versions of a construct for short rows, if they pay."""
    rows = rows_of(construct)
    versions, wide = _versions(rows, construct) if rows else ([], {})
    if not versions or not ready_for_versions(construct):
        return
    tests = _Tests(rows, construct, threads)
    if tests.trips is None:
        return
    possible: list[tuple[RowVersion, Condition]] = []
    for version in versions:
        fits = tests.fits(version)
        if fits is not False:
            possible.append((version, fits))
        if isinstance(tests.trips, int) and tests.trips < version.below:
            break
    in_order = any(IN_ORDER in row.attributes for row in rows)
    long = {} if in_order else {lanes: tests.has_from(trips) for lanes, trips in wide.items()}
    long = {lanes: condition for lanes, condition in long.items() if condition is not False}
    if not possible and not long:
        return
    shown = {lanes: wide[lanes] for lanes in long}
    text = _text(rows[0], [version for version, _ in possible], shown)
    at: Cursor | None = None
    for version, fits in possible:
        if not isinstance(fits, SSAValue):
            _apply(version, construct, len(rows))
            in_order, long = False, {}
            break
        then, at = (at or Cursor.before(construct)).if_else(fits)
        _apply(version, copy_construct(construct, then), len(rows))
    if in_order and possible:  # only a warp adds up a row
        give_block(construct, BLOCK // WARP, WARP)
    for lanes, condition in reversed(long.items()):
        if not isinstance(condition, SSAValue):
            give_block(construct, 1, lanes)
            break
        then, at = (at or Cursor.before(construct)).if_else(condition)
        give_block(copy_construct(construct, then), 1, lanes)
    if at is not None:
        move_construct(construct, at)
    note(construct, [(rows[0], text)])


@dataclass(frozen=True)
class KeepShortRowsPass(GpuPass):
    """See the module's description."""

    name = "keep-short-rows"

    threads: int = MANY_THREADS

    def rewrite(self, module: ModuleOp) -> None:
        if machine_of(module).as_written:
            return
        for construct in tuned_constructs(module):
            keep_short_rows(construct, self.threads)
