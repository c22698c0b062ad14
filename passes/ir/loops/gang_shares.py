"""
Code of threads that share the iterations of a nest in their own way, in place of its loops
(`accx.gang_threads`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Literal

from xdsl.dialects import acc, arith
from xdsl.dialects.builtin import DenseArrayBase, IntegerAttr, i32, i64
from xdsl.ir import Block, Operation, Region, SSAValue

from ....dialects.accx_cache import GangThreadsOp
from ...decisions.declined import Declined
from ...decisions.launch_shape import MAX_GRID
from ..ops.acc_ops import NONE, set_operand_groups, set_prop
from ..ops.building import Cursor, erase
from ..ops.schedules import LoopSchedule, set_schedule
from ..ops.versions import ready_for_versions, second_version
from ..values.region_values import RegionSymbols
from ..values.trip_counts import Arithmetic, Count, distance, host_value, trip_count
from .jamming import explain, iteration_value
from .sum_nests import SumNest

_NOT_COPIED = (acc.PrivateOp, acc.ReductionOp)


class NestCode:
    """A copy of the code of one iteration of the loops around a sum; `values` maps the nest to it."""

    def __init__(self, nest: SumNest):
        self.nest = nest
        self.values: dict[SSAValue, SSAValue] = {}

    def value(self, value: SSAValue) -> SSAValue:
        """The value of the copy for one of the nest; values from outside of the nest are the same."""
        return self.values.get(value, value)

    def enter(self, at: Cursor, numbers: Sequence[SSAValue]) -> None:
        """Sets the variables of the loops around for iterations `numbers` (i64); copies what comes before."""
        for loop, number, ops in zip(self.nest.around, numbers, self.nest.before, strict=True):
            self.private(at, loop)
            lower, step = (self.value(v[0]) for v in (loop.lowerbound, loop.step))
            variable = loop.region.block.args[0]
            self.values[variable] = iteration_value(number, lower, step, variable, at)
            self.copy(at, ops)

    def private(self, at: Cursor, loop: acc.LoopOp) -> None:
        """Makes the private variables of a loop."""
        for value in loop.private_operands:
            entry = value.owner
            assert isinstance(entry, acc.PrivateOp)
            self.values[value] = at.alloca(entry.var_type, value.name_hint or "own")

    def copy(self, at: Cursor, ops: Sequence[Operation]) -> None:
        """Copies operations of the nest."""
        for op in ops:
            if not isinstance(op, _NOT_COPIED):
                at.clone(op, self.values)


def outer_numbers(at: Cursor, number: SSAValue, trips: Sequence[SSAValue]) -> list[SSAValue]:
    """The iterations of loops of `trips` iterations each, outermost first, in the `number`th of all."""
    found: list[SSAValue] = []
    for count in reversed(trips):
        found.append(at.value(arith.RemUIOp(number, count)))
        number = at.value(arith.DivUIOp(number, count))
    return found[::-1]


def trips_before(nest: SumNest, math: Arithmetic) -> tuple[list[Count], Count]:
    """
    The iterations of the loops around, outermost first, and of the loop over terms, computed before the
    construct. Raises `Declined` if only the device knows them.
    """
    symbols = RegionSymbols(nest.construct)
    lower, upper, step = nest.bounds
    span, stride = distance(lower, upper, symbols, math), host_value(step, symbols, math)
    found = [trip_count(loop, symbols, math) for loop in nest.around]
    known = [count[0] for count in found if count is not None and count[1]]
    if span is None or stride is None or len(known) != len(found):
        raise Declined("its trip counts are not known before the construct")
    trips = [math.maximum(count, 0) for count in known]
    return trips, math.maximum(math.ceil_divide(span, stride), 0)


@dataclass(frozen=True)
class LaunchBound:
    """What a count must satisfy so that sharing pays. `name` is that of the comparison in the IR."""

    count: Count
    predicate: Literal["sge", "sle"]
    limit: int
    name: str

    def test(self, math: Arithmetic) -> SSAValue | None:
        """The comparison before the construct; None if it holds. Raises `Declined` if it does not."""
        if isinstance(self.count, SSAValue):
            limit = math.value(self.limit)
            return math.emit.value(arith.CmpiOp(self.count, limit, self.predicate), self.name)
        if self.count < self.limit if self.predicate == "sge" else self.count > self.limit:
            raise Declined("the sums are too short, or too many")
        return None


def check_versions(construct: acc.ParallelOp) -> None:
    """Raises `Declined` if a construct cannot have a second version; makes it ready for one."""
    if not ready_for_versions(construct):
        raise Declined("its versions would need a wait clause each")


def shared_where(bounds: Sequence[LaunchBound], math: Arithmetic, name: str) -> SSAValue | None:
    """
    The condition before the construct, of name `name`, that all of `bounds` hold; None if they always do.
    Raises `Declined` if they never do.
    """
    tests = [test for bound in bounds if (test := bound.test(math)) is not None]
    if not tests:
        return None
    return reduce(lambda a, b: math.emit.value(arith.AndIOp(a, b), name), tests)


def keep_unshared(construct: acc.ParallelOp, shared: SSAValue | None) -> None:
    """Keeps the construct as it is for launches where `shared` (of `shared_where`) is false."""
    if shared is not None:
        second_version(construct, shared)


def share_among_gangs(
    nest: SumNest,
    gangs: Count,
    threads: int,
    math: Arithmetic,
    why: str,
    emit: Callable[[Cursor, SSAValue, SSAValue], None],
) -> None:
    """
    Replaces a nest by a loop over `gangs` shares, each for `threads` threads of a gang, and sets the launch
    shape: `emit` places the code of one thread for its share (i64) and its number (i32). `why` explains it.
    """
    root, loc = nest.around[0], nest.terms.location
    body, block = Block(arg_types=[i32]), Block(arg_types=[i64])
    body.args[0].name_hint, block.args[0].name_hint = "thread", "share"
    emit(Cursor.at_end(body, loc), block.args[0], body.args[0])
    inside = Cursor.at_end(block, loc)
    inside.insert(GangThreadsOp((threads,), Region(body)))
    inside.insert(acc.YieldOp())
    at = Cursor.before(root)
    new = acc.LoopOp(
        region=Region(block),
        lowerbound=[at.i64(0)],
        upperbound=[math.value(gangs)],
        step=[at.i64(1)],
        inclusive_upperbound=root.inclusive_upperbound,
        independent=root.independent,
        combined=root.combined,
    )
    new.attributes |= root.attributes
    set_prop(new, "gang", NONE)
    at.insert(new)
    new.location = root.location
    set_schedule(new, LoopSchedule())
    explain(new, why)
    private = [v.owner for v in root.private_operands]
    erase(root)
    for entry in private:
        if isinstance(entry, acc.PrivateOp) and not entry.results[0].uses:
            erase(entry)
    _launch(nest.construct, gangs, threads, math)


def _launch(construct: acc.ParallelOp, gangs: Count, threads: int, math: Arithmetic) -> None:
    def size(count: Count) -> SSAValue:
        if isinstance(count, int):
            return math.emit.value(arith.ConstantOp(IntegerAttr(count, i32)), f"c{count}")
        return math.emit.value(arith.TruncIOp(count, i32), "num_gangs")

    grid = [size(math.maximum(math.minimum(gangs, MAX_GRID[1]), 1))]
    set_operand_groups(
        construct, num_gangs=grid, num_workers=[size(1)], vector_length=[size(threads)]
    )
    construct.properties["numGangsSegments"] = DenseArrayBase.from_list(i32, [1])
