"""The code of a thread of a gang that shares the terms of up to 32 sums, all of one length."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.dialects import arith, llvm, scf
from xdsl.dialects.builtin import IntegerAttr, i32, i64
from xdsl.ir import Block, Region, SSAValue

from ...dialects.accx import UNROLL
from ...dialects.accx_cache import GangBarrierOp, SharedTileOp
from ..decisions.ordered_sums import ADDED_AT_ONCE, PITCH, SUMS, THREADS
from ..ir.loops.gang_shares import NestCode, outer_numbers
from ..ir.loops.jamming import NSW, Jam, iteration_value
from ..ir.ops.building import Cursor
from ..ir.ops.layout import size_of
from .ordered_terms import OrderedSums, places_of_written, tile_types

Values = dict[SSAValue, SSAValue]
_Sum = tuple[NestCode, SSAValue]
"""The code around a sum, and whether that exists."""
_Written = tuple[llvm.StoreOp, SSAValue]
"""A store of the loop, and the tile for what it stores."""


@dataclass(frozen=True)
class SumShape:
    """Host values (i64): the logarithm of a gang's sums, groups of them, iterations of the loops around."""

    shift: SSAValue
    tiles: SSAValue
    trips: tuple[SSAValue, ...]


class SumThreads:
    """Emits the code of one thread."""

    def __init__(self, sums: OrderedSums, shape: SumShape, share: SSAValue, thread: SSAValue):
        self.sums, self.nest = sums, sums.nest
        self.shape, self.share, self.thread = shape, share, thread

    def run(self, at: Cursor) -> None:
        at.insert(GangBarrierOp())  # a gang with several shares has read the previous one's terms
        self._place(at)
        places = THREADS * self.sums.turns if not self.sums.along else self.length * PITCH
        self._make_tiles(at, places)
        lower, upper, self.step = map(self.own.value, self.nest.bounds)
        self.lower = lower
        low, high, step = map(at.to_i64, (lower, upper, self.step))
        distance = at.value(arith.MaxSIOp(at.sub(high, low), at.i64(0)))
        self.trips = at.value(
            arith.DivUIOp(at.add(distance, at.sub(step, at.i64(1))), step), "trips"
        )
        self.last = at.sub(self.trips, at.i64(1))
        runs = at.value(arith.CmpiOp(self.trips, at.i64(0), "sgt"), "runs")
        starts = self._starts()
        results = at.either(
            runs, lambda inside: self._pieces(inside, starts), lambda _: starts, self._hints()
        )
        self._finish(at, results)

    def _make_tiles(self, at: Cursor, places: int) -> None:
        """Makes a tile of two pieces of `places` places for each value that is added in order, or written."""
        self.size = places
        values = self.sums.terms, [store.value for store in self.sums.stores]
        tiles = [
            at.value(SharedTileOp(2 * places * size_of(type_), "terms"), "tile")
            for type_ in tile_types(*values)
        ]
        self.tiles = tiles[: len(self.sums.terms)]
        self.written = [
            (store, tiles[number])
            for store, number in zip(self.sums.stores, places_of_written(*values), strict=True)
        ]

    @property
    def loop(self) -> scf.ForOp:
        """The loop over terms."""
        assert isinstance(self.nest.terms, scf.ForOp)
        return self.nest.terms

    def _starts(self) -> list[SSAValue]:
        return list(map(self.own.value, self.loop.iter_args))

    def _hints(self) -> list[str | None]:
        return [value.name_hint for value in self.loop.results]

    def _finish(self, at: Cursor, results: Sequence[SSAValue]) -> None:
        """Copies what follows the sum, for the threads that have one."""
        if self.sums.stores and self.nest.after:
            at.insert(GangBarrierOp())  # it may read what other threads have written
        branch = at.if_then(self.finishes)
        self.own.values.update(zip(self.loop.results, results, strict=True))
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
        self._set_first(at)
        count = self.sums.turns
        if not self.sums.along:
            rows = at.value(arith.ShRUIOp(self.thread, self.shift), "row")
            step = at.value(arith.ShRUIOp(at.i32(THREADS), self.shift), "rows")
            self.codes = [(self.own, exists)] * count
            self.rows = [at.add(rows, at.mul(at.i32(k), step)) for k in range(count)]
            self.places = [at.add(self.thread, at.i32(k * THREADS)) for k in range(count)]
            self.piece = at.to_i64(at.mul(step, at.i32(count)))
            return
        warps = THREADS // SUMS
        blocks = count * warps // SUMS
        lane = at.value(arith.AndIOp(self.thread, at.i32(SUMS - 1)), "lane")
        warp = at.value(arith.ShRUIOp(self.thread, at.i32(5)), "warp")
        self.length = blocks * SUMS
        self.codes, self.rows, self.places = list[_Sum](), list[SSAValue](), list[SSAValue]()
        for number in range(SUMS // warps):
            sum_ = at.add(warp, at.i32(number * warps))
            code = self._code(at, sum_)
            for block in range(blocks):
                row = at.add(lane, at.i32(block * SUMS))
                self.codes.append(code)
                self.rows.append(row)
                self.places.append(at.add(at.mul(row, at.i32(PITCH)), sum_))
        self.piece = at.i64(self.length)

    def _code(self, at: Cursor, number: SSAValue) -> _Sum:
        """The code around the sum `number` of the gang, and whether that exists; the last one if not."""
        columns = self.shape.trips[-1]
        column = at.add(self.first, at.to_i64(number), "column")
        exists = at.value(arith.CmpiOp(column, columns, "slt"), "exists")
        column = at.value(arith.MinSIOp(column, at.sub(columns, at.i64(1))), "column")
        code = NestCode(self.sums.read_by_all)
        code.enter(at, [*self.outer, column])
        return code, exists

    def _set_first(self, at: Cursor) -> None:
        """Copies the stores before the sum, for the threads that have one."""
        if self.sums.first:
            branch = at.if_then(self.finishes)
            self.own.copy(branch, self.sums.first)

    # Pieces

    def _maps(self, at: Cursor, piece: SSAValue) -> list[Values]:
        """The values of the nest for each of the thread's terms of a piece; the last term stands for more."""
        maps: list[Values] = []
        for (code, _), number in zip(self.codes, self._numbers(at, piece), strict=True):
            number = at.value(arith.MinSIOp(number, self.last), "number")
            maps.append({**code.values, self.nest.variable: self._variable(at, number)})
        return maps

    def _numbers(self, at: Cursor, piece: SSAValue) -> list[SSAValue]:
        """The numbers of the thread's terms of a piece, of which the last ones may not exist."""
        start = at.mul(piece, self.piece, "start")
        return [at.add(start, at.to_i64(row)) for row in self.rows]

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
        sums = block.args[1 + len(loaded) :]
        odd = inside.to_integer(inside.value(arith.AndIOp(piece, inside.i64(1))), i32)
        buffer = inside.mul(odd, inside.i32(self.size), "buffer")
        self._store(inside, piece, old, buffer)
        inside.insert(GangBarrierOp())
        last = inside.sub(pieces, inside.i64(1))
        following = inside.value(arith.MinSIOp(inside.add(piece, inside.i64(1)), last))
        after = self._load(inside, following)
        if self.written:
            previous = inside.value(arith.CmpiOp(piece, inside.i64(0), "sgt"))
            branch = inside.if_then(previous)
            before = branch.sub(branch.i32(self.size), buffer)
            self._write(branch, branch.sub(piece, branch.i64(1)), before)
        added = self._added(inside, piece, buffer, [*sums])
        inside.insert(scf.YieldOp(*after, *added))
        loop = at.insert(scf.ForOp(at.i64(0), pieces, at.i64(1), carried, Region(block)))
        if self.written:
            at.insert(GangBarrierOp())
            final = at.sub(pieces, at.i64(1))
            odd = at.to_integer(at.value(arith.AndIOp(final, at.i64(1))), i32)
            self._write(at, final, at.mul(odd, at.i32(self.size)))
        return [*loop.results[len(loaded) :]]

    def _write(self, at: Cursor, piece: SSAValue, buffer: SSAValue) -> None:
        """
        Stores to the rows what a piece has to store, in the order in which it is in memory: each thread for
        the terms that it has computed, whose places it then uses again.
        """
        maps = self._maps(at, piece)
        Jam(maps).operations(self.sums.placing, at)
        places = [at.add(buffer, place) for place in self.places]
        # Every place of a tile of terms is set, so that all are read before the first branch.
        early = [written for written in self.written if written[1] in self.tiles]
        late = [written for written in self.written if written not in early]
        for values, index in zip(maps, places, strict=True):
            self._read_written(at, early, index, values)
        numbers = self._numbers(at, piece)
        turns = zip(maps, places, numbers, self.codes, strict=True)
        for values, index, number, (_, exists) in turns:
            inside = at.value(arith.CmpiOp(number, self.trips, "slt"))
            branch = at.if_then(at.both(exists, inside))
            self._read_written(branch, late, index, values)
            for store, _ in self.written:
                branch.clone(store, values)

    def _read_written(
        self, at: Cursor, written: Sequence[_Written], index: SSAValue, values: Values
    ) -> None:
        """Loads from tiles what is to be stored for the term at a place."""
        for store, tile in written:
            slot = self._slot(at, tile, store.value, index)
            values[store.value] = at.load(slot, store.value.type)

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

    def _slot_of(self, at: Cursor, place: SSAValue, buffer: SSAValue | None) -> SSAValue:
        """Where the term at `place` of a piece is in a tile."""
        assert buffer is None
        return place

    def _slot(self, at: Cursor, tile: SSAValue, term: SSAValue, index: SSAValue) -> SSAValue:
        return at.element(tile, at.to_i64(index), term.type, "slot")

    def _added(
        self, at: Cursor, piece: SSAValue, buffer: SSAValue, sums: Sequence[SSAValue]
    ) -> list[SSAValue]:
        """The sums after a piece, of which only some threads have one."""
        return at.either(
            self.adds, lambda adding: self._add(adding, piece, buffer, sums), lambda _: sums, []
        )

    def _add(
        self, at: Cursor, piece: SSAValue, buffer: SSAValue, sums: Sequence[SSAValue]
    ) -> list[SSAValue]:
        """Runs what is ordered for the terms of a piece of the thread's own sum."""
        start = at.mul(piece, self.piece, "start")
        rest = at.value(arith.MinSIOp(at.sub(self.trips, start), self.piece))
        count = at.to_integer(rest, i32)
        first = at.add(buffer, self.mine)
        pitch = at.i32(PITCH) if self.sums.along else self.width
        return self._in_order(at, count, start, (first, pitch), sums, ADDED_AT_ONCE)

    def _in_order(
        self,
        at: Cursor,
        count: SSAValue,
        start: SSAValue,
        places: tuple[SSAValue, SSAValue],
        sums: Sequence[SSAValue],
        at_once: int,
        buffer: SSAValue | None = None,
    ) -> list[SSAValue]:
        """
        Runs what is ordered for `count` (i32) terms from term `start` (i64) on; `places`: the place of the
        first and the distance to the next, in the piece at `buffer` (None: they include it). `at_once`: how
        many are read before the first is added.
        """
        first, pitch = places
        block = Block(arg_types=[i32, i32, *(value.type for value in sums)])
        block.args[0].name_hint, block.args[1].name_hint = "term", "place"
        inside = Cursor.at_end(block, self.nest.terms.location)
        term, index = block.args[:2]
        body = self.nest.body
        values: Values = {
            **self.own.values,
            **dict(zip(body.args[1:], block.args[2:], strict=True)),
        }
        number = inside.add(start, inside.to_i64(term))
        values[body.args[0]] = self._variable(inside, number)
        slot = self._slot_of(inside, index, buffer)
        for tile, wanted in zip(self.tiles, self.sums.terms, strict=True):
            values[wanted] = inside.load(self._slot(inside, tile, wanted, slot), wanted.type)
        free = (*self.sums.loading, *self.sums.computing)
        for op in (*(op for op in free if not op.operands and not op.regions), *self.sums.ordered):
            inside.clone(op, values)
        for store, tile in self.written:
            if store.value in self.sums.terms:
                continue  # the place of the term has it already
            value = values.get(store.value, store.value)
            inside.store(value, self._slot(inside, tile, value, slot))
        end = body.last_op
        assert end is not None
        following = inside.value(arith.AddiOp(index, pitch, overflow=NSW))
        inside.insert(scf.YieldOp(following, *(values.get(v, v) for v in end.operands)))
        loop = scf.ForOp(at.i32(0), count, at.i32(1), [first, *sums], Region(block))
        loop.attributes[UNROLL] = IntegerAttr(at_once, i32)
        return [*at.insert(loop).results[1:]]
