"""
The version of a loop that buffers its results and writes them by non-temporal stores, and the test that
selects it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.dialects import arith, llvm, scf
from xdsl.dialects.builtin import IntegerType, i1, i8
from xdsl.ir import SSAValue

from ...dialects import llvm_ext
from ..decisions.streams import SHORTEST, STRIP
from ..ir.ops.building import Cursor
from ..ir.ops.layout import size_of
from ..ir.variables.private_storage import entry_cursor
from .copied_rows import CopiedRow, address_in, copied_bytes, emit_copy
from .streaming_functions import STREAM, STREAMS

_NO_WRAP = arith.IntegerOverflowAttr((arith.IntegerOverflowFlag.NSW,))


@dataclass(frozen=True)
class StreamedLoop:
    """
    A loop whose stores may be streamed. `bytes`: those of different arrays that an iteration touches;
    `stencil`: whether it reads an array at several places; `row`: the loop as a copy, if it is one.
    """

    loop: scf.ForOp
    stores: Sequence[llvm.StoreOp]
    bytes: int
    stencil: bool
    row: CopiedRow | None


def emit_versions(function: llvm.FuncOp, loops: Sequence[StreamedLoop]) -> None:
    """
    Emits the two versions of each loop of a kernel, and the fence that orders its stores before later
    operations.
    """
    at = entry_cursor(function)
    used = at.alloca(i8, "streamed")
    at.store(at.constant(0, i8), used)
    for found in loops:
        _two_versions(function, found, used)
    for end in [op for op in function.walk() if isinstance(op, llvm.ReturnOp)]:
        _order_streams(Cursor.before(end), used)


def _order_streams(at: Cursor, used: SSAValue) -> None:
    """Emits a fence, so that other threads see streamed data once they see later stores of this thread."""
    some = at.value(arith.CmpiOp(at.load(used, i8), at.constant(0, i8), "ne"))
    at.if_then(some).insert(llvm_ext.FenceOp())


def _two_versions(function: llvm.FuncOp, found: StreamedLoop, used: SSAValue) -> None:
    loop, at = found.loop, Cursor.before(found.loop)
    trips = at.sub(at.to_i64(loop.ub), at.to_i64(loop.lb), "trips")
    long = at.value(arith.CmpiOp(trips, at.i64(SHORTEST), "sge"))
    total = at.mul(_launched(function, loop, trips, at), at.i64(found.bytes), "bytes")
    stencil = at.constant(int(found.stencil), i1)
    worth = at.value(llvm.CallOp(STREAMS, total, stencil, return_type=long.type))
    large = at.value(arith.AndIOp(worth, long), "large")
    inside, otherwise = at.if_else(large)
    inside.store(inside.constant(1, i8), used)
    if found.row is not None:
        inside.insert(llvm.CallOp(STREAM, *copied_bytes(found.row, trips, inside)))
    else:
        _strips(function, found, inside)
    otherwise.move(loop)
    if found.row is not None:
        emit_copy(found.row)


def _launched(function: llvm.FuncOp, loop: scf.ForOp, trips: SSAValue, at: Cursor) -> SSAValue:
    """The iterations of the whole launch, estimated from this call's share of the gangs."""
    begin, end, gangs, *_ = function.body.blocks[0].args
    total, parent = trips, loop.parent_op()
    while isinstance(parent, scf.ForOp):
        span = at.sub(at.to_i64(parent.ub), at.to_i64(parent.lb))
        total = at.mul(total, at.value(arith.DivSIOp(span, at.to_i64(parent.step))))
        parent = parent.parent_op()
    share = at.value(arith.MaxSIOp(at.sub(end, begin), at.i64(1)))
    return at.value(arith.DivSIOp(at.mul(total, gangs), share), "iterations")


def _strips(function: llvm.FuncOp, found: StreamedLoop, at: Cursor) -> None:
    """Emits the loop over pieces, whose results are gathered and then written."""
    loop = found.loop
    entry = entry_cursor(function)
    gathered = [
        entry.value(
            llvm.AllocaOp(entry.i32(1), llvm.LLVMArrayType(STRIP, s.value.type), alignment=64),
            "gathered",
        )
        for s in found.stores
    ]
    type_ = loop.body.block.args[0].type
    assert isinstance(type_, IntegerType)
    end = at.to_i64(loop.ub)
    pieces, body = at.for_loop(at.to_i64(loop.lb), end, at.i64(STRIP), "start")
    begun = pieces.body.block.args[0]
    count = body.value(arith.MinSIOp(body.sub(end, begun), body.i64(STRIP)), "count")
    start = body.to_integer(begun, type_)
    inner, straight = body.for_loop(
        body.constant(0, type_), body.to_integer(count, type_), body.constant(1, type_), "k"
    )
    inner.attributes |= loop.attributes
    index = inner.body.block.args[0]
    values: dict[SSAValue, SSAValue] = {
        loop.body.block.args[0]: straight.value(arith.AddiOp(start, index, overflow=_NO_WRAP), "i")
    }
    for op in loop.body.block.ops:
        if isinstance(op, scf.YieldOp):
            continue
        if op in found.stores:
            assert isinstance(op, llvm.StoreOp)
            array = gathered[found.stores.index(op)]
            place = straight.element(array, straight.to_i64(index), op.value.type)
            store = straight.insert(llvm.StoreOp(values.get(op.value, op.value), place))
            store.attributes |= op.attributes
        else:
            straight.insert(op.clone(values))
    for store, array in zip(found.stores, gathered, strict=True):
        first = address_in(store.ptr, loop, start, body)
        size = body.mul(count, body.i64(size_of(store.value.type)))
        body.insert(llvm.CallOp(STREAM, first, array, size))
