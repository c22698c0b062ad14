"""
Copies between arrays and tiles, by all threads of a block together.

Threads number the words of a tile and take every n-th one, so that neighbouring threads read
neighbouring words of a row. A block that is not full, or whose section exceeds the array, reads the last
valid element again instead: so no thread branches, and the value in the tile is never used.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import prod

from xdsl.dialects import acc, arith, llvm, scf
from xdsl.dialects.builtin import IntegerAttr, IntegerType, i1, i8, i32, i64
from xdsl.ir import Block as IrBlock
from xdsl.ir import Operation, Region, SSAValue

from ...compiler.base.names import value_name
from ...dialects.accx import UNROLL
from ...dialects.accx_cache import CopyAsyncOp, GangBarrierOp, OpaqueOp, WaitCopiesOp
from ...dialects.accx_compress import PACKED
from ..decisions.cache_plan import TilePlan
from ..decisions.cache_section import divide
from ..decisions.cache_shapes import WIDEST_ACCESS
from ..decisions.polynomials import ZERO, Polynomial
from ..ir.data.cached_accesses import Cached
from ..ir.data.cached_code import Values, mapped, minimum, polynomial, scaled, split, total
from ..ir.ops.acc_ops import MAPPING_OPS
from ..ir.ops.building import Cursor, constant_value
from .extents import variable_bytes
from .tiles import Block, Planned, Tile, in_tile

MAX_UNROLLED = 16
"""The most words per thread for which the copy of a tile is unrolled."""


def start_of(at: Cursor, tile: Tile, block: Block, values: Values) -> SSAValue:
    """
    The offset in bytes (i64) from the array's start to the tile's first element, the same for all threads.
    """
    here = {**values, **block.first_values}
    poly = ZERO
    for dim in tile.plan.section.dims:
        poly = poly + dim.lower * dim.stride
    start = polynomial(at, poly, here, i64)
    for move in tile.plan.moves:
        if move.rate < 0:
            stride = tile.plan.dims[move.dim].stride * move.rate
            steps = at.to_i64(at.sub(block.axes[move.axis].width, at.i32(1)))
            start = at.add(start, at.mul(steps, polynomial(at, stride, here, i64)))
    start.name_hint = value_name(f"{tile.plan.section.name}_start")
    if tile.start_slot is None:
        return start
    # Communicating renewal: one thread computes where the tile begins, for the others.
    zero = at.value(arith.CmpiOp(block.thread, at.i32(0), "eq"))
    at.if_then(zero).store(start, tile.start_slot)
    at.insert(GangBarrierOp())
    return at.load(tile.start_slot, i64, start.name_hint)


def mapped_bytes(at: Cursor, cached: Cached, values: Values) -> tuple[SSAValue, SSAValue] | None:
    """
    The offsets (i64) from the array's start of its first mapped byte and of the end of the mapped part;
    None if not known.
    """
    size = variable_bytes(cached)
    if size is not None:
        return at.i64(0), at.i64(size)
    owner = cached.base.owner
    if not isinstance(owner, MAPPING_OPS) or not owner.bounds:
        return None
    bounds = owner.bounds[0].owner
    assert isinstance(bounds, acc.DataBoundsOp)
    if bounds.lowerbound is None or bounds.extent is None or bounds.stride is None:
        return None
    stride = at.to_i64(mapped(values, bounds.stride))
    low = at.mul(at.to_i64(mapped(values, bounds.lowerbound)), stride)
    span = at.mul(at.to_i64(mapped(values, bounds.extent)), stride)
    return low, at.add(low, span, "mapped_end")


def _reach(at: Cursor, tile: Tile, values: Values) -> tuple[SSAValue, SSAValue]:
    """
    The offsets in bytes (i64), from a full tile's first element, of its lowest element and of the end of
    its highest one.
    """
    below, above = ZERO, Polynomial.constant(tile.plan.section.element_bytes)
    lows: list[SSAValue] = []
    highs: list[SSAValue] = []
    for dim in tile.plan.dims:
        span = dim.stride * (dim.size - 1)
        known = span.as_constant
        if known is not None and known < 0:
            below = below + span
        elif known is not None or dim.section_dim is not None:
            above = above + span
        else:  # a loop's own dimension: its direction is known only at run time
            there = polynomial(at, span, values, i64)
            lows.append(at.value(arith.MinSIOp(there, at.i64(0))))
            highs.append(at.value(arith.MaxSIOp(there, at.i64(0))))
    low = total(at, polynomial(at, below, values, i64), *lows)
    high = total(at, polynomial(at, above, values, i64), *highs)
    return at.i64(0) if low is None else low, at.i64(0) if high is None else high


@dataclass
class Limits:
    """The limits of a careful copy: the iterations of each axis, the bytes of the array."""

    careful: bool
    mapped: tuple[SSAValue, SSAValue] | None


def conditions_of(
    at: Cursor, tile: Tile, block: Block, start: SSAValue, limits: Limits, values: Values
) -> list[SSAValue]:
    """The conditions (i1) under which the whole tile exists; none if it always does."""
    conditions: list[SSAValue] = []
    for axis in {move.axis for move in tile.plan.moves}:
        state = block.axes[axis]
        if not state.fixed:
            conditions.append(at.value(arith.CmpiOp(state.width, at.i32(state.full), "eq")))
    if limits.mapped is not None:
        low, end = limits.mapped
        below, above = _reach(at, tile, values)
        conditions.append(at.value(arith.CmpiOp(at.add(start, below), low, "sge")))
        conditions.append(at.value(arith.CmpiOp(at.add(start, above), end, "sle")))
    return conditions


# Copies between array and tile --------------------------------------------------------------------


Move = Callable[[Cursor, SSAValue, SSAValue, IntegerType, SSAValue], Callable[[], None]]
"""
Copies one word: cursor, address in the array, offset in the tile, word, the word's number. The read is
emitted immediately; the returned function emits the write, so that all reads of a thread are in flight
before the first write.
"""


def _extent(at: Cursor, tile: Tile, block: Block, position: int) -> SSAValue:
    """The number (i32) of elements of a tile dimension that exist in this block."""
    dim = tile.plan.dims[position]
    length = 1 if dim.section_dim is None else tile.plan.section.dims[dim.section_dim].length
    extent: SSAValue = at.i32(length)
    for move in tile.plan.moves:
        if move.dim == position:
            more = at.sub(block.axes[move.axis].width, at.i32(1))
            extent = at.add(extent, scaled(at, more, abs(move.rate)))
    return extent


@dataclass
class Sweep:
    """A sweep of all threads over the words of a tile."""

    tile: Tile
    block: Block
    base: SSAValue
    start: SSAValue
    values: Values
    rolled: bool = False
    """
    Whether to emit a loop over the thread's words instead of unrolled code, because this is not the usual
    copy.
    """

    def run(
        self, at: Cursor, limits: Limits, move: Move, *, exact: bool
    ) -> list[Callable[[], None]]:
        """
        Emits the reads; the returned functions emit the writes. `exact`: every existing word exactly once
        (for writing back); otherwise words may be moved twice.
        """
        threads, words = self.block.threads, words_of(self.tile.planned)
        turns = turns_of(self.tile, self.block)
        steps = None
        if not limits.careful and not self.rolled:
            steps = word_steps(at, self.tile, self.block)
        if steps is not None:
            return self._steps(at, steps, move)
        if turns > MAX_UNROLLED or self.rolled:
            loop, inside = at.for_loop(self.block.thread, at.i32(words), at.i32(threads), "word")
            if self.rolled:
                loop.attributes[UNROLL] = IntegerAttr(1, i32)
            self._word_at(inside, inside.point.block.args[0], limits, move, exact)()
            return []
        pending: list[Callable[[], None]] = []
        for turn in range(turns):
            number = at.add(self.block.thread, at.i32(turn * threads), "word")
            place = at
            if (turn + 1) * threads > words:
                last = at.i32(words - 1)
                if exact:
                    place = at.if_then(at.value(arith.CmpiOp(number, last, "sle"), "inside"))
                else:
                    number = minimum(at, number, last)
            pending.append(self._word_at(place, number, limits, move, exact))
            if place is not at:
                pending.pop()()
        return pending

    def _steps(
        self, at: Cursor, steps: Sequence[Sequence[Step]], move: Move
    ) -> list[Callable[[], None]]:
        """As `run`, for words of a thread that are constant steps apart and all exist."""
        plan = self.tile.plan
        bytes = self.tile.planned.word_bytes
        pending: list[Callable[[], None]] = []
        first: dict[tuple[SSAValue, ...], SSAValue] = {}
        for turn, places in enumerate(steps):
            own = tuple(place.own for place in places)
            if own not in first:
                first[own] = self._offset(at, own, bytes)
            further = Polynomial.constant(places[-1].further * bytes)
            for dim, place in zip(plan.dims[:-1], places[:-1], strict=True):
                further = further + dim.stride * place.further
            far = total(at, first[own], polynomial(at, further, self.values, i64)) or at.i64(0)
            source = at.element(self.base, far, i8, plan.section.name)
            number = at.add(self.block.thread, at.i32(turn * self.block.threads), "word")
            word = self.tile.planned.cached.word
            pending.append(move(at, source, _step_place(at, self.tile, places), word, number))
        return pending

    def loads(self, at: Cursor, limits: Limits) -> list[SSAValue]:
        """Emits the reads of the thread's words; returns their values."""
        found: list[SSAValue] = []

        def load(
            here: Cursor, source: SSAValue, offset: SSAValue, word: IntegerType, number: SSAValue
        ) -> Callable[[], None]:
            found.append(here.load(source, word, self.tile.plan.section.name))
            return _nothing

        self.run(at, limits, load, exact=False)
        return found

    def _word_at(
        self, at: Cursor, number: SSAValue, limits: Limits, move: Move, exact: bool
    ) -> Callable[[], None]:
        dims = self.tile.plan.dims
        bytes = self.tile.planned.word_bytes
        coordinates = _coordinates(at, self.tile, number)
        inside: SSAValue | None = None
        places = list(coordinates)
        for position in range(len(dims)) if limits.careful else ():
            extent = _extent(at, self.tile, self.block, position)
            if position == len(dims) - 1:
                extent = self._words(at, extent)
            if constant_value(extent) is None and exact:
                fits = at.value(arith.CmpiOp(coordinates[position], extent, "slt"))
                inside = fits if inside is None else at.value(arith.AndIOp(inside, fits))
            elif constant_value(extent) is None:
                last = at.sub(extent, at.i32(1))
                coordinates[position] = minimum(at, coordinates[position], last)
            if exact and (fits := self._in_row(at, position, coordinates[position])) is not None:
                inside = fits if inside is None else at.value(arith.AndIOp(inside, fits))
        place = at
        if inside is not None:
            place = at.if_then(inside)
        near = _place(place, self.tile, places)
        far = self._offset(place, coordinates, bytes)
        if limits.careful and limits.mapped is not None:
            low, end = limits.mapped
            last = place.sub(end, place.i64(bytes))
            if exact:
                ok = place.value(
                    arith.AndIOp(
                        place.value(arith.CmpiOp(far, low, "sge")),
                        place.value(arith.CmpiOp(far, last, "sle")),
                    )
                )
                place = place.if_then(ok)
            else:
                far = place.value(arith.MinSIOp(far, last))
                far = place.value(arith.MaxSIOp(far, low))
        source = place.element(self.base, far, i8, self.tile.plan.section.name)
        write = move(place, source, near, self.tile.planned.cached.word, number)
        if place is at:
            return write
        write()
        return _nothing

    def _words(self, at: Cursor, elements: SSAValue) -> SSAValue:
        """The number of words (i32) of `elements` elements of a row."""
        own, word = self.tile.plan.section.element_bytes, self.tile.planned.word_bytes
        if own >= word:
            return scaled(at, elements, own // word)
        known = constant_value(elements)
        if known is not None:
            return at.i32(known * own // word)
        return at.value(arith.DivUIOp(elements, at.i32(word // own)))

    def _in_row(self, at: Cursor, position: int, coordinate: SSAValue) -> SSAValue | None:
        """
        An i1: a coordinate of an inner dimension is within the array's rows. Elements after the end of a
        row belong to the next row, which another block may hold too. None if it always is.
        """
        plan = self.tile.plan
        dim = plan.dims[position].section_dim
        if dim is None or dim == 0:
            return None
        section = plan.section.dims
        length = divide(section[dim - 1].stride, section[dim].stride)
        if length is None or length[1].terms:
            return None
        first = polynomial(at, section[dim].lower, self.values, i64)
        for move in plan.moves:
            if move.dim == position and move.rate < 0:
                steps = at.sub(self.block.axes[move.axis].width, at.i32(1))
                first = at.add(first, at.to_i64(scaled(at, steps, move.rate)))
        if position == len(plan.dims) - 1:
            word = self.tile.planned.word_bytes
            coordinate = split(at, coordinate, plan.section.element_bytes // word)[0]
        index = at.add(first, at.to_i64(coordinate))
        end = polynomial(at, length[0], self.values, i64)
        return at.value(arith.CmpiOp(index, end, "ult"), "in_row")

    def _offset(self, at: Cursor, coordinates: Sequence[SSAValue], bytes: int) -> SSAValue:
        """The offset in bytes in the array of the word at `coordinates` of the tile (i64)."""
        far = [at.to_i64(scaled(at, coordinates[-1], bytes))]
        for dim, coordinate in zip(self.tile.plan.dims[:-1], coordinates[:-1], strict=True):
            stride = polynomial(at, dim.stride, self.values, i64)
            far.append(at.mul(at.to_i64(coordinate), stride))
        return total(at, self.start, *far) or self.start


def words_per_row(planned: Planned) -> int:
    """The words of the innermost dimension of a tile, without its padding."""
    return planned.plan.dims[-1].size * planned.plan.section.element_bytes // planned.word_bytes


def words_of(planned: Planned) -> int:
    """The words of a tile, without padding."""
    return words_per_row(planned) * prod(dim.size for dim in planned.plan.dims[:-1])


def turns_of(tile: Tile, block: Block) -> int:
    """The words that each thread copies."""
    return -(-words_of(tile.planned) // block.threads)


def _coordinates(at: Cursor, tile: Tile, number: SSAValue) -> list[SSAValue]:
    """The coordinates of word `number` in the tile; the last one counts words of the innermost dimension."""
    dims = tile.plan.dims
    rest, column = split(at, number, words_per_row(tile.planned))
    found = [column]
    for dim in reversed(dims[1:-1]):
        rest, own = split(at, rest, dim.size)
        found.insert(0, own)
    return [rest, *found] if len(dims) > 1 else found


@dataclass(frozen=True)
class Step:
    """
    A coordinate of a word: a part that depends on the thread (`own`), and a constant that differs between
    the thread's words.
    """

    own: SSAValue
    further: int


def word_steps(at: Cursor, tile: Tile, block: Block) -> list[list[Step]] | None:
    """
    The coordinates of a thread's words if they are constant steps apart: either all threads together fill
    whole rows in a turn, or whole turns fill a row. None otherwise.
    """
    turns, threads = turns_of(tile, block), block.threads
    if words_of(tile.planned) % threads or turns > MAX_UNROLLED:
        return None
    found: list[list[Step]] = [[] for _ in range(turns)]
    # A word's number is `own`, which is less than `apart`, plus `apart` times one of `numbers`.
    own, apart, numbers = block.thread, threads, list(range(turns))
    for size in (words_per_row(tile.planned), *(d.size for d in reversed(tile.plan.dims[1:-1]))):
        if apart % size == 0:
            rest, own = split(at, own, size)
            steps = [Step(own, 0) for _ in numbers]
            apart //= size
            own = rest if apart > 1 else at.i32(0)
        elif size % apart == 0:
            each = size // apart
            steps = [Step(own, number % each * apart) for number in numbers]
            numbers = [number // each for number in numbers]
            own, apart = at.i32(0), 1
        else:
            return None
        for places, step in zip(found, steps, strict=True):
            places.insert(0, step)
    if len(tile.plan.dims) > 1:
        for places, number in zip(found, numbers, strict=True):
            places.insert(0, Step(own, number * apart))
    return found


def _step_place(at: Cursor, tile: Tile, places: Sequence[Step]) -> SSAValue:
    """The offset in bytes in the tile of a word at these coordinates (i32)."""
    own = _place(at, tile, [place.own for place in places])
    further = sum(p.further * pitch for p, pitch in zip(places, _pitches(tile), strict=True))
    return at.add(own, at.i32(further))


def _pitches(tile: Tile) -> list[int]:
    """For each dimension, the bytes in the tile from one word to the next."""
    dims = tile.plan.dims
    bytes = tile.planned.word_bytes
    return [
        *(dim.pitch for dim in dims[:-1]),
        dims[-1].pitch if tile.plan.transposed else bytes,
    ]


def _place(at: Cursor, tile: Tile, coordinates: Sequence[SSAValue]) -> SSAValue:
    """The offset in bytes in the tile of the word at `coordinates` (i32)."""
    near = [
        scaled(at, coordinate, pitch)
        for coordinate, pitch in zip(reversed(coordinates), reversed(_pitches(tile)), strict=True)
    ]
    offset = total(at, *near)
    return at.i32(0) if offset is None else offset


def places_of(at: Cursor, tile: Tile, block: Block) -> list[SSAValue]:
    """The offsets (i32) in the tile of the words that `loads` returns, in the same order."""
    steps = word_steps(at, tile, block)
    if steps is not None:
        return [_step_place(at, tile, places) for places in steps]
    found: list[SSAValue] = []
    for turn in range(turns_of(tile, block)):
        number = at.add(block.thread, at.i32(turn * block.threads), "word")
        if (turn + 1) * block.threads > words_of(tile.planned):
            number = minimum(at, number, at.i32(words_of(tile.planned) - 1))
        found.append(_place(at, tile, _coordinates(at, tile, number)))
    return found


@dataclass
class Copies:
    """The copies that fill some tiles; `whole` is an i1: every tile exists completely (None: always)."""

    sweeps: list[Sweep]
    limits: list[Limits]
    whole: SSAValue | None

    @property
    def unlimited(self) -> list[Limits]:
        return [Limits(False, None)] * len(self.sweeps)


def copies_of(at: Cursor, tiles: Sequence[Tile], block: Block, values: Values) -> Copies:
    """The copies of the tiles for the iteration described by `values`."""
    here = {**values, **block.first_values}
    found = Copies([], [], None)
    conditions: list[SSAValue] = []
    for tile in tiles:
        base = mapped(values, tile.planned.cached.base)
        tile.starts = start_of(at, tile, block, values)
        found.sweeps.append(Sweep(tile, block, base, tile.starts, here))
        found.limits.append(Limits(True, mapped_bytes(at, tile.planned.cached, values)))
        conditions += conditions_of(at, tile, block, tile.starts, found.limits[-1], here)
    for condition in conditions:
        found.whole = (
            condition if found.whole is None else at.value(arith.AndIOp(found.whole, condition))
        )
    if found.whole is not None:
        found.whole.name_hint = "whole"
    return found


def fill(at: Cursor, tiles: Sequence[Tile], block: Block, values: Values, *, again: bool) -> None:
    """
    Emits the filling of the tiles by all threads: the reads of all tiles first, so that they are in flight
    at the same time, and a barrier at the end. `again`: earlier contents may still be in use, so there is a
    barrier before too.
    """
    if again:
        at.insert(GangBarrierOp())
    start(at, copies_of(at, tiles, block, values))
    if any(tile.planned.asynchronous for tile in tiles):
        at.insert(WaitCopiesOp())
    at.insert(GangBarrierOp())


def start(at: Cursor, copies: Copies) -> None:
    """Emits the copies; asynchronous ones are only started."""
    wide = _widened(at, copies.sweeps)
    if wide is not None:
        copies = replace(copies, sweeps=[replace(s, rolled=True) for s in copies.sweeps])
        possible = aligned(at, copies.sweeps)
        if copies.whole is not None and possible is not None:
            possible = at.value(arith.AndIOp(copies.whole, possible), "wide")
        possible = possible or copies.whole
        if possible is None:
            _run(at, wide, copies.unlimited)
            return
        then, at = if_else(at, possible)
        _run(then, wide, copies.unlimited)
        if copies.whole is not None and any(_is_at_edges(sweep) for sweep in wide):
            then, at = if_else(at, _clipped(at, copies))
            _run(then, _apart(then, wide), [Limits(True, None)] * len(wide))
    if copies.whole is None:
        _run(at, copies.sweeps, copies.unlimited)
        return
    then, otherwise = if_else(at, copies.whole)
    _run(then, copies.sweeps, copies.unlimited)
    _run(otherwise, _apart(otherwise, copies.sweeps), copies.limits)


def _is_at_edges(sweep: Sweep) -> bool:
    """Whether blocks at an edge may have fewer iterations than others, and so only a part of the tile."""
    axes = {move.axis for move in sweep.tile.plan.moves}
    return sweep.tile.planned.edges and any(not sweep.block.axes[axis].fixed for axis in axes)


def _clipped(at: Cursor, copies: Copies) -> SSAValue:
    """
    An i1: a block at an edge may copy the existing part of its tiles in words of 16 bytes. Rows are
    aligned, their lengths are multiples of 16 bytes, and the part lies within the mapped array.
    """
    conditions: list[SSAValue] = []
    if (even := aligned(at, copies.sweeps)) is not None:
        conditions.append(even)
    for sweep, limits in zip(copies.sweeps, copies.limits, strict=True):
        plan = sweep.tile.plan
        last = len(plan.dims) - 1
        row = scaled(at, _extent(at, sweep.tile, sweep.block, last), plan.section.element_bytes)
        if constant_value(row) is None:
            odd = at.value(arith.AndIOp(row, at.i32(WIDEST_ACCESS - 1)))
            conditions.append(at.value(arith.CmpiOp(odd, at.i32(0), "eq")))
        if limits.mapped is None:
            continue
        low, high = sweep.start, at.add(sweep.start, at.to_i64(row))
        for position, dim in enumerate(plan.dims[:-1]):
            steps = at.sub(_extent(at, sweep.tile, sweep.block, position), at.i32(1))
            there = at.mul(at.to_i64(steps), polynomial(at, dim.stride, sweep.values, i64))
            low = at.add(low, at.value(arith.MinSIOp(there, at.i64(0))))
            high = at.add(high, at.value(arith.MaxSIOp(there, at.i64(0))))
        conditions.append(at.value(arith.CmpiOp(low, limits.mapped[0], "sge")))
        conditions.append(at.value(arith.CmpiOp(high, limits.mapped[1], "sle")))
    found = conditions[0] if conditions else at.constant(1, i1)
    for condition in conditions[1:]:
        found = at.value(arith.AndIOp(found, condition), "clipped")
    return found


def _widened(at: Cursor, sweeps: Sequence[Sweep]) -> list[Sweep] | None:
    """The same asynchronous copies in words of 16 bytes; None if the layout of a tile does not allow them."""
    found: list[Sweep] = []
    for sweep in sweeps:
        planned, owner = sweep.tile.planned, sweep.tile.planned.cached.base.owner
        packed = isinstance(owner, Operation) and PACKED in owner.attributes
        if not planned.asynchronous or packed or not _has_wide_places(planned.plan):
            return None
        tile = replace(sweep.tile, planned=replace(planned, wide=True))
        if word_steps(at, tile, sweep.block) is None:
            return None
        found.append(replace(sweep, tile=tile))
    return found


def _has_wide_places(plan: TilePlan) -> bool:
    """
    Whether the elements of a tile's row are neighbours in the array, and rows are multiples of 16 bytes
    long and apart.
    """
    row, element = plan.dims[-1], plan.section.element_bytes
    if plan.transposed or row.stride.as_constant != element:
        return False
    return all(
        bytes % WIDEST_ACCESS == 0
        for bytes in (row.size * element, *(dim.pitch for dim in plan.dims[:-1]))
    )


def aligned(at: Cursor, sweeps: Sequence[Sweep]) -> SSAValue | None:
    """An i1, the same for all threads: all rows begin at multiples of 16 bytes. None if they always do."""
    bits: SSAValue | None = None
    for sweep in sweeps:
        first = at.element(sweep.base, sweep.start, i8, sweep.tile.plan.section.name)
        parts = [at.value(llvm.PtrToIntOp(first, i64))]
        for dim in sweep.tile.plan.dims[:-1]:
            if dim.size > 1 and any(factor % WIDEST_ACCESS for factor in dim.stride.terms.values()):
                parts.append(polynomial(at, dim.stride, sweep.values, i64))
        for part in parts:
            bits = part if bits is None else at.value(arith.OrIOp(bits, part))
    if bits is None:
        return None
    odd = at.value(arith.AndIOp(bits, at.i64(WIDEST_ACCESS - 1)))
    return at.value(arith.CmpiOp(odd, at.i64(0), "eq"), "aligned")


def loads(at: Cursor, copies: Copies) -> list[SSAValue]:
    """Emits the reads of the thread's words of all tiles, one tile after the other; returns their values."""

    def load(here: Cursor, sweeps: Sequence[Sweep], limits: Sequence[Limits]) -> list[SSAValue]:
        return [
            word
            for sweep, limit in zip(sweeps, limits, strict=True)
            for word in sweep.loads(here, limit)
        ]

    if copies.whole is None:
        return load(at, copies.sweeps, copies.unlimited)
    return either(
        at,
        copies.whole,
        lambda inside: load(inside, copies.sweeps, copies.unlimited),
        lambda inside: load(inside, _apart(inside, copies.sweeps), copies.limits),
    )


def _apart(at: Cursor, sweeps: Sequence[Sweep]) -> list[Sweep]:
    """
    The sweeps for a careful copy, which is rare. LLVM must not hoist its arithmetic out of the loop that
    renews the tiles, where it would take registers from the usual copy.
    """
    thread = at.value(OpaqueOp(sweeps[0].block.thread), "own_number")
    return [replace(sweep, block=replace(sweep.block, thread=thread)) for sweep in sweeps]


def _run(at: Cursor, sweeps: Sequence[Sweep], limits: Sequence[Limits]) -> None:
    """Emits the copies from arrays to tiles: every thread reads all its words, then writes them."""
    pending: list[Callable[[], None]] = []
    for sweep, limit in zip(sweeps, limits, strict=True):
        copy = copy_async if sweep.tile.planned.asynchronous else _copy
        pending += sweep.run(at, limit, copy(sweep.tile), exact=False)
    for write in pending:
        write()


def if_else(at: Cursor, condition: SSAValue) -> tuple[Cursor, Cursor]:
    """An `scf.if` with cursors in both of its branches."""
    blocks = IrBlock(), IrBlock()
    ends = [at.inside(block).insert(scf.YieldOp()) for block in blocks]
    at.insert(scf.IfOp(condition, [], Region(blocks[0]), Region(blocks[1])))
    return at.inside_before(ends[0]), at.inside_before(ends[1])


def either(
    at: Cursor,
    condition: SSAValue,
    then: Callable[[Cursor], list[SSAValue]],
    otherwise: Callable[[Cursor], list[SSAValue]],
) -> list[SSAValue]:
    """The values computed by one of two branches."""
    blocks = IrBlock(), IrBlock()
    for block, emit in zip(blocks, (then, otherwise), strict=True):
        inside = at.inside(block)
        inside.insert(scf.YieldOp(*emit(inside)))
    end = blocks[0].last_op
    assert end is not None
    types = [value.type for value in end.operands]
    return list(at.insert(scf.IfOp(condition, types, Region(blocks[0]), Region(blocks[1]))).results)


def _nothing() -> None:
    """The write function of a copy that needs none."""


def _copy(tile: Tile) -> Move:
    def copy(
        at: Cursor, source: SSAValue, offset: SSAValue, word: IntegerType, number: SSAValue
    ) -> Callable[[], None]:
        value = at.load(source, word, tile.plan.section.name)

        def write() -> None:
            at.store(value, in_tile(at, tile.address, offset))
            if tile.mask is not None:
                flag = in_tile(at, tile.mask, _element(at, tile, number))
                at.store(at.constant(0, i8), flag)

        return write

    return copy


def copy_async(tile: Tile) -> Move:
    def copy(
        at: Cursor, source: SSAValue, offset: SSAValue, word: IntegerType, number: SSAValue
    ) -> Callable[[], None]:
        target = in_tile(at, tile.address, offset)
        at.insert(CopyAsyncOp(source, target, tile.planned.word_bytes))
        return _nothing

    return copy


def _element(at: Cursor, tile: Tile, word: SSAValue) -> SSAValue:
    """The number of the element that a word of the sweep belongs to."""
    per_element = tile.plan.section.element_bytes // tile.planned.word_bytes
    return split(at, word, per_element)[0]


def write_back(at: Cursor, tile: Tile, block: Block, values: Values) -> None:
    """
    Emits the writing back of the tile by all threads: all of it, or the elements that the mask marks as
    written.
    """
    assert tile.starts is not None
    at.insert(GangBarrierOp())
    base = mapped(values, tile.planned.cached.base)
    here = {**values, **block.first_values}
    sweep = Sweep(tile, block, base, tile.starts, here)
    limits = Limits(True, mapped_bytes(at, tile.planned.cached, values))

    def copy(
        cursor: Cursor, target: SSAValue, offset: SSAValue, word: IntegerType, number: SSAValue
    ) -> Callable[[], None]:
        place = cursor
        if tile.mask is not None:
            flag = in_tile(cursor, tile.mask, _element(cursor, tile, number))
            dirty = cursor.load(flag, i8, "dirty")
            place = cursor.if_then(cursor.value(arith.CmpiOp(dirty, cursor.constant(0, i8), "ne")))
        value = place.load(in_tile(place, tile.address, offset), word)
        place.store(value, target)
        return _nothing

    for write in sweep.run(at, limits, copy, exact=True):
        write()
