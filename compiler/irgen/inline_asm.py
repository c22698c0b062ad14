"""Inline assembly (`c/sema/inline_asm.py`) → `llvm.inline_asm`, in host code only."""

from __future__ import annotations

from xdsl.dialects import llvm
from xdsl.dialects.llvm import LLVMStructType

from ..c import ast as c
from .device_assembly import is_empty
from .function import FunctionState


def statement(fn: FunctionState, e: c.Asm) -> None:
    """Emits the statement, and stores its results."""
    if is_empty(e):
        return
    inputs = [fn.rvalue(value) for value in e.inputs]
    targets = [fn.rvalue(target) for target in e.outputs]
    fn.b.at(e.loc)
    types = [fn.module.types.convert(t) for t in e.output_types]
    results = types if len(types) < 2 else [LLVMStructType.from_type_list(types)]
    op = fn.b.add(
        llvm.InlineAsmOp(e.template, e.constraints, inputs, results, has_side_effects=e.is_volatile)
    )
    for number, (target, t) in enumerate(zip(targets, types, strict=True)):
        assert op.res is not None
        value = op.res
        if len(types) > 1:
            value = fn.b.part(op.res, number, t)
        fn.b.store(value, target)
