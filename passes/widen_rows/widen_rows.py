"""
Give every thread several neighbouring columns of a stencil, so that rows are accessed 16 bytes at a time.

A stencil reads each row at several columns. One column per thread needs an access for each; four
neighbouring `float`s per thread need one access of 16 bytes and two for the columns left and right of it.
That requires rows that begin at multiples of 16 bytes, which the host tests.

Takes:  scheduled IR with rows side by side already (`jam-outer-iterations`). Considers constructs that are
        one nest of loops, the innermost with the lanes, whose body is straight-line code (or control flow
        that is the same along the row) on neighbouring elements of 4 or 8 bytes.
Leaves: if `decisions/wide_rows.py` finds that it pays, the construct in an `scf.if` on a host test of
        addresses and row lengths (and of enough work). Its first version counts groups of columns, aligned
        in memory; the groups at the loop's ends compute all columns and store those within the bounds.
        Their loads are `accx.speculative`: they may read elements that are not written yet, and the rest of
        the 16 bytes in which an array ends (which the runtime allocates). The launch has the shape this
        needs: in nests of three loops with free sizes, workers take neighbours of the middle loop, whose
        rows they share in the L1 cache. The other version is the original construct.
Fails:  never. `accx.why` of the innermost loop describes the result, or gives the reason against it.

Before:
  acc.parallel dataOperands(%a, %b) {
    acc.loop gang control(%i) = ... {
      acc.loop gang vector control(%j : i32) = (%c1 : i32) to (%last : i32) step (%c1 : i32) {
        %l = llvm.load %a[%i * %n + %j - 1]
        %r = llvm.load %a[%i * %n + %j + 1]
        llvm.store %l + %r, %b[%i * %n + %j]
  } } }
After:
  %aligned = arith.cmpi eq, ((address of %a | address of %b | 4 * %n) & 15), 0
  scf.if %aligned {
    acc.parallel dataOperands(%a, %b) {
      acc.loop gang control(%i) = ... {
        acc.loop gang vector control(%group : i32) = (%c0 : i32) to (%groups : i32) step (%c1 : i32) {
          %j = 4 * %group
          six loads of %a[%i * %n + %j - 1 ... + 4], the middle four aligned
          scf.if %whole { four stores } else { those of columns from 1 to %last }
    } } }
  } else { the construct }

Options: `target` (`host`: no change). `most_words`: the most 32-bit words that a group may read (0: never
widen). `threads`: the number of groups that keeps the device busy; with fewer the other version runs (0: no
test). `lanes` and `workers`: the block shape of nests of three loops; `row_lanes`: the lanes for nests of
two.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import reduce
from itertools import pairwise

from xdsl.context import Context
from xdsl.dialects import acc, arith, llvm
from xdsl.dialects.builtin import (
    DenseArrayBase,
    IntegerType,
    ModuleOp,
    i32,
    i64,
)
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass

from ..decisions.declined import Declined
from ..decisions.device import WIDE_BYTES
from ..decisions.launch_shape import MAX_GRID
from ..decisions.polynomials import Polynomial
from ..decisions.schedule import Target
from ..decisions.wide_rows import (
    MOST_WORDS,
    WIDE_THREADS,
    RowReads,
    group_size,
    why_not,
)
from ..ir.loops.jamming import explain
from ..ir.ops.acc_ops import (
    NONE,
    has_level,
    loops_in,
    set_operand_groups,
    set_prop,
    tuned_constructs,
)
from ..ir.ops.building import NSW, Cursor, constant_value, erase
from ..ir.ops.machine import machine_of
from ..ir.ops.schedules import (
    drop_covers,
    gang_dimension,
    given_sizes,
    schedule_of,
    set_schedule,
    take_elements,
)
from ..ir.ops.versions import (
    ready_for_versions,
    second_version,
)
from ..ir.values.region_values import HostEmitter, RegionSymbols
from ..ir.values.trip_counts import Arithmetic, trip_count
from .row_accesses import Row, Survey, strides, survey
from .wide_body import WideBody, begin_group

INT_MAX = (1 << 31) - 1


@dataclass(frozen=True)
class ThreadShape:
    """The block shapes of wide versions: lanes and workers for three loops, lanes for two."""

    lanes: int = 32
    workers: int = 4
    row_lanes: int = 128


@dataclass(frozen=True)
class Columns:
    """
    The innermost loop of a construct's nest, to run `count` columns at a time. The element `shift` places
    from a group's first column is aligned; `lower` and `upper` are the loop's bounds.
    """

    construct: acc.ParallelOp
    loop: acc.LoopOp
    found: Survey
    count: int
    shift: int
    lower: Polynomial
    upper: Polynomial
    strides: tuple[Polynomial, ...]


# Recognising.


def _innermost(construct: acc.ParallelOp) -> acc.LoopOp | None:
    """The loop with the lanes, if the construct is one nest whose innermost loop it is; else None."""
    loops = list(loops_in(construct))
    for outer, inner in pairwise(loops):
        if inner.parent_op() is not outer:
            return None
    if len(loops) < 2 or loops[0].parent_op() is not construct:
        return None
    return loops[-1] if has_level(loops[-1].vector) else None


def _bounds(loop: acc.LoopOp, symbols: RegionSymbols) -> tuple[Polynomial, Polynomial]:
    lower, upper = symbols.polynomial(loop.lowerbound[0]), symbols.polynomial(loop.upperbound[0])
    if lower is None or upper is None or constant_value(loop.step[0]) != 1:
        raise Declined("the columns are not known before the construct")
    if any(isinstance(s, SSAValue) and symbols.is_inside(s) for s in lower.symbols | upper.symbols):
        raise Declined("the columns change from row to row")
    return lower, upper


def _fullest_block(found: Survey, shift: int) -> list[RowReads]:
    """The reads of the block of code with most accesses: all rows of a full tile."""
    blocks: dict[object, list[Operation]] = {}
    for op in found.taps:
        blocks.setdefault(op.parent_block(), []).append(op)
    rows: dict[Row, set[int]] = {}
    for op in max(blocks.values(), key=len):
        tap = found.taps[op]
        if isinstance(op, llvm.LoadOp):
            rows.setdefault(tap.row, set()).add(tap.element - shift)
    return [RowReads(row.bytes, frozenset(places)) for row, places in rows.items()]


def _survey(construct: acc.ParallelOp, loop: acc.LoopOp) -> Survey | None:
    """The accesses of the loop's body if it is a stencil, which reads a row at several columns; else None."""
    variables = any(o.reduction_operands or o.private_operands for o in loops_in(construct))
    if variables or len(loop.region.blocks) != 1 or len(loop.region.block.args) != 1:
        return None
    try:
        found = survey(loop, RegionSymbols(construct))
    except Declined:
        return None
    columns: dict[Row, set[int]] = {}
    for tap in found.loads():
        columns.setdefault(tap.row, set()).add(tap.element)
    return found if any(len(places) > 1 for places in columns.values()) else None


