"""Numbering of the outer loop's work: groups of iterations, and the single iterations outside of groups."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.dialects import arith, llvm
from xdsl.dialects.builtin import IntegerType, i64
from xdsl.ir import SSAValue

from ..decisions.device import WIDE_BYTES
from ..ir.ops.building import NSW, Cursor
from .group_copies import Values
from .group_ranges import GroupedLoops, IterationRange, narrowed, whole_groups
from .group_sums import arrays_read
from .staged_groups import THREADS


def _aligned(found: GroupedLoops, at: Cursor) -> SSAValue | None:
    """An i1: all arrays start at multiples of a wide load's bytes; None if that is known."""
    arrays = dict.fromkeys(array for pair in found.pairs for array in arrays_read(pair))
    bits: SSAValue | None = None
    for array in arrays:
        bits = at.any_bits(bits, at.value(llvm.PtrToIntOp(array, i64)))
    return None if bits is None else at.is_multiple(bits, WIDE_BYTES, "aligned")


@dataclass(frozen=True)
class Shares:
    """
    The numbers of the outer loop's work: first `single` iterations on their own, then groups from `skipped`
    to `count`. `head`: how many of the single iterations come before the groups in the loop.
    """

    found: GroupedLoops
    whole: IterationRange
    head: SSAValue
    single: SSAValue
    skipped: SSAValue
    count: SSAValue
    aligned: SSAValue | None
    elements: int

    @property
    def variable(self) -> SSAValue:
        return self.found.outer.region.block.args[0]

    @property
    def type(self) -> IntegerType:
        type = self.variable.type
        assert isinstance(type, IntegerType)
        return type

    def rows(self, number: SSAValue, at: Cursor) -> list[Values]:
        """The value maps of the iterations in the group `number`."""
        hint, size = self.variable.name_hint, self.found.side
        place = at.value(arith.SubiOp(number, self.skipped, overflow=NSW))
        distance = at.value(arith.MuliOp(place, at.i64(size), overflow=NSW))
        first = at.value(arith.AddiOp(self.whole.start, distance, overflow=NSW))
        row = narrowed(first, self.type, at, hint)
        maps: list[Values] = [{self.variable: row}]
        for r in range(1, size):
            value = arith.AddiOp(row, at.constant(r, self.type), overflow=NSW)
            maps.append({self.variable: at.value(value, hint)})
        return maps

    def alone(self, number: SSAValue, at: Cursor) -> list[Values]:
        """The value map of the single iteration `number`."""
        early = at.value(arith.AddiOp(self.whole.lower, number, overflow=NSW))
        past = at.value(arith.SubiOp(number, self.head, overflow=NSW))
        late = at.value(arith.AddiOp(self.whole.stop, past, overflow=NSW))
        is_early = at.value(arith.CmpiOp(number, self.head, "slt"))
        one = at.value(arith.SelectOp(is_early, early, late))
        return [{self.variable: narrowed(one, self.type, at, self.variable.name_hint)}]


def shares_of(found: GroupedLoops, lanes: int, elements: int) -> Shares:
    """Emits, before the loops, how workers of `lanes` lanes share the iterations of the outer one."""
    outer, size = found.outer, found.side
    before = Cursor.before(outer)
    whole = whole_groups(outer.lowerbound[0], outer.upperbound[0], size, before)
    side = before.i64(size)
    span = before.value(arith.SubiOp(whole.stop, whole.start, overflow=NSW))
    groups = before.value(arith.DivUIOp(span, side), "groups")
    head = before.value(arith.SubiOp(whole.start, whole.lower, overflow=NSW), "head")
    tail = before.value(arith.SubiOp(whole.upper, whole.stop, overflow=NSW))
    single = before.value(arith.AddiOp(head, tail, overflow=NSW))
    # They come first, as each takes longer than a group, and fill whole gangs, so that the groups of one
    # warp's lanes are adjacent in memory.
    workers = THREADS // lanes
    above = before.value(arith.AddiOp(single, before.i64(workers - 1), overflow=NSW))
    skipped = before.value(arith.AndIOp(above, before.i64(-workers)), "skipped")
    count = before.value(arith.AddiOp(groups, skipped, overflow=NSW), "count")
    aligned = _aligned(found, before)
    return Shares(found, whole, head, single, skipped, count, aligned, elements)
