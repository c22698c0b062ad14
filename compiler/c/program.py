"""
The C files of one program, preprocessed, parsed and checked.

The files become one module; IR generation names its symbols. What only the whole program shows, that files
which share a name agree on what it is, is checked in `agreement.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from ..base.diagnostics import CompileError, Diagnostic, DiagnosticSink
from ..base.phases import LOADING, phase
from .preprocess import PreprocessedSource, PreprocessOptions, preprocess

if TYPE_CHECKING:
    from .ast import TranslationUnit


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
    return check_program(preprocess_program(paths, options, sink), sink, target, wall=wall)


def preprocess_program(
    paths: Sequence[Path], options: PreprocessOptions | None, sink: DiagnosticSink
) -> list[PreprocessedSource]:
    """The preprocessed files. Raises `CompileError` with the first mistake of every file."""
    with phase("preprocess"):
        return _each(paths, lambda path: preprocess(path, options, sink))


def check_program(
    sources: Sequence[PreprocessedSource],
    sink: DiagnosticSink,
    target: str = "host",
    *,
    wall: bool = False,
) -> list[TranslationUnit]:
    """The typed trees of preprocessed files. Raises `CompileError` as `load_program` does."""
    with phase(LOADING):
        from .agreement import check_agreement
        from .sema import check_translation_unit

    with phase("check"):
        units = _each(sources, lambda source: check_translation_unit(source, sink, target))
        check_agreement(units, sink)
    if wall:
        from .warnings import check_unit

        for unit in units:
            check_unit(unit, sink)
    openmp = _openmp_file(units)
    if openmp is not None:
        units.append(_openmp_unit(openmp, target))
    return units


def _openmp_file(units: Sequence[TranslationUnit]) -> str | None:
    """Which of our files defines what the program uses of `omp.h`, or what its directives need."""
    if any(unit.has_openmp or _declares(unit, "__accopt_omp_threads") for unit in units):
        return "runtime.c"
    if any(_declares(unit, "omp_get_num_procs") for unit in units):
        return "serial.c"
    return None


def _declares(unit: TranslationUnit, name: str) -> bool:
    """Whether a file declares the function and leaves it to others to define it."""
    return any(f.name == name and f.body is None and not f.is_static for f in unit.functions)


def _openmp_unit(name: str, target: str) -> TranslationUnit:
    """A file of OpenMP's routines."""
    from .sema import check_translation_unit

    path = Path(__file__).parent / "openmp" / name
    source = preprocess(path, PreprocessOptions(), DiagnosticSink())
    return check_translation_unit(source, DiagnosticSink(), target)


_In = TypeVar("_In")
_Out = TypeVar("_Out")


def _each(items: Sequence[_In], function: Callable[[_In], _Out]) -> list[_Out]:
    """`function` of every item; raises the mistakes of all of them together."""
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
