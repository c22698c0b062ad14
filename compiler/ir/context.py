"""The xDSL context that all stages share, with the dialects that are legal at some stage."""

from __future__ import annotations

from xdsl.context import Context
from xdsl.dialects import acc, arith, cf, gpu, math, scf, test
from xdsl.dialects.builtin import Builtin

from ...dialects import acc_text, atomic_stores, effects, upstream_text
from ...dialects.accx import ACCX
from ...dialects.llvm_ext import LLVM_EXT
from ...dialects.nvvm import NVVM


def make_context() -> Context:
    """A context with every dialect of the pipeline loaded."""
    acc_text.complete()
    effects.complete()
    upstream_text.complete()
    atomic_stores.complete()
    ctx = Context()
    for dialect in (
        Builtin,
        acc.ACC,
        arith.Arith,
        cf.Cf,
        gpu.GPU,
        LLVM_EXT,
        math.Math,
        NVVM,
        scf.Scf,
        test.Test,
        ACCX,
    ):
        ctx.load_dialect(dialect)
    return ctx
