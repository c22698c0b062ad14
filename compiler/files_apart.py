"""
Files of a program that are compiled one by one, as other C compilers do, each by whatever process comes to it
first (`file_helpers.py`), and kept in the cache: an edit of one file compiles this file.

It is done for large programs of plain C, without any directive. LLVM does not inline functions across their
files then. What is compiled of a file follows from its text and the options alone; so the files must agree on
all they share, and define nothing that another file takes for the C library's. The program's host code is the
files' modules, one after the other (`backend/module_parts.py`).
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from .backend.cache import DiskCache, content_key
from .backend.module_parts import joined
from .base.diagnostics import CompileError, DiagnosticSink, from_plain, to_plain
from .base.options import CompileOptions
from .base.phases import LOADING, phase
from .fingerprint import compiler_fingerprint

if TYPE_CHECKING:
    from .c.ast import FunctionDecl, TranslationUnit
    from .c.preprocess import PreprocessedSource

_WORTH_IT = 400
"""Functions that take LLVM a second or two: smaller programs are optimised as a whole."""
_DIRECTIVE = re.compile(r"^#pragma (?:acc|omp)\b", re.MULTILINE)
_MENTIONED = re.compile(rb"\bpragma\s+(?:acc|omp)\b|_Pragma")
_LIBRARY = frozenset(("malloc", "calloc", "realloc", "free", "malloc_usable_size", "atexit"))
"""Functions of the C library that are replaced in a program that does not define them (`backend/heap.py`)."""


def is_plain(unit: TranslationUnit, text: str, options: CompileOptions) -> bool:
    """Whether a file can be compiled alone, if the others can."""
    if options.added_passes:  # whose text is part of no key
        return False
    if unit.directives or unit.has_openmp or unit.has_thread_locals or unit.selects_host:
        return False
    if unit.has_assembly or unit.weak or _DIRECTIVE.search(text):
        return False
    return not any(
        f.is_weak or f.alias or f.directives or _is_hook(f) for f in unit.functions
    ) and not any(v.is_weak or v.alias or v.is_thread_private or v.control for v in unit.variables)


def seem_plain(paths: Sequence[Path]) -> bool:
    """Whether C files that have not been read yet have no directives of their own."""
    for path in paths:
        with suppress(OSError):
            if _MENTIONED.search(path.read_bytes()):
                return False
    return True


def _is_hook(function: FunctionDecl) -> bool:
    return function.constructor is not None or function.destructor is not None


def may_be_apart(
    units: Sequence[TranslationUnit],
    sources: Sequence[PreprocessedSource],
    options: CompileOptions,
) -> bool:
    """Whether the files of a program are compiled one by one."""
    if len(units) != len(sources) or len(units) < 2:  # files of our own belong to it, too
        return False
    with phase("compare files"):
        return _are_apart(units, sources, options)


def _are_apart(
    units: Sequence[TranslationUnit],
    sources: Sequence[PreprocessedSource],
    options: CompileOptions,
) -> bool:
    from .c.agreement import are_independent

    count = sum(1 for unit in units for f in unit.functions if f.body is not None)
    files = zip(units, sources, strict=True)
    if count < _WORTH_IT or not all(is_plain(u, source.text, options) for u, source in files):
        return False
    return are_independent(units, _LIBRARY)


def host_code(
    unit: TranslationUnit,
    source: PreprocessedSource,
    options: CompileOptions,
    sink: DiagnosticSink,
) -> str:
    """The LLVM IR of one file, with its object code in the cache. Raises `CompileError`."""
    with phase(LOADING):
        from ..dialects.quick_xdsl import attributes_unchecked
        from .irgen import generate_module
        from .translate import translate

    chosen = json.dumps(options.beyond_preprocessing(), sort_keys=True)
    key = content_key("file alone", compiler_fingerprint(), chosen, source.file, source.text)

    def make() -> bytes:
        own = DiagnosticSink()
        with attributes_unchecked(not options.checks_ir):
            module = generate_module([unit], own, mark=f".f{content_key(source.file)[:12]}")
        text = translate(module, options, own).host_ir
        return json.dumps([text, [to_plain(each) for each in own.diagnostics]]).encode()

    text, messages = json.loads(DiskCache.default("program").get_or_make(key, make))
    sink.diagnostics += map(from_plain, messages)
    with phase(LOADING):
        from .backend.jit import compile_host
    with phase("object code"):
        compile_host(joined([text]), options.opt_level, DiskCache.default("host"))
    return text


def program_apart(
    units: Sequence[TranslationUnit],
    sources: Sequence[PreprocessedSource],
    options: CompileOptions,
    sink: DiagnosticSink,
) -> str | None:
    """
    The LLVM IR of a program whose files are compiled one by one, its object code in the cache; None if one of
    them is refused, which the compilation of the whole program explains.
    """
    own = DiagnosticSink()
    texts: list[str] = []
    try:
        for unit, source in zip(units, sources, strict=True):
            texts.append(host_code(unit, source, options, own))
    except CompileError:
        return None
    sink.diagnostics += own.diagnostics
    return joined(texts)
