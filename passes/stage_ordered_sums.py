"""
Compute the terms of sums in order by all threads of a gang, through shared memory.

Without a `reduction` clause the order of floating-point additions counts, so one thread adds up a sum. If it
also loads the terms, it waits for memory after every few of them; and if neighbouring terms are neighbours
in memory, the threads of a warp read a sector each. Here, all threads of a gang load and compute pieces of
the terms of 32 sums, in the order in which they are in memory, and one warp adds them, in the program's
order, while the loads of the next piece are in flight.

Takes:  scheduled IR for a GPU, after split-column-sums. Considers constructs that are one nest of parallel
        loops without user-given sizes around a sequential loop that carries values, if what is computed from
        these uses no memory, and the rest of the loop loads from contiguous memory along it or across it.
Leaves: one gang loop over groups of up to 32 iterations of the innermost parallel loop, in it an
        `accx.gang_threads` of 256 threads with a loop over pieces: each thread stores its terms to
        `accx.shared_tile`s, an `accx.gang_barrier`, the loads for the next piece, and the rest of the body in
        the threads that have a sum. Where sums are short or many (known at launch), a second version is the
        nest as it was. `accx.why` describes the result. Others are untouched.
Fails:  never.

Before:
  acc.loop gang vector control(%j : i32) = (%c0 : i32) to (%m : i32) step (%c1 : i32) {
    %sum = scf.for %i = %c0 to %n step %c1 iter_args(%s = %zero) -> (f32) : i32 {
      %v = load %a[%i * %m + %j]
      scf.yield %s + %v * %v
    }
    llvm.store %sum, %out[%j]
  }
After:
  acc.loop gang control(%share : i64) = (%c0) to (ceil(%m / 32)) step (%c1) {
    accx.gang_threads [256] {
    ^bb0(%thread : i32):
      %tile = accx.shared_tile "terms"
      %first = loads of the thread's terms of piece 0
      scf.for %piece = 0 to ceil(%n / 128) step 1 iter_args(%v = %first, %t = %zero) {
        … %v * %v to %tile, accx.gang_barrier …
        %next = loads of its terms of the next piece
        %u = scf.if (%thread < 32) { scf.for %k = … iter_args(%s = %t) { %s + %tile[…] } } else { %t }
        scf.yield %next, %u
      }
      … llvm.store of the sum by the threads that have one …
  } }

Options: `target` (`host`: no change).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import cast

from xdsl.dialects import acc, arith, llvm, scf
from xdsl.dialects.builtin import IntegerAttr, IntegerType, ModuleOp, i32, i64
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.traits import IsTerminator

from ..dialects.accx import UNROLL
from ..dialects.accx_cache import GangBarrierOp, SharedTileOp
from .decisions.declined import Declined
from .decisions.ordered_sums import (
    ADDED_AT_ONCE,
    MOST_ACROSS,
    PITCH,
    SHORTEST_ACROSS,
    SHORTEST_ALONG,
    SUMS,
    THREADS,
    turns,
)
from .ir.loops.gang_shares import NestCode, outer_numbers, share_among_gangs, trips_before
from .ir.loops.jamming import NSW, Jam, iteration_value
from .ir.loops.sum_nests import SumNest, count_walks, is_scalar, read_nest
from .ir.ops.acc_ops import parallel_constructs
from .ir.ops.building import Cursor
from .ir.ops.gpu_pass import GpuPass
from .ir.ops.layout import size_of
from .ir.ops.purity import is_pure, is_pure_call
from .ir.ops.versions import ready_for_versions, second_version
from .ir.values.region_values import HostEmitter
from .ir.values.trip_counts import Arithmetic, Count

Values = dict[SSAValue, SSAValue]


@dataclass(frozen=True)
class OrderedSums:
    """
    A nest with a sequential loop, of whose body `loading` are the loads and what they need, `computing` the
    rest that does not depend on carried values, and `ordered` what does. `loaded`: values of `loading` that
    others use; `terms`: values of both that `ordered` uses. `along`: neighbouring terms of one sum are
    neighbours in memory, else those of neighbouring sums. `turns`: the terms of a piece for each thread.
    """

    nest: SumNest
    loading: tuple[Operation, ...]
    computing: tuple[Operation, ...]
    ordered: tuple[Operation, ...]
    loaded: tuple[SSAValue, ...]
    terms: tuple[SSAValue, ...]
    along: bool
    turns: int


# The nests that qualify


def _depends(op: Operation, values: set[SSAValue]) -> bool:
    return any(operand in values for inner in op.walk() for operand in inner.operands)


def _used(ops: Iterable[Operation], made: Sequence[Operation]) -> tuple[SSAValue, ...]:
    """The results of `made` that `ops` use, except constants."""
    results = {result: None for op in made if op.operands for result in op.results}
    used = {v for op in ops for inner in op.walk() for v in inner.operands}
    return tuple(v for v in results if v in used)


def find_sums(construct: acc.ParallelOp) -> OrderedSums:
    """The nest of `construct`. Raises `Declined` with the reason if its terms cannot be staged."""
    nest = read_nest(construct)
    if not isinstance(nest.terms, scf.ForOp) or not nest.terms.iter_args:
        raise Declined("no sequential loop carries a value")
    if all(isinstance(value.type, IntegerType) for value in nest.terms.iter_args):
        raise Declined("its order is free: other passes share the terms among threads")
    across, along = count_walks(nest)
    if not across and not along:
        raise Declined("its loads are not contiguous")
    ops = [op for op in nest.body.ops if not op.has_trait(IsTerminator)]
    end = nest.body.last_op
    assert end is not None
    varying = set[SSAValue](nest.body.args[1:])
    ordered = list[Operation]()
    for op in ops:
        if _depends(op, varying):
            ordered.append(op)
            varying.update(op.results)
    free = [op for op in ops if op not in ordered]
    if any(not is_pure(op) and not is_pure_call(op) for op in ordered):
        raise Declined("it accesses memory in order")
    loads = {op for op in free if any(isinstance(inner, llvm.LoadOp) for inner in op.walk())}
    for op in free:
        if op not in loads and not is_pure(op) and not is_pure_call(op):
            raise Declined(f"the loop holds {op.name}")
        if any(isinstance(inner, llvm.StoreOp | llvm.AllocaOp) for inner in op.walk()):
            raise Declined("the loop writes variables")
    needed = set(loads)
    for op in reversed(free):
        if op in needed:
            inside = (v for inner in op.walk() for v in inner.operands)
            needed |= {v.owner for v in inside if isinstance(v.owner, Operation)}
    loading = [op for op in free if op in needed]
    computing = [op for op in free if op not in needed]
    loaded = _used([*computing, *ordered, end], loading)
    terms = _used([*ordered, end], free)
    if not terms or not all(is_scalar(value.type) for value in (*terms, *loaded)):
        raise Declined("its terms are not numbers")
    bytes = sum(size_of(value.type) for value in terms)
    words = sum(-(-size_of(value.type) // 4) for value in loaded)
    number = turns(bytes, words)
    if not number:
        raise Declined("its terms take too much memory")
    loads_first, then = (tuple(loading), tuple(computing)), tuple(ordered)
    return OrderedSums(nest, *loads_first, then, loaded, terms, along > across, number)


# Rewriting


@dataclass(frozen=True)
class _Shape:
    """Host values (i64): the logarithm of a gang's sums, groups of them, iterations of the loops around."""

    shift: SSAValue
    tiles: SSAValue
    trips: tuple[SSAValue, ...]


