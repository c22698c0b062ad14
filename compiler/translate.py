"""
From checked C to code: `module_of` makes the acc level, `translate` runs the passes of the target on it and
emits its texts.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import TYPE_CHECKING

from .backend.host_ahead import HostAhead
from .base.diagnostics import DiagnosticSink
from .base.options import CompileOptions
from .base.phases import LOADING, phase
from .compiled import Executable, site_table

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp

    from .c.ast import TranslationUnit
    from .kept_functions import KeptFunctions
    from .pipeline import StageCallback
    from .register_pressure import Retry


def module_of(
    units: Sequence[TranslationUnit],
    options: CompileOptions,
    sink: DiagnosticSink,
    mark: str = "",
    *,
    release: bool = False,
) -> ModuleOp:
    """The acc-level module of checked files; `mark` and `release` as for `generate_module`."""
    with phase(LOADING):
        from ..dialects.quick_xdsl import attributes_unchecked
        from .irgen import generate_module
    with attributes_unchecked(not options.checks_ir):
        return generate_module(units, sink, mark=mark, release=release)


def load() -> None:
    """Loads what `module_of` and `translate` need for any program."""
    here = __name__.rpartition(".")[0]
    with phase(LOADING):
        for name in ("irgen", "emit", "ir.context", "pipeline"):
            import_module(f"{here}.{name}")


def executable_of(
    module: ModuleOp,
    options: CompileOptions,
    sink: DiagnosticSink,
    after_stage: StageCallback | None = None,
    ahead: HostAhead | None = None,
    kept: KeptFunctions | None = None,
) -> Executable:
    """
    As `translate`; where a GPU's registers do not suffice (`relieve`), it repeats the compilation from
    `schedule-loops` on.
    """
    if options.target != "nvptx":
        return translate(module, options, sink, after_stage, None, ahead, kept)
    from .register_pressure import Retry, may_retry, relieve

    if not may_retry(options):
        return translate(module, options, sink, after_stage, None, ahead, kept)
    retry = Retry()
    executable = translate(module, options, sink, after_stage, retry, ahead, kept)
    return relieve(
        executable,
        retry.side_by_side.counts,
        lambda o: translate(retry.copy(), o, DiagnosticSink(), None, None, None, kept),
    )


def translate(
    module: ModuleOp,
    options: CompileOptions,
    sink: DiagnosticSink,
    after_stage: StageCallback | None = None,
    retry: Retry | None = None,
    ahead: HostAhead | None = None,
    kept: KeptFunctions | None = None,
) -> Executable:
    """
    The executable of a module at any stage before the target's last one, which changes on the way. Raises
    `CompileError` for what passes refuse; warnings and remarks go to `sink`. `retry` keeps a copy of the
    module before `schedule-loops`, for another schedule; `kept` adds
    the functions that the module leaves out.
    """
    with phase(LOADING):
        from ..passes.ir.ops.messages import take_messages
        from .emit import detach_kernels, emit_text, ptx_ahead
        from .ir.context import make_context
        from .pipeline import run_to_stage

    def seen(stage: str, module: ModuleOp) -> None:
        if retry is not None:
            retry.side_by_side.see(stage, module)
        if after_stage is not None:
            after_stage(stage, module)

    ctx = make_context()
    kernels = None
    device: str | None = None
    with ptx_ahead(options) as make_ptx:
        try:
            if options.target == "nvptx" and after_stage is None:
                with phase(LOADING):
                    from .shared_work import share_device_work

                device = share_device_work(ctx, module, options, retry, use_kernels=make_ptx)
            if retry is not None and device is None:
                run_to_stage(
                    ctx, module, "nvvm", options, after_stage=seen, stop_before="schedule-loops"
                )
                retry.keep(module)
            if options.target == "sim":
                run_to_stage(ctx, module, "runtime", options, after_stage=seen)
                kernels = detach_kernels(module)
            run_to_stage(ctx, module, "nvvm", options, after_stage=seen)
        finally:
            sink.diagnostics += take_messages(module, wall=options.wall)
        emitted = kept.text_of_host if kept is not None else None
        host_ir = emitted(module, options) if emitted else emit_text(module, "llvm", options)
        if options.target == "nvptx" and ahead is not None:
            ahead.start(host_ir, options.opt_level)
    ptx = emit_text(module, "ptx", options, device) if options.target == "nvptx" else ""
    return Executable(host_ir, ptx, site_table(module), options, kernels)
