"""The operation of `accx` for thread coarsening: several iterations in one thread, side by side."""

from __future__ import annotations

from xdsl.dialects import acc
from xdsl.ir import Operation, Region
from xdsl.irdl import IRDLOperation, irdl_op_definition, region_def, traits_def
from xdsl.traits import NoTerminator
from xdsl.utils.exceptions import VerifyException


@irdl_op_definition
class SideBySideOp(IRDLOperation):
    """
    The body of an `acc.loop` with `elements = n`, of which a thread runs n iterations at a time. If n or
    more are left, the thread runs `several` once; its block arguments are the loop's variables in the first
    of these iterations, then in the second, and so on. Otherwise it runs `each` for every remaining
    iteration, in which the loop's own variables are valid.
    """

    name = "accx.side_by_side"

    several = region_def("single_block")
    each = region_def("single_block")

    traits = traits_def(NoTerminator())

    assembly_format = "$several `else` `each` $each attr-dict"

    def __init__(self, several: Region, each: Region):
        super().__init__(regions=[several, each])

    def verify_(self) -> None:
        loop = self.parent_op()
        if not isinstance(loop, acc.LoopOp) or self.prev_op is not None:
            raise VerifyException("expected to be the only operation in the body of an acc.loop")
        variables = loop.region.block.args
        arguments = self.several.block.args
        if len(arguments) <= len(variables) or len(arguments) % len(variables):
            raise VerifyException("expected its loop's variables for at least two iterations")
        for position, argument in enumerate(arguments):
            if argument.type != variables[position % len(variables)].type:
                raise VerifyException("expected arguments of the types of the loop's variables")


OPERATIONS: tuple[type[Operation], ...] = (SideBySideOp,)
