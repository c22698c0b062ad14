"""
A sweep of all threads of a block over the words of a tile. A careful sweep of a block that is not full, or
whose section exceeds the array, reads the last valid element again instead: so no thread branches, and the
value in the tile is never used.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from xdsl.dialects import arith
from xdsl.dialects.builtin import IntegerAttr, IntegerType, i8, i32, i64
from xdsl.ir import SSAValue

from ...dialects.accx import UNROLL
from ..decisions.polynomials import Polynomial, divide
from ..ir.data.cached_code import Values, minimum, polynomial, scaled, split, total
from ..ir.ops.building import Cursor, constant_value
from .limits import Limits, extent_of
from .tiles import Block, Tile
from .words import (
    MAX_UNROLLED,
    Step,
    coordinates_of,
    place_of,
    step_place,
    turns_of,
    word_steps,
    words_of,
)

Move = Callable[[Cursor, SSAValue, SSAValue, IntegerType, SSAValue], Callable[[], None]]
"""
Copies one word: cursor, address in the array, offset in the tile, word, the word's number. The read is
emitted immediately; the returned function emits the write, so that all reads of a thread are in flight
before the first write.
"""


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
            pending.append(move(at, source, step_place(at, self.tile, places), word, number))
        return pending

    def loads(self, at: Cursor, limits: Limits) -> list[SSAValue]:
        """Emits the reads of the thread's words; returns their values."""
        found: list[SSAValue] = []

        def load(
            here: Cursor, source: SSAValue, offset: SSAValue, word: IntegerType, number: SSAValue
        ) -> Callable[[], None]:
            found.append(here.load(source, word, self.tile.plan.section.name))
            return nothing

        self.run(at, limits, load, exact=False)
        return found

    def _word_at(
        self, at: Cursor, number: SSAValue, limits: Limits, move: Move, exact: bool
    ) -> Callable[[], None]:
        dims = self.tile.plan.dims
        bytes = self.tile.planned.word_bytes
        coordinates = coordinates_of(at, self.tile, number)
        inside: SSAValue | None = None
        places = list(coordinates)
        for position in range(len(dims)) if limits.careful else ():
            extent = extent_of(at, self.tile, self.block, position)
            if position == len(dims) - 1:
                extent = self._words(at, extent)
            if constant_value(extent) is None and exact:
                fits = at.value(arith.CmpiOp(coordinates[position], extent, "slt"))
                inside = at.both(inside, fits)
            elif constant_value(extent) is None:
                last = at.sub(extent, at.i32(1))
                coordinates[position] = minimum(at, coordinates[position], last)
            if exact and (fits := self._in_row(at, position, coordinates[position])) is not None:
                inside = at.both(inside, fits)
        place = at
        if inside is not None:
            place = at.if_then(inside)
        near = place_of(place, self.tile, places)
        far = self._offset(place, coordinates, bytes)
        if limits.careful and limits.mapped is not None:
            low, end = limits.mapped
            last = place.sub(end, place.i64(bytes))
            if exact:
                above = place.value(arith.CmpiOp(far, low, "sge"))
                ok = place.both(above, place.value(arith.CmpiOp(far, last, "sle")))
                place = place.if_then(ok)
            else:
                far = place.value(arith.MinSIOp(far, last))
                far = place.value(arith.MaxSIOp(far, low))
        source = place.element(self.base, far, i8, self.tile.plan.section.name)
        write = move(place, source, near, self.tile.planned.cached.word, number)
        if place is at:
            return write
        write()
        return nothing

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


def nothing() -> None:
    """The write function of a copy that needs none."""
