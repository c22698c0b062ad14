"""
Turn acc.serial into a one-gang, one-worker, one-lane acc.parallel (OpenACC 3.4, 2.5.2).

Takes:  any IR with acc.serial.
Leaves: no acc.serial; every clause, data operation and other operation untouched.
Fails:  never.

Before:
  acc.serial dataOperands(%x : !llvm.ptr) { ... }
After:
  %one = arith.constant 1 : i32
  acc.parallel dataOperands(%x : !llvm.ptr) num_gangs({%one : i32}) num_workers(%one : i32)
      vector_length(%one : i32) { ... } attributes {accx.from_serial}
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects import acc
from xdsl.dialects.builtin import DenseArrayBase, ModuleOp, UnitAttr, i32
from xdsl.ir import Operation, Region, SSAValue
from xdsl.passes import ModulePass

from ..dialects.accx import FROM_SERIAL
from .ir.ops.acc_ops import NONE, operand_groups, set_operand_groups
from .ir.ops.building import Cursor

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
    set_operand_groups(parallel, num_gangs=[one], num_workers=[one], vector_length=[one])
    parallel.properties["numGangsSegments"] = DenseArrayBase.from_list(i32, [1])
    for name in ("numGangsDeviceType", "numWorkersDeviceType", "vectorLengthDeviceType"):
        parallel.properties[name] = NONE
    return parallel


def one_before(op: Operation) -> SSAValue:
    """The constant 1 (i32) before a construct, for the sizes of a launch of one thread."""
    one = Cursor.before(op).i32(1)
    one.name_hint = "one"
    return one


@dataclass(frozen=True)
class LegalizeSerialPass(ModulePass):
    """See the module's description."""

    name = "legalize-serial"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for serial in [inner for inner in op.walk() if isinstance(inner, acc.SerialOp)]:
            block = serial.parent_block()
            assert block is not None
            one = one_before(serial)
            parallel = single_gang_parallel(serial, serial.detach_region(0), one)
            parallel.attributes[FROM_SERIAL] = UnitAttr()
            block.insert_op_before(parallel, serial)
            block.erase_op(serial)
