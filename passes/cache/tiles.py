"""
Tiles of one block of threads: filling them together, the address of an element, writing them back.

Threads number the words of a tile and take every n-th one, so that neighbouring threads read
neighbouring words of a row. A block that is not full, or whose section leaves the array, reads the
last element it may again instead: no thread branches, and nobody reads what stands there.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from xdsl.dialects import acc, arith, llvm
from xdsl.dialects.builtin import IntegerType, i8, i32, i64
from xdsl.ir import SSAValue

from ...dialects.accx_cache import (
    SHARED_POINTER,
    CopyAsyncOp,
    GangBarrierOp,
    SharedTileOp,
    WaitCopiesOp,
)
from ..analysis.acc_ops import MAPPING_OPS
from ..analysis.affine import ZERO, Affine
from ..analysis.cache_plan import Method, TilePlan, WritePolicy
from ..building import Cursor, constant_value
from .accesses import Cached
from .emit import Values, mapped, minimum, polynomial, scaled, split, total

MAX_UNROLLED = 16
"""Words per thread up to which the copy of a tile is written out."""


@dataclass(frozen=True)
class Planned:
    """One cached section with everything that was decided about it."""

    cached: Cached
    plan: TilePlan
    method: Method
    policy: WritePolicy
    asynchronous: bool = False
    communicate: bool = False
    disjoint: bool = False


@dataclass
class AxisState:
    """
    One mapped loop in the block: `width` iterations of it (i32), at most `full`; `fixed` if always as
    many; `first` is the loop variable of the block's first iteration.
    """

    full: int
    fixed: bool
    width: SSAValue
    first: SSAValue


@dataclass
class Block:
    """What all tiles of a block share: its axes, its threads, and the thread's number (i32)."""

    axes: list[AxisState]
    threads: int
    thread: SSAValue
    first_values: dict[SSAValue, SSAValue]


@dataclass
class Tile:
    """A tile that has its memory. `mask` holds a byte per element if only written ones go back."""

    planned: Planned
    address: SSAValue
    mask: SSAValue | None
    start_slot: SSAValue | None
    starts: SSAValue | None = None
    bases: dict[tuple[SSAValue, ...], SSAValue] = field(
        default_factory=dict[tuple[SSAValue, ...], SSAValue]
    )

    @property
    def plan(self) -> TilePlan:
        return self.planned.plan


def in_tile(at: Cursor, tile: SSAValue, offset: SSAValue, hint: str | None = None) -> SSAValue:
    """The address `offset` bytes into the tile's memory."""
    gep = llvm.GEPOp.from_mixed_indices(tile, [offset], i8, SHARED_POINTER, inbounds=True)
    return at.value(gep, hint)


def allocate(at: Cursor, planned: Planned) -> Tile:
    """The shared memory of a tile."""
    name = planned.plan.section.name
    address = at.value(SharedTileOp(planned.plan.bytes, name), f"{name}_tile")
    mask = slot = None
    if planned.policy == "mask":
        mask = at.value(SharedTileOp(planned.plan.elements, f"{name}_dirty"), f"{name}_dirty")
    if planned.communicate:
        slot = at.value(SharedTileOp(8, f"{name}_start"), f"{name}_start")
    return Tile(planned, address, mask, slot)


def base_offset(at: Cursor, tile: Tile, block: Block, coordinates: Sequence[SSAValue]) -> SSAValue:
    """
    Bytes from the start of the tile to the section of the iteration with these coordinates (i32),
    kept in a register for all accesses.
    """
    used = tuple(coordinates[axis] for axis in sorted({m.axis for m in tile.plan.moves}))
    if used in tile.bases:
        return tile.bases[used]
    parts: list[SSAValue] = []
    for move in tile.plan.moves:
        coordinate = coordinates[move.axis]
        if move.rate < 0:
            last = at.sub(block.axes[move.axis].width, at.i32(1))
            coordinate = at.sub(last, minimum(at, coordinate, last))
        parts.append(scaled(at, coordinate, abs(move.rate) * tile.plan.dims[move.dim].pitch))
    found = total(at, *parts)
    tile.bases[used] = at.i32(0) if found is None else found
    return tile.bases[used]


