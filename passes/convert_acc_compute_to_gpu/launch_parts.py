"""
Grids with more gangs in their second or third dimension than the hardware allows: where no gang depends on
another, the kernel is launched in parts, each of which runs the gangs from a certain one on.

The other possibility, gangs that loop over what is left, costs registers in every thread, even if nothing is
left: LLVM moves addresses out of that loop, whose values are then live through the whole body (a stencil of
25 points in three dimensions has 162 registers with these loops and 64 without them).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from xdsl.dialects import acc, arith, llvm, scf
from xdsl.dialects.builtin import i32
from xdsl.ir import Operation, Region, SSAValue

from ..ir.ops.acc_ops import has_level, is_inside
from ..ir.ops.building import Cursor, constant_value
from ..ir.ops.purity import only_reads
from ..ir.ops.schedules import drop_covers, gang_dimension, schedule_of

LONGEST = 65535
"""The most blocks of a grid in its second and third dimension."""
_QUIET = (
    acc.PrivateOp,
    acc.FirstprivateOp,
    acc.YieldOp,
    acc.TerminatorOp,
    llvm.AllocaOp,
    scf.YieldOp,
)
"""Operations that may run once more in each part."""


def _outside(region: Region, loop: acc.LoopOp) -> Iterator[Operation]:
    """The operations of `region` that are not in `loop`, without those that only lead to it."""
    for block in region.blocks:
        for op in block.ops:
            if op is loop:
                continue
            if isinstance(op, acc.LoopOp | scf.IfOp | scf.ForOp) and is_inside(loop, op):
                for inner in op.regions:
                    yield from _outside(inner, loop)
            else:
                yield from op.walk()


def can_part(region: Region, loops: Sequence[acc.LoopOp]) -> bool:
    """
    Whether the gangs of a dimension, that of the gang loops `loops`, may run in parts: they share one loop,
    with a gang for each tile of it, all effects are inside of it, and nothing is reduced over gangs.
    """
    if len(loops) != 1 or not schedule_of(loops[0]).covers:
        return False
    every = [op for op in region.walk() if isinstance(op, acc.LoopOp)]
    if any(has_level(loop.gang) and loop.reduction_operands for loop in every):
        return False
    return all(only_reads(op) or isinstance(op, _QUIET) for op in _outside(region, loops[0]))


def parted_dimensions(
    region: Region, gangs: Sequence[SSAValue], most: int = LONGEST
) -> tuple[int, ...]:
    """
    The dimensions, of 2 and 3, of which a launch may need several parts: their number of `gangs` may exceed
    `most`. Where parts are not possible, the launch is recorded not to cover the dimension's loops.
    """
    found: list[int] = []
    for dimension, number in enumerate(gangs[1:], 2):
        if 0 < (constant_value(number) or 0) <= most:
            continue
        loops = [
            op
            for op in region.walk()
            if isinstance(op, acc.LoopOp) and gang_dimension(op) == dimension - 1
        ]
        if can_part(region, loops):
            found.append(dimension)
        else:
            for loop in loops:
                drop_covers(loop)
    return tuple(found)


def for_each_part(
    cursor: Cursor, gangs: Sequence[SSAValue], dimensions: Sequence[int], most: int = LONGEST
) -> tuple[Cursor, list[SSAValue], dict[int, SSAValue]]:
    """
    Emits loops over the parts of a launch of `gangs` (i32). Returns a cursor in them, the gangs of a part,
    and the first gang of a part for each of `dimensions` (i32).
    """
    sizes, firsts = list(gangs), dict[int, SSAValue]()
    for dimension in dimensions:
        number = cursor.to_i64(gangs[dimension - 1])
        loop, inside = cursor.for_loop(cursor.i64(0), number, cursor.i64(most), "first")
        first = loop.body.block.args[0]
        left = inside.sub(number, first, "left")
        size = inside.value(arith.MinSIOp(left, inside.i64(most)))
        sizes[dimension - 1] = inside.value(arith.TruncIOp(size, i32), "gangs")
        firsts[dimension] = inside.value(arith.TruncIOp(first, i32), "first_gang")
        cursor = inside
    return cursor, sizes, firsts
