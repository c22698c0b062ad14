"""
From sources to an executable: LLVM IR for the host, PTX for the device, and the site table.

Executables are cached on disk by the content of the preprocessed sources, the options and the
compiler itself, so that a program that has not changed goes straight from the preprocessor to the JIT.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from .backend.cache import DiskCache, content_key
from .backend.host_ahead import HostAhead
from .backend.toolkit import find_ptxas
from .base.deep_stack import with_deep_stack
from .base.diagnostics import UNKNOWN_LOC, CompileError, DiagnosticSink
from .base.options import CompileOptions
from .base.phases import LOADING, phase, working_on
from .check_ahead import CheckAhead
from .checked_files import CheckedFiles
from .compiled import Executable, executable_from_json, executable_to_json
from .file_copies import FilesAhead
from .files_apart import may_be_apart
from .fingerprint import compiler_fingerprint
from .kept_functions import KeptFunctions, NotKept
from .process import without_collection
from .program_apart import program_apart
from .translate import executable_of, load, module_of, translate

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp

    from .c.ast import TranslationUnit
    from .c.kept_files import KeptFiles
    from .c.preprocess import PreprocessedSource
    from .pipeline import StageCallback


class FrontEnd:
    """
    The front end for the C files of one program. It preprocesses them when it is made, and a copy of this
    process may check them from then on, while this process loads modules. Messages go to `sink`.
    """

    def __init__(
        self, paths: Sequence[Path], options: CompileOptions, sink: DiagnosticSink
    ) -> None:
        self._options, self._sink = options, sink
        self._mistakes: CompileError | None = None
        try:
            self._sources, self._kept = _preprocessed(paths, options, sink, alone=None)
        except CompileError as e:
            self._mistakes = e
            return
        self._ahead = CheckAhead(self._sources, options.target, self._kept)

    def module(self) -> ModuleOp:
        """The acc-level module. Raises `CompileError`."""
        if self._mistakes is not None:
            raise self._mistakes
        return _module_of(self._sources, self._options, self._sink, self._kept, self._ahead)


@with_deep_stack
def front_end(paths: Sequence[Path], options: CompileOptions, sink: DiagnosticSink) -> ModuleOp:
    """The acc-level module of the C files of one program. Raises `CompileError`."""
    return FrontEnd(paths, options, sink).module()


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
    Compiles the C files of one program. `after_stage` gets the module at every stage; with it, no
    executable is taken from the cache.

    Raises `CompileError` for mistakes in the program; warnings and remarks go to `sink`.
    """
    alone = options if after_stage is None else None
    sources, kept = _preprocessed(paths, options, sink, alone)
    return build_sources(sources, options, sink, after_stage, cached=cached, kept=kept)


