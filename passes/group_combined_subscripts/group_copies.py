"""
Emits the copies of a loop body for neighbouring iterations of two loops.

Equal computations of several copies are emitted once. Of values that differ by known amounts
(`decisions/spread.py`), the first is computed and the others are that plus a constant. So copies with the
same difference share a value, loads of the same address are one load, and loads of neighbours are adjacent
with their known alignment, from which LLVM makes wide loads.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import arith, llvm
from xdsl.dialects.builtin import IntegerAttr, IntegerType
from xdsl.ir import Operation, SSAValue

from ..decisions.device import WIDE_BYTES
from ..decisions.spread import ANY
from ..ir.ops.acc_ops import is_defined_inside
from ..ir.ops.building import Cursor
from ..ir.ops.layout import size_of
from .group_loads import Spreads

Values = dict[SSAValue, SSAValue]


class GroupCopies:
    """
    Emits at `at` the copies of the body of a loop whose variable is `step` in the first of them. `rows`
    maps values defined outside that loop, row by row. `loaded`: the values that the copies' shared loads
    have read ahead, in the order of `loads()`.
    """

    def __init__(
        self,
        spreads: Spreads,
        rows: Sequence[Values],
        step: SSAValue,
        at: Cursor,
        loaded: Sequence[SSAValue] | None = None,
    ):
        self._spreads, self._rows, self._at = spreads, rows, at
        self._body = spreads.pair.inner.body.block
        self._first: Values = {spreads.pair.step: step}
        self._moved: dict[tuple[SSAValue, int], SSAValue] = {}
        self._made: dict[tuple[Operation, tuple[SSAValue, ...]], Sequence[SSAValue]] = {}
        self._copies: list[Values] = [{} for _ in range(spreads.copies)]
        self._before = None if loaded is None else iter(loaded)
        self._loaded: list[SSAValue] = []

    def emit(self, carried: Sequence[Sequence[SSAValue]]) -> list[list[SSAValue]]:
        """
        Emits all copies, step after step. `carried` are the loop's carried values, row by row; returns
        those after the last step.
        """
        body, spreads = self._body, self._spreads
        end = body.last_op
        assert end is not None
        late = self._late()
        self.loads()
        now = [list(values) for values in carried]
        for step in range(spreads.steps):
            copies = range(step * spreads.rows, (step + 1) * spreads.rows)
            for copy, values in zip(copies, now, strict=True):
                self._copies[copy].update(zip(body.args[1:], values, strict=True))
            for op in body.ops:
                if op in late:
                    for copy in copies:
                        self._once(op, copy)
            now = [[self._get(v, copy) for v in end.operands] for copy in copies]
        return now

    def loads(self) -> list[SSAValue]:
        """
        Emits the operations that do not depend on carried values; returns the values of the shared loads.
        """
        late = self._late()
        for op in self._body.ops:
            if op is not self._body.last_op and op not in late:
                self._early(op)
        return self._loaded

    def _late(self) -> set[Operation]:
        """The operations that depend on the loop's carried values."""
        carried: set[SSAValue] = set(self._body.args[1:])
        late: set[Operation] = set()
        for op in self._body.ops:
            if op is not self._body.last_op and any(v in carried for v in op.operands):
                late.add(op)
                carried.update(op.results)
        return late

    def _early(self, op: Operation) -> None:
        if isinstance(op, llvm.LoadOp) and self._loads(op):
            return
        known = [self._spreads.of(v) for v in op.results]
        if known and all(k is not None for k in known):
            for result, new in zip(op.results, self._clone(op, 0), strict=True):
                self._first[result] = new
            return
        for copy in range(self._spreads.copies):
            self._once(op, copy)

    def _loads(self, op: llvm.LoadOp) -> bool:
        """
        Emits the loads of a load operation if its addresses differ by known amounts, lowest first; whether
        it did.
        """
        known = self._spreads.of(op.ptr)
        if known is None or not is_defined_inside(op.ptr, self._spreads.pair.inner):
            return False
        loaded: dict[int, SSAValue] = {}
        result = op.dereferenced_value
        for distance in sorted(set(known.distances)):
            if self._before is not None:
                loaded[distance] = next(self._before)
                continue
            load = llvm.LoadOp(self._at_distance(op.ptr, distance), result.type)
            alignment = _alignment(known.low[0] + distance, known.multiple)
            if alignment > size_of(result.type):
                load.properties["alignment"] = IntegerAttr(alignment, 64)
            load.attributes |= op.attributes
            loaded[distance] = self._at.value(load, result.name_hint)
        self._loaded += loaded.values()
        for copy, distance in enumerate(known.distances):
            self._copies[copy][result] = loaded[distance]
        return True

    def _once(self, op: Operation, copy: int) -> None:
        """Emits `op` for one copy, unless it has been emitted with the same operands."""
        for result, new in zip(op.results, self._clone(op, copy), strict=True):
            self._copies[copy][result] = new

    def _clone(self, op: Operation, copy: int) -> Sequence[SSAValue]:
        operands = tuple(self._get(v, copy) for v in op.operands)
        key = (op, operands)
        if key not in self._made:
            location, self._at.loc = self._at.loc, op.location
            mapping = dict(zip(op.operands, operands, strict=True))
            self._made[key] = self._at.insert(op.clone(mapping)).results
            self._at.loc = location
        return self._made[key]

    def _get(self, value: SSAValue, copy: int) -> SSAValue:
        if value in self._copies[copy]:
            return self._copies[copy][value]
        if value in self._first:
            known = self._spreads.of(value)
            assert known is not None
            return self._at_distance(value, known.distances[copy])
        return self._rows[copy % self._spreads.rows].get(value, value)

    def _at_distance(self, value: SSAValue, distance: int) -> SSAValue:
        """Copy 0's value plus a constant (in bytes, if it is an address)."""
        first = self._first[value]
        if distance == 0:
            return first
        key = (first, distance)
        if key not in self._moved:
            if isinstance(first.type, IntegerType):
                op = arith.AddiOp(first, self._at.constant(distance, first.type))
                self._moved[key] = self._at.value(op, value.name_hint)
            else:
                self._moved[key] = self._at.field(first, distance, value.name_hint)
        return self._moved[key]


def _alignment(low: int, multiple: int) -> int:
    """The alignment of a number that is `low` above a multiple of `multiple`, at most a wide load's bytes."""
    known = min(multiple, WIDE_BYTES, ANY)
    return min(known, low & -low) if low else known
