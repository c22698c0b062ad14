"""The stages that are texts: LLVM IR of host and device code, and PTX."""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Literal

from xdsl.dialects import gpu
from xdsl.dialects.builtin import ModuleOp

from .base.machine import target_machine
from .base.options import CompileOptions
from .base.phases import LOADING, phase

if TYPE_CHECKING:
    from .backend.ptx import PtxAhead
    from .llvmir.symbols import SymbolText

TEXT_STAGES = {"llvm": "nvvm", "device-llvm": "nvvm", "ptx": "nvvm"}
"""Text stage → the stage of operations from which it is printed."""


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


def compilers_fuse(machine: str = target_machine()) -> bool:
    """
    Whether C compilers for this `machine` (as `uname -m` prints it) fuse multiplications and additions by
    default: they do if every processor of its kind can. We follow them, as programs compare results with
    those of other compilers, which differ if only one of them fuses.
    """
    return machine not in ("x86_64", "AMD64", "i686", "i386")


def emit_text(
    module: ModuleOp, stage: str, options: CompileOptions, kernels: str | None = None
) -> str:
    """
    The text of `stage` (one of `TEXT_STAGES`) for a module at stage `nvvm`. `kernels` is the LLVM IR of its
    kernels if it is known already (`shared_work.py`).
    """
    from .llvmir import print_llvm_module

    def print_module(target: Literal["host", "nvptx"]) -> str:
        with phase(f"LLVM IR of {'the host' if target == 'host' else 'kernels'}", module):
            return print_llvm_module(
                module,
                target=target,
                contract=options.fma,
                contract_sequential=options.host_fma or compilers_fuse(),
                relaxed=options.fast_math,
                flush_denormals=options.fast_math,
                debug_lines=options.debug_info or (options.host_lines and target == "host"),
            )

    if stage == "llvm":
        return print_module("host")
    if kernels is None and not has_kernels(module):
        return ""
    device = print_module("nvptx") if kernels is None else kernels
    if stage == "device-llvm":
        return device
    with phase(LOADING):
        from .backend.cache import DiskCache
        from .backend.ptx import emit_ptx

    return emit_ptx(
        device, sm=options.sm, opt_level=options.opt_level, cache=DiskCache.default("ptx")
    )


def print_host(module: ModuleOp, options: CompileOptions) -> list[SymbolText]:
    """The symbols of stage `llvm` as separate texts, without line tables."""
    from .llvmir.printer import print_symbols

    return print_symbols(
        module,
        target="host",
        contract=options.fma,
        contract_sequential=options.host_fma or compilers_fuse(),
        relaxed=options.fast_math,
        flush_denormals=options.fast_math,
    )


@contextmanager
def ptx_ahead(options: CompileOptions) -> Generator[Callable[[str], None]]:
    """
    Yields a function that starts the compilation of kernels' LLVM IR to PTX in the background; at the end
    of the block, the PTX is in the cache, where `emit_text` finds it.
    """
    started: list[PtxAhead] = []

    def start(kernels: str) -> None:
        from .backend.cache import DiskCache
        from .backend.ptx import PtxAhead

        started.append(ahead := PtxAhead())
        cache = DiskCache.default("ptx")
        ahead.start(kernels, sm=options.sm, opt_level=options.opt_level, cache=cache)

    try:
        yield start
        for ahead in started:
            ahead.finish()
    finally:
        for ahead in started:
            ahead.close()
