"""
Distribution of a loop's iterations over gangs and threads.

Gangs take contiguous tiles of `threads × elements` iterations; thread t of a gang takes iterations
t, t + threads, … of the tile. Full tiles run without guards, `elements` iterations side by side, so
that loads are in flight together. Indices of tiles, which are the same for all threads, are computed in 64
bits, indices of elements in 32 bits if the trip count fits, so no index overflows whatever the launch
shape.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from xdsl.dialects import acc, arith, llvm
from xdsl.dialects.builtin import IntegerType, i32, i64
from xdsl.ir import SSAValue

from ..decisions.loop_partition import Partition
from ..ir.ops.building import NSW, Cursor, constant_trips, constant_value
from .context import Kernel

INT_MAX = (1 << 31) - 1

Body = Callable[[list[SSAValue]], None]
"""Emits one iteration for the values of the loop's variables."""
Bodies = Callable[[list[list[SSAValue]], list[SSAValue] | None], None]
"""Emits several independent iterations side by side."""


@dataclass(frozen=True, slots=True)
class LoopVariable:
    """One loop variable: its bounds, and its trip count in the counter's type."""

    lower: SSAValue
    step: SSAValue
    type: IntegerType
    trips: SSAValue


@dataclass(frozen=True, slots=True)
class IterationSpace:
    """The iterations of a loop numbered from 0 to `total` (of type `counter`)."""

    dimensions: tuple[LoopVariable, ...]
    total: SSAValue
    counter: IntegerType


def _nsw_add(k: Kernel, a: SSAValue, b: SSAValue, hint: str | None = None) -> SSAValue:
    if constant_value(a) == 0:
        return b
    return a if constant_value(b) == 0 else k.value(arith.AddiOp(a, b, overflow=NSW), hint)


def _nsw_mul(k: Kernel, a: SSAValue, b: SSAValue, hint: str | None = None) -> SSAValue:
    if constant_value(a) == 1:
        return b
    return a if constant_value(b) == 1 else k.value(arith.MuliOp(a, b, overflow=NSW), hint)


def _starts_non_negative(lower: SSAValue) -> bool:
    value = constant_value(lower)
    return value is not None and value >= 0


def _trips(
    k: Kernel, lower: SSAValue, upper: SSAValue, step: SSAValue, counter: IntegerType
) -> SSAValue:
    """The trip count of a loop variable, at least 0, as `counter`."""
    lower, upper, step = (k.to_integer(v, counter) for v in (lower, upper, step))
    zero = constant_value(lower) == 0
    bounded = k.value(arith.MaxSIOp(upper, lower), "bounded")
    distance = bounded if zero else k.value(arith.SubiOp(bounded, lower, overflow=NSW), "distance")
    if constant_value(step) == 1:
        distance.name_hint = "trips"
        return distance
    one = k.constant(1, counter)
    rounded = k.value(arith.AddiOp(distance, k.sub(step, one)))
    return k.value(arith.DivUIOp(rounded, step), "trips")


def _constant_total(
    lowers: Sequence[SSAValue], uppers: Sequence[SSAValue], steps: Sequence[SSAValue]
) -> int | None:
    total = 1
    for lower, upper, step in zip(lowers, uppers, steps, strict=True):
        trips = constant_trips(lower, upper, step)
        if trips is None:
            return None
        total *= trips
    return total


