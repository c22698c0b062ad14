"""
Groups of consecutive iterations that access packed elements 16 bytes at a time.

Two-byte elements, one per thread, leave half of the memory bandwidth unused. So an iteration of a streaming
loop becomes a group of as many iterations as fill 16 bytes with the widest elements. A whole group with
aligned addresses reads everything first, element after element of each array, then computes, then writes
everything: LLVM makes wide accesses of neighbours whose first is known to be aligned. Other groups run
iteration by iteration.

Before:
  acc.loop gang vector control(%i : i32) = (%c0 : i32) to (%n : i32) step (%c1 : i32) {
    %p = accx.element %a_dev[%i] of i16 : i32
    %code = llvm.load %p : !llvm.ptr -> i16 ...
After:
  acc.loop gang vector control(%group : i32) = (%c0 : i32) to (%groups : i32) step (%c1 : i32) {
    scf.if %whole { the loads of eight iterations; their arithmetic; their stores }
    else { scf.for %i = %first to %past ... the body as it was }
"""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import dataclass, replace
from math import gcd

from xdsl.dialects import acc, arith, llvm
from xdsl.dialects.builtin import Float32Type, Float64Type, IntegerType
from xdsl.ir import Attribute, Operation, SSAValue

from ...dialects.accx_element import ElementOp, Index
from ..decisions.device import WIDE_BYTES
from ..ir.loops.groups import (
    Frame,
    body_operations,
    copy_all,
    direction,
    is_plain,
    reads_late,
)
from ..ir.loops.jamming import explain
from ..ir.ops.acc_ops import accessed_type, has_level
from ..ir.ops.building import NSW, Cursor
from ..ir.ops.layout import size_of
from ..ir.values.addresses import ADDRESS_OPS, base_of, subscripted_element
from .schedules import settle_schedule

MAX_OPERATIONS = 160


@dataclass(frozen=True)
class StridedAccess:
    """
    A load or store of an element, or of a member of one, whose address is `stride` bytes after that of the
    previous iteration (before it, if negative). `offset`: the member's offset in the element.
    """

    op: llvm.LoadOp | llvm.StoreOp
    base: SSAValue
    index: Index
    element: Attribute
    stride: int
    offset: int


@dataclass(frozen=True)
class WideLoop:
    """`size` iterations of `loop` become one."""

    loop: acc.LoopOp
    size: int
    accesses: tuple[StridedAccess, ...]

    def bytes_of(self, access: StridedAccess) -> int:
        """The number of consecutive bytes of an array that a group accesses."""
        return self.size * abs(access.stride)


def find_wide_loop(
    loop: acc.LoopOp, packed: set[Operation], bytes: int = WIDE_BYTES
) -> WideLoop | None:
    """
    The grouping of `loop`; None if it cannot be grouped. It must be distributed over lanes, have one
    variable with step 1 and straight-line code without a load after a store, and access neighbouring
    `packed` elements (by loads and stores that `ArrayRewriter` made).
    """
    ops = body_operations(loop, MAX_OPERATIONS)
    if ops is None or not has_level(loop.vector):
        return None
    if not all(is_plain(op) for op in ops) or reads_late(ops):
        return None
    found = [_access(op, loop) for op in ops if isinstance(op, llvm.LoadOp | llvm.StoreOp)]
    accesses = tuple(access for access in found if access is not None)
    if not any(access.op in packed for access in accesses) or _shares_rows(accesses):
        return None
    # The widest elements fill exactly one access: more per thread would leave gaps between lanes.
    size = bytes // max(abs(access.stride) for access in accesses)
    return WideLoop(loop, size, accesses) if size > 1 else None


def _shares_rows(accesses: Sequence[StridedAccess]) -> bool:
    """
    Whether an array is read at several places, as in a stencil: then rows side by side in one thread, which
    share loads, are better.
    """
    seen: set[tuple[SSAValue, int]] = set()
    for access in accesses:
        if isinstance(access.op, llvm.LoadOp):
            place = access.base, access.offset
            if place in seen:
                return True
            seen.add(place)
    return False


