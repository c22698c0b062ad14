"""The xDSL context every stage shares: the dialects that are legal somewhere in the pipeline."""

from __future__ import annotations

from xdsl.context import Context
from xdsl.dialects import acc, arith, cf, gpu, llvm, math, scf, test
from xdsl.dialects.builtin import Builtin

from ...dialects.accx import ACCX


def make_context() -> Context:
    """A context with every dialect of the pipeline loaded."""
    ctx = Context()
    for dialect in (
        Builtin,
        acc.ACC,
        arith.Arith,
        cf.Cf,
        gpu.GPU,
        llvm.LLVM,
        math.Math,
        scf.Scf,
        test.Test,
        ACCX,
    ):
        ctx.load_dialect(dialect)
    return ctx
