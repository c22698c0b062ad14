"""
Separate compilation of files, as in other C compilers, in several processes if possible (`file_copies.py`).
The results are cached, so that an edit of one file recompiles only this file.

It is used for large programs of plain C without directives; LLVM then does not inline functions across
files. The code of a file depends only on its text and the options, so the files must agree on all shared
names, and define none that another file takes for a function of the C library. The program's host code is
the concatenation of the files' modules (`backend/module_parts.py`).
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from .backend.cache import DiskCache, content_key
from .backend.module_parts import joined
from .base.diagnostics import CompileError, Diagnostic, DiagnosticSink, from_plain, to_plain
from .base.options import CompileOptions
from .base.phases import LOADING, phase
from .fingerprint import compiler_fingerprint

if TYPE_CHECKING:
    from .c.ast import FunctionDecl, TranslationUnit
    from .c.kept_files import KeptFiles
    from .c.preprocess import PreprocessedSource

_WORTH_IT = 200_000
"""The characters of C, without headers, that take LLVM a second or two; smaller programs are optimised as a
whole."""
_MARKER = re.compile(r'^# \d+ "(.*)"$', re.MULTILINE)
_DIRECTIVE = re.compile(r"^#pragma (?:acc|omp)\b", re.MULTILINE)
_MENTIONED = re.compile(rb"\bpragma\s+(?:acc|omp)\b|_Pragma")
_LIBRARY = frozenset(("malloc", "calloc", "realloc", "free", "malloc_usable_size", "atexit"))
"""Functions of the C library that are replaced in programs that do not define them (`backend/heap.py`)."""


@dataclass(frozen=True)
class FileAlone:
    """
    The result of compiling a file alone: `outline` is its typed tree without bodies of functions, with
    which other files may disagree; then the messages of its check, those of `-Wall`, those of later stages,
    and the LLVM IR.
    """

    outline: TranslationUnit
    checked: Sequence[Diagnostic]
    warned: Sequence[Diagnostic]
    translated: Sequence[Diagnostic]
    llvm_ir: str


def _is_plain(unit: TranslationUnit) -> bool:
    """Whether a file without directives can be compiled alone, provided that the other files can."""
    if unit.directives or unit.has_openmp or unit.has_thread_locals or unit.selects_host:
        return False
    if unit.has_assembly or unit.weak:
        return False
    return not any(
        f.is_weak or f.alias or f.directives or _is_hook(f) for f in unit.functions
    ) and not any(v.is_weak or v.alias or v.is_thread_private or v.control for v in unit.variables)


def seem_plain(paths: Sequence[Path]) -> bool:
    """Whether C files, not yet preprocessed, contain no directives; headers are not searched."""
    for path in paths:
        with suppress(OSError):
            if _MENTIONED.search(path.read_bytes()):
                return False
    return True


def _is_hook(function: FunctionDecl) -> bool:
    return function.constructor is not None or function.destructor is not None


def may_be_apart(sources: Sequence[PreprocessedSource], options: CompileOptions) -> bool:
    """
    Whether the files of a program are to be compiled one by one, if they turn out to need nothing of each
    other. The text of passes that were added is part of no key.
    """
    if options.added_passes or sum(len(source.text) for source in sources) < _WORTH_IT:
        return False
    if any(_DIRECTIVE.search(source.text) for source in sources):
        return False
    return is_worth_it(list(map(_own_length, sources)))


def is_worth_it(lengths: Sequence[int]) -> bool:
    """
    Whether files of so many characters, without headers, are worth it. Where one is most of the program, its
    parts are (`backend/host_parts.py`).
    """
    return sum(lengths) >= _WORTH_IT and 2 * max(lengths) <= sum(lengths)


def _own_length(source: PreprocessedSource) -> int:
    """Characters of a file that are not its headers'."""
    length = 0
    file, start = source.file, 0
    for marker in _MARKER.finditer(source.text):
        length += marker.start() - start if file == source.file else 0
        file, start = marker[1], marker.end()
    return length + (len(source.text) - start if file == source.file else 0)


