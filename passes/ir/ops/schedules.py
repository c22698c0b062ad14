"""
How a scheduled loop runs (`#accx.schedule`), which passes from `schedule-loops` on read and write, and
which launch sizes the program gives.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from xdsl.dialects import acc
from xdsl.dialects.builtin import ArrayAttr, BoolAttr, IntAttr, StringAttr
from xdsl.ir import Operation

from ....dialects.accx import GIVEN_SIZES, SCHEDULE
from ....dialects.accx_schedule import ScheduleAttr
from .acc_ops import has_level


@dataclass(frozen=True)
class LoopSchedule:
    """The fields of `ScheduleAttr`; the defaults hold for loops without the attribute."""

    gang_dim: int = 1
    elements: int = 1
    covers: bool = False
    by_clause: bool = False


_DEFAULT = LoopSchedule()


def schedule_of(loop: Operation) -> LoopSchedule:
    """The schedule of `loop`."""
    attr = loop.attributes.get(SCHEDULE)
    if not isinstance(attr, ScheduleAttr):
        return _DEFAULT
    return LoopSchedule(
        attr.gang_dim.data, attr.elements.data, bool(attr.covers), bool(attr.by_clause)
    )


def set_schedule(loop: acc.LoopOp, schedule: LoopSchedule) -> None:
    """Stores the schedule of `loop`."""
    if schedule == _DEFAULT:
        loop.attributes.pop(SCHEDULE, None)
    else:
        loop.attributes[SCHEDULE] = ScheduleAttr(
            IntAttr(schedule.gang_dim),
            IntAttr(schedule.elements),
            BoolAttr.from_bool(schedule.covers),
            BoolAttr.from_bool(schedule.by_clause),
        )


def drop_covers(loop: acc.LoopOp) -> None:
    """Records that the launch may no longer cover the iterations of `loop`."""
    set_schedule(loop, replace(schedule_of(loop), covers=False))


def take_elements(loop: acc.LoopOp) -> int:
    """Returns the elements per thread of `loop`, and sets them to one."""
    schedule = schedule_of(loop)
    set_schedule(loop, replace(schedule, elements=1))
    return schedule.elements


def gang_dimension(loop: acc.LoopOp) -> int | None:
    """The dimension of the grid, from 0, over which the loop is distributed; None without gang."""
    return schedule_of(loop).gang_dim - 1 if has_level(loop.gang) else None


def given_sizes(construct: acc.ParallelOp) -> set[str]:
    """The launch sizes of `construct` that the program gives, as clause names."""
    given = construct.attributes.get(GIVEN_SIZES)
    if not isinstance(given, ArrayAttr):
        return set()
    return {name.data for name in given if isinstance(name, StringAttr)}
