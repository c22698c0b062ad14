"""
Rules for the places of data operations at the acc level: entry operations are immediately before their
construct or directive, exit operations immediately after it. Only other data operations and the computation
of their operands may be in between, as other work there would see data that the clause does not cover.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from xdsl.dialects import acc, llvm
from xdsl.ir import Operation

from ...dialects.accx_compress import RangeOp

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
_REGIONS = (acc.ParallelOp, acc.SerialOp, acc.KernelsOp, acc.DataOp, acc.HostDataOp)
_FOR_OPERANDS = (
    acc.DataBoundsOp,
    acc.GetDevicePtrOp,
    acc.PrivateOp,
    acc.FirstprivateOp,
    acc.FirstprivateMapOp,
    acc.ReductionOp,
    RangeOp,
    llvm.LoadOp,
    llvm.AllocaOp,
)
_COMPUTES = ("arith", "math", "llvm")


def _between(op: Operation) -> bool:
    """Whether data operations and their directive may have `op` between them."""
    if isinstance(op, (*ENTRIES, *EXITS, *_FOR_OPERANDS)):
        return True
    dialect = op.name.partition(".")[0]
    writes = isinstance(op, llvm.StoreOp | llvm.CallOp) or not op.results
    return dialect in _COMPUTES and not op.regions and not writes


def _nearest(op: Operation, step: Callable[[Operation], Operation | None]) -> Operation | None:
    """The construct or directive to which data operations at `op` belong, searched in one direction."""
    found = step(op)
    while found is not None and _between(found):
        found = step(found)
    return found


def entry_placed(op: Operation) -> Iterator[str]:
    """An entry operation's result is an operand of the next directive in its block."""
    following = _nearest(op, lambda each: each.next_op)
    users = {use.operation for use in op.results[0].uses}
    if following not in users:
        yield "it is not immediately before the construct or directive that names it"


def exit_placed(op: Operation) -> Iterator[str]:
    """An exit operation follows the construct or directive that uses its data."""
    before = _nearest(op, lambda each: each.prev_op)
    if isinstance(before, acc.ExitDataOp | acc.DeclareExitOp) or (
        isinstance(before, _REGIONS) and op.operands[0] in before.operands
    ):
        return
    yield "it is not immediately after the construct or directive that uses its data"