def compile_alone(
    source: PreprocessedSource, options: CompileOptions, kept: KeptFiles, sink: DiagnosticSink
) -> FileAlone | None:
    """
    A file without directives, compiled by itself and kept; None, and only its tree is kept, if it cannot be.
    The messages of its checking go to `sink`. Raises `CompileError` with its mistakes, if checking finds any.
    """
    with phase(LOADING):
        from .c.program import check_file, keep_file

    own = DiagnosticSink()
    try:
        with phase("check"):
            unit = check_file(source, own, options.target, kept, keep=False)
    finally:
        sink.diagnostics += own.diagnostics
    found = None
    if not _DIRECTIVE.search(source.text) and _is_plain(unit):
        with suppress(CompileError):  # compiling the whole program reports it
            found = _compiled(unit, source, own.diagnostics, options)
    if found is None:
        keep_file(source, unit, own.diagnostics, options.target, kept)
        return None
    with phase("keep compiled files"):
        data = _to_bytes(found)
        if data is not None:
            DiskCache.default("program").put(_key(source, options), data)
    return found


def _compiled(
    unit: TranslationUnit,
    source: PreprocessedSource,
    checked: Sequence[Diagnostic],
    options: CompileOptions,
) -> FileAlone:
    with phase(LOADING):
        from .backend.jit import compile_host
        from .c.warnings import check_unit
        from .translate import module_of, translate

    with phase("check"):
        check_unit(unit, warned := DiagnosticSink(), wall=options.wall)
    said = DiagnosticSink()
    module = module_of([unit], options, said, mark=f".f{content_key(source.file)[:12]}")
    text = translate(module, options, said).host_ir
    with phase("object code"):
        compile_host(joined([text]), options.opt_level, DiskCache.default("host"))
    return FileAlone(_outline(unit), checked, warned.diagnostics, said.diagnostics, text)


def _outline(unit: TranslationUnit) -> TranslationUnit:
    """What other files may disagree with: the external names, without what their definitions say."""
    from .c.agreement import is_external
    from .c.ast import Compound, IntConst
    from .c.types import INT

    functions = [
        replace(f, params=[], body=None if f.body is None else Compound(loc=f.loc, body=[]))
        for f in unit.functions
        if is_external(f)
    ]
    variables = [
        replace(v, init=None if v.init is None else IntConst(type=INT, loc=v.loc, value=0))
        for v in unit.variables
        if is_external(v)
    ]
    return replace(unit, functions=functions, variables=variables)


def _key(source: PreprocessedSource, options: CompileOptions) -> str:
    return content_key(
        "file alone", compiler_fingerprint(), options.key(), source.file, source.text
    )


def _to_bytes(found: FileAlone) -> bytes | None:
    from .c.kept import to_bytes

    tree = to_bytes(found.outline, found.checked)
    messages = ([to_plain(each) for each in of] for of in (found.warned, found.translated))
    rest = json.dumps([found.llvm_ir, *messages]).encode()
    return None if tree is None else len(tree).to_bytes(8, "little") + tree + rest


def found_alone(source: PreprocessedSource, options: CompileOptions) -> FileAlone | None:
    """A file that was compiled by itself before, with these options; None if it was not."""
    from .c.kept import from_bytes

    data = DiskCache.default("program").get(_key(source, options))
    if data is None:
        return None
    with phase("read compiled files"):
        size = int.from_bytes(data[:8], "little")
        tree = from_bytes(data[8 : 8 + size])
        llvm_ir, *messages = json.loads(data[8 + size :])
        warned, translated = (list(map(from_plain, of)) for of in messages)
    return None if tree is None else FileAlone(*tree, warned, translated, llvm_ir)


def program_apart(files: Sequence[FileAlone], sink: DiagnosticSink) -> str | None:
    """The LLVM IR of a program of these files, with its object code in the cache; None if the files depend
    on each other."""
    from .c.agreement import are_independent, check_agreement
    from .c.program import own_files

    units = [each.outline for each in files]
    with phase("compare files"), suppress(CompileError):
        check_agreement(units, agreement := DiagnosticSink())
        if not own_files(units) and are_independent(units, _LIBRARY):
            said = ([each.checked, each.warned, each.translated] for each in files)
            checked, warned, translated = zip(*said, strict=True)
            for messages in (*checked, agreement.diagnostics, *warned, *translated):
                sink.diagnostics += messages
            return joined([each.llvm_ir for each in files])
    return None  # compiling the program as a whole reports the reason
