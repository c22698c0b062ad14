"""
Groups of consecutive iterations that read narrow elements in one wide load.

A loop over bytes that gives neighbouring iterations to neighbouring lanes asks memory for 32 bytes a
warp at a time. Here an iteration of the loop becomes a group of 16 (8 for two-byte elements), whose
input is one aligned 16-byte load per array. A group that is not whole or not aligned runs
iteration by iteration.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.dialects import acc, arith, llvm, scf
from xdsl.dialects.builtin import IntegerType, i64
from xdsl.ir import Block, BlockArgument, Operation, Region, SSAValue

from ..dialects.accx import ELEMENTS, VOLATILE
from .analysis.acc_ops import is_defined_inside
from .analysis.layout import size_of
from .building import Cursor, constant_value, erase

NSW = arith.IntegerOverflowAttr([arith.IntegerOverflowFlag.NSW])
WIDE_BYTES = 16
WORD_BYTES = 8
MAX_OPERATIONS = 40


@dataclass(frozen=True)
class Grouping:
    """`size` iterations of `loop` become one; `loads` read elements that are neighbours there."""

    loop: acc.LoopOp
    size: int
    loads: tuple[llvm.LoadOp, ...]


def find_grouping(loop: acc.LoopOp) -> Grouping | None:
    """
    How `loop` can be grouped: one variable with step 1, straight-line code whose only effects are
    atomic updates, and loads of one- or two-byte integers next to each other.
    """
    if len(loop.lowerbound) != 1 or constant_value(loop.step[0]) != 1:
        return None
    if loop.private_operands or loop.firstprivate_operands or loop.reduction_operands:
        return None
    if len(loop.region.blocks) != 1:
        return None
    ops = [op for op in loop.region.block.ops if not isinstance(op, acc.YieldOp)]
    if len(ops) > MAX_OPERATIONS or not all(_is_plain(op) for op in ops):
        return None
    loads = [op for op in ops if isinstance(op, llvm.LoadOp) and _is_narrow(op, loop)]
    if not loads:
        return None
    bytes = min(size_of(load.dereferenced_value.type) for load in loads)
    chosen = [load for load in loads if size_of(load.dereferenced_value.type) == bytes]
    return Grouping(loop, WIDE_BYTES // bytes, tuple(chosen))


def _is_plain(op: Operation) -> bool:
    if isinstance(op, llvm.LoadOp):
        return op.ordering.value.data == 0 and VOLATILE not in op.attributes
    return isinstance(op, llvm.GEPOp | acc.AtomicUpdateOp) or (
        op.name.startswith(("arith.", "math.")) and not op.regions
    )


def _is_narrow(load: llvm.LoadOp, loop: acc.LoopOp) -> bool:
    """Whether `load` reads a small integer right after the one of the iteration before."""
    type = load.dereferenced_value.type
    if not isinstance(type, IntegerType) or type.width.data not in (8, 16):
        return False
    gep = load.ptr.owner
    if not isinstance(gep, llvm.GEPOp) or gep.elem_type != type or len(gep.ssa_indices) != 1:
        return False
    if len(list(gep.rawConstantIndices.iter_values())) != 1 or is_defined_inside(gep.ptr, loop):
        return False
    return _follows(gep.ssa_indices[0], loop)


def _follows(index: SSAValue, loop: acc.LoopOp) -> bool:
    """Whether `index` is the loop's variable plus something that stays the same."""
    if index is loop.region.block.args[0]:
        return True
    owner = index.owner
    if isinstance(owner, arith.ExtSIOp):
        return _follows(owner.operands[0], loop)
    if isinstance(owner, arith.AddiOp):
        left, right = owner.operands
        if is_defined_inside(left, loop) and constant_value(left) is None:
            left, right = right, left
        fixed = not is_defined_inside(left, loop) or constant_value(left) is not None
        return fixed and _follows(right, loop)
    return False


