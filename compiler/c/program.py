"""
The C files of one program, preprocessed, parsed and checked.

The files become one module; IR generation names its symbols. What only the whole program shows is
checked here: that files which share a name agree on what it is.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

from ..diagnostics import CompileError, Diagnostic, DiagnosticSink, error
from .ast import FunctionDecl, Storage, TranslationUnit, VarDecl
from .preprocess import PreprocessedSource, PreprocessOptions, preprocess


def load_program(
    paths: Sequence[Path],
    options: PreprocessOptions | None,
    sink: DiagnosticSink,
    target: str = "host",
) -> list[TranslationUnit]:
    """
    The typed trees of the C files `paths`, in order, with the clauses that hold on `target`.
    Warnings go to `sink`. Raises `CompileError` with the first mistake of every file that has one,
    or where two files disagree.
    """
    return check_program(preprocess_program(paths, options, sink), sink, target)


def preprocess_program(
    paths: Sequence[Path], options: PreprocessOptions | None, sink: DiagnosticSink
) -> list[PreprocessedSource]:
    """The preprocessed files. Raises `CompileError` with the first mistake of every file."""
    return _each(paths, lambda path: preprocess(path, options, sink))


def check_program(
    sources: Sequence[PreprocessedSource], sink: DiagnosticSink, target: str = "host"
) -> list[TranslationUnit]:
    """The typed trees of preprocessed files. Raises `CompileError` as `load_program` does."""
    from .sema import check_translation_unit

    units = _each(sources, lambda source: check_translation_unit(source, sink, target))
    check_agreement(units)
    return units


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


def check_agreement(units: Sequence[TranslationUnit]) -> None:
    """
    Raise `CompileError` where an external name is defined in two units, or is declared in ways that
    do not fit (C11 6.2.7, 6.9p5).
    """
    externals: dict[str, FunctionDecl | VarDecl] = {}
    for unit in units:
        for decl in (*unit.functions, *unit.variables):
            if not _is_external(decl):
                continue
            old = externals.setdefault(decl.name, decl)
            if old is not decl:
                _check_pair(old, decl)
            if _is_defined(decl):
                externals[decl.name] = decl


def _is_external(decl: FunctionDecl | VarDecl) -> bool:
    if isinstance(decl, FunctionDecl):
        return not decl.is_static
    return decl.storage is Storage.GLOBAL


def _is_defined(decl: FunctionDecl | VarDecl) -> bool:
    return decl.body is not None if isinstance(decl, FunctionDecl) else decl.is_defined


def _make_common(old: FunctionDecl | VarDecl, decl: FunctionDecl | VarDecl) -> bool:
    """
    Lets two definitions of a variable be one if not both have an initialiser, as linkers do for headers
    that define variables (C11 J.5.11).
    """
    if not isinstance(old, VarDecl) or not isinstance(decl, VarDecl):
        return False
    if old.init is not None and decl.init is not None:
        return False
    other = decl if decl.init is None else old
    other.is_defined = False
    return True


def _check_pair(old: FunctionDecl | VarDecl, decl: FunctionDecl | VarDecl) -> None:
    from .sema.conversions import compatible

    notes = [(old.loc, "the other declaration")]
    if isinstance(old, FunctionDecl) != isinstance(decl, FunctionDecl):
        raise error(
            decl.loc,
            f"'{decl.name}' is a function in one file and a variable in another",
            "rename one of them",
            notes,
        )
    if _is_defined(old) and _is_defined(decl) and not _make_common(old, decl):
        raise error(
            decl.loc,
            f"'{decl.name}' is defined in two files",
            "make one 'static', or declare it 'extern' in all files but one",
            notes,
        )
    mentions_tags = any(word in f"{old.type} {decl.type}" for word in ("struct ", "union "))
    if not mentions_tags and not compatible(old.type, decl.type):
        raise error(  # with tags: each file has types of its own for the same tags
            decl.loc,
            f"'{decl.name}' is '{decl.type}' here and '{old.type}' in another file",
            "declare it in one header that both files include",
            notes,
        )