def find_columns(
    construct: acc.ParallelOp, loop: acc.LoopOp, most_words: int = MOST_WORDS
) -> Columns | None:
    """
    The widening of `loop`; None if it is not a stencil. Raises `Declined` for a stencil that cannot be
    widened, or for which it does not pay.
    """
    found = _survey(construct, loop)
    if found is None:
        return None
    lower, upper = _bounds(loop, found.symbols)
    count = group_size([tap.row.bytes for tap in found.taps.values()])
    places = {tap.element % count for tap in found.stores()}
    if len(places) != 1:
        raise Declined("it stores to rows at different places")
    shift = places.pop()
    reason = why_not(_fullest_block(found, shift), count, most_words)
    if reason is not None:
        raise Declined(reason)
    apart = strides((tap.row for tap in found.taps.values()), found.symbols)
    return Columns(construct, loop, found, count, shift, lower, upper, tuple(apart))


# The choice of the host.


@dataclass(frozen=True)
class GangGrid:
    """
    The gangs (i64 values before the construct) that cover the loops around the innermost one. Each of these
    has a dimension (from 0) of the grid; the one next to the innermost loop has `workers`.
    """

    counts: tuple[tuple[acc.LoopOp, int, SSAValue], ...]
    workers: int


def _grid(columns: Columns, shape: ThreadShape, emit: HostEmitter) -> GangGrid | None:
    """The grid of the wide version, if the compiler may choose it; else None."""
    construct, loop = columns.construct, columns.loop
    if not _is_free(construct) or not schedule_of(loop).covers:
        return None
    math = Arithmetic(emit)
    around = [other for other in loops_in(construct) if other is not loop]
    workers = shape.workers if len(around) > 1 else 1
    counts: list[tuple[acc.LoopOp, int, SSAValue]] = []
    for other in around:
        dimension = gang_dimension(other)
        found = trip_count(other, columns.found.symbols, math)
        if dimension is None or has_level(other.worker) or found is None or not found[1]:
            return None
        if schedule_of(other).elements > 1:
            return None
        share = workers if other is around[-1] else 1
        gangs = math.maximum(math.ceil_divide(found[0], share), 1)
        counts.append((other, dimension, math.value(gangs)))
    return GangGrid(tuple(counts), workers)


