"""
Copies between arrays and tiles, by all threads of a block together: in wide words, in the words of the
elements, or carefully, as the layout, the alignment and the limits of a block allow.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from xdsl.dialects import arith
from xdsl.dialects.builtin import IntegerType, i8
from xdsl.ir import SSAValue

from ...dialects.accx_cache import CopyAsyncOp, GangBarrierOp, OpaqueOp, WaitCopiesOp
from ..ir.data.cached_code import Values, mapped, split
from ..ir.ops.building import Cursor
from .limits import Limits, conditions_of, mapped_bytes, start_of
from .sweeps import Move, Sweep, nothing
from .tiles import Block, Tile, in_tile
from .wide_copies import aligned, clipped, is_at_edges, widened


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
        found.whole = at.both(found.whole, condition)
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
    wide = widened(at, copies.sweeps)
    if wide is not None:
        copies = replace(copies, sweeps=[replace(s, rolled=True) for s in copies.sweeps])
        even = aligned(at, copies.sweeps)
        possible = copies.whole if even is None else at.both(copies.whole, even, "wide")
        if possible is None:
            _run(at, wide, copies.unlimited)
            return
        then, at = at.if_else(possible)
        _run(then, wide, copies.unlimited)
        if copies.whole is not None and any(is_at_edges(sweep) for sweep in wide):
            then, at = at.if_else(clipped(at, copies.sweeps, copies.limits))
            _run(then, _apart(then, wide), [Limits(True, None)] * len(wide))
    if copies.whole is None:
        _run(at, copies.sweeps, copies.unlimited)
        return
    then, otherwise = at.if_else(copies.whole)
    _run(then, copies.sweeps, copies.unlimited)
    _run(otherwise, _apart(otherwise, copies.sweeps), copies.limits)


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
    return at.either(
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
        copy = _copy_async if sweep.tile.planned.asynchronous else _copy
        pending += sweep.run(at, limit, copy(sweep.tile), exact=False)
    for write in pending:
        write()


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
        at.insert(CopyAsyncOp(source, target, tile.planned.word_bytes))
        return nothing

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
        return nothing

    for write in sweep.run(at, limits, copy, exact=True):
        write()