class _SumThreads:
    """Emits the code of one thread."""

    def __init__(self, sums: OrderedSums, shape: _Shape, share: SSAValue, thread: SSAValue):
        self.sums, self.nest = sums, sums.nest
        self.shape, self.share, self.thread = shape, share, thread

    def run(self, at: Cursor) -> None:
        at.insert(GangBarrierOp())  # a gang with several shares has read the previous one's terms
        self._place(at)
        places = THREADS * self.sums.turns if not self.sums.along else self.length * PITCH
        self.size = places
        self.tiles = [
            at.value(SharedTileOp(2 * places * size_of(v.type), "terms"), "tile")
            for v in self.sums.terms
        ]
        lower, upper, self.step = map(self.own.value, self.nest.bounds)
        self.lower = lower
        low, high, step = map(at.to_i64, (lower, upper, self.step))
        distance = at.value(arith.MaxSIOp(at.sub(high, low), at.i64(0)))
        self.trips = at.value(
            arith.DivUIOp(at.add(distance, at.sub(step, at.i64(1))), step), "trips"
        )
        self.last = at.sub(self.trips, at.i64(1))
        runs = at.value(arith.CmpiOp(self.trips, at.i64(0), "sgt"), "runs")
        terms = self.nest.terms
        assert isinstance(terms, scf.ForOp)
        starts = list(map(self.own.value, terms.iter_args))
        hints = [value.name_hint for value in terms.results]
        results = at.either(
            runs, lambda inside: self._pieces(inside, starts), lambda _: starts, hints
        )
        branch = at.if_then(self.finishes)
        self.own.values.update(zip(terms.results, results, strict=True))
        self.own.copy(branch, self.nest.after)

    # Where the thread works

    def _place(self, at: Cursor) -> None:
        """Sets the sum that the thread adds up, those whose terms it computes, and its places in a piece."""
        group = at.value(arith.DivUIOp(self.share, self.shape.tiles), "group")
        tile = at.value(arith.RemUIOp(self.share, self.shape.tiles), "tile")
        self.outer = outer_numbers(at, group, self.shape.trips[:-1])
        self.shift = at.to_integer(self.shape.shift, i32)
        width = at.value(arith.ShLIOp(at.i32(1), self.shift), "width")
        self.first = at.value(arith.ShLIOp(tile, self.shape.shift), "first")
        mine = at.value(arith.AndIOp(self.thread, at.sub(width, at.i32(1))), "mine")
        self.own, exists = self._code(at, mine)
        adds = at.value(arith.CmpiOp(self.thread, width, "ult"), "adds")
        self.adds, self.mine, self.width = adds, mine, width
        self.finishes = at.both(adds, exists, "finishes")
        count = self.sums.turns
        if not self.sums.along:
            rows = at.value(arith.ShRUIOp(self.thread, self.shift), "row")
            step = at.value(arith.ShRUIOp(at.i32(THREADS), self.shift), "rows")
            self.codes = [self.own] * count
            self.rows = [at.add(rows, at.mul(at.i32(k), step)) for k in range(count)]
            self.places = [at.add(self.thread, at.i32(k * THREADS)) for k in range(count)]
            self.piece = at.to_i64(at.mul(step, at.i32(count)))
            return
        warps = THREADS // SUMS
        blocks = count * warps // SUMS
        lane = at.value(arith.AndIOp(self.thread, at.i32(SUMS - 1)), "lane")
        warp = at.value(arith.ShRUIOp(self.thread, at.i32(5)), "warp")
        self.length = blocks * SUMS
        self.codes, self.rows, self.places = list[NestCode](), list[SSAValue](), list[SSAValue]()
        for number in range(SUMS // warps):
            sum_ = at.add(warp, at.i32(number * warps))
            code, _ = self._code(at, sum_)
            for block in range(blocks):
                row = at.add(lane, at.i32(block * SUMS))
                self.codes.append(code)
                self.rows.append(row)
                self.places.append(at.add(at.mul(row, at.i32(PITCH)), sum_))
        self.piece = at.i64(self.length)

    def _code(self, at: Cursor, number: SSAValue) -> tuple[NestCode, SSAValue]:
        """The code around the sum `number` of the gang, and whether that exists; the last one if not."""
        columns = self.shape.trips[-1]
        column = at.add(self.first, at.to_i64(number), "column")
        exists = at.value(arith.CmpiOp(column, columns, "slt"), "exists")
        column = at.value(arith.MinSIOp(column, at.sub(columns, at.i64(1))), "column")
        code = NestCode(self.nest)
        code.enter(at, [*self.outer, column])
        return code, exists

    # Pieces

    def _maps(self, at: Cursor, piece: SSAValue) -> list[Values]:
        """The values of the nest for each of the thread's terms of a piece; the last term stands for more."""
        maps: list[Values] = []
        start = at.mul(piece, self.piece, "start")
        for code, row in zip(self.codes, self.rows, strict=True):
            number = at.add(start, at.to_i64(row))
            number = at.value(arith.MinSIOp(number, self.last), "number")
            maps.append({**code.values, self.nest.variable: self._variable(at, number)})
        return maps

    def _variable(self, at: Cursor, number: SSAValue) -> SSAValue:
        return iteration_value(number, self.lower, self.step, self.nest.variable, at)

    def _load(self, at: Cursor, piece: SSAValue) -> list[SSAValue]:
        """The values that the thread loads for a piece."""
        maps = self._maps(at, piece)
        Jam(maps).operations(self.sums.loading, at)
        return [values[v] for values in maps for v in self.sums.loaded]

    def _pieces(self, at: Cursor, starts: Sequence[SSAValue]) -> list[SSAValue]:
        """The loop over pieces; returns the sums."""
        rounded = at.add(self.trips, at.sub(self.piece, at.i64(1)))
        pieces = at.value(arith.DivUIOp(rounded, self.piece), "pieces")
        loaded = self._load(at, at.i64(0))
        carried = [*loaded, *starts]
        block = Block(arg_types=[i64, *(value.type for value in carried)])
        block.args[0].name_hint = "piece"
        inside = Cursor.at_end(block, at.loc)
        piece, old = block.args[0], block.args[1 : 1 + len(loaded)]
        sums = list(block.args[1 + len(loaded) :])
        odd = inside.to_integer(inside.value(arith.AndIOp(piece, inside.i64(1))), i32)
        buffer = inside.mul(odd, inside.i32(self.size), "buffer")
        self._store(inside, piece, old, buffer)
        inside.insert(GangBarrierOp())
        last = inside.sub(pieces, inside.i64(1))
        following = inside.value(arith.MinSIOp(inside.add(piece, inside.i64(1)), last))
        after = self._load(inside, following)
        added = inside.either(
            self.adds,
            lambda adding: self._add(adding, piece, buffer, sums),
            lambda _: sums,
            [],
        )
        inside.insert(scf.YieldOp(*after, *added))
        loop = scf.ForOp(at.i64(0), pieces, at.i64(1), carried, Region(block))
        return [*at.insert(loop).results[len(loaded) :]]

    def _store(
        self, at: Cursor, piece: SSAValue, loaded: Sequence[SSAValue], buffer: SSAValue
    ) -> None:
        """Computes the thread's terms from what it has loaded, and stores them."""
        maps = self._maps(at, piece)
        names = self.sums.loaded
        for number, values in enumerate(maps):
            mine = loaded[number * len(names) : (number + 1) * len(names)]
            values.update(zip(names, mine, strict=True))
        constants = [op for op in self.sums.loading if not op.operands and not op.regions]
        Jam(maps).operations([*constants, *self.sums.computing], at)
        for values, place in zip(maps, self.places, strict=True):
            index = at.add(buffer, place)
            for tile, term in zip(self.tiles, self.sums.terms, strict=True):
                at.store(values[term], self._slot(at, tile, term, index))

    def _slot(self, at: Cursor, tile: SSAValue, term: SSAValue, index: SSAValue) -> SSAValue:
        gep = llvm.GEPOp(
            tile,
            [llvm.GEP_USE_SSA_VAL],
            term.type,
            ssa_indices=[at.to_i64(index)],
            result_type=cast(llvm.LLVMPointerType, tile.type),
        )
        return at.value(gep, "slot")

    def _add(
        self, at: Cursor, piece: SSAValue, buffer: SSAValue, sums: Sequence[SSAValue]
    ) -> list[SSAValue]:
        """Runs what is ordered for the terms of a piece of the thread's own sum."""
        start = at.mul(piece, self.piece, "start")
        rest = at.value(arith.MinSIOp(at.sub(self.trips, start), self.piece))
        count = at.to_integer(rest, i32)
        first = at.add(buffer, self.mine)
        block = Block(arg_types=[i32, i32, *(value.type for value in sums)])
        block.args[0].name_hint, block.args[1].name_hint = "term", "place"
        inside = Cursor.at_end(block, self.nest.terms.location)
        term, index = block.args[:2]
        pitch = inside.i32(PITCH) if self.sums.along else self.width
        body = self.nest.body
        values: Values = {
            **self.own.values,
            **dict(zip(body.args[1:], block.args[2:], strict=True)),
        }
        number = inside.add(start, inside.to_i64(term))
        values[body.args[0]] = self._variable(inside, number)
        for tile, wanted in zip(self.tiles, self.sums.terms, strict=True):
            values[wanted] = inside.load(self._slot(inside, tile, wanted, index), wanted.type)
        free = (*self.sums.loading, *self.sums.computing)
        for op in (*(op for op in free if not op.operands and not op.regions), *self.sums.ordered):
            inside.clone(op, values)
        end = body.last_op
        assert end is not None
        following = inside.value(arith.AddiOp(index, pitch, overflow=NSW))
        inside.insert(scf.YieldOp(following, *(values.get(v, v) for v in end.operands)))
        loop = scf.ForOp(at.i32(0), count, at.i32(1), [first, *sums], Region(block))
        loop.attributes[UNROLL] = IntegerAttr(ADDED_AT_ONCE, i32)
        return [*at.insert(loop).results[1:]]


def stage_sums(construct: acc.ParallelOp) -> None:
    """Stages the terms of a construct. Raises `Declined` if that does not apply."""
    sums = find_sums(construct)
    if not ready_for_versions(construct):
        raise Declined("its versions would need a wait clause each")
    math = Arithmetic(HostEmitter(construct))
    trips, terms = trips_before(sums.nest, math)
    groups = reduce(math.multiply, trips[:-1], 1)
    conditions = [(terms, SHORTEST_ALONG if sums.along else SHORTEST_ACROSS, "sge")]
    if not sums.along:
        conditions.append((math.multiply(groups, trips[-1]), MOST_ACROSS, "sle"))
    pays: SSAValue | None = None
    for value, limit, predicate in conditions:
        if isinstance(value, int):
            if value < limit if predicate == "sge" else value > limit:
                raise Declined("its sums are too short, or many")
            continue
        test = math.emit.value(arith.CmpiOp(value, math.value(limit), predicate))
        pays = math.emit.both(pays, test)
    shift = SUMS.bit_length() - 1 if sums.along else _shift(trips[-1], math)
    width = (
        1 << shift
        if isinstance(shift, int)
        else math.emit.value(arith.ShLIOp(math.value(1), shift))
    )
    tiles = math.maximum(math.ceil_divide(trips[-1], width), 1)
    if pays is not None:
        pays.name_hint = "long_sums"
        second_version(construct, pays)
    shape = _Shape(math.value(shift), math.value(tiles), tuple(map(math.value, trips)))
    why = "all threads of a gang compute the terms of sums, which a thread each adds up in order"
    share_among_gangs(
        sums.nest,
        math.multiply(groups, tiles),
        THREADS,
        math,
        why,
        lambda at, share, thread: _SumThreads(sums, shape, share, thread).run(at),
    )


def _shift(sums: Count, math: Arithmetic) -> Count:
    """The logarithm of the sums of a gang: the least power of two that is enough, up to `SUMS`."""
    if isinstance(sums, int):
        return min((max(sums, 1) - 1).bit_length(), SUMS.bit_length() - 1)
    found: Count = 0
    for bit in range(SUMS.bit_length() - 1):
        more = math.emit.value(arith.CmpiOp(sums, math.value(1 << bit), "sgt"))
        found = math.add(math.emit.value(arith.ExtUIOp(more, i64)), found)
    return found


@dataclass(frozen=True)
class StageOrderedSumsPass(GpuPass):
    """See the contract at the top of this file."""

    name = "stage-ordered-sums"

    def rewrite(self, module: ModuleOp) -> None:
        for construct in parallel_constructs(module):
            try:
                stage_sums(construct)
            except Declined:
                continue