def _iterations(columns: Columns, at: Cursor) -> int | SSAValue:
    """
    The columns, counted once for the rows of one thread, that the construct's launch covers (an i64 value
    if not constant).
    """
    construct = columns.construct
    known, unknown = schedule_of(columns.loop).elements, list[SSAValue]()
    for value in (*construct.num_gangs, *construct.num_workers, *construct.vector_length):
        constant = constant_value(value)
        known *= 1 if constant is None else constant
        unknown += [value] if constant is None else []
    if not unknown:
        return known
    total = at.i64(known)
    for value in unknown:
        total = at.mul(total, at.to_i64(value))
    return total


def _condition(
    columns: Columns, grid: GangGrid | None, threads: int, emit: HostEmitter
) -> SSAValue:
    """
    The condition (i1) under which the wide version can run and pays. Raises `Declined` if it certainly does
    not.
    """
    at = Cursor.before(columns.construct)
    iterations, least = _iterations(columns, at), threads * columns.count
    if isinstance(iterations, int) and iterations < least:
        raise Declined(f"there are few columns and rows, {iterations} in all")
    if any((stride.as_constant or 0) % WIDE_BYTES for stride in columns.strides):
        raise Declined("rows are not aligned")
    arrays = dict.fromkeys(tap.row.array for tap in columns.found.taps.values())
    bits = [at.value(llvm.PtrToIntOp(array, i64)) for array in arrays]
    bits += [emit.emit(stride) for stride in columns.strides if stride.as_constant is None]
    good = at.is_multiple(reduce(at.any_bits, bits), WIDE_BYTES, "aligned")
    if columns.loop.lowerbound[0].type == i32 and columns.upper.as_constant is None:
        # The columns after the last are counted too.
        end = emit.emit(columns.upper)
        fits = at.value(arith.CmpiOp(end, at.i64(INT_MAX - columns.count), "sle"), "fits")
        good = at.both(good, fits)
    for _, dimension, count in grid.counts if grid is not None else ():
        limit = MAX_GRID[dimension + 1]
        if (constant_value(count) or limit + 1) <= limit:
            continue
        covered = at.value(arith.CmpiOp(count, at.i64(limit), "sle"), "covered")
        good = at.both(good, covered)
    if threads and not isinstance(iterations, int):
        many = at.value(arith.CmpiOp(iterations, at.i64(least), "sge"), "many")
        good = at.both(good, many, "wide")
    return good


# The wide version.


