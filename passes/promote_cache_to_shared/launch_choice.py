"""
Makes versions of a construct with blocks of different shapes, one of which the host chooses at launch:
large blocks with many iterations per thread save loads, smaller blocks are more numerous and fill the
device.
"""

from __future__ import annotations

from xdsl.dialects import acc, arith
from xdsl.ir import SSAValue

from ..decisions.cache_shapes import Shape, time_of
from ..ir.ops.building import Cursor
from ..ir.ops.versions import (
    copy_construct,
    move_construct,
    ready_for_versions,
)
from ..ir.values.region_values import HostEmitter
from ..ir.values.trip_counts import Arithmetic, Count
from .blocks import trips_before
from .plan import NestPlan


class _HostNumbers(Arithmetic):
    """`Numbers` on values that the host computes at launch."""

    def constant(self, value: int) -> Count:
        return value


Version = tuple[acc.ParallelOp, Shape]


def make_versions(plan: NestPlan, multiprocessors: int) -> list[Version] | str:
    """
    Replaces the construct of a plan with alternatives by one version for each, largest blocks first; the
    versions still have to be rewritten. Returns a reason instead if there can be only one version.
    """
    construct = plan.nest.construct
    if not ready_for_versions(construct):
        return "its queue or wait clause allows no versions"
    conditions = _conditions(plan, multiprocessors)
    if conditions is None:
        return "only the device knows how many blocks there are"
    made: list[Version] = []
    at = Cursor.before(construct)
    for shape, condition in zip(plan.alternatives, conditions, strict=False):
        then, at = at.if_else(condition)
        made.append((copy_construct(construct, then), shape))
    move_construct(construct, at)
    return [*made, (construct, plan.alternatives[-1])]


def _conditions(plan: NestPlan, multiprocessors: int) -> list[SSAValue] | None:
    """
    For each alternative except the last, an i1: it takes no more time than the later ones. None if the host
    does not know the trip counts.
    """
    emit = HostEmitter(plan.nest.construct)
    math = _HostNumbers(emit)
    trips: list[Count] = []
    for found in trips_before(plan, math):
        if found is None:
            return None
        trips.append(found[0])
    mapped = plan.sharing.axes
    around: Count = 1
    for position, count in enumerate(trips):
        if position not in mapped:
            around = math.multiply(around, count)
    own = [trips[position] for position in mapped]
    times = [time_of(shape, own, around, math, multiprocessors) for shape in plan.alternatives]
    conditions: list[SSAValue] = []
    least = times[-1]
    for time in reversed(times[:-1]):
        compare = arith.CmpiOp(math.value(time), math.value(least), "sle")
        conditions.insert(0, emit.value(compare, "fastest"))
        least = math.minimum(least, time)
    return conditions