def element_address(
    at: Cursor,
    tile: Tile,
    base: SSAValue,
    deltas: Sequence[Affine],
    inner: int,
    values: Values,
) -> SSAValue:
    """The address in the tile of the element at `deltas` in the iteration's own section."""
    poly = Affine.constant(inner)
    own = [dim for dim in tile.plan.dims if dim.section_dim is not None]
    for delta, dim in zip(deltas, own, strict=True):
        poly = poly + delta * dim.pitch
    offset = total(at, base, polynomial(at, poly, values, i32))
    if offset is None:
        return tile.address
    return in_tile(at, tile.address, offset, f"{tile.plan.section.name}_cached")


# Where the tile comes from --------------------------------------------------------------------


def _start(at: Cursor, tile: Tile, block: Block, values: Values) -> SSAValue:
    """Bytes from the array's start to the tile's first element, the same for all threads (i64)."""
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
    start.name_hint = f"{tile.plan.section.name}_start"
    if tile.start_slot is None:
        return start
    # Communicating renewal: one thread says where the tile begins.
    zero = at.value(arith.CmpiOp(block.thread, at.i32(0), "eq"))
    at.if_then(zero).store(start, tile.start_slot)
    at.insert(GangBarrierOp())
    return at.load(tile.start_slot, i64, start.name_hint)


def mapped_bytes(at: Cursor, cached: Cached, values: Values) -> tuple[SSAValue, SSAValue] | None:
    """The first byte that is mapped of the array and the end, from its start (i64); None: not known."""
    owner = cached.base.owner
    if not isinstance(owner, MAPPING_OPS) or not owner.bounds:
        return None
    bounds = owner.bounds[0].owner
    assert isinstance(bounds, acc.DataBoundsOp)
    if bounds.lowerbound is None or bounds.extent is None or bounds.stride is None:
        return None
    stride = at.to_i64(mapped(values, bounds.stride))
    low = at.mul(at.to_i64(mapped(values, bounds.lowerbound)), stride)
    size = at.mul(at.to_i64(mapped(values, bounds.extent)), stride)
    return low, at.add(low, size, "mapped_end")


def _span(tile: Tile) -> Affine:
    """Bytes of the array from the first to behind the last element of a full tile."""
    span = Affine.constant(tile.plan.section.element_bytes)
    for dim in tile.plan.dims:
        span = span + dim.stride * (dim.size - 1)
    return span


@dataclass
class _Limits:
    """What a careful copy must not exceed: iterations of each axis, bytes of the array."""

    careful: bool
    mapped: tuple[SSAValue, SSAValue] | None


def _conditions(
    at: Cursor, tile: Tile, block: Block, start: SSAValue, limits: _Limits, values: Values
) -> list[SSAValue]:
    """What must hold for the whole tile to exist; nothing if it always does."""
    conditions: list[SSAValue] = []
    for axis in {move.axis for move in tile.plan.moves}:
        state = block.axes[axis]
        if not state.fixed:
            conditions.append(at.value(arith.CmpiOp(state.width, at.i32(state.full), "eq")))
    if limits.mapped is not None:
        low, end = limits.mapped
        conditions.append(at.value(arith.CmpiOp(start, low, "sge")))
        last = at.add(start, polynomial(at, _span(tile), values, i64))
        conditions.append(at.value(arith.CmpiOp(last, end, "sle")))
    return conditions


# Copies between array and tile --------------------------------------------------------------------


Move = Callable[[Cursor, SSAValue, SSAValue, IntegerType, SSAValue], Callable[[], None]]
"""
Copies one word: cursor, address in the array, offset in the tile, word, the word's number. Reads at
once; what it returns writes, so that all reads of a thread are under way before the first write.
"""


def _extent(at: Cursor, tile: Tile, block: Block, position: int) -> SSAValue:
    """Elements of a tile dimension that exist in this block (i32)."""
    dim = tile.plan.dims[position]
    length = 1 if dim.section_dim is None else tile.plan.section.dims[dim.section_dim].length
    extent: SSAValue = at.i32(length)
    for move in tile.plan.moves:
        if move.dim == position:
            more = at.sub(block.axes[move.axis].width, at.i32(1))
            extent = at.add(extent, scaled(at, more, abs(move.rate)))
    return extent