def _first_column(columns: Columns, emit: HostEmitter) -> Polynomial:
    """The first column of the first group: the last aligned column up to `lower`."""
    size, shift = columns.count, columns.shift
    known = columns.lower.as_constant
    if known is not None:
        return Polynomial.constant((known + shift) // size * size - shift)
    at = Cursor.before(columns.construct)
    place = emit.emit(columns.lower + shift)
    rounded = at.value(arith.AndIOp(place, at.i64(-size)))
    return Polynomial.symbol(rounded) - shift


def _groups(columns: Columns, first: Polynomial, emit: HostEmitter) -> SSAValue:
    """The number of groups (i64, not negative)."""
    at = Cursor.before(columns.construct)
    last, trips = (columns.upper - first).as_constant, (columns.upper - columns.lower).as_constant
    if last is not None and trips is not None:
        return at.i64(-(-last // columns.count) if trips > 0 else 0)
    span = emit.emit(columns.upper - first + (columns.count - 1))
    some = at.value(arith.CmpiOp(emit.emit(columns.upper), emit.emit(columns.lower), "sgt"))
    span = at.value(arith.SelectOp(some, span, at.i64(0)))
    return at.value(arith.DivUIOp(span, at.i64(columns.count)), "groups")


def _is_free(construct: acc.ParallelOp) -> bool:
    """
    Whether the compiler may choose the launch shape: no size is given, and each dimension belongs to one
    loop.
    """
    if given_sizes(construct):
        return False
    dimensions = [gang_dimension(loop) for loop in loops_in(construct)]
    known = [d for d in dimensions if d is not None]
    return (
        len(known) == len(set(known)) == len(construct.num_gangs)
        and [constant_value(v) for v in construct.num_workers] == [1]
        and len(construct.vector_length) == 1
    )


def _reshape(columns: Columns, groups: SSAValue, grid: GangGrid, shape: ThreadShape) -> None:
    """Sets the launch shape for groups: fewer lanes along a row, workers on the loop around it."""
    construct = columns.construct
    at = Cursor.before(construct)
    gangs = list(construct.num_gangs)
    for loop, dimension, count in grid.counts:
        gangs[dimension] = at.value(arith.TruncIOp(count, i32), "num_gangs")
        set_schedule(loop, replace(schedule_of(loop), covers=True))
    if grid.workers > 1:
        set_prop(grid.counts[-1][0], "worker", NONE)
    lanes = shape.lanes if grid.workers > 1 else shape.row_lanes
    dimension = gang_dimension(columns.loop)
    assert dimension is not None
    rounded = at.value(arith.DivUIOp(at.add(groups, at.i64(lanes - 1)), at.i64(lanes)))
    rounded = at.value(arith.MaxSIOp(rounded, at.i64(1)))
    rounded = at.value(arith.MinSIOp(rounded, at.i64(MAX_GRID[dimension + 1])))
    gangs[dimension] = at.value(arith.TruncIOp(rounded, i32), "num_gangs")
    set_operand_groups(
        construct,
        num_gangs=gangs,
        num_workers=[at.i32(grid.workers)],
        vector_length=[at.i32(lanes)],
    )


def widen(columns: Columns, emit: HostEmitter) -> SSAValue:
    """
    Rewrites the loop of the construct (see the contract above); `emit` computes values before the
    construct. Returns the number of groups, an i64.
    """
    loop, size = columns.loop, columns.count
    block = loop.region.block
    variable = block.args[0]
    type = variable.type
    assert isinstance(type, IntegerType) and block.last_op is not None
    lower, upper = loop.lowerbound[0], loop.upperbound[0]
    before = Cursor.before(columns.construct)
    first = _first_column(columns, emit)
    groups = _groups(columns, first, emit)

    at = Cursor.before(block.last_op, loop.location)
    body = [op for op in block.ops if not isinstance(op, acc.YieldOp)]
    place = at.value(arith.MuliOp(variable, at.constant(size, type), overflow=NSW))
    known = first.as_constant
    if known != 0:
        start = at.constant(known, type) if known is not None else None
        start = start or before.to_integer(emit.emit(first), type)
        place = at.value(arith.AddiOp(start, place, overflow=NSW))
    place.name_hint = variable.name_hint
    group = begin_group(at, place, lower, upper, size, columns.shift)
    WideBody(columns.found, group, emit).emit(body, at)
    for op in reversed(body):
        erase(op)
    variable.name_hint = "group"
    inside = Cursor.before(loop)
    set_operand_groups(
        loop,
        lowerbound=[inside.constant(0, type)],
        upperbound=[before.to_integer(groups, type)],
    )
    loop.properties["inclusiveUpperbound"] = DenseArrayBase.from_list(IntegerType(1), [False])
    take_elements(loop)
    return groups


def make_versions(columns: Columns, threads: int, shape: ThreadShape) -> None:
    """Replaces the construct by its two versions."""
    construct, loop = columns.construct, columns.loop
    if not ready_for_versions(construct):
        raise Declined("its queue or wait clause allows no versions")
    emit = HostEmitter(construct)
    grid = _grid(columns, shape, emit)
    condition = _condition(columns, grid, threads, emit)
    *_, other = loops_in(second_version(construct, condition))
    explain(other, "fallback: rows are unaligned, or too few")
    groups = widen(columns, emit)
    if grid is None:
        drop_covers(loop)
    else:
        _reshape(columns, groups, grid, shape)
    explain(
        loop,
        f"{columns.count} columns per thread, {WIDE_BYTES} bytes per access, if rows are aligned",
    )


@dataclass(frozen=True)
class WidenRowsPass(ModulePass):
    """See the contract at the top of this file."""

    name = "widen-rows"

    target: Target | None = None
    most_words: int = MOST_WORDS
    threads: int = WIDE_THREADS
    lanes: int = ThreadShape.lanes
    workers: int = ThreadShape.workers
    row_lanes: int = ThreadShape.row_lanes

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        target = self.target or machine_of(op).target
        if target != "nvptx":
            return
        shape = ThreadShape(self.lanes, self.workers, self.row_lanes)
        for construct in tuned_constructs(op):
            loop = _innermost(construct)
            if loop is None:
                continue
            try:
                columns = find_columns(construct, loop, self.most_words)
                if columns is not None:
                    make_versions(columns, self.threads, shape)
            except Declined as reason:
                explain(loop, f"one column per thread: {reason}")
