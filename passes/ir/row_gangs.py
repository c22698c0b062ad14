"""
The gangs of loops over rows that a schedule wanted several rows per gang for (`accx.elements` on a gang loop
without lanes), where a pass makes it fewer.
"""

from __future__ import annotations

from xdsl.dialects import acc, arith
from xdsl.dialects.builtin import ArrayAttr, IntegerAttr, StringAttr, i32

from ...dialects.accx import COVERS, ELEMENTS, GANG_DIM, GIVEN_SIZES
from ..decisions.launch_shape import MAX_GRID
from .acc_ops import has_level, set_operand_groups
from .building import Cursor, constant_value


def settle_rows(loop: acc.LoopOp, rows: int, construct: acc.ParallelOp) -> None:
    """
    `rows` rows per gang instead of as many as the schedule has in mind, and gangs for them. Where there may
    be too few gangs for that, the loop does not cover its iterations any more.
    """
    known = loop.attributes.pop(ELEMENTS)
    assert isinstance(known, IntegerAttr)
    gangs, at = list(construct.num_gangs), Cursor.before(construct)
    number = gang_dimension(loop)
    if known.value.data == rows:
        return
    if not is_alone(loop, construct, len(gangs)):
        loop.attributes.pop(COVERS, None)
        return
    assert number is not None
    limit, before = MAX_GRID[number + 1], constant_value(gangs[number])
    if number > 0 and (before is None or before * known.value.data > limit):
        loop.attributes.pop(COVERS, None)
    more = at.mul(at.to_i64(gangs[number]), at.i64(known.value.data))
    if rows > 1:
        more = at.add(more, at.i64(rows - 1))
        more = at.value(arith.DivUIOp(more, at.i64(rows)))
    limited = at.value(arith.MinSIOp(more, at.i64(limit)))
    gangs[number] = at.value(arith.TruncIOp(limited, i32), "num_gangs")
    set_operand_groups(construct, num_gangs=gangs)


def is_alone(loop: acc.LoopOp, construct: acc.ParallelOp, dimensions: int) -> bool:
    """Whether no other loop uses the gang dimension of `loop`, and the user did not size it."""
    number = gang_dimension(loop)
    given = construct.attributes.get(GIVEN_SIZES)
    if isinstance(given, ArrayAttr) and StringAttr("num_gangs") in given.data:
        return False
    if number is None or number >= dimensions:
        return False
    return not any(
        other is not loop and isinstance(other, acc.LoopOp) and gang_dimension(other) == number
        for other in construct.walk()
    )


def gang_dimension(loop: acc.LoopOp) -> int | None:
    """Which of the grid's dimensions the loop is shared out to, from 0; None without gang."""
    if not has_level(loop.gang):
        return None
    dim = loop.attributes.get(GANG_DIM)
    return dim.value.data - 1 if isinstance(dim, IntegerAttr) else 0
