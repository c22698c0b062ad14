"""
Give every thread several neighbouring columns of a stencil, so that rows are accessed 16 bytes at a time.

A stencil reads each row at several columns. One column per thread needs an access for each; four
neighbouring `float`s per thread need one access of 16 bytes and two for the columns left and right of it.
That wants rows that begin at multiples of 16 bytes, which the host finds out.

Takes:  scheduled IR with rows side by side already (`jam-outer-iterations`). Looks at constructs that
        are one nest of loops, the innermost with the lanes, whose body is straight-line code (or
        control flow that is the same along the row) on elements of 4 or 8 bytes, next to each other.
Leaves: where `analysis/wide_rows.py` says that it pays, the construct in an `scf.if` in front of
        which the host tests addresses and row lengths (and that there is enough to do). Its first
        version counts groups of columns, aligned in memory; the groups at the loop's ends compute all
        columns and store those that the loop has. The launch has the shape this needs: in nests of
        three loops with free sizes, workers take neighbours of the middle loop, whose rows they share
        in the L1 cache. The other version is the construct as it was.
Fails:  never. `accx.why` of the innermost loop says what was done, or why it was not.

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

Options: `target` (`host`: nothing to do). `least_reuse`: accesses per array and iteration from which on
it pays, and `most_words`: of 32 bits that a group may read. `threads`: groups that keep the device
busy; for fewer the other version runs (0: no test). `lanes` and `workers`: block shape of nests of
three loops, `row_lanes` of two.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

from xdsl.context import Context
from xdsl.dialects import acc, arith, llvm
from xdsl.dialects.builtin import (
    ArrayAttr,
    DenseArrayBase,
    IntegerAttr,
    IntegerType,
    ModuleOp,
    i32,
    i64,
)
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass

from ..dialects.accx import COVERS, ELEMENTS, GANG_DIM, GIVEN_SIZES
from .analysis.acc_ops import NONE, has_level, loops_in, set_operand_groups, set_prop
from .analysis.affine import Affine
from .analysis.region_values import HostEmitter, RegionSymbols
from .analysis.schedule import MAX_GRID, Target
from .analysis.wide_rows import (
    LEAST_REUSE,
    MOST_WORDS,
    WIDE_BYTES,
    WIDE_THREADS,
    Body,
    RowReads,
    group_size,
    why_not,
)
from .building import Cursor, constant_value, erase
from .jamming import NSW, Declined, body_of, explain
from .row_accesses import Row, Survey, strides, survey
from .versions import branches, can_have_versions, copy_construct, move_construct, queue_outside
from .wide_body import WideBody, begin_group

INT_MAX = (1 << 31) - 1


@dataclass(frozen=True)
class BlockShape:
    """Threads of a wide version: lanes and workers of three loops, lanes of two."""

    lanes: int = 32
    workers: int = 4
    row_lanes: int = 128


@dataclass(frozen=True)
class Columns:
    """
    The innermost loop of a construct's nest, to run `count` columns at a time: `shift` elements from
    a group's first column lie the aligned ones; `lower` and `upper` are its bounds.
    """

    construct: acc.ParallelOp
    loop: acc.LoopOp
    found: Survey
    count: int
    shift: int
    lower: Affine
    upper: Affine
    strides: tuple[Affine, ...]


# Recognising.


def _innermost(construct: acc.ParallelOp) -> acc.LoopOp | None:
    """The loop with the lanes, if the construct is one nest that ends with it."""
    loops = list(loops_in(construct))
    for outer, inner in pairwise(loops):
        if inner.parent_op() is not outer:
            return None
    if len(loops) < 2 or loops[0].parent_op() is not construct:
        return None
    return loops[-1] if has_level(loops[-1].vector) else None


def _bounds(loop: acc.LoopOp, symbols: RegionSymbols) -> tuple[Affine, Affine]:
    lower, upper = symbols.affine(loop.lowerbound[0]), symbols.affine(loop.upperbound[0])
    if lower is None or upper is None or constant_value(loop.step[0]) != 1:
        raise Declined("the columns are not known before the construct")
    if any(isinstance(s, SSAValue) and symbols.is_inside(s) for s in lower.symbols | upper.symbols):
        raise Declined("the columns change from row to row")
    return lower, upper


def _fullest_block(found: Survey) -> Body:
    """The accesses of the block that has most of them: the rows of a full tile."""
    blocks: dict[object, list[Operation]] = {}
    for op in found.taps:
        blocks.setdefault(op.parent_block(), []).append(op)
    taps = [found.taps[op] for op in max(blocks.values(), key=len)]
    rows: dict[Row, set[int]] = {}
    for tap in taps:
        if isinstance(tap.op, llvm.LoadOp):
            rows.setdefault(tap.row, set()).add(tap.element)
    stores = [tap for tap in taps if isinstance(tap.op, llvm.StoreOp)]
    stored = {tap.row.array for tap in stores}
    return Body(
        reads=tuple(RowReads(row.bytes, frozenset(places)) for row, places in rows.items()),
        stores=len(stores),
        arrays=len({tap.row.array for tap in taps}),
        rows=max(1, len(stores) // max(1, len(stored))),
    )


def find_columns(
    construct: acc.ParallelOp,
    loop: acc.LoopOp,
    least_reuse: float = LEAST_REUSE,
    most_words: int = MOST_WORDS,
) -> Columns:
    """What has to be known to widen `loop`. Raises `Declined` if it cannot be, or does not pay."""
    if len(body_of(loop).args) != 1:
        raise Declined("the loop has several variables")
    if any(o.reduction_operands or o.private_operands for o in loops_in(construct)):
        raise Declined("its loops have variables of their own")
    symbols = RegionSymbols(construct)
    found = survey(loop, symbols)
    lower, upper = _bounds(loop, symbols)
    taps = list(found.taps.values())
    if not any(isinstance(tap.op, llvm.LoadOp) for tap in taps):
        raise Declined("no row is read at several columns")
    count = group_size([tap.row.bytes for tap in taps])
    places = {tap.element % count for tap in found.stores()}
    if len(places) != 1:
        raise Declined("it stores to rows at different places")
    shift = places.pop()
    body = _fullest_block(found)
    moved = tuple(
        RowReads(reads.bytes, frozenset(o - shift for o in reads.offsets)) for reads in body.reads
    )
    body = Body(moved, body.stores, body.arrays, body.rows)
    reason = why_not(body, count, least_reuse, most_words)
    if reason is not None:
        raise Declined(reason)
    apart = strides((tap.row for tap in taps), symbols)
    return Columns(construct, loop, found, count, shift, lower, upper, tuple(apart))


# The choice of the host.


def _iterations(columns: Columns, at: Cursor) -> SSAValue:
    """How many columns, of as many rows as a thread has, the construct's launch covers (i64)."""
    construct = columns.construct
    elements = columns.loop.attributes.get(ELEMENTS)
    total = at.i64(elements.value.data if isinstance(elements, IntegerAttr) else 1)
    for value in (*construct.num_gangs, *construct.num_workers, *construct.vector_length):
        total = at.mul(total, at.to_i64(value))
    return total


