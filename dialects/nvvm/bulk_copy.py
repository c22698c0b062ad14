"""
Bulk copies from global to shared memory and the barriers in shared memory that they arrive at, from
sm_90 on (PTX ISA 9.7.9.25.4 and 9.7.13.15).

A barrier ("mbarrier", 8 bytes) passes through phases of alternating parity, starting with 0. A phase
completes when the number of threads given by `init` have arrived and all expected bytes have been copied.
"""

from __future__ import annotations

from abc import ABC

from xdsl.dialects.builtin import I32, i32
from xdsl.dialects.llvm import LLVMPointerType
from xdsl.dialects.utils import EnumAttribute
from xdsl.ir import Operation, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    ParsePropInAttrDict,
    irdl_attr_definition,
    irdl_op_definition,
    operand_def,
    prop_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.str_enum import StrEnum

from .address_spaces import GLOBAL_POINTER, SHARED_POINTER, check_pointer
from .enums import InAngleBrackets


class _BarrierOp(IRDLOperation, ABC):
    """An operation on a barrier in shared memory, its first operand."""

    def verify_(self) -> None:
        check_pointer(self.operands[0], SHARED_POINTER)


@irdl_op_definition
class MBarrierInitOp(_BarrierOp):
    """
    `mbarrier.init`: makes a barrier at which `count` threads arrive in each phase (PTX ISA 9.7.13.15.9).
    """

    name = "nvvm.mbarrier.init"

    addr = operand_def(LLVMPointerType)
    count = operand_def(I32)
    assembly_format = "$addr `,` $count attr-dict `:` type($addr) `,` type($count)"

    def __init__(self, addr: SSAValue | Operation, count: SSAValue | Operation):
        super().__init__(operands=[addr, count])


@irdl_op_definition
class MBarrierInvalOp(_BarrierOp):
    """`mbarrier.inval`: ends the use of the memory as a barrier (PTX ISA 9.7.13.15.10)."""

    name = "nvvm.mbarrier.inval"

    addr = operand_def(LLVMPointerType)
    assembly_format = "$addr attr-dict `:` type($addr)"

    def __init__(self, addr: SSAValue | Operation):
        super().__init__(operands=[addr])


@irdl_op_definition
class MBarrierArriveExpectTxOp(_BarrierOp):
    """
    `mbarrier.arrive.expect_tx`: the phase expects `txcount` more bytes, and the thread arrives
    (PTX ISA 9.7.13.15.13).
    """

    name = "nvvm.mbarrier.arrive.expect_tx"

    addr = operand_def(LLVMPointerType)
    txcount = operand_def(I32)
    assembly_format = "$addr `,` $txcount attr-dict `:` type($addr) `,` type($txcount)"

    def __init__(self, addr: SSAValue | Operation, txcount: SSAValue | Operation):
        super().__init__(operands=[addr, txcount])


@irdl_op_definition
class MBarrierTryWaitParityOp(_BarrierOp):
    """
    `mbarrier.try_wait.parity`, repeated until the phase of parity `phase` has completed;
    `ticks`: nanoseconds that the hardware may let the thread sleep (PTX ISA 9.7.13.15.16).
    """

    name = "nvvm.mbarrier.try_wait.parity"

    addr = operand_def(LLVMPointerType)
    phase = operand_def(I32)
    ticks = operand_def(I32)
    assembly_format = (
        "$addr `,` $phase `,` $ticks attr-dict `:` type($addr) `,` type($phase) `,` type($ticks)"
    )

    def __init__(
        self,
        addr: SSAValue | Operation,
        phase: SSAValue | Operation,
        ticks: SSAValue | Operation,
    ):
        super().__init__(operands=[addr, phase, ticks])


@irdl_op_definition
class CpAsyncBulkOp(IRDLOperation):
    """
    `cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes`: copies `size` bytes; size and
    both addresses are multiples of 16 (PTX ISA 9.7.9.25.4.1). The memory is that of the thread's own block.
    """

    name = "nvvm.cp.async.bulk.shared.cluster.global"

    dst = operand_def(LLVMPointerType)
    src = operand_def(LLVMPointerType)
    mbar = operand_def(LLVMPointerType)
    size = operand_def(I32)

    def __init__(
        self,
        dst: SSAValue | Operation,
        src: SSAValue | Operation,
        mbar: SSAValue | Operation,
        size: SSAValue | Operation,
    ):
        super().__init__(operands=[dst, src, mbar, size])

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_list(self.operands, printer.print_ssa_value)
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_list((self.dst.type, self.src.type), printer.print_attribute)

    @classmethod
    def parse(cls, parser: Parser) -> CpAsyncBulkOp:
        operands = [parser.parse_unresolved_operand()]
        for _ in range(3):
            parser.parse_punctuation(",")
            operands.append(parser.parse_unresolved_operand())
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        dst = parser.parse_type()
        parser.parse_punctuation(",")
        types = [dst, parser.parse_type(), SHARED_POINTER, i32]
        op = cls(*parser.resolve_operands(operands, types, parser.pos))
        op.attributes |= attributes
        return op

    def verify_(self) -> None:
        check_pointer(self.dst, SHARED_POINTER)
        check_pointer(self.src, GLOBAL_POINTER)
        check_pointer(self.mbar, SHARED_POINTER)


@irdl_op_definition
class FenceMbarrierInitOp(IRDLOperation):
    """`fence.mbarrier_init`: orders `mbarrier.init` before accesses of the cluster (PTX ISA 9.7.13.4)."""

    name = "nvvm.fence.mbarrier.init"
    assembly_format = "attr-dict"

    def __init__(self) -> None:
        super().__init__()


class ProxyKind(StrEnum):
    """The proxies (ways of accessing memory) that a fence orders with the generic proxy (PTX ISA 8.6)."""

    ASYNC = "async"
    ASYNC_GLOBAL = "async.global"
    ASYNC_SHARED = "async.shared"


class SharedSpace(StrEnum):
    """The shared memory concerned: the block's or the cluster's."""

    CTA = "cta"
    CLUSTER = "cluster"


@irdl_attr_definition
class ProxyKindAttr(InAngleBrackets, EnumAttribute[ProxyKind]):
    name = "nvvm.proxy_kind"


@irdl_attr_definition
class SharedSpaceAttr(InAngleBrackets, EnumAttribute[SharedSpace]):
    name = "nvvm.shared_space"


@irdl_op_definition
class FenceProxyOp(IRDLOperation):
    """
    `fence.proxy.async.shared::cta`: orders the thread's accesses to shared memory with those of bulk
    copies (PTX ISA 9.7.13.4).
    """

    name = "nvvm.fence.proxy"

    kind = prop_def(ProxyKindAttr)
    space = prop_def(SharedSpaceAttr)
    irdl_options = (ParsePropInAttrDict(),)
    assembly_format = "attr-dict"

    def __init__(self) -> None:
        super().__init__(
            properties={
                "kind": ProxyKindAttr(ProxyKind.ASYNC_SHARED),
                "space": SharedSpaceAttr(SharedSpace.CTA),
            }
        )

    def verify_(self) -> None:
        if self.kind.data != ProxyKind.ASYNC_SHARED or self.space.data != SharedSpace.CTA:
            raise VerifyException("only fences of async.shared with cta are supported")


OPERATIONS = (
    MBarrierInitOp,
    MBarrierInvalOp,
    MBarrierArriveExpectTxOp,
    MBarrierTryWaitParityOp,
    CpAsyncBulkOp,
    FenceMbarrierInitOp,
    FenceProxyOp,
)
ATTRIBUTES = (ProxyKindAttr, SharedSpaceAttr)