@with_deep_stack
def build_ir(
    path: Path,
    options: CompileOptions,
    sink: DiagnosticSink,
    after_stage: StageCallback | None = None,
) -> Executable:
    """
    Compiles a program from a file of its IR, from the stage at which that was saved. Raises `CompileError`
    for what is wrong with it; warnings and remarks go to `sink`.
    """
    with phase(LOADING):
        from xdsl.utils.exceptions import DiagnosticException, VerifyException

        from .internal_error import mistakes_in_ir
        from .ir.context import make_context
        from .ir.reading import check_saved, parse_ir, read_ir_text

    try:
        with phase("read IR"):
            module = parse_ir(make_context(), read_ir_text(path), str(path), check_saved)
        return translate(module, options, sink, after_stage)
    except (VerifyException, DiagnosticException) as e:
        raise CompileError(mistakes_in_ir(e)) from e


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
    """As `build`, from preprocessed files. `kept` holds their checked trees (by default the user's
    cache)."""
    texts = [part for source in sources for part in (source.file, source.text)]
    assembler = str(find_ptxas()) if options.target == "nvptx" else ""
    key = content_key("program", compiler_fingerprint(), assembler, options.key(), *texts)
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
            with without_collection(), working_on([source.file for source in sources]):
                found = _translate(
                    sources, options, sink, after_stage, kept or CheckedFiles(), ahead
                )
            made.append(found)
        finally:
            ahead.finish(made[0].host_ir if made else None)
        return executable_to_json(made[0], sink.diagnostics[before:])

    if not cached or after_stage is not None:
        make()
        return replace(made[0], sources=tuple(sources))
    data = store.get_or_make(key, make)
    executable = made[0] if made else executable_from_json(data, options, sink)
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
    Compiles preprocessed sources, file by file where that is possible (`program_apart.py`); otherwise
    `ahead` compiles the host code at the same time.
    """
    if after_stage is None and may_be_apart(sources, options):
        found = program_apart(sources, options, kept, sink)
        if found is not None:
            return found
    functions = KeptFunctions.of(sources, options) if after_stage is None else None
    if functions is not None and functions.left_out:
        own = DiagnosticSink()
        rest = functions.reduced if _are_new(sources, options, kept) else sources
        # The whole program is compiled if something is wrong, so that messages are complete.
        with suppress(CompileError, NotKept):
            made = _compiled(rest, options, own, kept, ahead, functions)
            sink.diagnostics += own.diagnostics
            return made
        functions.whole()
    if functions is not None:
        return _compiled(sources, options, sink, kept, ahead, functions)
    checked = CheckAhead(sources, options.target, kept)
    module = _module_of(sources, options, sink, kept, checked)
    return executable_of(module, options, sink, after_stage, ahead)


def _are_new(
    sources: Sequence[PreprocessedSource], options: CompileOptions, kept: KeptFiles
) -> bool:
    """Whether a file's typed tree is not kept."""
    with phase(LOADING):
        from .c.program import new_files
    return bool(new_files(sources, options.target, kept))


def _compiled(
    sources: Sequence[PreprocessedSource],
    options: CompileOptions,
    sink: DiagnosticSink,
    kept: KeptFiles,
    ahead: HostAhead,
    functions: KeptFunctions,
) -> Executable:
    """
    Compiles the program that `functions` are of, or the rest of it without some of them, and has them kept;
    `sources` are those of the program or of the rest. Raises `NotKept` if the rest does not suffice.
    """
    before = len(sink.diagnostics)
    checked = CheckAhead(sources, options.target, kept)

    def see(units: Sequence[TranslationUnit]) -> None:
        functions.cut(units)
        functions.see_units(units)

    module = _module_of(sources, options, sink, kept, checked, see)
    functions.see_module(module)
    made = executable_of(module, options, sink, None, ahead, functions)
    functions.keep(sink.diagnostics[before:])
    return made


def _preprocessed(
    paths: Sequence[Path],
    options: CompileOptions,
    sink: DiagnosticSink,
    alone: CompileOptions | None,
) -> tuple[Sequence[PreprocessedSource], KeptFiles]:
    """The preprocessed files of a program, and what is kept of them; `alone` as for `FilesAhead`."""
    with phase(LOADING):
        from .c.preprocess_sources import Headers
        from .c.program import preprocess_program
    reading, headers = options.preprocessing(), Headers()
    kept = FilesAhead(paths, reading, options.target, alone, headers).kept
    return preprocess_program(paths, reading, sink, kept, headers), kept


def _module_of(
    sources: Sequence[PreprocessedSource],
    options: CompileOptions,
    sink: DiagnosticSink,
    kept: KeptFiles,
    ahead: CheckAhead,
    see: Callable[[Sequence[TranslationUnit]], object] = len,
) -> ModuleOp:
    """The acc-level module of a program's preprocessed files, which `ahead` checks; `see` gets their typed
    trees."""
    with phase(LOADING):
        from .c.program import check_program
    load()
    ahead.finish()

    def units() -> Sequence[TranslationUnit]:
        found = check_program(sources, sink, options.target, wall=options.wall, kept=kept)
        see(found)
        return found

    # No variable refers to the trees here, so that their memory is free for what follows.
    release = not any(source.has_directives for source in sources)
    return module_of(units(), options, sink, release=release)
