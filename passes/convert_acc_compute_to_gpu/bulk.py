"""Lowers bulk copies of rows into shared tiles (`dialects/accx_bulk.py`)."""

from __future__ import annotations

from xdsl.ir import Operation

from ...dialects import accx_bulk, llvm_ext, nvvm
from .context import Kernel

SLEEP = 10_000_000
"""The nanoseconds that a waiting thread may sleep before it tests again."""


def lower(k: Kernel, op: Operation) -> None:
    """Lowers one operation of `accx_bulk.OPERATIONS`, in every thread that reaches it."""
    match op:
        case accx_bulk.StartCounterOp():
            k.insert(nvvm.MBarrierInitOp(k.values[op.counter], k.i32(1)))
            # Makes it visible to copies too, which access memory through another proxy.
            k.insert(nvvm.FenceMbarrierInitOp())
            k.insert(nvvm.FenceProxyOp())
        case accx_bulk.EndCounterOp():
            k.insert(nvvm.MBarrierInvalOp(k.values[op.counter]))
        case accx_bulk.ExpectBytesOp():
            bytes = k.i32(op.bytes.value.data)
            k.insert(nvvm.MBarrierArriveExpectTxOp(k.values[op.counter], bytes))
        case accx_bulk.CopyBulkOp():
            source = k.value(llvm_ext.AddrSpaceCastOp(k.values[op.source], nvvm.GLOBAL_POINTER))
            target, counter = k.values[op.target], k.values[op.counter]
            k.insert(nvvm.CpAsyncBulkOp(target, source, counter, k.i32(op.bytes.value.data)))
        case accx_bulk.WaitBytesOp():
            parity = k.values[op.parity]
            k.insert(nvvm.MBarrierTryWaitParityOp(k.values[op.counter], parity, k.i32(SLEEP)))
        case accx_bulk.OrderCopiesOp():
            k.insert(nvvm.FenceProxyOp())
        case _:
            raise TypeError(f"'{op.name}' is not an operation on bulk copies")