def _access(op: llvm.LoadOp | llvm.StoreOp, loop: acc.LoopOp) -> StridedAccess | None:
    """`op` as an access that moves to the neighbouring element in each iteration; None if it does not."""
    type = accessed_type(op)
    if not isinstance(type, IntegerType | Float32Type | Float64Type):
        return None
    if isinstance(type, IntegerType) and type.width.data not in (8, 16, 32, 64):
        return None
    base = base_of(op.ptr, loop)
    found = subscripted_element(op.ptr, base)
    if found is None:
        return None
    index, element, member = found
    parts = element.types if isinstance(element, llvm.LLVMStructType) else [element]
    if any(part != type for part in parts) or (member is None and element != type):
        return None
    stride, forward = size_of(element), direction(index, loop)
    if WIDE_BYTES % stride or not forward:
        return None
    offset = 0 if member is None else member.offset
    return StridedAccess(op, base, index, element, forward * stride, offset)


def widen(wide: WideLoop, construct: acc.ParallelOp) -> None:
    """Rewrites the loop (see the file's docstring); its variable then counts groups."""
    frame = Frame.of(wide.loop, wide.size)
    addresses = [_address(access, frame) for access in wide.accesses]
    bytes = [wide.bytes_of(access) for access in wide.accesses]
    whole = frame.aligned(zip(addresses, bytes, strict=True))
    then, otherwise = frame.at.if_else(whole)
    _emit_whole(wide, frame, addresses, then)
    frame.one_by_one(otherwise)
    frame.finish()
    explain(wide.loop, f"{wide.size} packed elements per {WIDE_BYTES}-byte access")
    settle_schedule(wide.loop, wide.size, construct)


def _address(access: StridedAccess, frame: Frame) -> SSAValue:
    """The lowest address that a group accesses."""
    lowest, at = frame.first, frame.at
    if access.stride < 0:
        ahead = at.constant(frame.size - 1, lowest.type)
        lowest = at.value(arith.AddiOp(lowest, ahead, overflow=NSW))
    index = replace(access.index, value=frame.copy(access.index.value, lowest))
    element = ElementOp(access.base, [index], access.element)
    return at.value(element, access.op.ptr.name_hint)


def _emit_whole(wide: WideLoop, frame: Frame, addresses: Sequence[SSAValue], at: Cursor) -> None:
    """Emits a whole group: its wide loads, the iterations' other operations, all stores."""
    body = frame.body
    starts = dict(zip((a.op for a in wide.accesses), addresses, strict=True))
    places = {access.op: access for access in wide.accesses}
    values = [{frame.variable: index} for index in frame.indices(at)]
    for op, start in starts.items():
        if isinstance(op, llvm.LoadOp):
            result = op.dereferenced_value
            for number, known in enumerate(values):
                place, alignment = _element(at, start, wide, places[op], number)
                load = llvm.LoadOp(place, result.type, alignment=alignment)
                known[result] = at.value(load, result.name_hint)
    rest = [op for op in body if op not in starts and not isinstance(op, llvm.StoreOp)]
    rest = [op for op in rest if not _only_names(op, starts)]
    for known in values:
        copy_all(rest, known, at)
    for op in body:
        if not isinstance(op, llvm.StoreOp):
            continue
        for number, known in enumerate(values):
            if op not in starts:
                at.insert(op.clone(known))
                continue
            value = known.get(op.value, op.value)
            place, alignment = _element(at, starts[op], wide, places[op], number)
            at.insert(llvm.StoreOp(value, place, alignment=alignment))


def _only_names(op: Operation, accesses: Container[Operation]) -> bool:
    """Whether `op` is a subscript that only `accesses` use."""
    return isinstance(op, ADDRESS_OPS) and all(
        u.operation in accesses or _only_names(u.operation, accesses) for u in op.result.uses
    )


def _element(
    at: Cursor, start: SSAValue, wide: WideLoop, access: StridedAccess, number: int
) -> tuple[SSAValue, int]:
    """The address and alignment of the access of iteration `number` in a group."""
    position = number if access.stride > 0 else wide.size - 1 - number
    distance = position * abs(access.stride) + access.offset
    whole = wide.bytes_of(access)
    return at.field(start, distance), gcd(whole, distance) if distance else whole