@dataclass
class _Sweep:
    """A sweep of all threads over the words of a tile."""

    tile: Tile
    block: Block
    base: SSAValue
    start: SSAValue
    values: Values

    @property
    def words_per_row(self) -> int:
        row = self.tile.plan.dims[-1].size * self.tile.plan.section.element_bytes
        return row * 8 // self.tile.planned.cached.word.width.data

    @property
    def words(self) -> int:
        count = self.words_per_row
        for dim in self.tile.plan.dims[:-1]:
            count *= dim.size
        return count

    def run(
        self, at: Cursor, limits: _Limits, move: Move, *, exact: bool
    ) -> list[Callable[[], None]]:
        """
        `exact`: every word once and none that does not exist (for writing back); otherwise words
        may be moved twice. The result writes what has been read.
        """
        threads = self.block.threads
        turns = -(-self.words // threads)
        if turns > MAX_UNROLLED:
            _, inside = at.for_loop(self.block.thread, at.i32(self.words), at.i32(threads), "word")
            self._word_at(inside, inside.point.block.args[0], limits, move, exact)()
            return []
        pending: list[Callable[[], None]] = []
        for turn in range(turns):
            number = at.add(self.block.thread, at.i32(turn * threads), "word")
            place = at
            if (turn + 1) * threads > self.words:
                last = at.i32(self.words - 1)
                if exact:
                    place = at.if_then(at.value(arith.CmpiOp(number, last, "sle"), "inside"))
                else:
                    number = minimum(at, number, last)
            pending.append(self._word_at(place, number, limits, move, exact))
            if place is not at:
                pending.pop()()
        return pending

    def _word_at(
        self, at: Cursor, number: SSAValue, limits: _Limits, move: Move, exact: bool
    ) -> Callable[[], None]:
        dims = self.tile.plan.dims
        bytes = self.tile.planned.cached.word.width.data // 8
        per_element = self.tile.plan.section.element_bytes // bytes
        rest, column = split(at, number, self.words_per_row)
        coordinates = [column]
        for dim in reversed(dims[1:-1]):
            rest, own = split(at, rest, dim.size)
            coordinates.insert(0, own)
        if len(dims) > 1:
            coordinates.insert(0, rest)
        inside: SSAValue | None = None
        places = list(coordinates)
        for position in range(len(dims)) if limits.careful else ():
            extent = _extent(at, self.tile, self.block, position)
            if position == len(dims) - 1:
                extent = scaled(at, extent, per_element)
            if constant_value(extent) is not None:
                continue
            if exact:
                fits = at.value(arith.CmpiOp(coordinates[position], extent, "slt"))
                inside = fits if inside is None else at.value(arith.AndIOp(inside, fits))
            else:
                last = at.sub(extent, at.i32(1))
                coordinates[position] = minimum(at, coordinates[position], last)
        place, far, near = at, self.start, at.i32(0)
        if inside is not None:
            place = at.if_then(inside)
        near, far = self._offsets(place, places, coordinates, bytes)
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

    def _offsets(
        self,
        at: Cursor,
        places: Sequence[SSAValue],
        coordinates: Sequence[SSAValue],
        bytes: int,
    ) -> tuple[SSAValue, SSAValue]:
        """Offsets in bytes in the tile (i32, of `places`) and in the array (i64, of `coordinates`)."""
        near: list[SSAValue] = []
        far: list[SSAValue] = []
        dims = self.tile.plan.dims
        for position, (dim, place, coordinate) in enumerate(
            zip(dims, places, coordinates, strict=True)
        ):
            if position == len(dims) - 1:
                near.append(scaled(at, place, bytes))
                same = place is coordinate
                far.append(at.to_i64(near[-1] if same else scaled(at, coordinate, bytes)))
                continue
            near.append(scaled(at, place, dim.pitch))
            stride = polynomial(at, dim.stride, self.values, i64)
            far.append(at.mul(at.to_i64(coordinate), stride))
        offset = total(at, *near)
        return at.i32(0) if offset is None else offset, total(at, self.start, *far) or self.start


def fill(at: Cursor, tiles: Sequence[Tile], block: Block, values: Values, *, again: bool) -> None:
    """
    All threads fill the tiles together: reads of all tiles first, so that they are under way at the
    same time. `again`: earlier contents may still be in use. A barrier stands behind the last tile.
    """
    if again:
        at.insert(GangBarrierOp())
    here = {**values, **block.first_values}
    sweeps: list[_Sweep] = []
    limits: list[_Limits] = []
    conditions: list[SSAValue] = []
    for tile in tiles:
        base = mapped(values, tile.planned.cached.base)
        tile.starts = _start(at, tile, block, values)
        sweeps.append(_Sweep(tile, block, base, tile.starts, here))
        limits.append(_Limits(True, mapped_bytes(at, tile.planned.cached, values)))
        conditions += _conditions(at, tile, block, tile.starts, limits[-1], here)
    if not conditions:
        _run(at, sweeps, [_Limits(False, None)] * len(sweeps))
    else:
        whole = conditions[0]
        for condition in conditions[1:]:
            whole = at.value(arith.AndIOp(whole, condition))
        whole.name_hint = "whole"
        then, otherwise = if_else(at, whole)
        _run(then, sweeps, [_Limits(False, None)] * len(sweeps))
        _run(otherwise, sweeps, limits)
    if any(tile.planned.asynchronous for tile in tiles):
        at.insert(WaitCopiesOp())
    at.insert(GangBarrierOp())


def _run(at: Cursor, sweeps: Sequence[_Sweep], limits: Sequence[_Limits]) -> None:
    """Copies array to tile for all tiles: every thread reads all its words, then writes them."""
    pending: list[Callable[[], None]] = []
    for sweep, limit in zip(sweeps, limits, strict=True):
        copy = _copy_async if sweep.tile.planned.asynchronous else _copy
        pending += sweep.run(at, limit, copy(sweep.tile), exact=False)
    for write in pending:
        write()


def if_else(at: Cursor, condition: SSAValue) -> tuple[Cursor, Cursor]:
    """An `scf.if` with cursors in both of its branches."""
    from xdsl.dialects import scf
    from xdsl.ir import Block as IrBlock
    from xdsl.ir import Region

    blocks = IrBlock(), IrBlock()
    ends = [Cursor.at_end(block, at.loc).insert(scf.YieldOp()) for block in blocks]
    at.insert(scf.IfOp(condition, [], Region(blocks[0]), Region(blocks[1])))
    return Cursor.before(ends[0], at.loc), Cursor.before(ends[1], at.loc)


def _nothing() -> None:
    """Nothing is left to write."""


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


def _copy_async(tile: Tile) -> Move:
    def copy(
        at: Cursor, source: SSAValue, offset: SSAValue, word: IntegerType, number: SSAValue
    ) -> Callable[[], None]:
        target = in_tile(at, tile.address, offset)
        at.insert(CopyAsyncOp(source, target, word.width.data // 8))
        return _nothing

    return copy


def _element(at: Cursor, tile: Tile, word: SSAValue) -> SSAValue:
    """The number of the element that a word of the sweep belongs to."""
    per_element = tile.plan.section.element_bytes * 8 // tile.planned.cached.word.width.data
    return split(at, word, per_element)[0]


def can_copy_async(cached: Cached, plan: TilePlan) -> bool:
    """Whether words are of a size that `cp.async` moves, and aligned to it in array and tile."""
    size = cached.word.width.data // 8
    return size in (4, 8) and all(dim.pitch % size == 0 for dim in plan.dims)


def write_back(at: Cursor, tile: Tile, block: Block, values: Values) -> None:
    """All threads write the tile back together: all of it, or what the mask says was written."""
    assert tile.starts is not None
    at.insert(GangBarrierOp())
    base = mapped(values, tile.planned.cached.base)
    here = {**values, **block.first_values}
    sweep = _Sweep(tile, block, base, tile.starts, here)
    limits = _Limits(True, mapped_bytes(at, tile.planned.cached, values))

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


def mask_address(at: Cursor, tile: Tile, address: SSAValue) -> SSAValue:
    """The mask's byte for the element at `address` of the tile (no padding where there is a mask)."""
    assert tile.mask is not None
    first = at.value(llvm.PtrToIntOp(tile.address, i64))
    here = at.value(llvm.PtrToIntOp(address, i64))
    size = at.i64(tile.plan.section.element_bytes)
    number = at.value(arith.DivUIOp(at.sub(here, first), size))
    return in_tile(at, tile.mask, number)
