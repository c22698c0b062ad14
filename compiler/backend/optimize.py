# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# (llvmlite has no complete types)
"""Runs LLVM's optimisation pipeline, and converts LLVM's errors to `CompileError`."""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Generator
from contextlib import contextmanager

import llvmlite.binding as llvm

from ..base.diagnostics import UNKNOWN_LOC, error
from ..base.memory import require_room
from ..base.options import OptLevel
from ..base.phases import phase


@contextmanager
def open_module(ir: str, what: str) -> Generator[tuple[llvm.ModuleRef, llvm.ContextRef]]:
    """
    The verified module of an LLVM IR text and its LLVM context, for a `with` block. IR that LLVM rejects is
    a fault of a pass; the `CompileError` quotes LLVM, and `what` names the text.

    Each module has its own context, because modules of one context share the names of types, and contexts
    are not thread-safe. Both are freed here, as the garbage collector might free the context first.
    """
    require_room(len(ir))
    context = llvm.create_context()
    module: llvm.ModuleRef | None = None
    try:
        try:
            with phase("LLVM reads"):
                module = llvm.parse_assembly(ir, context)
                module.verify()
        except RuntimeError as exc:
            raise error(
                UNKNOWN_LOC,
                f"LLVM rejects the {what}: {str(exc).strip()}",
                "print the IR of the stage before (`--emit llvm`) and report this",
            ) from exc
        yield module, context
    finally:
        if module is not None:
            module.close()
        context.close()


_MISSED_LOOP = re.compile(rb"^(?:remark: |warning: [^\n]*: loop not )[^\n]*\n", re.MULTILINE)


@contextmanager
def without_missed_loops(*, wanted: bool) -> Generator[None]:
    """
    Suppresses LLVM's warnings on standard error about loops that were marked for vectorisation but not
    vectorised, as they name no place in the program. llvmlite offers no other way. Does nothing without
    `wanted`.
    """
    if not wanted:
        yield
        return
    with tempfile.TemporaryFile() as said:
        before = os.dup(2)
        os.dup2(said.fileno(), 2)
        try:
            yield
        finally:
            os.dup2(before, 2)
            os.close(before)
            said.seek(0)
            rest = _MISSED_LOOP.sub(b"", said.read())
            if rest:
                os.write(2, rest)


def optimize(
    module: llvm.ModuleRef,
    machine: llvm.TargetMachine,
    opt_level: OptLevel,
    *,
    vectorize: bool = True,
    pack: bool = True,
) -> None:
    """
    Runs LLVM's standard pipeline of `opt_level`, with vectorisation from level 2 on: that of loops only if
    `vectorize`, and that of straight-line code only if `pack`.
    """
    options = llvm.create_pipeline_tuning_options(speed_level=opt_level)
    options.loop_vectorization = vectorize and opt_level >= 2
    options.slp_vectorization = pack and opt_level >= 2
    options.loop_interleaving = opt_level >= 2
    options.loop_unrolling = opt_level >= 2
    builder = llvm.create_pass_builder(machine, options)
    passes = builder.getModulePassManager()
    passes.run(module, builder)
    passes.close()
    builder.close()
