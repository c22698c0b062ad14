"""
Reducing the rows per gang of a schedule (`elements` of a gang loop without lanes), with the number of gangs
that follows.
"""

from __future__ import annotations

from xdsl.dialects import acc, arith
from xdsl.dialects.builtin import i32
from xdsl.ir import SSAValue

from ...decisions.launch_shape import MAX_GANGS, MAX_GRID
from ..ops.acc_ops import set_operand_groups
from ..ops.building import Cursor
from ..ops.schedules import drop_covers, gang_dimension, given_sizes, schedule_of, take_elements


def settle_rows(loop: acc.LoopOp, rows: int | SSAValue, construct: acc.ParallelOp) -> None:
    """
    Sets `rows` per gang (an i64 before the construct where the launch chooses) instead of the number in the
    schedule, and the number of gangs accordingly. The launch no longer covers the loop's iterations if other
    loops or a clause set the number of gangs, or if the loop has several variables: only the first one's rows
    are in tiles, so that there may be more tiles than all iterations by `rows`.
    """
    known = take_elements(loop)
    several = isinstance(rows, SSAValue) or rows > 1
    if several and len(loop.lowerbound) > 1:
        drop_covers(loop)
    gangs, at = list(construct.num_gangs), Cursor.before(construct)
    number = gang_dimension(loop)
    if known == rows:
        return
    if not is_alone(loop, construct, len(gangs)):
        drop_covers(loop)
        return
    assert number is not None
    limit = MAX_GANGS if schedule_of(loop).covers else MAX_GRID[number + 1]
    more = at.mul(at.to_i64(gangs[number]), at.i64(known))
    if several:
        each = rows if isinstance(rows, SSAValue) else at.i64(rows)
        more = at.add(more, at.sub(each, at.i64(1)))
        more = at.value(arith.DivUIOp(more, each))
    limited = at.value(arith.MinSIOp(more, at.i64(limit)))
    gangs[number] = at.value(arith.TruncIOp(limited, i32), "num_gangs")
    set_operand_groups(construct, num_gangs=gangs)


def is_alone(loop: acc.LoopOp, construct: acc.ParallelOp, dimensions: int) -> bool:
    """Whether no other loop uses the gang dimension of `loop`, and no clause gives its size."""
    number = gang_dimension(loop)
    if "num_gangs" in given_sizes(construct):
        return False
    if number is None or number >= dimensions:
        return False
    return not any(
        other is not loop and isinstance(other, acc.LoopOp) and gang_dimension(other) == number
        for other in construct.walk()
    )
