"""
Emits iterations of the outer loop together, with their sums over the inner one: sequentially, with loads
ahead, or shared by lanes.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import acc, arith, llvm, scf
from xdsl.dialects.builtin import DenseArrayBase, IntegerAttr, IntegerType, i1, i32
from xdsl.ir import Block, Operation, Region, SSAValue

from ...dialects.accx import UNROLL
from ...dialects.llvm_ext import FreezeOp
from ..decisions.device import WIDE_BYTES
from ..ir.loops.jamming import Jam
from ..ir.ops.acc_ops import NONE, enclosing_module, is_defined_inside
from ..ir.ops.building import NSW, Cursor
from ..ir.ops.layout import size_of
from ..ir.ops.schedules import LoopSchedule, set_schedule
from ..ir.values.addresses import base_of
from ..ir.variables.recipes import reduction_recipe
from .group_copies import GroupCopies, Values
from .group_loads import Pair, Spreads
from .group_ranges import GroupedLoops, narrowed, whole_groups
from .staged_groups import StagedGroups

AHEAD = 2
"""
The groups of the inner loop that a thread which computes sums alone loads ahead: a scheduler has few such
warps, and the 16 cycles for a group of 16 products are less than a load's latency.
"""

Variables = dict[Operation, list[list[SSAValue]]]
"""For each sequential loop and row, the reduction variables of its sums."""

SUMS: tuple[type[Operation], ...] = (arith.AddfOp, arith.AddiOp)


class GroupedIterations:
    """
    Emits iterations of the outer loop, one for each of `maps`: an aligned group of them, or a single
    one. `variables`: for each sequential loop in `pairs` and row, the reduction variables of its sums.
    """

    def __init__(
        self,
        found: GroupedLoops,
        maps: list[Values],
        variables: Variables,
        aligned: SSAValue | None,
        elements: int,
        thread: SSAValue | None = None,
    ):
        self.found, self.maps, self.variables, self.aligned = found, maps, variables, aligned
        self.elements, self.thread = elements, thread
        self.pairs = {pair.inner: pair for pair in found.pairs}

    def operations(self, ops: Sequence[Operation], at: Cursor) -> None:
        jam = Jam(self.maps)
        for op in ops:
            if op in self.pairs:
                assert isinstance(op, scf.ForOp)
                self._sum(self.pairs[op], at)
            else:
                jam.operations([op], at)

    def _sum(self, pair: Pair, at: Cursor) -> None:
        inner = pair.inner
        location, at.loc = at.loc, inner.location
        sums = [[m.get(v, v) for v in inner.iter_args] for m in self.maps]
        lower, upper = (self.maps[0].get(v, v) for v in (inner.lb, inner.ub))
        assert isinstance(inner.lb.type, IntegerType)
        if len(self.maps) == 1 and self.found.ordered:
            sums = self._in_order(pair, lower, upper, sums, at, few=False)
        elif len(self.maps) == 1:
            self._together(pair, 1, lower, upper, sums, at)
            sums = self._totals(pair, at)
        else:
            whole = whole_groups(lower, upper, self.found.side, at)
            start = lower
            if not whole.starts_whole:
                start = narrowed(whole.start, inner.lb.type, at)
                sums = self._in_order(pair, lower, start, sums, at)
            stop = narrowed(whole.stop, inner.lb.type, at, "stop")
            span = at.value(arith.SubiOp(whole.stop, whole.start, overflow=NSW))
            groups = at.value(arith.DivUIOp(span, at.i64(self.found.side)))
            groups = narrowed(groups, inner.lb.type, at, "groups")
            if self.thread is not None and self.found.staging is not None:
                arrays = frozenset(arrays_read(pair))
                emit = StagedGroups(
                    pair, self.found.staging, self.maps, arrays, self.thread, start
                ).emit
                sums = [list(row) for row in emit(groups, sums, at)]
            else:
                self._together(pair, self.found.side, start, groups, sums, at)
                sums = self._totals(pair, at)
            sums = self._in_order(pair, stop, upper, sums, at)
        for values, row in zip(self.maps, sums, strict=True):
            values.update(zip(inner.results, row, strict=True))
        at.loc = location

    def _in_order(
        self,
        pair: Pair,
        lower: SSAValue,
        upper: SSAValue,
        sums: list[list[SSAValue]],
        at: Cursor,
        *,
        few: bool = True,
    ) -> list[list[SSAValue]]:
        """Emits the inner loop iteration by iteration; `few`: only those outside of whole groups."""
        body = pair.inner.body.block
        flat = [v for row in sums for v in row]
        block = Block(arg_types=[lower.type, *(v.type for v in flat)])
        block.args[0].name_hint = body.args[0].name_hint
        loop = at.insert(scf.ForOp(lower, upper, at.constant(1, lower.type), flat, Region(block)))
        if few:
            loop.attributes[UNROLL] = IntegerAttr(1, i32)
        inside = Cursor.at_end(block, at.loc)
        spreads = Spreads(pair, len(self.maps), 1)
        copies = GroupCopies(spreads, self.maps, block.args[0], inside)
        width = len(pair.inner.iter_args)
        out = copies.emit(_rows(block.args[1:], width))
        inside.insert(scf.YieldOp(*(v for row in out for v in row)))
        return _rows(loop.results, width)

    def _together(
        self,
        pair: Pair,
        steps: int,
        lower: SSAValue,
        upper: SSAValue,
        sums: list[list[SSAValue]],
        at: Cursor,
    ) -> None:
        """
        Emits the inner loop from `lower`, shared by lanes unless its order is kept; adds to `sums`. With
        `steps` greater than one, it consists of `upper` groups of that many iterations, otherwise of the
        iterations up to `upper`.
        """
        for row, values in zip(self.variables[pair.inner], sums, strict=False):
            for variable, value in zip(row, values, strict=True):
                at.store(value, variable)
        places: list[tuple[Cursor, frozenset[SSAValue]]] = [(at, frozenset())]
        if self.aligned is not None:
            wide, narrow = at.if_else(self.aligned)
            places = [(wide, frozenset(arrays_read(pair))), (narrow, frozenset())]
        for place, arrays in places:
            emit = self._one_thread if self.found.ordered else self._vector_loop
            emit(pair, steps, arrays, lower, upper, place)

    def _one_thread(
        self,
        pair: Pair,
        steps: int,
        arrays: frozenset[SSAValue],
        lower: SSAValue,
        upper: SSAValue,
        at: Cursor,
    ) -> None:
        """Emits the groups of the inner loop sequentially, on the variables of the sums."""
        some = at.value(arith.CmpiOp(upper, at.constant(0, upper.type), "sgt"), "some")
        inside = at.if_then(some)
        sums = self._ahead(pair, steps, arrays, lower, upper, self._totals(pair, inside), inside)
        rows = self.variables[pair.inner][: len(self.maps)]
        for row, values in zip(rows, sums, strict=True):
            for variable, value in zip(row, values, strict=True):
                inside.store(value, variable)

    def _ahead(
        self,
        pair: Pair,
        steps: int,
        arrays: frozenset[SSAValue],
        lower: SSAValue,
        groups: SSAValue,
        sums: list[list[SSAValue]],
        at: Cursor,
    ) -> list[list[SSAValue]]:
        """
        Emits at least one group, sequentially, each loaded while earlier ones are computed; returns the
        sums.
        """
        spreads = Spreads(pair, len(self.maps), steps, arrays, WIDE_BYTES if arrays else 1)
        type = lower.type
        last = at.value(arith.SubiOp(groups, at.constant(1, type), overflow=NSW), "last")

        def load(number: SSAValue, place: Cursor) -> list[SSAValue]:
            known = place.value(arith.MinSIOp(number, last))
            step = _first_step(pair, steps, lower, known, place)
            loads = GroupCopies(spreads, self.maps, step, place).loads()
            # LLVM would carry addresses instead and load when the values are needed.
            return [place.value(FreezeOp(v), v.name_hint) for v in loads]

        width = len(pair.inner.iter_args)
        ready = [load(at.constant(number, type), at) for number in range(AHEAD)]
        carried = [v for values in (*sums, *ready) for v in values]
        block = Block(arg_types=[type, *(v.type for v in carried)])
        zero, one = at.constant(0, type), at.constant(1, type)
        loop = at.insert(scf.ForOp(zero, groups, one, carried, Region(block)))
        loop.attributes[UNROLL] = IntegerAttr(2 * AHEAD, i32)
        inside = Cursor.at_end(block, at.loc)
        number = block.args[0]
        ahead = inside.value(arith.AddiOp(number, inside.constant(AHEAD, type), overflow=NSW))
        later = load(ahead, inside)
        count = len(self.maps) * width
        values = block.args[1 + count :]
        step = _first_step(pair, steps, lower, number, inside)
        now = values[: len(later)]
        copies = GroupCopies(spreads, self.maps, step, inside, now)
        out = copies.emit(_rows(block.args[1 : 1 + count], width))
        inside.insert(scf.YieldOp(*(v for row in out for v in row), *values[len(later) :], *later))
        return _rows(loop.results[:count], width)

    def _vector_loop(
        self,
        pair: Pair,
        steps: int,
        arrays: frozenset[SSAValue],
        lower: SSAValue,
        upper: SSAValue,
        at: Cursor,
    ) -> None:
        type = lower.type
        assert isinstance(type, IntegerType)
        rows = len(self.maps)
        variables = [
            [self._reduction(v, at) for v in row] for row in self.variables[pair.inner][:rows]
        ]
        body = Block(arg_types=[type])
        inside = Cursor.at_end(body, at.loc)
        step = _first_step(pair, steps, lower, body.args[0], inside)
        spreads = Spreads(pair, rows, steps, arrays, WIDE_BYTES)
        copies = GroupCopies(spreads, self.maps, step, inside)
        old = [
            [
                inside.load(v, a.type, a.name_hint)
                for v, a in zip(row, carried_sums(pair), strict=True)
            ]
            for row in variables
        ]
        for row, values in zip(variables, copies.emit(old), strict=True):
            for variable, value in zip(row, values, strict=True):
                inside.store(value, variable)
        inside.insert(acc.YieldOp())
        loop = acc.LoopOp(
            region=Region(body),
            lowerbound=[at.constant(0, type) if steps > 1 else lower],
            upperbound=[upper],
            step=[at.constant(1, type)],
            inclusive_upperbound=DenseArrayBase.from_list(i1, [0]),
            independent=NONE,
            vector=NONE,
            reduction_operands=[v for row in variables for v in row],
        )
        set_schedule(loop, LoopSchedule(elements=self.elements))
        at.insert(loop)

    def _reduction(self, variable: SSAValue, at: Cursor) -> SSAValue:
        owner = variable.owner
        assert isinstance(owner, llvm.AllocaOp)
        module = enclosing_module(self.found.construct)
        add = acc.ReductionOpKind.ADD
        recipe = reduction_recipe(module, add, owner.elem_type, module.location)
        op = acc.ReductionOp(
            var=variable,
            var_type=owner.elem_type,  # pyright: ignore[reportArgumentType]
            recipe=recipe,
            acc_var_type=variable.type,
            var_name=variable.name_hint,
        )
        return at.value(op, variable.name_hint)

    def _totals(self, pair: Pair, at: Cursor) -> list[list[SSAValue]]:
        rows = self.variables[pair.inner][: len(self.maps)]
        return [
            [at.load(v, a.type, a.name_hint) for v, a in zip(row, carried_sums(pair), strict=True)]
            for row in rows
        ]


def _first_step(pair: Pair, steps: int, lower: SSAValue, number: SSAValue, at: Cursor) -> SSAValue:
    """
    The inner variable in the first iteration of group `number`, with groups of `steps` iterations from
    `lower`.
    """
    step = number
    if steps > 1:
        number.name_hint = "group"
        distance = at.value(arith.MuliOp(number, at.constant(steps, lower.type), overflow=NSW))
        step = at.value(arith.AddiOp(lower, distance, overflow=NSW))
    step.name_hint = pair.step.name_hint
    return step


def carried_sums(pair: Pair) -> Sequence[SSAValue]:
    return pair.inner.body.block.args[1:]


def _rows(values: Sequence[SSAValue], width: int) -> list[list[SSAValue]]:
    return [list(values[i : i + width]) for i in range(0, len(values), width)]


def arrays_read(pair: Pair) -> list[SSAValue]:
    """The arrays from outside the construct of which the inner loop reads elements, in program order."""
    found: list[SSAValue] = []
    for op in pair.inner.body.block.ops:
        if isinstance(op, llvm.LoadOp):
            pointer = base_of(op.ptr)
            narrow = size_of(op.dereferenced_value.type) < WIDE_BYTES
            if narrow and not is_defined_inside(pointer, pair.outer) and pointer not in found:
                found.append(pointer)
    return found
