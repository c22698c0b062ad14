"""
The combined value of all tiles before a tile of a scan, while other gangs still work on them ("decoupled
look-back": D. Merrill and M. Garland, "Single-pass Parallel Prefix Scan with Decoupled Look-back", NVIDIA
NVR-2016-002).

Gangs take tiles in order, from a counter. A gang publishes the total of its tile immediately. Then its
first warp looks back over the published totals of the preceding tiles, 32 at a time, until it finds one
whose gang has published the prefix up to that tile, and publishes the prefix of its own tile.

Published values lie in a ring of `RING` slots in scratch memory. A word of 64 bits holds 32 bits of a value
and a tag, which become visible together, so that no fence is needed. A tag is the number of the tile,
counted over all launches (so that nothing needs clearing), and the kind of value. The tiles that gangs
still work on are among the latest `MAX_GANGS`, and gangs look back at most one window before these, so a
slot is free when it is used again.

    scratch:  0 next tile (i64)   8 first tile of this launch (i64)   16 gangs that are done (i32)   32 ring
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.dialects import arith, llvm, scf
from xdsl.dialects.builtin import AnyFloat, IntegerType, i1, i32, i64
from xdsl.ir import Attribute, Block, Region, SSAValue

from ...dialects import llvm_ext, nvvm
from ..decisions.loop_partition import Mode
from ..ir.ops.building import Cursor
from ..ir.ops.layout import size_of
from ..ir.variables.combiners import Combiner
from .context import Kernel
from .prefixes import ThreadGroup, either
from .warp import leader_branch, shuffle

MAX_GANGS = 2048
"""The most gangs that share a scan: more than are resident on any device. Further gangs do nothing."""
RING = 4096
POLL_NS = 100
"""
The nanoseconds between two reads of a slot that is not published yet, as reads slow down the publishing
gangs.
"""
_HEADER_BYTES = 32
_TAG_BITS = 30
_TOTAL, _PREFIX = 1, 2
"""The kind of a word's value: the total of its tile, or the prefix up to its tile."""
_RELAXED = int(llvm_ext.AtomicOrdering.monotonic)


def scratch_bytes(type: Attribute) -> int:
    """Bytes of scratch memory for a scan of elements of `type`."""
    return _HEADER_BYTES + RING * 8 * _words(type)