def iteration_space(
    k: Kernel,
    lowers: Sequence[SSAValue],
    uppers: Sequence[SSAValue],
    steps: Sequence[SSAValue],
) -> IterationSpace:
    """
    The iterations of a loop with these bounds (values of the device function, outermost first). The counter
    has 32 bits if the number of iterations certainly fits, else 64.
    """
    types = [v.type for v in lowers]
    narrow = all(t == i32 for t in types) and all(_starts_non_negative(v) for v in lowers)
    if len(lowers) > 1:
        total = _constant_total(lowers, uppers, steps)
        narrow = narrow and total is not None and total <= INT_MAX
    counter = i32 if narrow else i64
    dimensions: list[LoopVariable] = []
    product: SSAValue | None = None
    for lower, upper, step, type in zip(lowers, uppers, steps, types, strict=True):
        assert isinstance(type, IntegerType)
        trips = _trips(k, lower, upper, step, counter)
        wide = [k.to_integer(v, counter) for v in (lower, step)]
        dimensions.append(LoopVariable(wide[0], wide[1], type, trips))
        product = trips if product is None else _nsw_mul(k, product, trips, "total")
    assert product is not None
    return IterationSpace(tuple(dimensions), product, counter)


def variables(k: Kernel, space: IterationSpace, number: SSAValue) -> list[SSAValue]:
    """The loop variables' values in iteration `number`."""
    out: list[SSAValue] = []
    rest = number
    for position in reversed(range(len(space.dimensions))):
        dimension = space.dimensions[position]
        own = rest
        if position > 0:
            own = k.value(arith.RemUIOp(rest, dimension.trips))
            rest = k.value(arith.DivUIOp(rest, dimension.trips))
        offset = _nsw_mul(k, own, dimension.step)
        value = _nsw_add(k, dimension.lower, offset, "iv")
        if value.type != dimension.type:
            narrow = llvm.TruncOp(value, dimension.type)
            narrow.properties["overflowFlags"] = llvm.OverflowAttr(
                (llvm.OverflowFlag.NO_SIGNED_WRAP,)
            )
            value = k.value(narrow, "iv")
        out.append(value)
    return out[::-1]


def _digits(k: Kernel, space: IterationSpace, number: SSAValue) -> list[SSAValue] | None:
    """
    The iterations of each variable before iteration `number`, in 32 bits, from which the threads of a gang
    count on. None if the variables are not all of 32 bits, or need not be taken apart, or could not be
    counted so.
    """
    dimensions = space.dimensions
    if len(dimensions) == 1 or space.counter == i32 or any(d.type != i32 for d in dimensions):
        return None
    if not all(_starts_non_negative(d.lower) for d in dimensions):
        return None
    out: list[SSAValue] = []
    rest = number
    for dimension in reversed(dimensions[1:]):
        out.append(k.to_integer(k.value(arith.RemUIOp(rest, dimension.trips)), i32))
        rest = k.value(arith.DivUIOp(rest, dimension.trips))
    return [k.to_integer(rest, i32), *reversed(out)]


def _variables_after(
    k: Kernel, space: IterationSpace, digits: Sequence[SSAValue], offset: SSAValue
) -> list[SSAValue]:
    """
    The loop variables' values `offset` iterations (i32, not negative) after the one with these `digits`:
    divisions of 32 bits take a fraction of the time of others. A digit is less than 2^31, and an offset less
    than a gang's tile.
    """
    out: list[SSAValue] = []
    carry = offset
    for position in reversed(range(len(space.dimensions))):
        dimension = space.dimensions[position]
        own = k.value(arith.AddiOp(digits[position], carry))
        if position > 0:
            trips = k.to_integer(dimension.trips, i32)
            total = own
            own = k.value(arith.RemUIOp(total, trips))
            carry = k.value(arith.DivUIOp(total, trips))
        lower, step = (k.to_integer(value, i32) for value in (dimension.lower, dimension.step))
        out.append(_nsw_add(k, lower, _nsw_mul(k, own, step), "iv"))
    return out[::-1]


def sequential_loop(
    k: Kernel,
    lowers: Sequence[SSAValue],
    uppers: Sequence[SSAValue],
    steps: Sequence[SSAValue],
    body: Body,
) -> None:
    """Emits a nest of loops that one thread (or all redundantly) runs sequentially."""
    cursor: Cursor = k
    values: list[SSAValue] = []
    with k.at(k):
        for lower, upper, step in zip(lowers, uppers, steps, strict=True):
            _, cursor = k.for_loop(lower, upper, step, "iv")
            k.point = cursor.point
            values.append(cursor.point.block.args[0])
        body(values)


