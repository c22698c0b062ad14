"""
Groups consecutive iterations that read narrow elements, for one wide load.

In a loop over bytes with neighbouring iterations on neighbouring lanes, a warp loads only 32 bytes at a
time. So an iteration of the loop becomes a group of 16 (8 for two-byte elements), whose input is one
aligned 16-byte load per array. A group that is not whole or not aligned runs iteration by iteration.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.dialects import acc, arith, llvm
from xdsl.dialects.builtin import IntegerType, i64
from xdsl.ir import Operation, SSAValue

from ..decisions.device import WIDE_BYTES
from ..ir.loops.groups import Frame, body_operations, copy_all, direction, is_plain
from ..ir.ops.building import Cursor
from ..ir.ops.layout import size_of
from ..ir.ops.schedules import take_elements
from ..ir.values.addresses import base_of, subscripted_element

WORD_BYTES = 8
MAX_OPERATIONS = 40


@dataclass(frozen=True)
class Grouping:
    """A grouping of `size` iterations of `loop`; in them, each of `loads` reads neighbouring elements."""

    loop: acc.LoopOp
    size: int
    loads: tuple[llvm.LoadOp, ...]


def find_grouping(loop: acc.LoopOp) -> Grouping | None:
    """
    The grouping of `loop`; None if it cannot be grouped. It needs one variable with step 1, straight-line
    code whose only effects are atomic updates, and loads of neighbouring one- or two-byte integers.
    """
    ops = body_operations(loop, MAX_OPERATIONS)
    if ops is None or not all(_may_stand_in(op) for op in ops):
        return None
    loads = [op for op in ops if isinstance(op, llvm.LoadOp) and _is_narrow(op, loop)]
    if not loads:
        return None
    bytes = min(size_of(load.dereferenced_value.type) for load in loads)
    chosen = [load for load in loads if size_of(load.dereferenced_value.type) == bytes]
    return Grouping(loop, WIDE_BYTES // bytes, tuple(chosen))


def _may_stand_in(op: Operation) -> bool:
    if isinstance(op, llvm.StoreOp | llvm.CallOp):
        return False
    return isinstance(op, acc.AtomicUpdateOp) or is_plain(op)


def _is_narrow(load: llvm.LoadOp, loop: acc.LoopOp) -> bool:
    """Whether `load` reads the small integer that follows the one of the previous iteration."""
    type = load.dereferenced_value.type
    if not isinstance(type, IntegerType) or type.width.data not in (8, 16):
        return False
    found = subscripted_element(load.ptr, base_of(load.ptr, loop))
    return found is not None and found[1:] == (type, None) and direction(found[0], loop) == 1


def group_iterations(grouping: Grouping) -> None:
    """Rewrites the loop (see the file's docstring); its variable then counts groups."""
    frame = Frame.of(grouping.loop, grouping.size)
    addresses = [frame.copy(load.ptr, frame.first) for load in grouping.loads]
    whole = frame.aligned((address, WIDE_BYTES) for address in addresses)
    then, otherwise = frame.at.if_else(whole)
    _emit_whole(grouping, frame, addresses, then)
    frame.one_by_one(otherwise)
    frame.finish()
    take_elements(grouping.loop)


def _emit_whole(
    grouping: Grouping, frame: Frame, addresses: Sequence[SSAValue], at: Cursor
) -> None:
    """Emits a whole group: its wide loads, then its iterations with elements extracted from the words."""
    words: dict[Operation, list[SSAValue]] = {}
    for load, address in zip(grouping.loads, addresses, strict=True):
        low = at.value(llvm.LoadOp(address, i64, alignment=WIDE_BYTES), "word")
        above = at.field(address, WORD_BYTES)
        high = at.value(llvm.LoadOp(above, i64, alignment=WORD_BYTES), "word")
        words[load] = [low, high]
    rest = [op for op in frame.body if op not in words]
    for number, index in enumerate(frame.indices(at)):
        values: dict[SSAValue, SSAValue] = {frame.variable: index}
        for load, pair in words.items():
            element = load.results[0]
            values[element] = _element(at, pair, number, element)
        copy_all(rest, values, at)


def _element(at: Cursor, words: Sequence[SSAValue], number: int, like: SSAValue) -> SSAValue:
    """Element `number` of a wide load (little-endian)."""
    word, byte = divmod(number * size_of(like.type), WORD_BYTES)
    value = words[word]
    if byte:
        value = at.value(arith.ShRUIOp(value, at.i64(8 * byte)))
    assert isinstance(like.type, IntegerType)
    return at.value(arith.TruncIOp(value, like.type), like.name_hint)
