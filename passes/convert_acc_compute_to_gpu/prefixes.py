"""
Prefixes over the threads of a group (a gang, or the lanes of a worker): the values of the preceding
threads, combined in their order.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import i8, i32, i64
from xdsl.ir import Attribute, Block, Region, SSAValue

from ...dialects import nvvm
from ..decisions.device import MAX_THREADS, WARP
from ..decisions.loop_partition import Mode
from ..ir.ops.building import Cursor
from ..ir.ops.layout import size_of
from ..ir.variables.combiners import Combiner
from .context import Kernel
from .warp import by_leader, shared_element, shuffle


def either(
    k: Kernel, condition: SSAValue, types: Sequence[Attribute]
) -> tuple[scf.IfOp, Cursor, Cursor]:
    """An `scf.if` with results; the caller ends both branches with their yields."""
    then, otherwise = Block(), Block()
    op = scf.IfOp(condition, types, Region(then), Region(otherwise))
    k.insert(op)
    return op, Cursor.at_end(then, k.loc), Cursor.at_end(otherwise, k.loc)


@dataclass
class ThreadGroup:
    """
    The threads that run the current code together. `lane` of `width` (a constant) is the thread's position
    in the part of its warp that belongs to the group, `warp` of `warps` the number of this part; all i32.
    """

    k: Kernel
    width: int
    lane: SSAValue
    warp: SSAValue
    warps: SSAValue
    several: bool

    @staticmethod
    def of(k: Kernel) -> ThreadGroup:
        size = k.group_size(k.mode)
        if size == 1:
            return ThreadGroup(k, 1, k.i32(0), k.i32(0), k.i32(1), False)
        if size is not None and size <= WARP:
            member = k.thread() if k.mode is Mode.GANG else k.lane()
            return ThreadGroup(k, size, member, k.i32(0), k.i32(1), False)
        member = k.thread() if k.mode is Mode.GANG else k.lane()
        if size is not None:
            warps = k.i32(size // WARP)
        else:
            threads = k.threads() if k.mode is Mode.GANG else k.lanes()
            warps = k.value(arith.DivUIOp(threads, k.i32(WARP)), "warps")
        warp = k.value(arith.DivUIOp(member, k.i32(WARP)), "warp_of_group")
        return ThreadGroup(k, WARP, k.lane_in_warp(), warp, warps, True)

    def barrier(self) -> None:
        if self.width > 1:
            self.k.barrier()

    def buffer(self, combiner: Combiner, more: int = 0) -> SSAValue:
        """Shared memory for a value of each warp of the group and `more` further values."""
        k = self.k
        bytes = (WARP + more) * size_of(combiner.type)
        bytes = -(-bytes // 16) * 16
        if k.mode is not Mode.WORKER:
            return k.buffer("scan", bytes)
        workers = k.shape.workers or MAX_THREADS // WARP
        whole = k.buffer("scan", bytes * workers)
        if workers == 1:
            return whole
        return shared_element(k, whole, k.mul(k.worker(), k.i32(bytes)), i8)

    def from_leader(self, make: Callable[[], SSAValue]) -> SSAValue:
        """An i64 that one thread computes by `make`, broadcast to all threads of the group."""
        if self.width == 1:
            return make()
        return by_leader(self.k, [i64], lambda: [make()])[0]

    # Within a warp.

    def before(self, combiner: Combiner, value: SSAValue) -> tuple[SSAValue, SSAValue]:
        """The combined values of the preceding lanes, and of all lanes of the warp."""
        k = self.k
        if self.width == 1:
            return combiner.neutral(k), value
        offset = 1
        while offset < self.width:
            other = self._from_lane_below(value, offset)
            both = combiner.combine(k, other, value, "prefix")
            value = k.select(self._is_at_least(offset), both, value)
            offset *= 2
        total = shuffle(k, nvvm.ShflKind.IDX, value, k.i32(self.width - 1), self.width)
        before = self._from_lane_below(value, 1)
        return k.select(self._is_at_least(1), before, combiner.neutral(k)), total

    def _is_at_least(self, lane: int) -> SSAValue:
        return self.k.compare("uge", self.lane, self.k.i32(lane), f"lane_ge_{lane}")

    def _from_lane_below(self, value: SSAValue, offset: int) -> SSAValue:
        """The value of the lane `offset` below; undefined if there is none."""
        k = self.k
        source = k.value(arith.SubiOp(self.lane, k.i32(offset)))
        source = k.value(arith.AndIOp(source, k.i32(self.width - 1)), "lane_below")
        return shuffle(k, nvvm.ShflKind.IDX, value, source, self.width)

    # Between warps.

    def before_warp(
        self, combiner: Combiner, buffer: SSAValue, total: SSAValue
    ) -> tuple[SSAValue, SSAValue]:
        """
        `total` combined over the preceding warps, and over the whole group. The emitted code contains a
        barrier; another must follow before `buffer` is used again.
        """
        k = self.k
        if not self.several:
            return combiner.neutral(k), total
        first = k.compare("eq", self.lane, k.i32(0), "first_lane")
        with k.at(k.if_then(first)):
            k.store(total, shared_element(k, buffer, self.warp, combiner.type))
        self.barrier()
        valid = k.compare("ult", self.lane, self.warps, "is_warp")
        slot = k.select(valid, self.lane, k.i32(0))
        held = k.load(shared_element(k, buffer, slot, combiner.type), combiner.type, "of_warp")
        held = k.select(valid, held, combiner.neutral(k))
        before, all_of_it = self.before(combiner, held)
        return shuffle(k, nvvm.ShflKind.IDX, before, self.warp, self.width), all_of_it

    def vote(self, kind: nvvm.VoteSyncKind, value: SSAValue) -> SSAValue:
        """A vote of those lanes of the warp that belong to the group: i1, or an i32 with a bit per lane."""
        k = self.k
        if self.width == 1:
            return k.zero_extend(value, i32) if kind is nvvm.VoteSyncKind.BALLOT else value
        return k.value(nvvm.VoteSyncOp(kind, k.warp_mask(), value), "vote")
