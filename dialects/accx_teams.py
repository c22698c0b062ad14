"""
Operations of `accx` for OpenMP in host code: regions that other threads of a team run.
"""

from __future__ import annotations

from xdsl.dialects.builtin import I32
from xdsl.dialects.llvm import LLVMPointerType
from xdsl.ir import Operation, Region, SSAValue
from xdsl.irdl import IRDLOperation, irdl_op_definition, operand_def, region_def, traits_def
from xdsl.traits import NoTerminator


@irdl_op_definition
class TeamOp(IRDLOperation):
    """
    Every thread of a team runs the region, the calling thread as its first (OpenMP's `parallel`).
    `threads`: the number requested, 0 for the default; `several`: 0 for a team of one, 2 if `threads` must
    be positive, else 1; `place`: the text `file:line` for messages. Values from outside are the same in
    every thread, and memory from outside is shared.
    """

    name = "accx.team"

    threads = operand_def(I32)
    several = operand_def(I32)
    place = operand_def(LLVMPointerType)
    body = region_def("single_block")

    traits = traits_def(NoTerminator())

    assembly_format = (
        "`threads` `(` $threads `)` `several` `(` $several `)` `place` `(` $place `:` type($place) `)`"
        " $body attr-dict"
    )

    def __init__(
        self, threads: SSAValue, several: SSAValue, place: SSAValue | Operation, body: Region
    ):
        super().__init__(operands=[threads, several, place], regions=[body])


@irdl_op_definition
class TaskOp(IRDLOperation):
    """
    Some thread of the team runs the region, now or before the next barrier or wait for tasks (OpenMP's
    `task`); now if `deferred` is 0. Values from outside are captured here.
    """

    name = "accx.task"

    deferred = operand_def(I32)
    body = region_def("single_block")

    traits = traits_def(NoTerminator())

    assembly_format = "`deferred` `(` $deferred `)` $body attr-dict"

    def __init__(self, deferred: SSAValue, body: Region):
        super().__init__(operands=[deferred], regions=[body])


OPERATIONS = (TeamOp, TaskOp)