def _condition(columns: Columns, threads: int, emit: HostEmitter) -> SSAValue:
    """Whether the wide version may and should run."""
    at = Cursor.before(columns.construct)
    arrays = dict.fromkeys(tap.row.array for tap in columns.found.taps.values())
    bits = [at.value(llvm.PtrToIntOp(array, i64)) for array in arrays]
    bits += [emit.emit(stride) for stride in columns.strides]
    together = bits[0]
    for more in bits[1:]:
        together = at.value(arith.OrIOp(together, more))
    low = at.value(arith.AndIOp(together, at.i64(WIDE_BYTES - 1)))
    good = at.value(arith.CmpiOp(low, at.i64(0), "eq"), "aligned")
    if columns.loop.lowerbound[0].type == i32 and columns.upper.as_constant is None:
        # The columns after the last are counted too.
        end = emit.emit(columns.upper)
        fits = at.value(arith.CmpiOp(end, at.i64(INT_MAX - columns.count), "sle"), "fits")
        good = at.value(arith.AndIOp(good, fits))
    if threads:
        least = at.i64(threads * columns.count)
        many = at.value(arith.CmpiOp(_iterations(columns, at), least, "sge"), "many")
        good = at.value(arith.AndIOp(good, many), "wide")
    return good


# The wide version.