def group_iterations(grouping: Grouping) -> None:
    """Rewrites the loop (see the file's docstring); its variable then counts groups."""
    loop, size = grouping.loop, grouping.size
    block = loop.region.block
    variable = block.args[0]
    type = variable.type
    assert isinstance(type, IntegerType)
    lower, upper = loop.lowerbound[0], loop.upperbound[0]
    before = Cursor.before(loop)
    trips = before.sub(before.value(arith.MaxSIOp(upper, lower)), lower, "trips")
    rounded = before.add(trips, before.constant(size - 1, type))
    groups = before.value(arith.DivUIOp(rounded, before.constant(size, type)), "groups")

    body = [op for op in block.ops if not isinstance(op, acc.YieldOp)]
    assert block.last_op is not None
    at = Cursor.before(block.last_op, loop.location)
    wide = at.constant(size, type)
    distance = at.value(arith.MuliOp(variable, wide, overflow=NSW))
    first = distance
    if constant_value(lower) != 0:
        first = at.value(arith.AddiOp(lower, distance, overflow=NSW), "first")
    left = at.value(arith.SubiOp(upper, first, overflow=NSW), "left")
    whole = at.value(arith.CmpiOp(left, wide, "sge"), "whole")
    addresses = [_address(load, variable, first, at) for load in grouping.loads]
    then, otherwise = _branches(at, _aligned(at, whole, addresses))

    _emit_whole(grouping, body, variable, first, addresses, then)
    count = otherwise.value(arith.MinSIOp(left, wide))
    past = otherwise.value(arith.AddiOp(first, count, overflow=NSW), "past")
    _, each = otherwise.for_loop(first, past, otherwise.constant(1, type), "row")
    index = each.point.block.args[0]
    index.name_hint = variable.name_hint
    _copy(body, {variable: index}, each)

    for op in reversed(body):
        erase(op)
    variable.name_hint = "group"
    for old, new in ((loop.lowerbound, before.constant(0, type)), (loop.upperbound, groups)):
        loop.operands[list(loop.operands).index(old[0])] = new
    loop.attributes.pop(ELEMENTS, None)


def _aligned(at: Cursor, whole: SSAValue, addresses: Sequence[SSAValue]) -> SSAValue:
    """Whether the group is whole and all of its input is aligned."""
    mask = at.i64(WIDE_BYTES - 1)
    for address in addresses:
        number = at.value(llvm.PtrToIntOp(address, i64))
        rest = at.value(arith.AndIOp(number, mask))
        even = at.value(arith.CmpiOp(rest, at.i64(0), "eq"), "aligned")
        whole = at.value(arith.AndIOp(whole, even), "whole")
    return whole


def _address(load: llvm.LoadOp, variable: BlockArgument, first: SSAValue, at: Cursor) -> SSAValue:
    """The address `load` reads in iteration `first`."""
    values: dict[SSAValue, SSAValue] = {variable: first}

    def copy(value: SSAValue) -> SSAValue:
        owner = value.owner
        if value in values or not isinstance(owner, Operation):
            return values.get(value, value)
        if owner.parent_block() is not variable.block:
            return value
        clone = owner.clone({operand: copy(operand) for operand in owner.operands})
        values[value] = at.value(clone, value.name_hint)
        return values[value]

    return copy(load.ptr)


def _branches(at: Cursor, condition: SSAValue) -> tuple[Cursor, Cursor]:
    cursors: list[Cursor] = []
    blocks = Block(), Block()
    for block in blocks:
        cursors.append(Cursor.before(Cursor.at_end(block, at.loc).insert(scf.YieldOp())))
    at.insert(scf.IfOp(condition, [], Region(blocks[0]), Region(blocks[1])))
    return cursors[0], cursors[1]


def _emit_whole(
    grouping: Grouping,
    body: Sequence[Operation],
    variable: BlockArgument,
    first: SSAValue,
    addresses: Sequence[SSAValue],
    at: Cursor,
) -> None:
    """A whole group: its wide loads, then its iterations with elements cut out of the words."""
    words: dict[llvm.LoadOp, list[SSAValue]] = {}
    for load, address in zip(grouping.loads, addresses, strict=True):
        low = at.value(llvm.LoadOp(address, i64, alignment=WIDE_BYTES), "word")
        above = at.field(address, WORD_BYTES)
        high = at.value(llvm.LoadOp(above, i64, alignment=WORD_BYTES), "word")
        words[load] = [low, high]
    rest = [op for op in body if op not in words]
    for number in range(grouping.size):
        index = first
        if number:
            distance = at.constant(number, variable.type)
            index = at.value(arith.AddiOp(first, distance, overflow=NSW), variable.name_hint)
        values: dict[SSAValue, SSAValue] = {variable: index}
        for load, pair in words.items():
            element = load.dereferenced_value
            values[element] = _element(at, pair, number, element)
        _copy(rest, values, at)


def _element(at: Cursor, words: Sequence[SSAValue], number: int, like: SSAValue) -> SSAValue:
    """Element `number` of a wide load (little-endian)."""
    word, byte = divmod(number * size_of(like.type), WORD_BYTES)
    value = words[word]
    if byte:
        value = at.value(arith.ShRUIOp(value, at.i64(8 * byte)))
    assert isinstance(like.type, IntegerType)
    return at.value(arith.TruncIOp(value, like.type), like.name_hint)


def _copy(ops: Sequence[Operation], values: dict[SSAValue, SSAValue], at: Cursor) -> None:
    location = at.loc
    for op in ops:
        at.loc = op.location
        at.insert(op.clone(values))
    at.loc = location
