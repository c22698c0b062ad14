"""Reads the accesses and instructions of a compute construct for `decisions/compression.py`."""

from __future__ import annotations

from collections.abc import Mapping

from xdsl.dialects import acc, arith, llvm, scf
from xdsl.dialects.builtin import AnyFloat, Float64Type
from xdsl.ir import Operation, SSAValue

from ...dialects.accx_cache import SharedTileOp
from ...dialects.accx_compress import PackedType
from ..decisions.compression import DOUBLE_ISSUES, REPEATS, PackedAccess
from ..ir.ops.acc_ops import accessed_type, has_level, operations_around
from ..ir.ops.building import constant_value
from ..ir.ops.layout import size_of
from ..ir.ops.levels import is_parallel
from ..ir.values.addresses import ADDRESS_OPS, base_of
from ..ir.values.region_values import RegionSymbols
from ..ir.values.strides import AccessCounter

MOST_LOOPS = 2
"""The depth of loops up to which iterations are multiplied."""

_BOUNDS = 3
"""The number of operands of an `scf.for` before its carried values."""

_FREE = (arith.ConstantOp, arith.ExtSIOp, arith.ExtUIOp, arith.IndexCastOp, *ADDRESS_OPS)


def _repeats(op: Operation, construct: acc.ParallelOp) -> int:
    """How often `op` runs in one iteration of the parallel loops, because of sequential loops around it."""
    total, depth = 1, 0
    for parent in operations_around(op, construct):
        trips = 1
        if isinstance(parent, scf.ForOp):
            trips = _trips(parent.lb, parent.ub, parent.step)
        elif isinstance(parent, scf.WhileOp):
            trips = REPEATS
        elif isinstance(parent, acc.LoopOp) and not any(
            has_level(level) for level in (parent.gang, parent.worker, parent.vector)
        ):
            for bounds in zip(parent.lowerbound, parent.upperbound, parent.step, strict=True):
                trips *= _trips(*bounds)
        if trips > 1 and depth < MOST_LOOPS:
            total, depth = total * trips, depth + 1
    return total


def _is_scattered(op: Operation, construct: acc.ParallelOp, counter: AccessCounter) -> bool:
    """Whether an access moves with the parallel loops, and with none of them to neighbouring elements."""
    counts = [
        counter.count([op], variable)
        for parent in operations_around(op, construct)
        if isinstance(parent, acc.LoopOp) and is_parallel(parent)
        for variable in parent.region.block.args
    ]
    return any(each.strided for each in counts) and not any(each.contiguous for each in counts)


def _trips(lower: SSAValue, upper: SSAValue, step: SSAValue) -> int:
    """The trip count of a loop if its bounds, or their distance, are constant, else `REPEATS`."""
    first, past, by = constant_value(lower), constant_value(upper), constant_value(step)
    if isinstance(upper.owner, arith.AddiOp) and upper.owner.lhs is lower:
        first, past = 0, constant_value(upper.owner.rhs)
    if first is None or past is None or by is None:
        return REPEATS
    return max(1, (past - first + by - 1) // by)


def accesses_of(
    construct: acc.ParallelOp, packed: Mapping[SSAValue, PackedType]
) -> tuple[list[PackedAccess], int]:
    """
    The accesses of a construct before it is rewritten, each with the device address of its array, and the
    number of other instructions. `packed`: the compressed arrays.
    """
    found: list[PackedAccess] = []
    instructions = indexing = 0
    tiles = False
    counter = AccessCounter(RegionSymbols(construct))
    for op in construct.walk():
        repeats = _repeats(op, construct)
        if isinstance(op, llvm.LoadOp | llvm.StoreOp):
            writes = isinstance(op, llvm.StoreOp)
            type = accessed_type(op)
            array = base_of(op.ptr)
            if isinstance(array.owner, llvm.AllocaOp | acc.PrivateOp | acc.ReductionOp):
                continue
            known = packed.get(array)
            fmt = known.format if known is not None else None
            staged = isinstance(op, llvm.LoadOp) and _fills_tile(op.dereferenced_value)
            tiles = tiles or staged
            cached = repeats > 1 and not staged
            # Shared memory has its own bandwidth, and threads that read one element at the same time read
            # it once.
            size = 0 if isinstance(array.owner, SharedTileOp) else size_of(type)
            scattered = _is_scattered(op, construct, counter)
            found.append(PackedAccess(array, size, fmt, writes, repeats, cached, scattered))
        elif op.name.startswith(("arith.", "math.")) and not isinstance(op, _FREE):
            if isinstance(op.results[0].type, AnyFloat):
                issues = DOUBLE_ISSUES if isinstance(op.results[0].type, Float64Type) else 1
                instructions += 0 if _is_fused(op) else issues * repeats
            else:
                indexing += repeats
        elif isinstance(op, llvm.CallOp):
            instructions += 20 * repeats
    # The indices of elements in tiles are computed before the loops that read them.
    return found, instructions + (0 if tiles else indexing)


def _fills_tile(value: SSAValue) -> bool:
    """Whether a loaded value is only stored to tiles in shared memory, immediately or an iteration later."""
    seen: set[SSAValue] = set()
    values, stored = [value], False
    while values:
        current = values.pop()
        if current in seen:
            continue
        seen.add(current)
        for use in current.uses:
            op, parent = use.operation, use.operation.parent_op()
            if isinstance(op, llvm.StoreOp) and isinstance(base_of(op.ptr).owner, SharedTileOp):
                stored = True
            elif isinstance(op, scf.ForOp) and use.index >= _BOUNDS:
                values.append(op.body.block.args[use.index - _BOUNDS + 1])
            elif isinstance(op, scf.YieldOp) and isinstance(parent, scf.ForOp):
                values += [parent.results[use.index], parent.body.block.args[use.index + 1]]
            elif isinstance(op, scf.YieldOp) and isinstance(parent, scf.IfOp):
                values.append(parent.results[use.index])
            else:
                return False
    return stored


def _is_fused(op: Operation) -> bool:
    """Whether a product is fused with the addition that uses it."""
    return isinstance(op, arith.MulfOp) and all(
        isinstance(use.operation, arith.AddfOp | arith.SubfOp) for use in op.result.uses
    )
