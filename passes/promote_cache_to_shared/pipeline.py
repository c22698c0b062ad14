"""
Fetches tiles that a sequential loop renews one turn ahead: while the threads compute with one buffer of a
tile, the words of the next turn are in flight, into registers or by asynchronous copies into the other
buffer. A turn then waits for memory only if computing took less time, and has one barrier.

Before:
  for k { barrier; copy tile(k); barrier; compute }
After:
  barrier; copy tile(first) to buffer 0
  for k { barrier; start copying tile(k + step) to the other buffer; compute with this one }
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from xdsl.dialects import acc, arith, scf
from xdsl.ir import Operation, SSAValue
from xdsl.traits import IsTerminator

from ...dialects.accx_cache import GangBarrierOp, WaitCopiesOp
from ..ir.data.cached_code import Values, mapped
from ..ir.ops.acc_ops import is_defined_inside
from ..ir.ops.building import Cursor
from ..ir.ops.fixed_values import is_fixed
from ..ir.ops.purity import is_pure
from . import fetch
from .nest import CachedNest
from .tiles import Block, Planned, Tile, buffer_bytes, in_tile
from .uniformity import has_effects, may_be_written, written_variables
from .words import places_of, turns_of, words_of


def group_directives(
    nest: CachedNest, planned: Sequence[Planned]
) -> tuple[dict[acc.CacheOp, list[Planned]], set[acc.CacheOp]]:
    """
    The directives that are filled together, by the last of them: those of one block with only arithmetic
    between them. Also returns the directives that a loop fills again.
    """
    by_op = {p.cached.op: p for p in planned}
    groups: dict[acc.CacheOp, list[Planned]] = {}
    renewed: set[acc.CacheOp] = set()
    blocks = dict.fromkeys(p.cached.op.parent_block() for p in planned)
    for block in blocks:
        assert block is not None
        open_: list[Planned] = []
        last: acc.CacheOp | None = None
        for op in block.ops:
            if isinstance(op, acc.CacheOp) and op in by_op:
                open_.append(by_op[op])
                last = op
            elif open_ and not is_pure(op):
                assert last is not None
                groups[last], open_ = open_, []
        if open_ and last is not None:
            groups[last] = open_
    for op in groups:
        if op.parent_op() is not nest.loops[-1]:
            renewed.add(op)
    return groups, renewed


def fetched_ahead(nest: CachedNest, planned: Sequence[Planned], threads: int) -> list[Planned]:
    """The same tiles, with those marked that can be fetched ahead."""
    groups, _ = group_directives(nest, planned)
    written = written_variables(nest.construct)
    loops = Counter(op.parent_op() for op in groups)
    chosen = {
        each.cached.op
        for op, group in groups.items()
        if loops[op.parent_op()] == 1 and can_fetch_ahead(group, written, threads)
        for each in group
    }
    return [replace(p, ahead=p.cached.op in chosen) for p in planned]


MAX_WAITING = 16
"""The most words for the next turn that a thread can hold in registers."""


def can_fetch_ahead(group: Sequence[Planned], written: Sequence[SSAValue], threads: int) -> bool:
    """
    Whether the tiles of directives that are filled together can be fetched a turn ahead: a loop renews
    them; their start depends on its variable and on no other value that changes in it; their elements are
    not written while it runs (when the first thread leaves the loop, all threads have completed their
    fetches); and a thread has registers for its words.
    """
    loop = group[0].cached.op.parent_op()
    if not isinstance(loop, scf.ForOp) or _writes(loop):
        return False
    words = [-(-words_of(planned) // threads) for planned in group]
    if not all(planned.asynchronous for planned in group) and sum(words) > MAX_WAITING:
        return False
    for planned in group:
        if planned.method == "ehc":
            return False
        stores = any(access.is_store for access in planned.cached.accesses)
        if stores or planned.communicate or may_be_written(planned.cached.base, written):
            return False
        for symbol in _symbols(planned):
            if symbol is not loop.body.block.args[0] and not is_fixed(symbol, loop):
                return False
    return True


def _symbols(planned: Planned) -> list[SSAValue]:
    """The values on which a section's start and the distance of its elements depend."""
    return [
        symbol
        for dim in planned.plan.section.dims
        for symbol in (*dim.lower.symbols, *dim.stride.symbols)
        if isinstance(symbol, SSAValue)
    ]


def _writes(loop: scf.ForOp) -> bool:
    """Whether code in the loop has an effect that other threads could observe."""
    return any(
        has_effects(op)
        for op in loop.body.walk()
        if not op.regions and not op.has_trait(IsTerminator)
    )


