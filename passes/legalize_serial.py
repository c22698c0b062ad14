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
from xdsl.dialects.builtin import ModuleOp, UnitAttr
from xdsl.passes import ModulePass

from ..dialects.accx import FROM_SERIAL
from .ir.kernels.constructs import one_before, single_gang_parallel


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
