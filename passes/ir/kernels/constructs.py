"""Parallel constructs in place of serial and kernels constructs."""

from __future__ import annotations

from xdsl.dialects import acc
from xdsl.dialects.builtin import DenseArrayBase, i32
from xdsl.ir import Operation, Region, SSAValue

from ..ops.acc_ops import NONE, operand_groups, set_operand_groups
from ..ops.building import Cursor

CLAUSE_PROPERTIES = (
    "asyncOperandsDeviceType",
    "asyncOnly",
    "waitOperandsDeviceType",
    "waitOperandsSegments",
    "hasWaitDevnum",
    "waitOnly",
    "selfAttr",
    "defaultAttr",
    "combined",
)
"""Properties that mean the same on every compute construct."""


def parallel_with_clauses(op: acc.SerialOp | acc.KernelsOp, region: Region) -> acc.ParallelOp:
    """A parallel construct with the body `region` and all clauses of `op` except those for sizes."""
    groups = operand_groups(op)
    parallel = acc.ParallelOp(
        region=region,
        if_cond=next(iter(groups["if_cond"]), None),
        self_cond=next(iter(groups["self_cond"]), None),
        async_operands=groups["async_operands"],
        wait_operands=groups["wait_operands"],
        reduction_operands=groups["reduction_operands"],
        private_operands=groups["private_operands"],
        firstprivate_operands=groups["firstprivate_operands"],
        data_clause_operands=groups["data_clause_operands"],
    )
    for name in CLAUSE_PROPERTIES:
        if name in op.properties:
            parallel.properties[name] = op.properties[name]
    parallel.attributes.update(op.attributes)
    parallel.location = op.location
    return parallel


def single_gang_parallel(
    op: acc.SerialOp | acc.KernelsOp, region: Region, one: SSAValue
) -> acc.ParallelOp:
    """A parallel construct of one thread with the clauses of `op` and the body `region`."""
    parallel = parallel_with_clauses(op, region)
    set_one_gang(parallel, one)
    set_operand_groups(parallel, num_workers=[one], vector_length=[one])
    for name in ("numWorkersDeviceType", "vectorLengthDeviceType"):
        parallel.properties[name] = NONE
    return parallel


def one_before(op: Operation) -> SSAValue:
    """The constant 1 (i32) before a construct, for the sizes of a launch of one thread."""
    one = Cursor.before(op).i32(1)
    one.name_hint = "one"
    return one


def set_one_gang(construct: acc.ParallelOp, one: SSAValue) -> None:
    """Makes the launch of a construct one gang; `one` is the constant 1 (i32)."""
    set_operand_groups(construct, num_gangs=[one])
    construct.properties["numGangsDeviceType"] = NONE
    construct.properties["numGangsSegments"] = DenseArrayBase.from_list(i32, [1])
