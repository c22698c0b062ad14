"""
Finds arrays that a compute construct uses as counters: all uses are atomic updates by one associative and
commutative operator, so that partial results can be merged in any order.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.dialects import acc, arith
from xdsl.dialects.builtin import AnyFloat, IntegerType, i64
from xdsl.ir import Operation, SSAValue

from ...dialects.llvm_ext import AtomicBinOp
from ..decisions.private_counters import is_worthwhile
from ..ir.kernels.runtime_calls import DataOp
from ..ir.loops.loop_facts import constant_trip
from ..ir.ops.acc_ops import MAPPING_OPS, has_level, is_inside, loops_around, mapped_variable
from ..ir.ops.atomic_updates import COMMUTATIVE, match_rmw
from ..ir.ops.building import constant_value
from ..ir.ops.layout import size_of
from ..ir.values.addresses import ADDRESS_OPS
from ..ir.values.trip_counts import Count

MERGE = {kind: operation for operation, kind in COMMUTATIVE.items()}
"""Operator of an atomic update → the operation that merges two partial results."""


@dataclass(frozen=True)
class CounterArray:
    """
    An array of `elements` (an i64 of the host if not constant) of `type`, of which element `lower` is the
    first that the construct maps; `operator` merges two values. `mapped`: only the runtime knows how many
    elements it has.
    """

    array: SSAValue
    type: IntegerType | AnyFloat
    lower: int
    elements: Count
    operator: AtomicBinOp
    mapped: bool = False

    @property
    def element_bytes(self) -> int:
        return size_of(self.type)

    def identity(self) -> int:
        """The neutral value of `operator`."""
        width = 8 * self.element_bytes
        match self.operator:
            case AtomicBinOp.and_ | AtomicBinOp.umin:
                return -1
            case AtomicBinOp.max:
                return -(1 << (width - 1))
            case AtomicBinOp.min:
                return (1 << (width - 1)) - 1
            case _:
                return 0


def _section(entry: Operation, size: int) -> tuple[int, Count | None] | None:
    """
    The first element, and the number of elements of `size` bytes (None: only the runtime knows), that a
    data operation maps; None if unknown.
    """
    assert isinstance(entry, MAPPING_OPS)
    if not entry.bounds:
        variable = mapped_variable(entry)
        if variable is None:
            return (0, None) if isinstance(entry, DataOp) else None
        if size_of(variable) % size:
            return None
        return 0, size_of(variable) // size
    bounds = entry.bounds[0].owner
    if not isinstance(bounds, acc.DataBoundsOp) or bounds.stride_in_bytes is None:
        return None
    if bounds.lowerbound is None or bounds.extent is None or bounds.stride is None:
        return None
    given = (bounds.lowerbound, bounds.extent, bounds.stride)
    lower, extent, stride = (_constant(value) for value in given)
    if lower is None or stride is None or stride % size:
        return None
    if extent is not None:
        return lower * stride // size, extent * stride // size
    return (lower, bounds.extent) if stride == size and bounds.extent.type == i64 else None


def _constant(value: SSAValue) -> int | None:
    """The constant that a value is after signed extensions; None if it is not one."""
    while isinstance(value.owner, arith.ExtSIOp):
        value = value.owner.operands[0]
    return constant_value(value)


def updates_of(array: SSAValue, construct: acc.ParallelOp) -> list[acc.AtomicUpdateOp] | None:
    """The atomic updates of `array` in the construct; None if it is used in any other way there."""
    found: list[acc.AtomicUpdateOp] = []
    for use in array.uses:
        user = use.operation
        if user is construct or not is_inside(user, construct):
            continue
        if isinstance(user, ADDRESS_OPS) and use.index == 0:
            inner = updates_of(user.result, construct)
            if inner is None:
                return None
            found += inner
        elif isinstance(user, acc.AtomicUpdateOp) and use.index == 0:
            found.append(user)
        else:
            return None
    return found


def _operator(update: acc.AtomicUpdateOp) -> AtomicBinOp | None:
    if update.if_cond is not None or isinstance(update.parent_op(), acc.AtomicCaptureOp):
        return None
    match = match_rmw(update)
    if match is None:
        return None
    return AtomicBinOp.add if match.kind is AtomicBinOp.sub else match.kind


def _count(update: acc.AtomicUpdateOp, construct: acc.ParallelOp) -> int | None:
    """
    The number of times the construct runs `update`, by the trip counts of its loop directives; None if not
    constant.
    """
    total = 1
    for loop in loops_around(update, construct):
        trips = constant_trip(loop)
        if trips is None:
            return None
        total *= trips
    return total


def find_counters(array: SSAValue, construct: acc.ParallelOp) -> CounterArray | None:
    """
    `array`, a result of one of the construct's data operations, as counters; None if it is used otherwise,
    or if private copies do not pay.
    """
    entry = array.owner
    if not isinstance(entry, MAPPING_OPS):
        return None
    updates = updates_of(array, construct)
    if not updates:
        return None
    operators = {_operator(update) for update in updates}
    types = {update.region.block.args[0].type for update in updates}
    (operator, *others), (type, *more) = operators, types
    if others or more or not isinstance(type, IntegerType | AnyFloat):
        return None
    if operator is None or operator not in MERGE:
        return None
    for update in updates:
        if not any(has_level(loop.gang) for loop in loops_around(update, construct)):
            return None
    section = _section(entry, size_of(type))
    if section is None:
        return None
    lower, elements = section
    mapped = elements is None
    counts = [_count(update, construct) for update in updates]
    total = None if None in counts else sum(count for count in counts if count is not None)
    if not is_worthwhile(total, elements if isinstance(elements, int) else 1):
        return None
    return CounterArray(array, type, lower, elements or 0, operator, mapped)
