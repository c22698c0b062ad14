"""
Give every thread several iterations of a loop whose iterations read the same memory, side by side.

In `for i: for j: f(a[j], x[i])` every iteration of i reads all of a. With n iterations of i in one thread,
a[j] is loaded once for n uses, and n independent sums hide each other's latency. The iterations of one
thread are the number of lanes apart, so neighbouring lanes still access neighbouring elements. The schedule
requests this by `elements = n` on a gang vector loop that contains sequential loops.

Takes:  scheduled IR.
Leaves: no `elements` on a gang vector loop whose body contains sequential loops. Such a loop runs over
        ceil(trips / n); its body has n iterations interleaved operation by operation, and a second copy,
        iteration after iteration, for the rest. If the trip count is not constant, the construct is in an
        `scf.if` on it: short loops need one thread per iteration to fill the device, so the other version
        has one iteration per thread and n times the gangs. What the construct waits for is then waited for
        before its data operations.
Fails:  never. If a loop cannot be jammed, each iteration keeps a thread of its own, and `accx.why` gives
        the reason.

Before:
  acc.parallel num_gangs({%gangs : i32}) vector_length(%c128 : i32) {
    acc.loop gang vector control(%i : i32) = (%lb : i32) to (%ub : i32) step (%c1 : i32) {
      body(%i)
    } attributes {accx.schedule = #accx.schedule<elements = 2, covers>}
  }
After:
  %many = arith.cmpi sge, %trips, %c540672
  scf.if %many {
    acc.parallel num_gangs({%gangs : i32}) vector_length(%c128 : i32) {
      acc.loop gang vector control(%i : i32) = (%c0 : i32) to (128 * ceil(trips / 256)) step (%c1 : i32) {
        %first = 256 * (%i / 128) + %i mod 128
        scf.if (%first + 128 < trips) { body(%lb + %first) and body(%lb + %first + 128), jammed }
        else { scf.for %number = %first to trips step 128 { body(%lb + %number) } }
      }
    }
  } else {
    acc.parallel num_gangs({2 * %gangs : i32}) vector_length(%c128 : i32) {
      acc.loop gang vector control(%i : i32) = (%lb : i32) to (%ub : i32) step (%c1 : i32) {
        body(%i)
      }
    }
  }

Options: `full_device`: the number of threads that keep the device busy (default: that of a large one; 0: no
second version).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects import acc, arith, scf
from xdsl.dialects.builtin import IntegerType, ModuleOp
from xdsl.ir import SSAValue
from xdsl.passes import ModulePass

from .decisions.declined import Declined
from .decisions.shared_work import FULL_DEVICE, enough_iterations
from .ir.kernels.outline import wait_ahead
from .ir.loops.jamming import Jam, body_of, check_body, explain, iteration_value, set_bounds
from .ir.loops.jamming import trip_count as device_trip_count
from .ir.ops.acc_ops import loops_in, set_operand_groups, tuned_constructs
from .ir.ops.building import NSW, Cursor, constant_value, erase
from .ir.ops.schedules import schedule_of, take_elements
from .ir.ops.versions import queue_outside, second_version
from .ir.values.region_values import HostEmitter, RegionSymbols
from .ir.values.trip_counts import Arithmetic, trip_count


@dataclass(frozen=True)
class Strided:
    """A loop of one variable to run `count` iterations at a time, `lanes` apart."""

    construct: acc.ParallelOp
    loop: acc.LoopOp
    count: int
    lanes: int


def _find(construct: acc.ParallelOp, loop: acc.LoopOp) -> Strided:
    """The loop, checked for jamming. Raises `Declined` with the reason if it cannot be jammed."""
    if len(body_of(loop).args) != 1:
        raise Declined("the loop has several variables")
    if loop.reduction_operands or loop.private_operands or loop.firstprivate_operands:
        raise Declined("the loop has variables of its own")
    check_body(loop)
    lanes = [constant_value(v) for v in construct.vector_length]
    workers = [constant_value(v) for v in construct.num_workers]
    if loop.worker is not None or workers not in ([], [1]) or len(lanes) != 1 or lanes[0] is None:
        raise Declined("the number of lanes is not constant")
    return Strided(construct, loop, schedule_of(loop).elements, lanes[0])


def jam(found: Strided) -> None:
    """Rewrites the loop (see the contract above). Iterations are counted in 64 bits."""
    loop, count, lanes = found.loop, found.count, found.lanes
    block = loop.region.block
    originals = [op for op in block.ops if not isinstance(op, acc.YieldOp)]
    variable = block.args[0]
    type = variable.type
    assert isinstance(type, IntegerType)

    before = Cursor.before(loop)
    trips = before.value(arith.MaxSIOp(device_trip_count(before, loop), before.constant(0, type)))
    trips = before.to_i64(trips)
    tile = before.i64(lanes * count)
    rounded = before.value(arith.AddiOp(trips, before.i64(lanes * count - 1), overflow=NSW))
    tiles = before.value(arith.DivUIOp(rounded, tile), "tiles")
    threads = before.value(arith.MuliOp(tiles, before.i64(lanes), overflow=NSW), "threads")
    lower, step = loop.lowerbound[0], loop.step[0]

    end = block.last_op
    assert end is not None
    cursor = Cursor.before(end, loop.location)
    thread = cursor.to_i64(variable)
    wide_lanes = cursor.i64(lanes)
    number = cursor.value(arith.DivUIOp(thread, wide_lanes), "tile")
    lane = cursor.value(arith.RemUIOp(thread, wide_lanes), "lane")
    first = cursor.value(arith.MuliOp(number, cursor.i64(lanes * count), overflow=NSW))
    first = cursor.value(arith.AddiOp(first, lane, overflow=NSW), "first")
    last = cursor.value(arith.AddiOp(first, cursor.i64((count - 1) * lanes), overflow=NSW), "last")
    then, otherwise = cursor.if_else(cursor.value(arith.CmpiOp(last, trips, "slt"), "full"))

    base = iteration_value(first, lower, step, variable, then)
    maps: list[dict[SSAValue, SSAValue]] = [{variable: base}]
    for position in range(1, count):
        distance = then.mul(then.constant(position * lanes, type), step)
        value = arith.AddiOp(base, distance, overflow=NSW)
        maps.append({variable: then.value(value, variable.name_hint)})
    Jam(maps).operations(originals, then)

    _, each = otherwise.for_loop(first, trips, otherwise.i64(lanes), "number")
    values: dict[SSAValue, SSAValue] = {
        variable: iteration_value(each.point.block.args[0], lower, step, variable, each)
    }
    for op in originals:
        each.clone(op, values)

    for op in reversed(originals):
        erase(op)
    set_bounds(before, loop, before.to_integer(threads, type))
    take_elements(loop)
    explain(loop, f"{count} iterations side by side in each thread")


# The version with one iteration per thread.


def _single_iterations(construct: acc.ParallelOp, loop: acc.LoopOp, reason: str) -> None:
    """Removes `elements`, and enlarges the grid accordingly if its size follows from the trip count."""
    count = take_elements(loop)
    explain(loop, reason)
    if schedule_of(loop).covers:
        cursor = Cursor.before(construct)
        gangs = list(construct.num_gangs)
        gangs[0] = cursor.mul(gangs[0], cursor.i32(count), gangs[0].name_hint)
        set_operand_groups(construct, num_gangs=gangs)


def _is_long(construct: acc.ParallelOp, loop: acc.LoopOp, least: int) -> SSAValue | bool:
    """Whether the loop has at least `least` iterations: a constant, or an i1 before the construct."""
    math = Arithmetic(HostEmitter(construct))
    found = trip_count(loop, RegionSymbols(construct), math)
    return found is not None and math.at_least(found[0], least, "many")


def _jam_construct(construct: acc.ParallelOp, loop: acc.LoopOp, full_device: int) -> None:
    if construct.reduction_operands or sum(1 for _ in loops_in(construct)) > 1:
        raise Declined("the construct holds more than this loop")
    found = _find(construct, loop)
    if full_device:
        condition = _is_long(construct, loop, enough_iterations(found.count, full_device))
        if condition is False:
            raise Declined("too few iterations to fill the device")
        if condition is not True:
            if not queue_outside(construct):
                raise Declined("its queue is not known before its data operations")
            wait_ahead(construct)
            other = second_version(construct, condition)
            single = next(loops_in(other))
            _single_iterations(other, single, "version for few iterations: one per thread")
    jam(found)


def _candidates(module: ModuleOp) -> Iterator[tuple[acc.ParallelOp, acc.LoopOp]]:
    for construct in tuned_constructs(module):
        for loop in loops_in(construct):
            wanted = schedule_of(loop).elements > 1 and loop.gang is not None
            if wanted and loop.vector is not None and _holds_loops(loop):
                yield construct, loop


def _holds_loops(loop: acc.LoopOp) -> bool:
    return any(isinstance(op, scf.ForOp) for op in loop.region.walk())


@dataclass(frozen=True)
class JamStridedIterationsPass(ModulePass):
    """See the contract at the top of this file."""

    name = "jam-strided-iterations"

    full_device: int = FULL_DEVICE

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for construct, loop in list(_candidates(op)):
            try:
                _jam_construct(construct, loop, self.full_device)
            except Declined as reason:
                text = f"iterations not kept side by side: {reason}"
                _single_iterations(construct, loop, text)