def _words(type: Attribute) -> int:
    return -(-size_of(type) // 4)


@dataclass
class LookBack:
    """The state of a scan in scratch memory; `initial`: the value before the first tile."""

    k: Kernel
    group: ThreadGroup
    combiner: Combiner
    state: SSAValue
    initial: SSAValue
    first: SSAValue

    @staticmethod
    def begin(
        k: Kernel, group: ThreadGroup, combiner: Combiner, state: SSAValue, initial: SSAValue
    ) -> LookBack:
        """Emits the read of the tile number with which this launch begins."""
        first = k.load(k.field(state, 8), i64, "first_tile")
        return LookBack(k, group, combiner, state, initial, first)

    def take_tile(self) -> SSAValue:
        """Emits, for one thread, the fetch of the number of the gang's next tile of this scan (i64)."""
        k = self.k
        one = k.constant(1, i64)
        update = llvm_ext.AtomicRMWOp(llvm_ext.AtomicBinOp.add, self.state, one, syncscope="device")
        return k.sub(k.value(update, "ticket"), self.first, "tile")

    def end(self) -> None:
        """Emits the code by which the last gang to finish prepares the next launch."""
        k = self.k
        gangs = k.value(arith.MinSIOp(k.number_of_gangs(), k.i32(MAX_GANGS)), "sharing_gangs")
        with k.at(k if k.mode is Mode.THREAD else leader_branch(k)):
            k.insert(nvvm.MemoryBarrierOp(nvvm.MemScope.GPU))
            done = k.field(self.state, 16)
            update = llvm_ext.AtomicRMWOp(
                llvm_ext.AtomicBinOp.add, done, k.i32(1), syncscope="device"
            )
            number = k.value(update, "done")
            last = k.compare("eq", number, k.sub(gangs, k.i32(1)), "is_last")
            with k.at(k.if_then(last)):
                k.insert(nvvm.MemoryBarrierOp(nvvm.MemScope.GPU))
                reached = k.value(llvm.LoadOp(self.state, i64, ordering=_RELAXED, alignment=8))
                k.store(reached, k.field(self.state, 8))
                k.store(k.i32(0), done)

    # Tags and words.

    def _tag(self, tile: SSAValue) -> tuple[SSAValue, SSAValue]:
        """The number of a tile over all launches (i64), and its tag without the kind of value (i32)."""
        k = self.k
        number = k.add(self.first, tile, "tile_number")
        low = k.value(arith.TruncIOp(number, i32))
        return number, k.value(arith.ShLIOp(low, k.i32(32 - _TAG_BITS)), "tag")

    def _slot(self, number: SSAValue) -> SSAValue:
        k = self.k
        slot = k.value(arith.AndIOp(number, k.constant(RING - 1, i64)), "slot")
        bytes = k.mul(slot, k.constant(8 * _words(self.combiner.type), i64))
        return k.offset(k.field(self.state, _HEADER_BYTES), bytes, "slot")

    def _parts(self, value: SSAValue) -> list[SSAValue]:
        """A value split into 32-bit words, each in an i64."""
        k, type = self.k, value.type
        bits = size_of(type) * 8
        if isinstance(type, AnyFloat):
            value = k.value(arith.BitcastOp(value, IntegerType(bits)))
        if bits < 64:
            return [k.value(arith.ExtUIOp(value, i64))]
        low = k.value(arith.AndIOp(value, k.constant((1 << 32) - 1, i64)))
        return [low, k.value(arith.ShRUIOp(value, k.constant(32, i64)))]

    def _value(self, words: Sequence[SSAValue]) -> SSAValue:
        """The value in words that also hold tags."""
        k, type = self.k, self.combiner.type
        bits = size_of(type) * 8
        if bits < 64:
            whole = k.value(arith.TruncIOp(words[0], IntegerType(bits)))
        else:
            low = k.value(arith.AndIOp(words[0], k.constant((1 << 32) - 1, i64)))
            high = k.value(arith.ShLIOp(words[1], k.constant(32, i64)))
            whole = k.value(arith.OrIOp(high, low))
        return k.value(arith.BitcastOp(whole, type)) if isinstance(type, AnyFloat) else whole

    def _publish(self, tile: SSAValue, value: SSAValue, kind: int) -> None:
        k = self.k
        number, tag = self._tag(tile)
        tag = k.zero_extend(k.add(tag, k.i32(kind)), i64)
        upper = k.value(arith.ShLIOp(tag, k.constant(32, i64)))
        place = self._slot(number)
        for index, part in enumerate(self._parts(value)):
            word = k.value(arith.OrIOp(upper, part), "word")
            store = llvm.StoreOp(word, k.field(place, 8 * index), alignment=8, ordering=_RELAXED)
            k.insert(store)

    # Looking back.

    def run(self, tile: SSAValue, total: SSAValue) -> SSAValue:
        """
        Emits, for the group's first warp, the publication of the tile's total; returns the prefix before
        the tile.
        """
        k, first_lane = self.k, self._first_lane()
        with k.at(k.if_then(first_lane)):
            self._publish(tile, total, _TOTAL)
        before = self._sum_before(tile)
        with k.at(k.if_then(first_lane)):
            self._publish(tile, self.combiner.combine(k, before, total, "prefix"), _PREFIX)
        return before

    def _first_lane(self) -> SSAValue:
        return self.k.compare("eq", self.group.lane, self.k.i32(0), "first_lane")

    def _sum_before(self, tile: SSAValue) -> SSAValue:
        """
        Emits the loop over windows of preceding tiles, nearest first; returns the prefix before the tile.
        """
        k, type = self.k, self.combiner.type
        lane = k.zero_extend(self.group.lane, i64)
        nearest = k.sub(k.sub(tile, k.constant(1, i64)), lane, "nearest")
        before, after = Block(arg_types=[i64, type]), Block(arg_types=[i64, type])
        loop = scf.WhileOp(
            [nearest, self.combiner.neutral(k)], [i64, type], Region(before), Region(after)
        )
        k.insert(loop)
        with k.at(Cursor.at_end(before, k.loc)):
            looked_at, known = before.args
            is_prefix, value = self._wait_for(looked_at)
            ballot = self.group.vote(nvvm.VoteSyncKind.BALLOT, is_prefix)
            nearer = k.sub(k.value(arith.ShLIOp(k.i32(1), self.group.lane)), k.i32(1))
            counts = k.compare("eq", k.value(arith.AndIOp(ballot, nearer)), k.i32(0), "counts")
            value = k.select(counts, value, self.combiner.neutral(k))
            known = self.combiner.combine(k, self._over_warp(value), known, "known")
            more = k.compare("eq", ballot, k.i32(0), "more")
            k.insert(scf.ConditionOp(more, looked_at, known))
        with k.at(Cursor.at_end(after, k.loc)):
            window = k.constant(self.group.width, i64)
            k.insert(scf.YieldOp(k.sub(after.args[0], window), after.args[1]))
        return loop.results[1]

    def _over_warp(self, value: SSAValue) -> SSAValue:
        k, offset = self.k, self.group.width // 2
        while offset:
            other = shuffle(k, nvvm.ShflKind.BFLY, value, k.i32(offset), self.group.width)
            value = self.combiner.combine(k, value, other)
            offset //= 2
        return value

    def _wait_for(self, tile: SSAValue) -> tuple[SSAValue, SSAValue]:
        """
        Emits the wait until all lanes' tiles have published a value; returns whether it is a prefix, and
        the value. Before the first tile, that is the initial value.
        """
        k, type = self.k, self.combiner.type
        none = k.compare("slt", tile, k.constant(0, i64), "no_tile")
        number, tag = self._tag(tile)
        place = self._slot(number)
        before, after = Block(), Block(arg_types=[i1, type])
        loop = scf.WhileOp([], [i1, type], Region(before), Region(after))
        k.insert(loop)
        with k.at(Cursor.at_end(before, k.loc)):
            op, then, otherwise = either(k, none, [i1, i1, type])
            with k.at(then):
                yes = k.constant(1, i1)
                k.insert(scf.YieldOp(yes, yes, self.initial))
            with k.at(otherwise):
                k.insert(scf.YieldOp(*self._read(place, tag)))
            valid, is_prefix, value = op.results
            ready = self.group.vote(nvvm.VoteSyncKind.ALL, valid)
            waiting = k.value(arith.XOrIOp(ready, k.constant(1, i1)), "waiting")
            k.insert(scf.ConditionOp(waiting, is_prefix, value))
        with k.at(Cursor.at_end(after, k.loc)):
            k.insert(nvvm.NanosleepOp(k.i32(POLL_NS)))
            k.insert(scf.YieldOp())
        return loop.results[0], loop.results[1]

    def _read(self, place: SSAValue, tag: SSAValue) -> list[SSAValue]:
        """
        Emits the read of a slot: whether it holds a value of this tile, whether that is a prefix, and the
        value's words.
        """
        k = self.k
        words = [
            k.value(
                llvm.LoadOp(k.field(place, 8 * index), i64, ordering=_RELAXED, alignment=8), "word"
            )
            for index in range(_words(self.combiner.type))
        ]
        kinds = [
            k.sub(k.value(arith.TruncIOp(k.value(arith.ShRUIOp(w, k.constant(32, i64))), i32)), tag)
            for w in words
        ]
        is_prefix = k.compare("eq", kinds[0], k.i32(_PREFIX), "is_prefix")
        is_total = k.compare("eq", kinds[0], k.i32(_TOTAL), "is_total")
        valid = k.value(arith.OrIOp(is_prefix, is_total), "valid")
        for kind in kinds[1:]:
            same = k.compare("eq", kind, kinds[0], "same_kind")
            valid = k.value(arith.AndIOp(valid, same), "valid")
        return [valid, is_prefix, self._value(words)]
