"""
The C files of one program, preprocessed, parsed and checked.

The files become one module; IR generation names its symbols. `agreement.py` checks that files agree on the
names they share.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from ..base.diagnostics import CompileError, Diagnostic, DiagnosticSink
from ..base.phases import LOADING, phase, working_on
from .preprocess import PreprocessedSource, PreprocessOptions
from .preprocess_kept import preprocess_or_find
from .preprocess_sources import Headers

if TYPE_CHECKING:
    from .ast import TranslationUnit
    from .kept_files import KeptFiles


def load_program(
    paths: Sequence[Path],
    options: PreprocessOptions | None,
    sink: DiagnosticSink,
    target: str = "host",
    *,
    wall: bool = False,
) -> list[TranslationUnit]:
    """
    The typed trees of the C files `paths`, in order, with the clauses that hold on `target`.
    Warnings go to `sink`, with `wall` those of `-Wall` too. Raises `CompileError` with the mistakes of
    all files, or where two files disagree.
    """
    sources = preprocess_program(paths, options, sink)
    return check_program(sources, sink, target, wall=wall)


def preprocess_program(
    paths: Sequence[Path],
    options: PreprocessOptions | None,
    sink: DiagnosticSink,
    kept: KeptFiles | None = None,
    headers: Headers | None = None,
) -> list[PreprocessedSource]:
    """
    The preprocessed files, each from `kept` where that has it; `headers` are those that have been read.
    Raises `CompileError` with the first mistake of every file.
    """
    headers = headers or Headers()
    with phase("preprocess"):
        return _each(paths, lambda path: preprocess_or_find(path, options, sink, headers, kept))


def check_program(
    sources: Sequence[PreprocessedSource],
    sink: DiagnosticSink,
    target: str = "host",
    *,
    wall: bool = False,
    kept: KeptFiles | None = None,
) -> list[TranslationUnit]:
    """
    The typed trees of preprocessed files, each from `kept` where that has it. Raises `CompileError` as
    `load_program` does.
    """
    with phase(LOADING):
        from .agreement import check_agreement
        from .warnings import check_unit

    with phase("check"):
        with _sharing() if new_files(sources, target, kept) else nullcontext():
            units = _each(sources, lambda source: check_file(source, sink, target, kept))
        check_agreement(units, sink)
        for unit in units:
            check_unit(unit, sink, wall=wall)
    return [*units, *(_own_unit(name, target, kept) for name in own_files(units))]


def new_files(
    sources: Sequence[PreprocessedSource], target: str, kept: KeptFiles | None
) -> list[PreprocessedSource]:
    """The files whose typed trees `kept` does not have."""
    return [s for s in sources if kept is None or not kept.has(s.file, s.text, target)]


def _sharing() -> AbstractContextManager[None]:
    with phase(LOADING):
        from .shared_declarations import shared_declarations

    return shared_declarations()


def check_file(
    source: PreprocessedSource,
    sink: DiagnosticSink,
    target: str,
    kept: KeptFiles | None,
    *,
    keep: bool = True,
) -> TranslationUnit:
    """
    The typed tree of one file, from `kept` if that has it, which gets it otherwise if it is to `keep` it.
    Raises `CompileError` with its mistakes.
    """
    if kept is None:
        from .sema import check_translation_unit

        return check_translation_unit(source, sink, target)
    from .kept import from_bytes

    data = kept.get(source.file, source.text, target)
    if data is not None:
        with phase("read checked files"):
            found = from_bytes(data)
        if found is not None:
            unit, messages = found
            sink.diagnostics += messages
            return unit
    own = DiagnosticSink()
    try:
        with working_on([source.file]):
            unit = check_file(source, own, target, None)
    finally:
        sink.diagnostics += own.diagnostics
    if keep:
        keep_file(source, unit, own.diagnostics, target, kept)
    return unit


def keep_file(
    source: PreprocessedSource,
    unit: TranslationUnit,
    messages: Sequence[Diagnostic],
    target: str,
    kept: KeptFiles,
) -> None:
    """Has `kept` keep the typed tree of a file and the messages of its checking."""
    from .kept import to_bytes

    with phase("keep checked files"):
        data = to_bytes(unit, messages)
        if data is not None:
            kept.put(source.file, source.text, target if unit.is_of_target else None, data)


def own_files(units: Sequence[TranslationUnit]) -> list[str]:
    """Which files of ours a program of these units has, too."""
    openmp = _openmp_file(units)
    found = [] if openmp is None else [f"openmp/{openmp}"]
    return [*found, "thread_locals.c"] if any(u.has_thread_locals for u in units) else found


def _openmp_file(units: Sequence[TranslationUnit]) -> str | None:
    """The file of our OpenMP runtime that the program needs, for functions of `omp.h` or for its
    directives; None if it needs none."""
    if any(unit.has_openmp or _declares(unit, "__accopt_omp_threads") for unit in units):
        return "runtime.c"
    if any(_declares(unit, "omp_get_num_procs") for unit in units):
        return "serial.c"
    return None


def _declares(unit: TranslationUnit, name: str) -> bool:
    """Whether a file declares the function and does not define it."""
    return any(f.name == name and f.body is None and not f.is_static for f in unit.functions)


def _own_unit(name: str, target: str, kept: KeptFiles | None) -> TranslationUnit:
    """The checked tree of one of our own C files."""
    return check_file(own_source(name, kept), DiagnosticSink(), target, kept)


def own_source(name: str, kept: KeptFiles | None) -> PreprocessedSource:
    """One of our own C files, preprocessed; `name` is its path in this folder."""
    path = Path(__file__).parent / name
    return preprocess_or_find(path, PreprocessOptions(), DiagnosticSink(), kept=kept)


_In = TypeVar("_In")
_Out = TypeVar("_Out")


def _each(items: Sequence[_In], function: Callable[[_In], _Out]) -> list[_Out]:
    """`function` of every item; raises one `CompileError` with the mistakes of all items."""
    results: list[_Out] = []
    mistakes: list[Diagnostic] = []
    for item in items:
        try:
            results.append(function(item))
        except CompileError as e:
            mistakes += e.diagnostics
    if mistakes:
        raise CompileError(mistakes)
    return results
