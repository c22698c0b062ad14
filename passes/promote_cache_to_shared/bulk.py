"""
Fills tiles by bulk copies (sm_90 and later): one thread per row of a tile starts a copy, and all threads
wait until the bytes have arrived.

Rows must be multiples of 16 bytes long. Whether they begin at multiples of 16 in the array is known only at
run time, so each block tests that, and otherwise fills its tiles word by word.

Bulk copies access memory through another proxy (the asynchronous proxy, PTX ISA 8.6) than loads and stores,
so each thread orders its accesses to the tiles before the copies that follow the barrier.

Before:
  barrier; copy tile(k) word by word; barrier
After:
  order; barrier
  if the whole tile exists and its rows are aligned {
    thread 0: expect the tile's bytes; thread r: copy row r; wait for this phase; the next has other parity
  } else { copy tile(k) word by word; barrier }
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

from xdsl.dialects import arith
from xdsl.dialects.builtin import i8, i32, i64
from xdsl.ir import Operation, SSAValue

from ...compiler.base.names import value_name
from ...dialects.accx_bulk import (
    BULK_BYTES,
    COUNTER_BYTES,
    CopyBulkOp,
    EndCounterOp,
    ExpectBytesOp,
    OrderCopiesOp,
    StartCounterOp,
    WaitBytesOp,
)
from ...dialects.accx_cache import GangBarrierOp, SharedTileOp
from ...dialects.accx_compress import PACKED
from ..decisions.cache_plan import TilePlan, WritePolicy
from ..ir.data.cached_accesses import Cached
from ..ir.data.cached_code import Values, polynomial, scaled, split, total
from ..ir.ops.building import Cursor
from . import fetch
from .sweeps import Sweep
from .tiles import Block, Planned, Tile, in_tile
from .uniformity import may_be_written
from .wide_copies import aligned

BULK_SM = 90
"""The first compute capability with bulk copies (PTX ISA 9.7.9.25.4.1)."""


def row_bytes(plan: TilePlan) -> int:
    """The bytes of a row of the tile, without padding."""
    return plan.dims[-1].size * plan.section.element_bytes


def why_not(
    cached: Cached, plan: TilePlan, policy: WritePolicy, written: Sequence[SSAValue], sm: int
) -> str | None:
    """The reason why rows of this tile cannot be copied in bulk, whatever the addresses; None if they can."""
    if sm < BULK_SM:
        return f"sm_{sm} has no bulk copies"
    stores = any(access.is_store for access in cached.accesses)
    if stores or policy != "through" or may_be_written(cached.base, written):
        return "the kernel may write the array"
    owner = cached.base.owner
    if isinstance(owner, Operation) and PACKED in owner.attributes:
        return "the array is compressed"
    bytes = row_bytes(plan)
    if bytes % BULK_BYTES:
        return f"its rows of {bytes} bytes are not a multiple of {BULK_BYTES}"
    for dim in plan.dims[:-1]:
        if dim.pitch % BULK_BYTES:
            return f"rows of its tile are {dim.pitch} bytes apart, not a multiple of {BULK_BYTES}"
    return None


@dataclass
class ArrivalCounter:
    """
    The counter of bytes that arrive in shared memory. `parity`: the thread's variable for the phase that it
    waits for next.
    """

    address: SSAValue
    parity: SSAValue
    thread: SSAValue
    used: bool = False

    def alone(self, at: Cursor) -> Cursor:
        """A cursor in code that one thread of the block executes."""
        return at.if_then(at.value(arith.CmpiOp(self.thread, at.i32(0), "eq"), "alone"))

    def end(self, at: Cursor) -> None:
        """Emits, after the last wait, the end of the counter, whose memory may then be reused."""
        at.insert(GangBarrierOp())
        self.alone(at).insert(EndCounterOp(self.address))

    def expect(self, at: Cursor, bytes: int) -> None:
        self.alone(at).insert(ExpectBytesOp(self.address, bytes))

    def wait(self, at: Cursor) -> None:
        """Emits the wait for the current phase, and the step to the next phase."""
        parity = at.load(self.parity, i32, "parity")
        at.insert(WaitBytesOp(self.address, parity))
        at.store(at.value(arith.XOrIOp(parity, at.i32(1)), "parity"), self.parity)


def start_counter(at: Cursor, planned: Sequence[Planned], block: Block) -> ArrivalCounter | None:
    """Emits the counter of a block of threads; None if no tile needs one."""
    if not any(each.bulk for each in planned):
        return None
    address = at.value(SharedTileOp(COUNTER_BYTES, "arrived"), "arrived")
    counter = ArrivalCounter(address, at.alloca(i32, "parity"), block.thread)
    at.store(at.i32(0), counter.parity)
    counter.alone(at).insert(StartCounterOp(address))
    at.insert(OrderCopiesOp())
    at.insert(GangBarrierOp())
    return counter


def fill(
    at: Cursor,
    counter: ArrivalCounter,
    tiles: Sequence[Tile],
    block: Block,
    values: Values,
    *,
    again: bool,
) -> None:
    """As `fetch.fill`, with bulk copies for the tiles planned for them."""
    if (
        again or counter.used
    ):  # no thread may still be waiting for the previous phase, or using the tiles
        at.insert(OrderCopiesOp())
        at.insert(GangBarrierOp())
    counter.used = True
    copies = fetch.copies_of(at, tiles, block, values)
    bulk = [sweep for sweep in copies.sweeps if sweep.tile.planned.bulk]
    rest = [sweep for sweep in copies.sweeps if not sweep.tile.planned.bulk]
    even = aligned(at, bulk)
    possible = copies.whole if even is None else at.both(copies.whole, even, "in_bulk")
    if possible is None:
        _fill_in_bulk(at, counter, bulk, rest)
        return
    then, otherwise = at.if_else(possible)
    _fill_in_bulk(then, counter, bulk, rest)
    fetch.start(otherwise, copies)
    otherwise.insert(GangBarrierOp())


def _fill_in_bulk(
    at: Cursor, counter: ArrivalCounter, bulk: Sequence[Sweep], rest: Sequence[Sweep]
) -> None:
    counter.expect(at, sum(row_bytes(sweep.tile.plan) * _rows(sweep.tile.plan) for sweep in bulk))
    for sweep in bulk:
        _copy_rows(at, counter, sweep)
    if rest:
        fetch.start(at, fetch.Copies(list(rest), [], None))
    counter.wait(at)
    if rest:
        at.insert(GangBarrierOp())


def _rows(plan: TilePlan) -> int:
    return prod(dim.size for dim in plan.dims[:-1])


def _copy_rows(at: Cursor, counter: ArrivalCounter, sweep: Sweep) -> None:
    """Emits the start of the copies of each thread's rows; they are few, so that warps share this work."""
    rows, threads = _rows(sweep.tile.plan), sweep.block.threads
    number = sweep.block.thread
    if rows > threads:
        _, place = at.for_loop(number, at.i32(rows), at.i32(threads), "row")
        number = place.point.block.args[0]
    elif rows < threads:
        place = at.if_then(at.value(arith.CmpiOp(number, at.i32(rows), "slt"), "copies"))
    else:
        place = at
    _copy_row(place, counter, sweep, number)


def _copy_row(at: Cursor, counter: ArrivalCounter, sweep: Sweep, number: SSAValue) -> None:
    plan = sweep.tile.plan
    rest, near, far = number, list[SSAValue](), list[SSAValue]()
    for position, dim in reversed(list(enumerate(plan.dims[:-1]))):
        own = rest
        if position > 0:
            rest, own = split(at, rest, dim.size)
        if dim.size > 1:
            near.append(scaled(at, own, dim.pitch))
            stride = polynomial(at, dim.stride, sweep.values, i64)
            far.append(at.mul(at.to_i64(own), stride))
    source = at.element(sweep.base, total(at, sweep.start, *far) or sweep.start, i8)
    source.name_hint = value_name(f"{plan.section.name}_row")
    offset = total(at, *near)
    target = sweep.tile.address if offset is None else in_tile(at, sweep.tile.address, offset)
    at.insert(CopyBulkOp(source, target, row_bytes(plan), counter.address))
