"""
Bulk copies and their barriers as inline PTX (PTX ISA, `cp.async.bulk`, `mbarrier`), because LLVM's
intrinsics for them differ between versions.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from xdsl.ir import Operation

from ...dialects import nvvm

if TYPE_CHECKING:
    from .functions import FunctionPrinter

_WAIT = (
    "{\\0A\\09.reg .pred done;\\0A\\09again:\\0A\\09"
    "mbarrier.try_wait.parity.shared::cta.b64 done, [$0], $1, $2;\\0A\\09"
    "@!done bra again;\\0A\\09}"
)
"""The label is local to the braces, so that several copies of the text do not conflict."""
_EXPECT = (
    "{\\0A\\09.reg .b64 state;\\0A\\09"
    "mbarrier.arrive.expect_tx.shared::cta.b64 state, [$0], $1;\\0A\\09}"
)
_COPY = "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [$0], [$1], $3, [$2];"


def _ptx(text: str, constraints: str) -> Callable[[FunctionPrinter, Operation], None]:
    """A call of inline PTX with the operands in order; no access to memory moves across it."""
    clobbers = ",".join(filter(None, (constraints, "~{memory}")))

    def emit(p: FunctionPrinter, op: Operation) -> None:
        suffix = " convergent" if p.convergent else ""
        p.line(op, f'call void asm sideeffect "{text}", "{clobbers}"({p.operands(op)}){suffix}')

    return emit


BULK_EMITTERS: dict[type[Operation], Callable[[FunctionPrinter, Operation], None]] = {
    nvvm.MBarrierInitOp: _ptx("mbarrier.init.shared::cta.b64 [$0], $1;", "l,r"),
    nvvm.MBarrierInvalOp: _ptx("mbarrier.inval.shared::cta.b64 [$0];", "l"),
    nvvm.MBarrierArriveExpectTxOp: _ptx(_EXPECT, "l,r"),
    nvvm.MBarrierTryWaitParityOp: _ptx(_WAIT, "l,r,r"),
    nvvm.CpAsyncBulkOp: _ptx(_COPY, "l,l,l,r"),
    nvvm.FenceMbarrierInitOp: _ptx("fence.mbarrier_init.release.cluster;", ""),
    nvvm.FenceProxyOp: _ptx("fence.proxy.async.shared::cta;", ""),
}
"""Operation → the function that prints it."""