def partitioned_loop(
    k: Kernel,
    space: IterationSpace,
    partition: Partition,
    elements: int,
    covers: bool,
    body: Body,
    bodies: Bodies | None,
    masked: bool = False,
) -> None:
    """
    Emits `body` for every iteration that belongs to this gang and thread. `covers`: the launch has a gang
    for every tile, so that no gang needs a second one. `bodies` emits `elements` iterations side by side
    (None: they must run one after the other); if `masked`, also where some of them do not exist: it is given
    others in their places, and which do.
    """
    number, _ = k.unit(partition.unit)
    if partition.gang_dim is None:
        _within_gang(k, space, partition, elements, body, bodies, masked=masked)
        return
    threads = k.unit_size(partition.unit)
    if threads is not None:
        tile = k.constant(threads * elements, i64)
    else:
        _, count = k.unit(partition.unit)
        tile = k.mul(k.to_i64(count), k.constant(elements, i64), "tile")
    total = k.to_i64(space.total)
    gang = k.to_i64(k.gang(partition.gang_dim))
    start = k.mul(gang, tile, "start")

    def run(start: SSAValue) -> None:
        if elements == 1:
            exact = threads == 1 and not covers
            _guarded(k, space, (start, number), total, body, exact=exact)
        else:
            _tile(k, space, partition, elements, tile, start, body, bodies)

    if covers:
        if elements == 1:
            run(start)
        else:
            inside = k.if_then(k.compare("slt", start, total, "has_tile"))
            with k.at(inside):
                run(start)
        return
    gangs = k.to_i64(k.gangs(partition.gang_dim))
    _, inside = k.for_loop(start, total, k.mul(gangs, tile, "stride"), "start")
    with k.at(inside):
        run(inside.point.block.args[0])


def _guarded(
    k: Kernel,
    space: IterationSpace,
    place: tuple[SSAValue, SSAValue],
    total: SSAValue,
    body: Body,
    *,
    exact: bool,
) -> None:
    """
    Emits one iteration, `place[1]` after the first of the gang, guarded by a test that it exists unless
    `exact`.
    """
    start, number = place
    index = k.add(start, k.zero_extend(number, i64), "index")
    guarded: Cursor = k if exact else k.if_then(k.compare("slt", index, total, "inside"))
    with k.at(guarded):
        digits = _digits(k, space, start)
        if digits is None:
            body(variables(k, space, k.to_integer(index, space.counter)))
        else:
            body(_variables_after(k, space, digits, number))


def _tile(
    k: Kernel,
    space: IterationSpace,
    partition: Partition,
    elements: int,
    tile: SSAValue,
    start: SSAValue,
    body: Body,
    bodies: Bodies | None,
) -> None:
    """Emits the thread's iterations of the tile that begins with iteration `start`."""
    number, count = k.unit(partition.unit)
    remaining = k.sub(k.to_i64(space.total), start, "remaining")
    base = k.to_integer(start, space.counter)
    digits = _digits(k, space, start)
    place: Cursor = k

    def values(index: SSAValue) -> list[SSAValue]:
        if digits is not None:
            return _variables_after(k, space, digits, index)
        offset = k.zero_extend(index, space.counter)
        return variables(k, space, _nsw_add(k, base, offset, "index"))

    if bodies is not None:
        full = k.compare("sge", remaining, tile, "full")
        whole, place = k.if_else(full)
        with k.at(whole):
            if digits is None:
                first = _nsw_add(k, base, k.zero_extend(number, space.counter), "first")
                side_by_side = _side_by_side(k, space, first, count, elements)
            else:
                places = [_nsw_mul(k, k.i32(element), count) for element in range(elements)]
                side_by_side = [values(_nsw_add(k, number, place)) for place in places]
            bodies(side_by_side, None)
    with k.at(place):
        here = k.value(arith.MinSIOp(remaining, tile), "here")
        here = k.value(arith.TruncIOp(here, i32), "here")
        _, inside = k.for_loop(number, here, count, "offset")
        with k.at(inside):
            body(values(inside.point.block.args[0]))


