"""Barriers and fences (PTX ISA, 9.7.13)."""

from __future__ import annotations

from xdsl.dialects.builtin import (
    I32,
)
from xdsl.dialects.utils import EnumAttribute
from xdsl.ir import (
    Operation,
    SSAValue,
)
from xdsl.irdl import (
    AttrSizedOperandSegments,
    IRDLOperation,
    irdl_attr_definition,
    irdl_op_definition,
    operand_def,
    opt_operand_def,
    prop_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.str_enum import StrEnum

from .enums import InAngleBrackets


@irdl_op_definition
class Barrier0Op(IRDLOperation):
    """`barrier.sync 0`: waits for all threads of the block (PTX ISA 9.7.13.1)."""

    name = "nvvm.barrier0"
    assembly_format = "attr-dict"

    def __init__(self) -> None:
        super().__init__()


@irdl_op_definition
class BarrierOp(IRDLOperation):
    """
    `barrier.sync id, n`: waits until `number_of_threads` threads (a multiple of the warp size; all
    if absent) have arrived at the barrier `barrier_id`, 0 to 15 (PTX ISA 9.7.13.1).
    """

    name = "nvvm.barrier"

    barrier_id = opt_operand_def(I32)
    number_of_threads = opt_operand_def(I32)

    irdl_options = (AttrSizedOperandSegments(as_property=True),)
    assembly_format = (
        "(`id` `=` $barrier_id^)? (`number_of_threads` `=` $number_of_threads^)? attr-dict"
    )

    def __init__(
        self,
        barrier_id: SSAValue | Operation | None = None,
        number_of_threads: SSAValue | Operation | None = None,
    ):
        super().__init__(operands=[barrier_id, number_of_threads])

    def verify_(self) -> None:
        if self.number_of_threads is not None and self.barrier_id is None:
            raise VerifyException("a number of threads needs a barrier id")


@irdl_op_definition
class SyncWarpOp(IRDLOperation):
    """`bar.warp.sync`: waits for the lanes of `mask` and orders their memory (PTX ISA 9.7.13.2)."""

    name = "nvvm.bar.warp.sync"
    mask = operand_def(I32)
    assembly_format = "$mask attr-dict `:` type($mask)"

    def __init__(self, mask: SSAValue | Operation):
        super().__init__(operands=[mask])


@irdl_op_definition
class NanosleepOp(IRDLOperation):
    """`nanosleep`: the thread pauses for about `duration` ns, up to twice that (PTX ISA 9.7.20.4)."""

    name = "nvvm.nanosleep"
    duration = operand_def(I32)
    assembly_format = "$duration attr-dict"

    def __init__(self, duration: SSAValue | Operation):
        super().__init__(operands=[duration])


class MemScope(StrEnum):
    """The threads among which an operation orders memory (PTX ISA 8.5)."""

    CTA = "cta"
    CLUSTER = "cluster"
    GPU = "gpu"
    SYS = "sys"


@irdl_attr_definition
class MemScopeAttr(InAngleBrackets, EnumAttribute[MemScope]):
    name = "nvvm.mem_scope"


@irdl_op_definition
class MemoryBarrierOp(IRDLOperation):
    """
    `membar`: orders the thread's memory accesses for the threads of `scope`: `cta` block, `gpu`
    device, `sys` system (PTX ISA 9.7.13.4). Upstream before 22 had one operation per scope
    (`nvvm.membar.cta`, …).
    """

    name = "nvvm.memory.barrier"

    scope = prop_def(MemScopeAttr)

    def __init__(self, scope: MemScope):
        super().__init__(properties={"scope": MemScopeAttr(scope)})

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        self.scope.print_parameter(printer)
        printer.print_op_attributes(self.attributes)

    @classmethod
    def parse(cls, parser: Parser) -> MemoryBarrierOp:
        if parser.parse_optional_punctuation("<") is not None:
            scope = parser.parse_str_enum(MemScope)
            parser.parse_punctuation(">")
        else:
            attribute = parser.parse_attribute()
            if not isinstance(attribute, MemScopeAttr):
                parser.raise_error("expected a memory scope")
            scope = attribute.data
        op = cls(scope)
        op.attributes |= parser.parse_optional_attr_dict()
        return op
