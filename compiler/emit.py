"""The stages that are text rather than operations: LLVM IR of host and device code, and PTX."""

from __future__ import annotations

from typing import Literal

from xdsl.dialects import gpu
from xdsl.dialects.builtin import ModuleOp

from .options import CompileOptions

TEXT_STAGES = {"llvm": "nvvm", "device-llvm": "nvvm", "ptx": "nvvm"}
"""Text stage → the stage of operations it is printed from."""


def has_kernels(module: ModuleOp) -> bool:
    """Whether the program has any device code for a GPU."""
    return any(isinstance(op, gpu.ModuleOp) for op in module.body.ops)


def detach_kernels(module: ModuleOp) -> gpu.ModuleOp | None:
    """Takes the device code out of `module`; None if there is none."""
    for op in module.body.ops:
        if isinstance(op, gpu.ModuleOp):
            op.detach()
            return op
    return None


def emit_text(module: ModuleOp, stage: str, options: CompileOptions) -> str:
    """The text of `stage` (one of `TEXT_STAGES`) for a module at stage `nvvm`."""
    from .backend.cache import DiskCache
    from .backend.ptx import emit_ptx
    from .llvmir import print_llvm_module

    def print_module(target: Literal["host", "nvptx"]) -> str:
        return print_llvm_module(
            module,
            target=target,
            contract=options.fma,
            relaxed=options.fast_math,
            flush_denormals=options.fast_math,
            debug_lines=options.debug_info,
        )

    if stage == "llvm":
        return print_module("host")
    if not has_kernels(module):
        return ""
    device = print_module("nvptx")
    if stage == "device-llvm":
        return device
    return emit_ptx(
        device, sm=options.sm, opt_level=options.opt_level, cache=DiskCache.default("ptx")
    )