@dataclass
class Ahead:
    """
    The tiles of one loop while it is emitted. `buffer` is the number (i32) of the buffer that this turn
    uses.
    """

    loop: scf.ForOp
    tiles: list[Tile]
    block: Block
    buffer: SSAValue | None = None
    words: list[SSAValue] = field(default_factory=list[SSAValue])
    addresses: list[SSAValue] = field(default_factory=list[SSAValue])

    @property
    def asynchronous(self) -> bool:
        return all(tile.planned.asynchronous for tile in self.tiles)

    def begin(self, at: Cursor, values: Values) -> SSAValue:
        """Emits, before the loop, the fetch for the first turn; returns the number of its buffer."""
        at.insert(GangBarrierOp())
        self.addresses = [tile.address for tile in self.tiles]
        values = dict(values)
        for tile in self.tiles:
            for symbol in _symbols(tile.planned):
                self._compute(symbol, values, at)
        first = at.i32(0)
        lower, upper = mapped(values, self.loop.lb), mapped(values, self.loop.ub)
        self._place(at, first)
        self._fetch(at, values, lower, upper)
        self._store(at, first)
        return first

    def _compute(self, value: SSAValue, values: dict[SSAValue, SSAValue], at: Cursor) -> None:
        """Adds to `values` a loop-invariant value that the loop computes, computed at `at`."""
        op = value.owner
        if (
            value in values
            or not isinstance(op, Operation)
            or not is_defined_inside(value, self.loop)
        ):
            return
        for operand in op.operands:
            self._compute(operand, values, at)
        values[value] = at.value(op.clone(values), value.name_hint)

    def turn(self, at: Cursor, values: Values) -> None:
        """Emits, at the directive, the wait for this turn's tiles and the start of the next fetch."""
        assert self.buffer is not None
        loop = self.loop
        if self.asynchronous:
            at.insert(WaitCopiesOp())
        at.insert(GangBarrierOp())
        step = mapped(values, loop.step)
        following = at.add(mapped(values, loop.body.block.args[0]), step, "following")
        self._place(at, self._other(at))
        self._fetch(at, values, following, mapped(values, loop.ub))
        self._place(at, self.buffer)

    def end(self, at: Cursor) -> SSAValue:
        """
        Emits, at the end of a turn, the stores of fetched words to the other buffer; returns its number.
        """
        other = self._other(at)
        self._store(at, other)
        for tile, address in zip(self.tiles, self.addresses, strict=True):
            tile.address = address
        return other

    def _other(self, at: Cursor) -> SSAValue:
        """The number of the buffer that this turn does not use."""
        buffer = self.buffer
        assert buffer is not None
        return at.once(
            ("other", buffer), lambda: at.value(arith.XOrIOp(buffer, at.i32(1)), "other")
        )

    def _place(self, at: Cursor, buffer: SSAValue) -> None:
        """Makes the tiles refer to one of their buffers."""
        for tile, address in zip(self.tiles, self.addresses, strict=True):
            tile.address = at.once(
                (address, buffer), lambda t=tile, a=address: self._buffer(at, t, a, buffer)
            )

    @staticmethod
    def _buffer(at: Cursor, tile: Tile, address: SSAValue, buffer: SSAValue) -> SSAValue:
        offset = at.mul(buffer, at.i32(buffer_bytes(tile.plan)))
        return in_tile(at, address, offset, f"{tile.plan.section.name}_buffer")

    def _fetch(self, at: Cursor, values: Values, here: SSAValue, end: SSAValue) -> None:
        """Emits the copies for turn `here`, if it exists, into the current buffer or registers."""
        there: Mapping[SSAValue, SSAValue] = {**values, self.loop.body.block.args[0]: here}
        more = at.value(arith.CmpiOp(here, end, "slt"), "more")
        if self.asynchronous:
            inside = at.if_then(more)
            fetch.start(inside, fetch.copies_of(inside, self.tiles, self.block, there))
            return

        def load(inside: Cursor) -> list[SSAValue]:
            return fetch.loads(inside, fetch.copies_of(inside, self.tiles, self.block, there))

        def skip(inside: Cursor) -> list[SSAValue]:
            return [
                inside.zero(tile.planned.cached.word)
                for tile in self.tiles
                for _ in range(turns_of(tile, self.block))
            ]

        self.words = at.either(more, load, skip)

    def _store(self, at: Cursor, buffer: SSAValue) -> None:
        """Emits the stores to a buffer of words that were fetched into registers."""
        if self.asynchronous:
            return
        self._place(at, buffer)
        words = iter(self.words)
        for tile in self.tiles:
            for place in places_of(at, tile, self.block):
                at.store(next(words), in_tile(at, tile.address, place))
