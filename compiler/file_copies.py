"""
Preprocesses, checks and compiles the files of a program in copies of this process (`backend/forks.py`), the
largest first, while this process waits. The results go into the cache, where this process finds them. Files
with mistakes, and files that a copy cannot handle, are left to this process.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from .backend.forks import ForkedCopies, copies
from .base.diagnostics import CompileError, Diagnostic, DiagnosticSink
from .base.phases import LOADING, Phase, add, apart, phase, waiting
from .checked_files import CheckedFiles
from .files_apart import (
    FileOutline,
    compile_alone,
    found_outline,
    has_group,
    is_worth_copies,
    outline_file,
    seem_plain,
)

if TYPE_CHECKING:
    from .base.options import CompileOptions
    from .c.ast import TranslationUnit
    from .c.kept_files import KeptFiles
    from .c.preprocess import PreprocessedSource, PreprocessOptions
    from .c.preprocess_sources import Headers

_T = TypeVar("_T")

_WORTH_COPIES = 200_000
"""The bytes of C, without headers, from which the work takes much longer than copying this process."""
_SURE_AFTER = 2
"""The number of newly preprocessed files from which the compiler assumes that headers, and not one file,
were edited."""


class FilesAhead:
    """
    Copies of this process for the files `paths`, which start when it is `clear` that most of the files, or
    their headers, are new. `options` are those for compiling each file alone, if possible; None if the
    files are only checked. `headers` are those read so far.
    """

    def __init__(
        self,
        paths: Sequence[Path],
        reading: PreprocessOptions,
        target: str,
        options: CompileOptions | None,
        headers: Headers,
    ) -> None:
        self.kept = CheckedFiles(is_new=self._see)
        self._paths, self._reading, self._target = paths, reading, target
        self._options, self._headers = options, headers
        self._new = 0

    def _see(self) -> None:
        """Records that a file had to be preprocessed; starts the copies after enough of them."""
        self._new += 1
        if self._new == 1:
            known = sum(self.kept.has_text(str(path), repr(self._reading)) for path in self._paths)
            self._new += _SURE_AFTER - 1 if known <= len(self._paths) // 2 else 0
        if self._new == _SURE_AFTER:
            self._work()

    def _work(self) -> None:
        # What is no regular file, as standard input, can be read once, by this process.
        sizes = {path: size for path in self._paths if (size := _size(path))}
        if self._reading.use_system_cpp or sum(sizes.values()) < _WORTH_COPIES:
            return
        paths = sorted(sizes, key=lambda path: -sizes[path])
        options = self._options
        if options is not None and (options.added_passes or not is_worth_copies([*sizes.values()])):
            options = None
        if options is not None and not seem_plain(paths):
            options = None
        with phase(LOADING):
            _preload(options)
        _shared(
            lambda path: work_ahead(path, self._reading, self._target, options, self._headers),
            paths,
        )


def _size(path: Path) -> int:
    """The size of a regular file, 0 for others."""
    return path.stat().st_size if path.is_file() else 0


def _preload(options: CompileOptions | None) -> None:
    """Loads the modules that all copies need."""
    here = f"{__name__.rpartition('.')[0]}."
    for name in ("c.sema", "c.shared_declarations", "c.program", "c.kept"):
        import_module(here + name)
    if options is not None:
        for name in ("c.warnings", "irgen", "ir.context", "llvmir", "emit", "backend.jit"):
            import_module(here + name)
        import_module(f"{here}pipeline").preload(options, plain=True)


def _shared(work: Callable[[_T], object], items: Sequence[_T]) -> None:
    """Runs `work` for each of `items`, in copies of this process if they are allowed."""
    number = copies()
    if number < 2 or len(items) < 2 or not CheckedFiles().is_usable():
        return
    from .c.shared_declarations import shared_declarations

    def recorded(index: int) -> Phase:
        with apart() as phases, suppress(CompileError, RecursionError):
            work(items[index])
        return phases

    with shared_declarations():
        forked = ForkedCopies(recorded, range(len(items)), number)
    with waiting("files, by other processes", forked.seconds):
        found = forked.finish()
    for phases in (found or {}).values():
        add(phases, beside=True)


def work_ahead(
    path: Path,
    reading: PreprocessOptions,
    target: str,
    options: CompileOptions | None = None,
    headers: Headers | None = None,
) -> None:
    """
    Preprocesses and checks a file, and with `options` also compiles it if it can be compiled alone; the
    results go into the cache. `headers`: those that other files of the program have read. Raises
    `CompileError`.
    """
    from .c.preprocess_kept import preprocess_or_find
    from .c.program import check_file

    kept = CheckedFiles()
    with phase("preprocess"):
        source = preprocess_or_find(path, reading, DiagnosticSink(), headers, kept)
    if options is None:
        if not kept.has(source.file, source.text, target):
            with phase("check"):
                check_file(source, DiagnosticSink(), target, kept)
    elif not has_group([source], options, selects_host=False):
        compile_alone(source, options, kept)


def outlines(
    sources: Sequence[PreprocessedSource],
    options: CompileOptions,
    kept: KeptFiles,
    sink: DiagnosticSink,
) -> list[tuple[FileOutline, TranslationUnit | None]]:
    """
    The outlines of the files of a program, each with its typed tree if it was checked now, in this process.
    Files without directives are also compiled if copies of the process do that. Raises `CompileError` with
    the mistakes that checking finds in all files; its other messages go to `sink` then.
    """
    found = [found_outline(source, options) for source in sources]
    missing = [source for source, file in zip(sources, found, strict=True) if file is None]
    lengths = [len(source.text) for source in missing]
    if sum(lengths) >= _WORTH_COPIES and is_worth_copies(lengths):
        with phase(LOADING):
            _preload(options)
        missing.sort(key=lambda source: -len(source.text))
        _shared(lambda source: compile_alone(source, options, kept), missing)
        pairs = zip(sources, found, strict=True)
        found = [file or found_outline(source, options) for source, file in pairs]
    with phase(LOADING):
        from .c.shared_declarations import shared_declarations

    own = DiagnosticSink()
    files: list[tuple[FileOutline, TranslationUnit | None]] = []
    mistakes: list[Diagnostic] = []
    with shared_declarations():
        for source, known in zip(sources, found, strict=True):
            try:
                files.append(
                    (known, None) if known is not None else outline_file(source, options, kept, own)
                )
            except CompileError as e:
                mistakes += e.diagnostics
                continue
            own.diagnostics += known.checked if known is not None else ()
    if mistakes:
        sink.diagnostics += own.diagnostics
        raise CompileError(mistakes)
    return files
