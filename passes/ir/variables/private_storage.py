"""
Storage for private variables: how large a variable or section is, stack memory for a copy of it,
and loops over its scalar elements.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from xdsl.dialects import acc, llvm, scf
from xdsl.dialects.builtin import i8
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.rewriter import InsertPoint

from ....compiler.base.diagnostics import SourceLoc, error
from ....dialects import llvm_ext
from ..ops.acc_ops import PrivatizingOp
from ..ops.building import Cursor, constant_value
from ..ops.layout import Elements, array_shape, size_of


@dataclass(frozen=True)
class Extent:
    """
    The part of an object a clause names: `start` bytes from the object's address (None: 0), then
    `count` (an i64, or None for one) objects of type `unit`. `type` is the whole object's type if
    there is no section.
    """

    unit: Attribute
    start: SSAValue | None
    count: SSAValue | None

    @property
    def constant_bytes(self) -> int | None:
        """The size in bytes, None if known at run time only."""
        if self.count is None:
            return size_of(self.unit)
        count = constant_value(self.count)
        return None if count is None else max(count, 0) * size_of(self.unit)

    def start_at(self, cursor: Cursor) -> SSAValue | None:
        """`start` for use at `cursor`: constants are made again there."""
        return None if self.start is None else _at(cursor, self.start)

    def bytes(self, cursor: Cursor) -> SSAValue:
        """The size in bytes as an i64."""
        constant = self.constant_bytes
        if constant is not None:
            return cursor.i64(constant)
        assert self.count is not None
        return cursor.mul(self.count, cursor.i64(size_of(self.unit)), "bytes")


def _at(cursor: Cursor, value: SSAValue) -> SSAValue:
    constant = constant_value(value)
    return value if constant is None else cursor.i64(constant)


def section_element(var_type: Attribute, bounds: Sequence[SSAValue]) -> Attribute:
    """
    The type of the objects in a private copy: the whole variable, or an element of the section given by
    `bounds`. A recipe handles one such object.
    """
    if not bounds or not isinstance(var_type, llvm.LLVMArrayType):
        return var_type
    outer = bounds[0].owner
    assert isinstance(outer, acc.DataBoundsOp)
    stride = None if outer.stride is None else constant_value(outer.stride)
    return var_type if stride == size_of(var_type) else var_type.type


def extent_of(
    op: PrivatizingOp,
    cursor: Cursor,
    unit: Attribute | None = None,
) -> Extent:
    """
    The part of the variable `op` names. The computation of a section's start and size is placed at
    `cursor`. Inner dimensions of a section are taken as whole: a private section is contiguous. It consists
    of scalars or structures, or of objects of type `unit`.
    """
    if not op.bounds:
        return Extent(op.var_type, None, None)
    unit = array_shape(op.var_type)[1] if unit is None else unit
    outer = op.bounds[0].owner
    assert isinstance(outer, acc.DataBoundsOp)
    if outer.extent is None or (outer.stride is not None and outer.stride_in_bytes is None):
        raise error(
            SourceLoc.from_attr(op.location),
            "internal: the bounds of a private section lack an extent or a stride in bytes",
        )
    size = cursor.i64(size_of(op.var_type)) if outer.stride is None else outer.stride
    stride = cursor.to_i64(size)
    length = cursor.to_i64(outer.extent)
    stride_constant, unit_bytes = constant_value(stride), size_of(unit)
    if stride_constant is not None and stride_constant % unit_bytes == 0:
        per_row = stride_constant // unit_bytes
        rows = constant_value(length)
        count = (
            cursor.i64(rows * per_row)
            if rows is not None
            else cursor.mul(length, cursor.i64(per_row), "elements")
        )
    else:
        count, unit = cursor.mul(length, stride, "bytes"), i8
        if isinstance(op, acc.ReductionOp):
            raise error(
                SourceLoc.from_attr(op.location),
                "the row length of a reduction section must be constant",
                "reduce into an array whose inner dimensions are constant",
            )
    if outer.lowerbound is None or constant_value(outer.lowerbound) == 0:
        return Extent(unit, None, count)
    return Extent(unit, cursor.mul(cursor.to_i64(outer.lowerbound), stride, "start"), count)


@dataclass(frozen=True)
class PrivateMemory:
    """
    Stack memory of a private copy: `memory` is its address, `visible` the address that replaces the
    variable's.
    """

    memory: SSAValue
    visible: SSAValue


def make_storage(extent: Extent, entry: Cursor, here: Cursor, name: str) -> PrivateMemory:
    """
    Stack memory for a copy of `extent`: at `entry` (the function's entry block) if its size is
    constant, else at `here`, released at the end of `here`'s block.
    """
    size = extent.constant_bytes
    if size is not None:
        if extent.count is None:
            memory = entry.alloca(extent.unit, name)
        else:
            count = max(size // size_of(extent.unit), 1)
            memory = entry.alloca(llvm.LLVMArrayType(count, extent.unit), name)
    else:
        release_at_end_of_block(here)
        memory = here.alloca(i8, name, extent.bytes(here))
    if extent.start is None:
        return PrivateMemory(memory, memory)
    minus = here.sub(here.i64(0), extent.start)
    return PrivateMemory(memory, here.offset(memory, minus, name))


def release_at_end_of_block(here: Cursor) -> None:
    """
    Frees stack memory allocated from `here` on when its block ends, so that a loop does not use up
    the stack. This is done only in blocks that end a region of a structured operation; elsewhere the
    function's return frees the memory.
    """
    block = here.point.block
    last = block.last_op
    if not isinstance(last, scf.YieldOp | acc.YieldOp) or not _is_only_block(block):
        return
    mark = here.insert(llvm.StackSaveOp(), "stack")
    release = llvm.StackRestoreOp(mark.results[0])
    release.location = here.loc
    block.insert_op_before(release, last)


def _is_only_block(block: Block) -> bool:
    region = block.parent
    return region is not None and len(region.blocks) == 1


def copy_extent(cursor: Cursor, extent: Extent, target: SSAValue, source: SSAValue) -> None:
    """Copies `extent`'s bytes from the object at `source` to memory at `target` (its start)."""
    if extent.start is not None:
        source = cursor.offset(source, extent.start)
    if extent.count is None and not isinstance(
        extent.unit, llvm.LLVMArrayType | llvm.LLVMStructType
    ):
        cursor.store(cursor.load(source, extent.unit), target)
        return
    cursor.insert(llvm_ext.MemcpyOp(target, source, extent.bytes(cursor)))


RunT = TypeVar("RunT", bound=Elements)
ElementAction = Callable[[Cursor, RunT, SSAValue | None], None]
"""Called with a cursor, a run, and the offset in bytes (an i64; None for 0) of one of its scalars."""


def for_each_element(
    cursor: Cursor, extent: Extent, runs: Sequence[RunT], action: ElementAction[RunT]
) -> None:
    """
    Calls `action` for the scalars of `extent`, whose unit consists of `runs`, in a loop for each run of
    several scalars.
    """
    for run in runs:
        _for_run(cursor, extent, run, action)


def _for_run(cursor: Cursor, extent: Extent, run: RunT, action: ElementAction[RunT]) -> None:
    unit_bytes = size_of(extent.unit)
    if extent.count is not None and (run.count == 1 or run.stride * run.count == unit_bytes):
        stride = unit_bytes if run.count == 1 else run.stride
        count = cursor.mul(_at(cursor, extent.count), cursor.i64(run.count), "elements")
        _loop(cursor, count, stride, None, run, action)
    elif extent.count is not None:
        _, body = cursor.for_loop(cursor.i64(0), _at(cursor, extent.count), cursor.i64(1), "object")
        induction = _induction(body)
        base = body.mul(induction, body.i64(unit_bytes), "object_offset")
        _loop(body, body.i64(run.count), run.stride, base, run, action)
    elif run.count == 1:
        action(cursor, run, cursor.i64(run.offset) if run.offset else None)
    else:
        _loop(cursor, cursor.i64(run.count), run.stride, None, run, action)


def _loop(
    cursor: Cursor,
    count: SSAValue,
    stride: int,
    base: SSAValue | None,
    run: RunT,
    action: ElementAction[RunT],
) -> None:
    _, body = cursor.for_loop(cursor.i64(0), count, cursor.i64(1), "element")
    offset = body.mul(_induction(body), body.i64(stride), "element_offset")
    if base is not None:
        offset = body.add(offset, base)
    if run.offset:
        offset = body.add(offset, body.i64(run.offset))
    action(body, run, offset)


def _induction(body: Cursor) -> SSAValue:
    return body.point.block.args[0]


def entry_cursor(function: llvm.FuncOp) -> Cursor:
    """Where stack slots of `function` go: the start of its entry block."""
    block = function.body.blocks[0]
    first = block.first_op
    point = InsertPoint.at_end(block) if first is None else InsertPoint.before(first)
    return Cursor(point, function.location)


def hoist_allocas(root: Operation, entry: Cursor) -> None:
    """
    Moves stack slots of constant size in `root` to the entry block, since a slot inside a loop
    would be allocated again in every iteration, and frees the others at the end of their block. Calling it
    again is harmless.
    """
    for op in list(root.walk()):
        if not isinstance(op, llvm.AllocaOp):
            continue
        block = op.parent_block()
        if block is None or block is entry.point.block:
            continue
        size = constant_value(op.size)
        if size is None and isinstance(op.prev_op, llvm.StackSaveOp):
            continue
        if size is None:
            release_at_end_of_block(Cursor.before(op))
            continue
        op.operands[0] = entry.constant(size, op.size.type)
        entry.move(op)
