"""
What may be between the data operations of a directive and the directive: other data operations and the
computation of their operands. Other work there would see data that the clause does not cover.
"""

from __future__ import annotations

from xdsl.dialects import acc, llvm
from xdsl.ir import Operation

from .accx_compress import RangeOp
from .accx_element import ElementOp

ENTRIES = (
    acc.CopyinOp,
    acc.CreateOp,
    acc.PresentOp,
    acc.NoCreateOp,
    acc.AttachOp,
    acc.DevicePtrOp,
    acc.UseDeviceOp,
)
EXITS = (acc.CopyoutOp, acc.DeleteOp, acc.DetachOp)
_FOR_OPERANDS = (
    acc.DataBoundsOp,
    acc.GetDevicePtrOp,
    acc.PrivateOp,
    acc.FirstprivateOp,
    acc.FirstprivateMapOp,
    acc.ReductionOp,
    RangeOp,
    ElementOp,
)
_COMPUTES = ("arith", "math", "llvm")


def may_be_between(op: Operation) -> bool:
    """Whether data operations and their directive may have `op` between them."""
    if isinstance(op, (*ENTRIES, *EXITS, *_FOR_OPERANDS)):
        return True
    dialect = op.name.partition(".")[0]
    writes = isinstance(op, llvm.StoreOp | llvm.CallOp) or not op.results
    return dialect in _COMPUTES and not op.regions and not writes
