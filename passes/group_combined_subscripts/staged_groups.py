"""
Groups whose sums keep their order and read through tiles in shared memory (group-combined-subscripts).

A thread that adds up four rows `sum += a[j] * b[i ^ j]` alone needs 32 bytes for 16 products, but there are
few such threads, and only a thread's own instructions hide a load's latency. A gang's 128 threads have 512
neighbouring rows; in 512 aligned steps these read 512 neighbouring elements of `b`, each thread in its own
order, and the same elements of `a`. So each thread fetches four elements of each array, and after a barrier
128 groups are computed from shared memory: four elements are one load of 16 bytes, and the k-th group of
thread t is at `t ^ k`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

from xdsl.dialects import arith, llvm, scf
from xdsl.dialects.builtin import IntegerAttr, IntegerType, i8, i32
from xdsl.ir import Block, Operation, Region, SSAValue

from ...dialects.accx import UNROLL
from ...dialects.accx_cache import GangBarrierOp, SharedTileOp
from ...dialects.accx_element import ElementOp
from ..decisions.device import WIDE_BYTES
from ..ir.ops.acc_ops import is_defined_inside
from ..ir.ops.building import NSW, Cursor, constant_value
from ..ir.ops.layout import size_of
from .group_copies import GroupCopies
from .group_loads import Pair, Spreads

THREADS = 128
"""The threads of a gang, and the groups in a piece; a power of two."""
UNROLLED = 8
MOST_BYTES = 16 * 1024
"""The most bytes of shared memory, so that several gangs of few warps fit on a multiprocessor."""
_CONVERSIONS = (arith.ExtSIOp, arith.ExtUIOp, arith.TruncIOp, llvm.TruncOp)


@dataclass(frozen=True)
class TileLoad:
    """
    A load of the inner body. Its groups are `slot` bytes each, adjacent, from `offset` in the tile. `own`:
    each thread reads the groups in its own order; otherwise all threads read the k-th group at the same
    time.
    """

    load: llvm.LoadOp
    distances: tuple[int, ...]
    offset: int
    slot: int
    own: bool


@dataclass(frozen=True)
class Staging:
    """All loads of the inner body, which take `bytes` of the tile."""

    loads: tuple[TileLoad, ...]
    bytes: int


# The loops that qualify
# -------------------------------------------------------------------------------------


def _plain(value: SSAValue) -> SSAValue:
    while isinstance(value.owner, _CONVERSIONS):
        value = value.owner.operands[0]
    return value


def _is_common(value: SSAValue, pair: Pair) -> bool:
    """
    Whether `value` depends on the inner variable only, so that it is the same in all iterations of the
    outer loop.
    """
    if value is pair.step or not is_defined_inside(value, pair.outer):
        return True
    op = value.owner
    return (
        isinstance(op, Operation)
        and not op.regions
        and not isinstance(op, llvm.LoadOp)
        and all(_is_common(v, pair) for v in op.operands)
    )


def _permutes(address: SSAValue, pair: Pair) -> bool:
    """Whether `address` is element `i ^ j` of an array from outside the nest."""
    op = address.owner
    if not isinstance(op, ElementOp) or is_defined_inside(op.ptr, pair.outer):
        return False
    if len(op.subscripts) != 1 or len(op.path) != 1 or op.rows:
        return False
    either = _plain(op.subscripts[0]).owner
    if not isinstance(either, arith.XOrIOp):
        return False
    return {_plain(either.lhs), _plain(either.rhs)} == {pair.row, pair.step}


def _starts_aligned(bound: SSAValue, side: int) -> bool:
    first = constant_value(bound)
    return first is not None and first % (side * THREADS) == 0


def find_staging(pair: Pair, side: int) -> Staging | None:
    """
    The tile for the loads of the inner body; None if a load does not fit the scheme, or if a loop does not
    start at a piece.
    """
    outer, inner = pair.outer, pair.inner
    if not _starts_aligned(outer.lowerbound[0], side) or not _starts_aligned(inner.lb, side):
        return None
    spreads = Spreads(pair, side, side)
    found: list[TileLoad] = []
    total = 0
    for op in inner.body.block.ops:
        if not isinstance(op, llvm.LoadOp):
            continue
        known, size = spreads.of(op.ptr), size_of(op.dereferenced_value.type)
        own = _permutes(op.ptr, pair)
        if known is None or not is_defined_inside(op.ptr, inner):
            return None
        if not own and not _is_common(op.ptr, pair):
            return None
        distances = tuple(sorted(set(known.distances)))
        if distances != tuple(range(0, side * size, size)):
            return None
        found.append(TileLoad(op, distances, total, side * size, own))
        total += THREADS * side * size
    if not any(each.own for each in found) or total > MOST_BYTES:
        return None
    return Staging(tuple(found), total)


# The rewriting --------------------------------------------------------------------------------------


class StagedGroups:
    """
    Emits groups of the inner loop of `pair`, from `lower` on, for a thread whose rows are `maps`; all
    threads of the gang run them together.
    """

    def __init__(
        self,
        pair: Pair,
        staging: Staging,
        maps: Sequence[dict[SSAValue, SSAValue]],
        arrays: frozenset[SSAValue],
        thread: SSAValue,
        lower: SSAValue,
    ):
        self.pair, self.staging, self.maps, self.lower = pair, staging, maps, lower
        self.side = len(maps)
        self.spreads = Spreads(pair, self.side, self.side, arrays, WIDE_BYTES)
        self.thread = thread
        self.width = len(pair.inner.iter_args)

    def emit(
        self, groups: SSAValue, sums: Sequence[Sequence[SSAValue]], at: Cursor
    ) -> Sequence[Sequence[SSAValue]]:
        """Emits all `groups`, whole pieces of them from shared memory; returns the sums."""
        type_ = groups.type
        assert isinstance(type_, IntegerType)
        zero = at.constant(0, type_)
        mask = at.constant(-THREADS, type_)
        whole = at.value(arith.AndIOp(groups, mask), "whole")
        tile = at.value(SharedTileOp(self.staging.bytes, "pieces"), "tile")
        step = at.constant(THREADS, type_)
        loop, inside = self._for(zero, whole, step, sums, at)
        first = loop.body.block.args[0]
        first.name_hint = "piece"
        inside.insert(GangBarrierOp())
        self._fill(tile, first, inside)
        inside.insert(GangBarrierOp())
        inside.insert(scf.YieldOp(*self._piece(tile, first, loop.body.block.args[1:], inside)))
        rest, inside = self._for(whole, groups, at.constant(1, type_), self._rows(loop.results), at)
        number = rest.body.block.args[0]
        copies = GroupCopies(self.spreads, self.maps, self._first(number, inside), inside)
        out = copies.emit(self._rows(rest.body.block.args[1:]))
        inside.insert(scf.YieldOp(*(v for row in out for v in row)))
        return self._rows(rest.results)

    def _rows(self, values: Sequence[SSAValue]) -> list[list[SSAValue]]:
        return [list(values[i : i + self.width]) for i in range(0, len(values), self.width)]

    def _for(
        self,
        lower: SSAValue,
        upper: SSAValue,
        step: SSAValue,
        sums: Sequence[Sequence[SSAValue]],
        at: Cursor,
    ) -> tuple[scf.ForOp, Cursor]:
        """A loop that carries the sums, without its yield, and a cursor in its body."""
        flat = [v for row in sums for v in row]
        block = Block(arg_types=[lower.type, *(v.type for v in flat)])
        for argument, value in zip(block.args[1:], flat, strict=True):
            argument.name_hint = value.name_hint
        loop = at.insert(scf.ForOp(lower, upper, step, flat, Region(block)))
        return loop, Cursor.at_end(block, at.loc)

    def _first(self, number: SSAValue, at: Cursor) -> SSAValue:
        """The inner variable in the first step of group `number`."""
        distance = at.value(arith.MuliOp(number, at.constant(self.side, number.type), overflow=NSW))
        return at.value(arith.AddiOp(self.lower, distance, overflow=NSW), self.pair.step.name_hint)

    def _fill(self, tile: SSAValue, piece: SSAValue, at: Cursor) -> None:
        """
        Emits the fetch of one group per thread for each load: the piece's group with the thread's number,
        or the thread's own first group of the piece, as the gang's rows and the piece's steps have the same
        alignment.
        """
        type_ = piece.type
        assert isinstance(type_, IntegerType)
        mine = at.value(arith.AddiOp(piece, at.to_integer(self.thread, type_), overflow=NSW))
        loaded = [
            GroupCopies(self.spreads, self.maps, self._first(number, at), at).loads()
            for number in (mine, piece)
        ]
        position = 0
        for each in self.staging.loads:
            count = len(each.distances)
            start = self._address(tile, each, at.to_i64(self.thread), at)
            values = loaded[each.own][position : position + count]
            for distance, value in zip(each.distances, values, strict=True):
                store = llvm.StoreOp(value, at.field(start, distance, "staged"))
                if distance % WIDE_BYTES == 0:
                    store.properties["alignment"] = IntegerAttr(WIDE_BYTES, 64)
                at.insert(store)
            position += count

    def _address(self, tile: SSAValue, each: TileLoad, group: SSAValue, at: Cursor) -> SSAValue:
        """The address in the tile of a group (numbered by an i64) of a load."""
        slot = at.value(arith.MuliOp(group, at.i64(each.slot), overflow=NSW))
        return _offset(at.field(tile, each.offset, "staged"), slot, at)

    def _piece(
        self, tile: SSAValue, piece: SSAValue, sums: Sequence[SSAValue], at: Cursor
    ) -> Sequence[SSAValue]:
        """Emits the groups of one piece; returns the sums."""
        type_ = piece.type
        zero, one = at.constant(0, type_), at.constant(1, type_)
        loop, inside = self._for(zero, at.constant(THREADS, type_), one, self._rows(sums), at)
        loop.attributes[UNROLL] = IntegerAttr(UNROLLED, i32)
        number = loop.body.block.args[0]
        number.name_hint = "number"
        common = inside.to_i64(number)
        own = inside.value(arith.XOrIOp(common, inside.to_i64(self.thread)))
        loaded: list[SSAValue] = []
        for each in self.staging.loads:
            start = self._address(tile, each, own if each.own else common, inside)
            type = each.load.dereferenced_value.type
            for distance in each.distances:
                load = llvm.LoadOp(inside.field(start, distance, "staged"), type)
                if distance % WIDE_BYTES == 0:
                    load.properties["alignment"] = IntegerAttr(WIDE_BYTES, 64)
                loaded.append(inside.value(load, each.load.dereferenced_value.name_hint))
        group = inside.value(arith.AddiOp(piece, number, overflow=NSW), "group")
        copies = GroupCopies(
            self.spreads, self.maps, self._first(group, inside), inside, tuple(loaded)
        )
        out = copies.emit(self._rows(loop.body.block.args[1:]))
        inside.insert(scf.YieldOp(*(v for row in out for v in row)))
        return loop.results


def _offset(pointer: SSAValue, bytes: SSAValue, at: Cursor) -> SSAValue:
    gep = llvm.GEPOp.from_mixed_indices(
        pointer, [bytes], i8, cast(llvm.LLVMPointerType, pointer.type), inbounds=True
    )
    return at.value(gep, "staged")