def _side_by_side(
    k: Kernel, space: IterationSpace, first: SSAValue, count: SSAValue, elements: int
) -> list[list[SSAValue]]:
    """The loop variables of `elements` iterations that are `count` apart, from `first` on."""
    out: list[list[SSAValue]] = []
    size = constant_value(count)
    for element in range(elements):
        if size is not None:
            distance = k.constant(element * size, space.counter)
        else:
            distance = k.mul(
                k.zero_extend(count, space.counter), k.constant(element, space.counter)
            )
        out.append(variables(k, space, _nsw_add(k, first, distance, "index")))
    return out


def _within_gang(
    k: Kernel,
    space: IterationSpace,
    partition: Partition,
    elements: int,
    body: Body,
    bodies: Bodies | None,
    *,
    masked: bool,
) -> None:
    """
    Emits a loop shared by the threads of one gang (or worker): thread t takes t, t + threads, …, counted so
    that no index exceeds the end. The last iterations of a thread, fewer than run side by side, do so too
    if `masked`, so that their loads are in flight together.
    """
    number, count = k.unit(partition.unit)
    counter = space.counter
    side_by_side = bodies is not None and elements > 1
    if counter == i64 and not (side_by_side and constant_value(count) is not None):
        first, stride = k.zero_extend(number, i64), k.zero_extend(count, i64)
        _, inside = k.for_loop(first, space.total, stride, "index")
        with k.at(inside):
            body(variables(k, space, inside.point.block.args[0]))
        return
    number = k.zero_extend(number, counter)
    stride = k.constant(known, counter) if (known := constant_value(count)) is not None else count
    zero, one = k.constant(0, counter), k.constant(1, counter)
    slack = k.sub(k.sub(stride, one), number)
    own = k.value(arith.DivUIOp(k.value(arith.AddiOp(space.total, slack)), stride), "own")
    done = zero
    if bodies is not None and side_by_side:
        size = k.constant(elements, counter)
        groups = k.value(arith.DivUIOp(own, size), "groups")
        done = k.value(arith.MuliOp(groups, size), "done")
        _, inside = k.for_loop(zero, done, size, "turn")
        with k.at(inside):
            turn = inside.point.block.args[0]
            first = _nsw_add(k, number, _nsw_mul(k, turn, stride), "first")
            bodies(_side_by_side(k, space, first, count, elements), None)
        if masked:
            with k.at(k.if_then(k.compare("ult", done, own, "rest"))):
                last = k.sub(own, one)
                turns = [_nsw_add(k, done, k.constant(e, counter), "turn") for e in range(elements)]
                exist = [k.compare("ult", turn, own, "exists") for turn in turns]
                existing = [k.value(arith.MinUIOp(turn, last), "turn") for turn in turns]
                places = [_nsw_add(k, number, _nsw_mul(k, t, stride), "index") for t in existing]
                bodies([variables(k, space, place) for place in places], exist)
            return
    _, inside = k.for_loop(done, own, one, "turn")
    with k.at(inside):
        turn = inside.point.block.args[0]
        index = _nsw_add(k, number, _nsw_mul(k, turn, stride), "index")
        body(variables(k, space, index))


def loop_bounds(
    k: Kernel, loop: acc.LoopOp
) -> tuple[list[SSAValue], list[SSAValue], list[SSAValue]]:
    """The lower bounds, upper bounds and steps of a loop as values of the device function."""
    lowers = [k.values[v] for v in loop.lowerbound]
    uppers = [k.values[v] for v in loop.upperbound]
    steps = [k.values[v] for v in loop.step]
    return lowers, uppers, steps
