"""LLVM's optimisation pipeline, and LLVM's own errors as ours."""

from __future__ import annotations

from typing import Literal

import llvmlite.binding as llvm

from ..diagnostics import UNKNOWN_LOC, error

OptLevel = Literal[0, 1, 2, 3]


def parse_module(ir: str, what: str, context: llvm.ContextRef) -> llvm.ModuleRef:
    """
    The verified module of an LLVM IR text; `context` owns it and must be its own: modules of one
    context share the names of types, and are not thread-safe. IR that LLVM rejects is a fault of a pass; the error
    then quotes LLVM and `what` names the text.
    """
    try:
        module = llvm.parse_assembly(ir, context)
        module.verify()
    except RuntimeError as exc:
        raise error(
            UNKNOWN_LOC,
            f"LLVM rejects the {what}: {str(exc).strip()}",
            "print the IR of the stage before (`--emit llvm`) and report this",
        ) from exc
    return module


def optimize(module: llvm.ModuleRef, machine: llvm.TargetMachine, opt_level: OptLevel) -> None:
    """Runs LLVM's standard pipeline of `opt_level`, with vectorisation from level 2 on."""
    options = llvm.create_pipeline_tuning_options(speed_level=opt_level)
    options.loop_vectorization = opt_level >= 2
    options.slp_vectorization = opt_level >= 2
    options.loop_interleaving = opt_level >= 2
    options.loop_unrolling = opt_level >= 2
    builder = llvm.create_pass_builder(machine, options)
    builder.getModulePassManager().run(module, builder)
