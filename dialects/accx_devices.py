"""
Operations of `accx` for several devices (a research extension): the clause `deviceid` and the directive
`update peer`.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import I32, I64, IntegerAttr, IntegerType, StringAttr, i64
from xdsl.dialects.llvm import LLVMPointerType
from xdsl.ir import Operation, SSAValue
from xdsl.irdl import (
    AttrSizedOperandSegments,
    IRDLOperation,
    irdl_op_definition,
    operand_def,
    opt_operand_def,
    prop_def,
    result_def,
    var_operand_def,
)
from xdsl.utils.exceptions import VerifyException


@irdl_op_definition
class EnterDeviceOp(IRDLOperation):
    """
    Makes device `number` the calling thread's current device; `former` is the previous one, for
    `accx.leave_device`. The least i64 as `number` changes nothing.
    """

    name = "accx.enter_device"

    number = operand_def(I64)
    former = result_def(I64)
    assembly_format = "$number attr-dict"

    def __init__(self, number: SSAValue | Operation):
        super().__init__(operands=[number], result_types=[i64])


@irdl_op_definition
class LeaveDeviceOp(IRDLOperation):
    """Makes the device that was current before an `accx.enter_device` the calling thread's again."""

    name = "accx.leave_device"

    former = operand_def(I64)
    assembly_format = "$former attr-dict"

    def __init__(self, former: SSAValue | Operation):
        super().__init__(operands=[former])


@irdl_op_definition
class UpdatePeerOp(IRDLOperation):
    """
    Copies device `from_device`'s copy of a section onto device `to_device`'s copy of another, on `queue` of
    both (without it, the call returns when the copy is done). `to` and `from` are host addresses. A section
    is a number of bytes there, or is selected by triples of lower bound, extent and stride in bytes,
    outermost first.
    """

    name = "accx.update_peer"

    to = operand_def(LLVMPointerType)
    origin = operand_def(LLVMPointerType)
    to_device = operand_def(I32)
    from_device = operand_def(I32)
    queue = opt_operand_def(IntegerType)
    to_bounds = var_operand_def(I64)
    from_bounds = var_operand_def(I64)
    to_name = prop_def(StringAttr)
    from_name = prop_def(StringAttr)
    to_bytes = prop_def(IntegerAttr)
    from_bytes = prop_def(IntegerAttr)
    irdl_options = (AttrSizedOperandSegments(as_property=True),)

    assembly_format = (
        "`to` $to_name $to `:` type($to) $to_bytes `[` $to_bounds `]` `on` $to_device"
        " `from` $from_name $origin `:` type($origin) $from_bytes `[` $from_bounds `]` `on` $from_device"
        " (`queue` `(` $queue^ `:` type($queue) `)`)? attr-dict"
    )

    def __init__(
        self,
        to: PeerOperand,
        origin: PeerOperand,
        queue: SSAValue | None = None,
    ):
        super().__init__(
            operands=[
                to.base,
                origin.base,
                to.device,
                origin.device,
                queue,
                to.bounds,
                origin.bounds,
            ],
            properties={
                "to_name": StringAttr(to.name),
                "from_name": StringAttr(origin.name),
                "to_bytes": IntegerAttr(to.bytes, i64),
                "from_bytes": IntegerAttr(origin.bytes, i64),
            },
        )

    def verify_(self) -> None:
        for bounds in (self.to_bounds, self.from_bounds):
            if len(bounds) % 3:
                raise VerifyException(f"expected triples of bounds, got {len(bounds)} values")


class PeerOperand:
    """One side of an `accx.update_peer`."""

    def __init__(
        self, base: SSAValue, device: SSAValue, name: str, bytes: int, bounds: Sequence[SSAValue]
    ):
        self.base = base
        self.device = device
        self.name = name
        self.bytes = bytes
        self.bounds = bounds


OPERATIONS = (EnterDeviceOp, LeaveDeviceOp, UpdatePeerOp)
