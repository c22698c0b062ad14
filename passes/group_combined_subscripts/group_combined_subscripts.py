"""
Give every worker aligned groups of iterations whose subscripts combine two loops' variables.

In `for i: for j: sum += a[j] * b[i ^ j]` the sixteen pairs of four iterations i = 4I + r and four
j = 4J + s read four elements of b: `i ^ j` is `4(I ^ J) + (r ^ s)`. A thread with four sums loads four
neighbouring elements of a and four of b for sixteen products; a thread with one sum loads two elements for
each product, so that the load units limit the loop. The same holds for other bitwise operations, and for
sums and differences (`b[i + j]`: seven elements). With four outputs per thread there are few threads, so
the lanes of a worker share the sum over j.

Takes:  scheduled IR for a GPU.
Leaves: the construct is one gang vector loop that contains a sequential loop of sums (or one gang loop that
        contains vector loops with such reductions), and all loads serve several pairs of neighbours
        (`decisions/spread.py`). It becomes a gang worker loop over the iterations that are not in a whole
        group, followed by aligned groups of eight or four. The inner loop becomes a vector loop over
        aligned groups of the same size with a reduction per sum, between sequential loops for the rest.
        Values that the copies of its body share are computed once. If arrays start at multiples of 16
        bytes, loads are marked as aligned, so that LLVM makes them wide. The construct has the launch shape
        this needs. It is in an `scf.if` on the inner loops' trip counts, if those are not constant: the
        other version, for short loops, is the original construct. If the order must be kept (sums of
        floating-point numbers without `reassociate`, or values other than sums), the loop is one gang
        vector loop, and subscripts are sums or differences, one lane computes a group of four in program
        order and loads groups ahead. The same holds for a subscript `i ^ j`, where the gang's threads also
        fetch their elements together (`staged_groups.py`). Other constructs are untouched.
Fails:  never.

Before:
  acc.loop gang vector control(%i : i32) = (%c0 : i32) to (%n : i32) step (%c1 : i32) {
    %sum = scf.for %j = %c0 to %m step %c1 iter_args(%s = %zero) -> (f32) : i32 {
      %t = %s + load(%a[%j]) * load(%b[%i ^ %j])
    }
    store %sum, %c[%i]
  }
After:
  acc.loop gang worker control(%k : i32) = (%c0 : i32) to (%skipped + %groups) step (%c1 : i32) {
    scf.if (%k >= %skipped) {
      %i = 4 * (%k - %skipped)
      acc.loop vector reduction(%sum_0, …) control(%J : i32) = (%c0 : i32) to (%m / 4) step (%c1 : i32) {
        %j = 4 * %J
        four loads from %a[%j], four from %b[%i ^ %j], sixteen products
      }
      scf.for %j = (%m and -4) to %m step %c1 iter_args(four sums) { … }
      store four sums, %c[%i] …
    } else {
      scf.if (%k < %n - 4 * %groups) { the body for iteration 4 * %groups + %k, a vector loop over j in it }
    }
  }

Options: `target` (only `nvptx` has an effect), `reassociate`: floating-point sums may be computed in any
order (without it, only sums of integers and of reductions), `side`: the iterations of each loop in a group
(0: by the inner loop's body, 1: off), `lanes`: the lanes of a worker, `elements`: the groups of the inner
loop that a lane takes side by side (0: by the side), `versions`: keep the original construct for short
inner loops.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from xdsl.context import Context
from xdsl.dialects import acc, arith, llvm, scf
from xdsl.dialects.builtin import Float32Type, Float64Type, IntegerType, ModuleOp
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass

from ..decisions.declined import Declined
from ..decisions.schedule import Target
from ..decisions.spread import (
    SHARED_OUT,
    SHORTEST,
    SHORTEST_SHARED,
    SIDES,
    SIDES_ALONE,
    GroupedLoads,
    is_worthwhile,
    pays_alone,
)
from ..ir.loops.jamming import body_of, check_body, explain
from ..ir.ops.acc_ops import has_level, loops_in, tuned_constructs
from ..ir.ops.building import constant_value
from ..ir.ops.machine import machine_of
from ..ir.ops.purity import is_pure_call, only_reads
from ..ir.ops.schedules import given_sizes, schedule_of
from ..ir.ops.versions import (
    ready_for_versions,
    second_version,
)
from ..ir.values.addresses import AddressOp
from ..ir.values.region_values import HostEmitter, RegionSymbols
from ..ir.values.trip_counts import Arithmetic, distance
from .group_loads import Pair, Spreads
from .group_ranges import GroupedLoops
from .group_sums import SUMS
from .grouped_iterations import group
from .reduction_loops import SumLoop
from .staged_groups import THREADS, find_staging


def _is_plain(op: Operation) -> bool:
    return (only_reads(op) and not op.regions) or is_pure_call(op)


def _sums(loop: scf.ForOp, reassociate: bool) -> bool:
    """Whether all carried values are sums of values that do not depend on them."""
    body = loop.body.block
    end = body.last_op
    assert end is not None
    for number, argument in enumerate(body.args[1:]):
        if isinstance(argument.type, Float32Type | Float64Type):
            if not reassociate:
                return False
        elif not isinstance(argument.type, IntegerType) or argument.type.width.data not in (32, 64):
            return False
        value: SSAValue = argument
        while True:
            uses = list(value.uses)
            if len(uses) != 1:
                return False
            user = uses[0].operation
            if user is end:
                if uses[0].index != number or value is argument:
                    return False
                break
            if not isinstance(user, SUMS):
                return False
            value = user.results[0]
    return len(body.args) > 1


Order = Literal["any", "integers", "kept"]
"""The sums that may be computed in any order: all, those of integers, none."""


def _attempts(reassociate: bool, sides: Sequence[int]) -> Iterator[tuple[Order, Sequence[int]]]:
    """The attempts, in this order: lanes that share sums, then threads that compute sums alone."""
    yield "any" if reassociate else "integers", sides
    if alone := [side for side in sides if side in SIDES_ALONE]:
        yield "kept", alone


def _is_of_lanes(loop: acc.LoopOp) -> bool:
    return has_level(loop.vector) and not has_level(loop.worker)


def _differs(value: SSAValue, pair: Pair) -> bool:
    """Whether `value` may change from one iteration of the outer loop to the next."""
    known = Spreads(pair, 2, 1).of(value)
    return known is None or any(known.distances)


def _side(pair: Pair, order: Order, sides: Sequence[int]) -> int:
    """The largest side of a group that pays for the two loops; 1 if none does."""
    inner = pair.inner
    if constant_value(inner.step) != 1 or any(_differs(v, pair) for v in (inner.lb, inner.ub)):
        return 1
    ops = [op for op in inner.body.block.ops if not isinstance(op, scf.YieldOp)]
    if not all(_is_plain(op) for op in ops):
        return 1
    if order != "kept" and not _sums(inner, reassociate=order == "any"):
        return 1
    operations = sum(
        1 for op in ops if not isinstance(op, arith.ConstantOp | AddressOp | arith.ExtSIOp)
    )
    for side in sides:
        spreads = Spreads(pair, side, side)
        addresses = tuple(
            None if (known := spreads.of(op.ptr)) is None else known.distances
            for op in ops
            if isinstance(op, llvm.LoadOp)
        )
        loads = GroupedLoads(side, addresses, operations)
        pays = order != "kept" or pays_alone(loads) or find_staging(pair, side) is not None
        if is_worthwhile(loads) and pays:
            return side
    return 1


def _check_construct(construct: acc.ParallelOp) -> acc.LoopOp:
    """
    The only loop directly in a construct whose launch shape may be changed. Raises `Declined` for other
    constructs.
    """
    loops = list(loops_in(construct))
    if not loops or len(construct.region.blocks) != 1 or construct.reduction_operands:
        raise Declined("the construct is not one loop")
    outer = loops[0]
    if any(loop.parent_op() is construct for loop in loops[1:]):
        raise Declined("the construct is not one loop")
    if outer.parent_op() is not construct or len(body_of(outer).args) != 1:
        raise Declined("it is not one loop of one variable")
    if not has_level(outer.gang) or schedule_of(outer).gang_dim > 1:
        raise Declined("gangs do not share the loop")
    if constant_value(outer.step[0]) != 1:
        raise Declined("the loop's step is not 1")
    if given_sizes(construct) & {"num_workers", "vector_length"}:
        raise Declined("the program sizes the gangs")
    if outer.reduction_operands or outer.private_operands or outer.firstprivate_operands:
        raise Declined("the loop has variables of its own")
    return outer


def _find(construct: acc.ParallelOp, order: Order, sides: Sequence[int]) -> GroupedLoops:
    """
    The grouping of a construct that is one gang vector loop, or one gang loop if sums may be computed in
    any order. Raises `Declined` if it cannot be grouped.
    """
    outer = _check_construct(construct)
    check_body(outer)
    pairs = [Pair(outer, op) for op in body_of(outer).ops if isinstance(op, scf.ForOp)]
    wanted = {pair: _side(pair, order, sides) for pair in pairs}
    side = min((side for side in wanted.values() if side > 1), default=1)
    if side == 1:
        raise Declined("no subscript combines the variables of two loops")
    used = tuple(p for p in pairs if wanted[p] > 1)
    if order != "kept":
        return GroupedLoops(construct, outer, used, side)
    staging = [find_staging(pair, side) for pair in used]
    if len(used) > 1 and any(staging):
        raise Declined("several loops would be staged in shared memory")
    return GroupedLoops(construct, outer, used, side, ordered=True, staging=staging[0])


def _take_lanes(construct: acc.ParallelOp) -> list[SumLoop]:
    """
    Makes the loops over lanes in the construct's gang loop sequential and returns them; none if lanes share
    the gang loop itself. Raises `Declined`, without a change, if a loop is not a sum over lanes.
    """
    outer = _check_construct(construct)
    if has_level(outer.vector):
        if has_level(outer.worker):
            raise Declined("workers share the loop")
        return []
    made: list[SumLoop] = []
    try:
        for op in list(body_of(outer).ops):
            if isinstance(op, acc.LoopOp):
                made.append(SumLoop(op))
    except Declined:
        _undo(made)
        raise
    return made


def _undo(made: Sequence[SumLoop]) -> None:
    for loop in reversed(made):
        loop.undo()


def _long_enough(found: GroupedLoops, least: int) -> SSAValue | bool:
    """Whether the inner loops have at least `least` iterations: a constant, or an i1 before the construct."""
    emit = HostEmitter(found.construct)
    math = Arithmetic(emit)
    symbols = RegionSymbols(found.construct)
    condition: SSAValue | None = None
    for pair in found.pairs:
        trips = distance(pair.inner.lb, pair.inner.ub, symbols, math)
        long = False if trips is None else math.at_least(trips, least, "long")
        if long is False:
            return False
        if long is not True:
            condition = emit.both(condition, long)
    return True if condition is None else condition


def _leave_short_loops(construct: acc.ParallelOp, condition: SSAValue) -> None:
    """
    Adds a version with the original construct, for inner loops that are too short. Raises `Declined` if
    there can be no versions.
    """
    if not ready_for_versions(construct):
        raise Declined("the construct cannot have a second version")
    other = second_version(construct, condition)
    for loop in loops_in(other):
        if loop.parent_op() is other:
            explain(loop, "for short loops inside")


@dataclass(frozen=True)
class GroupCombinedSubscriptsPass(ModulePass):
    """See the contract at the top of this file."""

    name = "group-combined-subscripts"

    target: Target | None = None
    reassociate: bool | None = None
    side: Literal[0, 1, 4, 8] = 0
    lanes: Literal[0, 1, 2, 4, 8, 16, 32] = 0
    elements: int = 0
    versions: bool = True

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        machine = machine_of(op)
        target = self.target or machine.target
        reassociate = machine.fast_math if self.reassociate is None else self.reassociate
        if target != "nvptx" or self.side == 1:
            return
        sides = (self.side,) if self.side else SIDES
        for construct in tuned_constructs(op):
            for order, each in _attempts(reassociate, sides):
                try:
                    self._rewrite(construct, each, order)
                    break
                except Declined:
                    continue

    def _rewrite(self, construct: acc.ParallelOp, sides: Sequence[int], order: Order) -> None:
        """Groups the iterations of one construct. Raises `Declined`, without a change."""
        made = [] if order == "kept" else _take_lanes(construct)
        if order == "kept" and not _is_of_lanes(_check_construct(construct)):
            raise Declined("the loop is not shared by lanes only")
        sums: Order = "any" if made else order
        try:
            found = _find(construct, sums, sides)
            least = SHORTEST_SHARED if made else SHORTEST
            if found.staging is not None:
                least = found.side * THREADS
            condition = _long_enough(found, least) if self.versions else True
            if condition is False:
                raise Declined("the inner loops are short")
        except Declined:
            _undo(made)
            raise
        if condition is not True:
            _undo(made)
            _leave_short_loops(construct, condition)
            made = [] if order == "kept" else _take_lanes(construct)
            found = _find(construct, sums, sides)
        for loop in made:
            loop.settle()
        lanes, elements = (1, 1) if found.ordered else SHARED_OUT[found.side]
        group(found, lanes if found.ordered else self.lanes or lanes, self.elements or elements)