def _first_column(columns: Columns, emit: HostEmitter) -> Affine:
    """The first column of the first group: the greatest up to `lower` that is aligned."""
    size, shift = columns.count, columns.shift
    known = columns.lower.as_constant
    if known is not None:
        return Affine.constant((known + shift) // size * size - shift)
    at = Cursor.before(columns.construct)
    place = emit.emit(columns.lower + shift)
    rounded = at.value(arith.AndIOp(place, at.i64(-size)))
    return Affine.symbol(rounded) - shift


def _groups(columns: Columns, first: Affine, emit: HostEmitter) -> SSAValue:
    """How many groups there are (i64, not negative)."""
    at = Cursor.before(columns.construct)
    span = emit.emit(columns.upper - first + (columns.count - 1))
    some = at.value(arith.CmpiOp(emit.emit(columns.upper), emit.emit(columns.lower), "sgt"))
    span = at.value(arith.SelectOp(some, span, at.i64(0)))
    return at.value(arith.DivUIOp(span, at.i64(columns.count)), "groups")


def _dimension(loop: acc.LoopOp) -> int | None:
    """The gang dimension (from 0) that a loop is shared out to."""
    if not has_level(loop.gang):
        return None
    dim = loop.attributes.get(GANG_DIM)
    return dim.value.data - 1 if isinstance(dim, IntegerAttr) else 0


def _is_free(construct: acc.ParallelOp) -> bool:
    """Whether the launch's shape is ours: none of it given, each dimension that of one loop."""
    given = construct.attributes.get(GIVEN_SIZES)
    if isinstance(given, ArrayAttr) and given.data:
        return False
    dimensions = [_dimension(loop) for loop in loops_in(construct)]
    known = [d for d in dimensions if d is not None]
    return (
        len(known) == len(set(known)) == len(construct.num_gangs)
        and [constant_value(v) for v in construct.num_workers] == [1]
        and len(construct.vector_length) == 1
    )


def _divided(at: Cursor, count: SSAValue, by: int, dimension: int) -> SSAValue:
    """`count / by` rounded up, at least 1 and no more than a grid may have; i32."""
    wide = at.add(at.to_i64(count), at.i64(by - 1))
    gangs = at.value(arith.DivUIOp(wide, at.i64(by)))
    gangs = at.value(arith.MaxSIOp(gangs, at.i64(1)))
    gangs = at.value(arith.MinSIOp(gangs, at.i64(MAX_GRID[dimension + 1])))
    return at.value(arith.TruncIOp(gangs, i32), "num_gangs")


def _reshape(columns: Columns, groups: SSAValue, shape: BlockShape) -> None:
    """The launch's shape for groups: fewer lanes along a row, workers on the loop around it."""
    construct, loop = columns.construct, columns.loop
    if not _is_free(construct) or COVERS not in loop.attributes:
        return
    at = Cursor.before(construct)
    gangs = list(construct.num_gangs)
    lanes, workers = shape.row_lanes, 1
    middle = loop.parent_op()
    assert isinstance(middle, acc.LoopOp)
    if len(list(loops_in(construct))) == 3 and ELEMENTS not in middle.attributes:
        dimension = _dimension(middle)
        if dimension is not None and not has_level(middle.worker):
            lanes, workers = shape.lanes, shape.workers
            gangs[dimension] = _divided(at, gangs[dimension], workers, dimension)
            set_prop(middle, "worker", NONE)
    dimension = _dimension(loop)
    assert dimension is not None
    gangs[dimension] = _divided(at, groups, lanes, dimension)
    set_operand_groups(
        construct,
        num_gangs=gangs,
        num_workers=[at.i32(workers)],
        vector_length=[at.i32(lanes)],
    )


def widen(columns: Columns, emit: HostEmitter, shape: BlockShape) -> None:
    """Rewrites the loop of the construct, before which `emit` writes (see the contract above)."""
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
    loop.attributes.pop(ELEMENTS, None)
    _reshape(columns, groups, shape)


def make_versions(columns: Columns, threads: int, shape: BlockShape) -> None:
    """Replaces the construct by its two versions."""
    construct, loop = columns.construct, columns.loop
    if not can_have_versions(construct) or not queue_outside(construct):
        raise Declined("its queue or wait clause allows no versions")
    emit = HostEmitter(construct)
    condition = _condition(columns, threads, emit)
    then, otherwise = branches(Cursor.before(construct), condition)
    other = list(loops_in(copy_construct(construct, otherwise)))[-1]
    explain(other, "the version for rows that are not aligned, or few")
    move_construct(construct, then)
    widen(columns, emit, shape)
    explain(
        loop,
        f"{columns.count} columns per thread, {WIDE_BYTES} bytes per access, if rows are aligned",
    )


@dataclass(frozen=True)
class WidenRowsPass(ModulePass):
    """See the contract at the top of this file."""

    name = "widen-rows"

    target: Target = "nvptx"
    least_reuse: float = LEAST_REUSE
    most_words: int = MOST_WORDS
    threads: int = WIDE_THREADS
    lanes: int = BlockShape.lanes
    workers: int = BlockShape.workers
    row_lanes: int = BlockShape.row_lanes

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        if self.target != "nvptx":
            return
        shape = BlockShape(self.lanes, self.workers, self.row_lanes)
        for construct in [o for o in op.walk() if isinstance(o, acc.ParallelOp)]:
            loop = _innermost(construct)
            if loop is None:
                continue
            try:
                columns = find_columns(construct, loop, self.least_reuse, self.most_words)
                make_versions(columns, self.threads, shape)
            except Declined:
                continue
