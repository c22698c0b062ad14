"""The stages that are text rather than operations: LLVM IR of host and device code, and PTX."""

from __future__ import annotations

from xdsl.dialects import gpu
from xdsl.dialects.builtin import ModuleOp

from .options import CompileOptions

TEXT_STAGES = {"llvm": "nvvm", "device-llvm": "nvvm", "ptx": "nvvm"}
"""Text stage → the stage of operations it is printed from."""


def has_kernels(module: ModuleOp) -> bool:
    """Whether the program has any device code for a GPU."""
    return any(isinstance(op, gpu.ModuleOp) for op in module.body.ops)


def emit_text(module: ModuleOp, stage: str, options: CompileOptions) -> str:
    """The text of `stage` (one of `TEXT_STAGES`) for a module at stage `nvvm`."""
    from .backend.ptx import emit_ptx
    from .llvmir import print_llvm_module

    if stage == "llvm":
        return print_llvm_module(module, target="host")
    if not has_kernels(module):
        return ""
    device = print_llvm_module(module, target="nvptx")
    if stage == "device-llvm":
        return device
    return emit_ptx(device, sm=options.sm)
