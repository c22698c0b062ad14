"""
Operations of `accx` for bulk copies of rows into shared tiles (sm_90 and later). A counter in shared memory
counts the bytes that have arrived. It passes through phases, which are identified by their parity, starting
with 0.
"""

from __future__ import annotations

from abc import ABC

from xdsl.dialects.builtin import IntegerAttr, i32, i64
from xdsl.dialects.llvm import LLVMPointerType
from xdsl.ir import Operation, SSAValue
from xdsl.irdl import IRDLOperation, irdl_op_definition, operand_def, prop_def
from xdsl.utils.exceptions import VerifyException

BULK_BYTES = 16
"""The alignment in bytes of addresses and sizes of bulk copies (PTX ISA 9.7.9.25.4.1)."""
COUNTER_BYTES = 8
"""The size in bytes of a counter, an mbarrier object (PTX ISA 9.7.13.15.2)."""


class _CounterOp(IRDLOperation, ABC):
    """An operation of one thread on the memory of a counter."""

    counter = operand_def(LLVMPointerType)
    assembly_format = "$counter attr-dict `:` type($counter)"

    def __init__(self, counter: SSAValue | Operation):
        super().__init__(operands=[counter])


@irdl_op_definition
class StartCounterOp(_CounterOp):
    """One thread makes 8 bytes of a shared tile a counter; the others may use it after the next barrier."""

    name = "accx.start_counter"


@irdl_op_definition
class EndCounterOp(_CounterOp):
    """One thread releases the counter's memory; no thread may still be waiting for it."""

    name = "accx.end_counter"


@irdl_op_definition
class ExpectBytesOp(IRDLOperation):
    """
    One thread sets the number of bytes that arrive in this phase of the counter; copies may already be in
    flight.
    """

    name = "accx.expect_bytes"

    counter = operand_def(LLVMPointerType)
    bytes = prop_def(IntegerAttr)
    assembly_format = "$counter $bytes attr-dict `:` type($counter)"

    def __init__(self, counter: SSAValue | Operation, bytes: int):
        super().__init__(operands=[counter], properties={"bytes": IntegerAttr(bytes, i64)})


@irdl_op_definition
class CopyBulkOp(IRDLOperation):
    """
    Starts a copy of `bytes` from global memory into a shared tile (bytes and both sides multiples of
    16), which the counter counts.
    """

    name = "accx.copy_bulk"

    target = operand_def(LLVMPointerType)
    source = operand_def(LLVMPointerType)
    counter = operand_def(LLVMPointerType)
    bytes = prop_def(IntegerAttr)
    assembly_format = (
        "$source `to` $target $bytes `on` $counter attr-dict"
        " `:` type($source) `to` type($target) `on` type($counter)"
    )

    def __init__(
        self,
        source: SSAValue | Operation,
        target: SSAValue | Operation,
        bytes: int,
        counter: SSAValue | Operation,
    ):
        super().__init__(
            operands=[target, source, counter], properties={"bytes": IntegerAttr(bytes, i64)}
        )

    def verify_(self) -> None:
        if self.bytes.value.data % BULK_BYTES or self.bytes.value.data <= 0:
            raise VerifyException(f"expected a multiple of 16 bytes, got {self.bytes.value.data}")


@irdl_op_definition
class WaitBytesOp(IRDLOperation):
    """
    The thread waits until the counter's phase of this parity is complete; the bytes of the phase can then
    be read.
    """

    name = "accx.wait_bytes"

    counter = operand_def(LLVMPointerType)
    parity = operand_def(i32)
    assembly_format = "$counter `,` $parity attr-dict `:` type($counter)"

    def __init__(self, counter: SSAValue | Operation, parity: SSAValue | Operation):
        super().__init__(operands=[counter, parity])


@irdl_op_definition
class OrderCopiesOp(IRDLOperation):
    """Orders the thread's accesses to shared tiles before copies that start after the next barrier."""

    name = "accx.order_copies"
    assembly_format = "attr-dict"

    def __init__(self) -> None:
        super().__init__()


OPERATIONS = (
    StartCounterOp,
    EndCounterOp,
    ExpectBytesOp,
    CopyBulkOp,
    WaitBytesOp,
    OrderCopiesOp,
)
