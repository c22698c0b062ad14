"""
Loops that copy a row of memory, which the C library does best: its copies of long rows do not read the lines
that they write, at sizes for which non-temporal stores do not pay yet.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.dialects import arith, llvm, scf
from xdsl.ir import SSAValue

from ...dialects.llvm_ext import MemmoveOp
from ..decisions.streams import SHORTEST
from ..ir.loops.lane_loops import LaneValues, stride
from ..ir.ops.building import Cursor
from ..ir.ops.expressions import parts_of
from ..ir.ops.layout import size_of


@dataclass(frozen=True)
class CopiedRow:
    """
    A loop whose body only copies the element of `load` to that of `store`, `size` bytes further in each
    iteration.
    """

    loop: scf.ForOp
    load: llvm.LoadOp
    store: llvm.StoreOp
    size: int


def copied_row(loop: scf.ForOp, store: llvm.StoreOp) -> CopiedRow | None:
    """The loop as a copy; None if it is something else. `store` is its only one, and it has no step but 1."""
    loads = [op for op in loop.body.block.ops if isinstance(op, llvm.LoadOp)]
    if len(loads) != 1 or store.value is not loads[0].dereferenced_value:
        return None
    varying, size = LaneValues(loop), size_of(store.value.type)
    steps = {stride(pointer, varying) for pointer in (loads[0].ptr, store.ptr)}
    return CopiedRow(loop, loads[0], store, size) if steps == {size} else None


def emit_copy(row: CopiedRow) -> None:
    """
    Emits a copy for long rows beside the loop. As iterations are independent, the rows do not overlap, unless
    they are the same.
    """
    loop, at = row.loop, Cursor.before(row.loop)
    trips = at.sub(at.to_i64(loop.ub), at.to_i64(loop.lb), "trips")
    long = at.value(arith.CmpiOp(trips, at.i64(SHORTEST), "sge"), "long")
    inside, otherwise = at.if_else(long)
    inside.insert(MemmoveOp(*copied_bytes(row, trips, inside)))
    otherwise.move(loop)


def copied_bytes(
    row: CopiedRow, trips: SSAValue, at: Cursor
) -> tuple[SSAValue, SSAValue, SSAValue]:
    """Emits what a copy of the row is told: the addresses of the target and the source, and the bytes."""
    loop = row.loop
    target, source = (address_in(a.ptr, loop, loop.lb, at) for a in (row.store, row.load))
    return target, source, at.mul(trips, at.i64(row.size), "bytes")


def sources_of(value: SSAValue) -> set[SSAValue]:
    """All values that `value` is computed from."""
    return set(parts_of(value, lambda part: False))


def address_in(pointer: SSAValue, loop: scf.ForOp, start: SSAValue, at: Cursor) -> SSAValue:
    """The value of a pointer of the loop's body in iteration `start`."""
    values: dict[SSAValue, SSAValue] = {loop.body.block.args[0]: start}
    needed = sources_of(pointer)
    for op in loop.body.block.ops:
        if op.results and op.results[0] in needed:
            at.insert(op.clone(values))
    return values.get(pointer, pointer)
