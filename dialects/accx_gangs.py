"""
Operations of `accx` by which the gangs of one launch work together: memory that they share, and the gang that
finishes last. Passes put them inside `accx.gang_threads`.
"""

from __future__ import annotations

from xdsl.dialects.builtin import IntegerAttr, StringAttr, i1, i32, i64
from xdsl.dialects.llvm import LLVMPointerType
from xdsl.ir import Operation, SSAValue
from xdsl.irdl import IRDLOperation, irdl_op_definition, operand_def, prop_def, result_def


@irdl_op_definition
class LaunchMemoryOp(IRDLOperation):
    """
    `bytes` of device memory, 16-byte aligned, that all gangs of a launch share. It is zero before the first
    launch and keeps its contents from launch to launch; launches of one construct do not overlap.
    `memory_name` is for symbols.
    """

    name = "accx.launch_memory"

    bytes = prop_def(IntegerAttr)
    memory_name = prop_def(StringAttr)
    result = result_def(LLVMPointerType)

    assembly_format = "$memory_name $bytes attr-dict `:` type($result)"

    def __init__(self, bytes: int, name: str):
        super().__init__(
            properties={"bytes": IntegerAttr(bytes, i64), "memory_name": StringAttr(name)},
            result_types=[LLVMPointerType()],
        )


@irdl_op_definition
class LastGangOp(IRDLOperation):
    """
    An i1, the same for all threads of the gang: of the `gangs` gangs (i32) that meet at the i32 `ticket`
    in launch memory, this one has come last. What the others had stored to device memory is then visible to
    its threads. The ticket is 0 before the first gang and after the last one. Includes barriers of the gang.
    """

    name = "accx.last_gang"

    ticket = operand_def(LLVMPointerType)
    gangs = operand_def(i32)
    result = result_def(i1)

    assembly_format = "$ticket `of` $gangs attr-dict `:` type($ticket)"

    def __init__(self, ticket: SSAValue | Operation, gangs: SSAValue | Operation):
        super().__init__(operands=[ticket, gangs], result_types=[i1])


OPERATIONS = (LaunchMemoryOp, LastGangOp)
