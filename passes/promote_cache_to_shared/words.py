"""
The words that the threads of a block copy between an array and a tile: how many, their coordinates, and their
places in the tile.

Threads number the words of a tile and take every n-th one, so that neighbouring threads copy neighbouring
words of a row.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

from xdsl.ir import SSAValue

from ..ir.data.cached_code import minimum, scaled, split, total
from ..ir.ops.building import Cursor
from .tiles import Block, Planned, Tile

MAX_UNROLLED = 16
"""The most words per thread for which the copy of a tile is unrolled."""


def words_per_row(planned: Planned) -> int:
    """The words of the innermost dimension of a tile, without its padding."""
    return planned.plan.dims[-1].size * planned.plan.section.element_bytes // planned.word_bytes


def words_of(planned: Planned) -> int:
    """The words of a tile, without padding."""
    return words_per_row(planned) * prod(dim.size for dim in planned.plan.dims[:-1])


def turns_of(tile: Tile, block: Block) -> int:
    """The words that each thread copies."""
    return -(-words_of(tile.planned) // block.threads)


def coordinates_of(at: Cursor, tile: Tile, number: SSAValue) -> list[SSAValue]:
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


def step_place(at: Cursor, tile: Tile, places: Sequence[Step]) -> SSAValue:
    """The offset in bytes in the tile of a word at these coordinates (i32)."""
    own = place_of(at, tile, [place.own for place in places])
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


def place_of(at: Cursor, tile: Tile, coordinates: Sequence[SSAValue]) -> SSAValue:
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
        return [step_place(at, tile, places) for places in steps]
    found: list[SSAValue] = []
    for turn in range(turns_of(tile, block)):
        number = at.add(block.thread, at.i32(turn * block.threads), "word")
        if (turn + 1) * block.threads > words_of(tile.planned):
            number = minimum(at, number, at.i32(words_of(tile.planned) - 1))
        found.append(place_of(at, tile, coordinates_of(at, tile, number)))
    return found
