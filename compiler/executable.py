"""
From sources to an executable: LLVM IR for the host, PTX for the device, and the site table.

Executables are cached on disk by the content of the preprocessed sources, the options and the
compiler itself, so that a program that has not changed goes straight from the preprocessor to the JIT.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from .backend.cache import DiskCache, content_key
from .backend.host_ahead import HostAhead
from .backend.toolkit import find_ptxas
from .base.deep_stack import with_deep_stack
from .base.diagnostics import UNKNOWN_LOC, Diagnostic, DiagnosticSink, from_plain, to_plain
from .base.options import CompileOptions
from .base.phases import LOADING, phase
from .checked_files import CheckedFiles
from .file_helpers import helped
from .files_apart import may_be_apart, program_apart
from .fingerprint import compiler_fingerprint
from .process import without_collection

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp
    from xdsl.ir import Attribute, Operation

    from .c.ast import TranslationUnit
    from .c.kept_files import KeptFiles
    from .c.preprocess import PreprocessedSource, PreprocessOptions
    from .pipeline import StageCallback
    from .register_pressure import Retry

PlainValue: TypeAlias = "str | int | list[PlainValue] | dict[str, PlainValue]"


@dataclass(frozen=True)
class Executable:
    """
    A compiled program, ready for `Program`: `host_ir` is LLVM IR text, `ptx` the device code (empty
    unless the target is a GPU and there are constructs), `sites` the site table as plain
    dictionaries, `kernels` the `gpu.module` that the simulator runs, `sources` what it was made of.
    """

    host_ir: str
    ptx: str
    sites: tuple[dict[str, Any], ...]
    options: CompileOptions
    kernels: Operation | None = None
    sources: tuple[PreprocessedSource, ...] = ()


def _plain(attr: Attribute) -> PlainValue:
    """An attribute of the site table as a plain Python value."""
    from xdsl.dialects import builtin

    from ..dialects.dense import integers

    match attr:
        case builtin.StringAttr():
            return attr.data
        case builtin.IntegerAttr():
            return attr.value.data
        case builtin.SymbolRefAttr():
            return attr.string_value()
        case builtin.ArrayAttr():
            return [_plain(a) for a in attr.data]
        case builtin.DenseArrayBase():
            return list(integers(attr))
        case builtin.DictionaryAttr():
            return {k: _plain(v) for k, v in attr.data.items()}
        case _:
            raise TypeError(f"{attr} cannot stand in the site table")


def site_table(module: ModuleOp) -> tuple[dict[str, Any], ...]:
    """The module attribute `accx.sites` as plain dictionaries."""
    from ..dialects.accx import SITES

    attr = module.attributes.get(SITES)
    if attr is None:
        return ()
    table = _plain(attr)
    assert isinstance(table, list)
    return tuple(entry for entry in table if isinstance(entry, dict))


def preprocess_options(options: CompileOptions) -> PreprocessOptions:
    """What the preprocessor needs to know of the options."""
    from .c.preprocess import PreprocessOptions

    return PreprocessOptions(
        options.include_dirs,
        options.defines,
        options.undefines,
        options.use_system_cpp,
        options.openmp,
        options.c23,
        options.quote_dirs,
        options.after_dirs,
        options.standard_dirs,
        options.forced_includes,
        options.forced_macros,
    )


@with_deep_stack
def front_end(paths: Sequence[Path], options: CompileOptions, sink: DiagnosticSink) -> ModuleOp:
    """The acc-level module of the C files of one program. Raises `CompileError`."""
    from ..dialects.quick_xdsl import attributes_unchecked
    from .c.program import load_program
    from .irgen import generate_module

    reading = preprocess_options(options)
    with helped(paths, reading, options.target) as helpers:
        kept = CheckedFiles(helpers=helpers)
        units = load_program(paths, reading, sink, options.target, wall=options.wall, kept=kept)
    with attributes_unchecked(not options.checks_ir):
        return generate_module(units, sink)


@with_deep_stack
def build(
    paths: Sequence[Path],
    options: CompileOptions,
    sink: DiagnosticSink,
    after_stage: StageCallback | None = None,
    *,
    cached: bool = True,
) -> Executable:
    """
    Compiles the C files of one program. An `after_stage` sees the module at every stage, so that
    nothing is taken from the cache then.

    Raises `CompileError` for what is wrong with the program; warnings and remarks go to `sink`.
    """
    from .c.program import preprocess_program

    reading = preprocess_options(options)
    with helped(paths, reading, options.target, options) as helpers:
        kept = CheckedFiles(helpers=helpers)
        sources = preprocess_program(paths, reading, sink, kept)
        return build_sources(sources, options, sink, after_stage, cached=cached, kept=kept)


@with_deep_stack
def build_sources(
    sources: Sequence[PreprocessedSource],
    options: CompileOptions,
    sink: DiagnosticSink,
    after_stage: StageCallback | None = None,
    *,
    cached: bool = True,
    kept: KeptFiles | None = None,
) -> Executable:
    """As `build`, from files that are preprocessed. `kept` has what is known of them (the user's cache)."""
    texts = [part for source in sources for part in (source.file, source.text)]
    assembler = str(find_ptxas()) if options.target == "nvptx" else ""
    chosen = json.dumps(options.beyond_preprocessing(), sort_keys=True)
    key = content_key("program", compiler_fingerprint(), assembler, chosen, *texts)
    store = DiskCache.default("program")
    # The simulator's kernels are IR in memory; the text of added passes is not part of the key.
    cached = cached and options.target != "sim" and not options.added_passes
    made: list[Executable] = []

    def make() -> bytes:
        before = len(sink.diagnostics)
        if options.managed and options.target == "sim":
            sink.warn(
                UNKNOWN_LOC,
                "the simulated GPU shares no memory with the host: data clauses decide what is moved",
                "write data clauses, or use another target",
            )
        ahead = HostAhead()
        try:
            with without_collection():
                found = _translate(
                    sources, options, sink, after_stage, kept or CheckedFiles(), ahead
                )
            made.append(found)
        finally:
            ahead.finish(made[0].host_ir if made else None)
        return _to_json(made[0], sink.diagnostics[before:])

    if not cached or after_stage is not None:
        make()
        return replace(made[0], sources=tuple(sources))
    data = store.get_or_make(key, make)
    executable = made[0] if made else _from_json(data, options, sink)
    return replace(executable, sources=tuple(sources))


def _translate(
    sources: Sequence[PreprocessedSource],
    options: CompileOptions,
    sink: DiagnosticSink,
    after_stage: StageCallback | None,
    kept: KeptFiles,
    ahead: HostAhead,
) -> Executable:
    """
    Compiles preprocessed sources, file by file where that can be (`files_apart.py`). Where a GPU's registers
    do not suffice (`relieve`), they are scheduled, and compiled from there, once more. `ahead` makes the
    host code meanwhile.
    """
    with phase(LOADING):
        from .c.program import check_program

    units = check_program(sources, sink, options.target, wall=options.wall, kept=kept)
    if after_stage is None and may_be_apart(units, sources, options):
        host_ir = program_apart(units, sources, options, sink)
        if host_ir is not None:
            return Executable(host_ir, "", (), options)
    if options.target != "nvptx":
        return _translate_once(units, options, sink, after_stage, ahead)
    from .register_pressure import Retry, may_retry, relieve

    if not may_retry(options):
        return _translate_once(units, options, sink, after_stage, ahead)
    retry = Retry()
    executable = _translate_once(units, options, sink, after_stage, ahead, retry)
    return relieve(
        executable,
        retry.side_by_side.counts,
        lambda o: translate(retry.copy(), o, DiagnosticSink()),
    )


def _translate_once(
    units: Sequence[TranslationUnit],
    options: CompileOptions,
    sink: DiagnosticSink,
    after_stage: StageCallback | None,
    ahead: HostAhead,
    retry: Retry | None = None,
) -> Executable:
    with phase(LOADING):
        from ..dialects.quick_xdsl import attributes_unchecked
        from .irgen import generate_module

    with attributes_unchecked(not options.checks_ir):
        module = generate_module(units, sink)
    return translate(module, options, sink, after_stage, retry, ahead)


def translate(
    module: ModuleOp,
    options: CompileOptions,
    sink: DiagnosticSink,
    after_stage: StageCallback | None = None,
    retry: Retry | None = None,
    ahead: HostAhead | None = None,
) -> Executable:
    """
    The executable of a module at any stage before the target's last one, which changes on the way. Raises
    `CompileError` for what passes refuse; warnings and remarks go to `sink`. `retry` keeps of a module that
    has not passed `schedule-loops` what another schedule begins with.
    """
    with phase(LOADING):
        from ..passes.ir.messages import take_messages
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
        host_ir = emit_text(module, "llvm", options)
        if options.target == "nvptx" and ahead is not None:
            ahead.start(host_ir, options.opt_level)
    ptx = emit_text(module, "ptx", options, device) if options.target == "nvptx" else ""
    return Executable(host_ir, ptx, site_table(module), options, kernels)


def _to_json(executable: Executable, diagnostics: Sequence[Diagnostic]) -> bytes:
    fields = {
        "host_ir": executable.host_ir,
        "ptx": executable.ptx,
        "sites": executable.sites,
        "diagnostics": [to_plain(each) for each in diagnostics],
    }
    return json.dumps(fields).encode()


def _from_json(data: bytes, options: CompileOptions, sink: DiagnosticSink) -> Executable:
    """The executable, with the warnings of its compilation added to `sink` again."""
    fields = json.loads(data)
    sink.diagnostics += map(from_plain, fields["diagnostics"])
    return Executable(fields["host_ir"], fields["ptx"], tuple(fields["sites"]), options)
