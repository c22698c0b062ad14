"""
Carry the distances of accesses along columns from one iteration to the next, on the host target.

LLVM vectorises a loop in which an access moves by a number of bytes that is known at run time only, such as
down a column, by scalar accesses. Their addresses it computes in vectors, of which it then extracts one
element after the other, unless all that varies in them is a counter of the loop. So the loop gets a counter
that grows by the distance of two iterations; accesses that move alike share it, and begin at the address that
the first iteration accesses.

Takes:  the host level, kernels outlined, no pass to come that reads subscripts.
Leaves: innermost `scf.for`s in kernels, except those of few iterations, with an i64 more that they carry for
        each such distance, and accesses at `%first[%distance]`. Addresses that are not linear in the loop's
        variable, or depend on other values of the iteration, stay, as do those that move by a constant.
Fails:  never.

Before:
  scf.for %j = %lo to %hi step %c1 {
    %at = arith.muli %j, %row_bytes : i64
    %row = llvm.getelementptr inbounds %a[%at] : (!llvm.ptr, i64) -> !llvm.ptr, i8
    %element = llvm.getelementptr inbounds %row[%k] : (!llvm.ptr, i64) -> !llvm.ptr, f64
    … llvm.load %element …
  }
After:
  %first = llvm.getelementptr %a[… %lo * %row_bytes + 8 * %k …] : (!llvm.ptr, i64) -> !llvm.ptr, i8
  scf.for %j = %lo to %hi step %c1 iter_args(%distance = %c0) -> (i64) {
    %element = llvm.getelementptr inbounds %first[%distance] : (!llvm.ptr, i64) -> !llvm.ptr, i8
    … llvm.load %element …
    %next = arith.addi %distance, %row_bytes overflow<nsw> : i64
    scf.yield %next : i64
  }

Option `enabled`.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects import arith, llvm, scf
from xdsl.dialects.builtin import ModuleOp, i8, i64
from xdsl.ir import Block, Operation, SSAValue
from xdsl.passes import ModulePass

from ..dialects.accx import KERNEL
from .decisions.polynomials import Polynomial
from .ir.loops.product_loads import ExactSymbols
from .ir.ops.acc_ops import is_defined_inside
from .ir.ops.building import NSW, PTR, Cursor, constant_trips, erase
from .ir.values.addresses import base_of, steps_to
from .ir.values.region_values import HostEmitter
from .ir.variables.handed_on import hand_on

_FEW = 16
"""Loops with at most this constant number of iterations are unrolled, or their addresses computed once."""
_LOOPS = (scf.ForOp, scf.WhileOp, scf.ExecuteRegionOp)


@dataclass(frozen=True)
class _Column:
    """An access that moves by `distance` bytes for each step of the loop's variable, from `start` at 0."""

    op: llvm.LoadOp | llvm.StoreOp
    base: SSAValue
    start: Polynomial
    distance: Polynomial


def _is_candidate(loop: scf.ForOp) -> bool:
    """Whether a loop has no loop inside, and not only a few iterations."""
    trips = constant_trips(loop.lb, loop.ub, loop.step)
    return (trips is None or trips > _FEW) and not any(
        isinstance(op, _LOOPS) for op in loop.body.walk()
    )


def _columns(loop: scf.ForOp) -> list[_Column]:
    """The accesses of a loop that move by a number of bytes which is not constant."""
    symbols = ExactSymbols(loop)
    variable = loop.body.block.args[0]

    def is_outside(symbol: Hashable) -> bool:
        return isinstance(symbol, SSAValue) and not is_defined_inside(symbol, loop)

    found: list[_Column] = []
    for op in loop.body.walk():
        if not isinstance(op, llvm.LoadOp | llvm.StoreOp):
            continue
        base = base_of(op.ptr)
        distances = [step.in_bytes(symbols) for step in steps_to(op.ptr)]
        if is_defined_inside(base, loop) or not distances:
            continue
        total = Polynomial.constant(0)
        for distance in distances:
            if distance is None:
                break
            total = total + distance
        else:
            parts = total.split(variable)
            if parts is None or parts[1].as_constant is not None:
                continue
            if all(map(is_outside, [*parts[0].symbols, *parts[1].symbols])):
                found.append(_Column(op, base, *parts))
    return found


def _carry(loop: scf.ForOp, columns: list[_Column]) -> None:
    """Replaces a loop by one that carries the distances of `columns`."""
    before, body = HostEmitter(loop), loop.body.block
    end = body.last_op
    assert isinstance(end, scf.YieldOp)
    low, step = before.to_integer(loop.lb, i64), before.to_integer(loop.step, i64)
    carried: dict[Polynomial, SSAValue] = {}
    nexts: list[SSAValue] = []
    firsts: dict[tuple[SSAValue, Polynomial, Polynomial], SSAValue] = {}
    at = Cursor.before(end)
    for column in columns:
        distance = before.emit(column.distance)
        offset = carried.get(column.distance)
        if offset is None:
            offset = carried[column.distance] = body.insert_arg(i64, len(body.args))
            offset.name_hint = "distance"
            each = before.mul(distance, step, "each")
            nexts.append(at.value(arith.AddiOp(offset, each, overflow=NSW), "next_distance"))
        key = column.base, column.start, column.distance
        if key not in firsts:
            start = before.add(before.emit(column.start), before.mul(distance, low))
            gep = llvm.GEPOp.from_mixed_indices(column.base, [start], i8, PTR)
            firsts[key] = before.value(gep, "first")
        _move_to(column.op, firsts[key], offset, body)
    hand_on(loop, [before.i64(0) for _ in nexts], nexts)


def _move_to(
    op: llvm.LoadOp | llvm.StoreOp, first: SSAValue, offset: SSAValue, body: Block
) -> None:
    """Lets an access be at `first[offset]`, which is in the array of `first` if the access always runs."""
    at = Cursor.before(op)
    old = op.ptr
    always = op.parent_block() is body
    gep = llvm.GEPOp.from_mixed_indices(first, [offset], i8, PTR, inbounds=always)
    op.operands[list(op.operands).index(old)] = at.value(gep, old.name_hint)
    while isinstance(owner := old.owner, llvm.GEPOp) and not old.uses:
        old = owner.ptr
        erase(owner)


@dataclass(frozen=True)
class CarryOffsetsPass(ModulePass):
    """See the contract at the top of this file."""

    name = "carry-offsets"

    enabled: bool = True

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        if not self.enabled:
            return
        for function in op.body.block.ops:
            if KERNEL not in function.attributes or not isinstance(function, llvm.FuncOp):
                continue
            loops: list[Operation] = [o for o in function.walk() if isinstance(o, scf.ForOp)]
            for loop in loops:
                if isinstance(loop, scf.ForOp) and _is_candidate(loop):
                    columns = _columns(loop)
                    if columns:
                        _carry(loop, columns)
