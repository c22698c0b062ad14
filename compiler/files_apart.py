"""
Separate compilation of files, as in other C compilers. The results are cached, so that an edit of one file
recompiles only this file, or the group of files that depend on each other (`c/file_groups.py`).

It is used for large programs of several files; LLVM then does not inline functions across groups. The code of
a group depends only on the texts of its files, on the options, and on whether any file of the program may
make the host its current device; so the files must agree on all shared names, and define none that another
file takes for a function of the C library.
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
from .backend.toolkit import find_ptxas
from .base.diagnostics import CompileError, Diagnostic, DiagnosticSink, from_plain, to_plain
from .base.options import CompileOptions
from .base.phases import LOADING, phase
from .compiled import Executable, executable_from_json, executable_to_json
from .fingerprint import compiler_fingerprint
from .kept_functions import KeptFunctions, NotKept

if TYPE_CHECKING:
    from .c.ast import FunctionDecl, TranslationUnit
    from .c.file_groups import FileUse
    from .c.kept_files import KeptFiles
    from .c.preprocess import PreprocessedSource

_WORTH_IT = 200_000
"""The characters of C, without headers, that take LLVM a second or two; smaller programs are optimised as a
whole."""
_MARKER = re.compile(r'^# \d+ "(.*)"$', re.MULTILINE)
_MENTIONED = re.compile(rb"\bpragma\s+(?:acc|omp)\b|_Pragma")


@dataclass(frozen=True)
class FileOutline:
    """
    What other files of a program, and the program's messages, need of a checked file: its typed tree without
    bodies of functions, with which other files may disagree; the messages of its check and those of `-Wall`;
    what it uses; and whether it `may_be_apart` from other files.
    """

    unit: TranslationUnit
    checked: Sequence[Diagnostic]
    warned: Sequence[Diagnostic]
    use: FileUse
    may_be_apart: bool


def _may_be_apart(unit: TranslationUnit, use: FileUse) -> bool:
    """Whether a file can be compiled without the others, provided that it needs nothing of them."""
    from .c.file_groups import copies_between_devices

    if (
        copies_between_devices(unit, use)
        or unit.has_thread_locals
        or unit.has_assembly
        or unit.weak
    ):
        return False
    return not any(f.is_weak or f.alias or _is_hook(f) for f in unit.functions) and not any(
        v.is_weak or v.alias or v.is_thread_private or v.control for v in unit.variables
    )


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
    other. The text of passes that were added is part of no key; other options of passes may name constructs
    of any file, and checks of `cache` directives share a table. The simulator runs one module.
    """
    if options.added_passes or sum(len(source.text) for source in sources) < _WORTH_IT:
        return False
    if options.target == "sim" or options.check_cache:
        return False
    if options.pass_options or options.skipped_passes:
        return False
    return len(sources) > 1 and sum(map(_own_length, sources)) >= _WORTH_IT


def is_worth_copies(lengths: Sequence[int]) -> bool:
    """
    Whether copies of the process should compile files of so many characters, without headers. Where one is
    most of the program, the work on its parts is shared instead (`backend/host_parts.py`).
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


def outline_file(
    source: PreprocessedSource,
    options: CompileOptions,
    kept: KeptFiles,
    sink: DiagnosticSink,
    *,
    keep: bool = True,
) -> tuple[FileOutline, TranslationUnit]:
    """
    The outline of a file, which is kept, and its typed tree, which is if it is to `keep` it. The messages of
    its check go to `sink`. Raises `CompileError` with the mistakes that the check finds.
    """
    with phase(LOADING):
        from .c.file_groups import use_of
        from .c.kept import to_bytes
        from .c.program import check_file
        from .c.warnings import check_unit

    own = DiagnosticSink()
    try:
        with phase("check"):
            unit = check_file(source, own, options.target, kept, keep=keep)
    finally:
        sink.diagnostics += own.diagnostics
    with phase("outline"):
        check_unit(unit, warned := DiagnosticSink(), wall=options.wall)
        outline = _outline(unit)
        use = use_of(unit)
        apart = _may_be_apart(unit, use)
        found = FileOutline(outline, own.diagnostics, warned.diagnostics, use, apart)
        tree = to_bytes(outline, found.checked)
        if tree is not None:
            warnings = [to_plain(each) for each in found.warned]
            rest = json.dumps([warnings, found.use.to_plain(), found.may_be_apart]).encode()
            data = len(tree).to_bytes(8, "little") + tree + rest
            DiskCache.default("checked").put(_key_of_outline(source, options), data)
    return found, unit


def _outline(unit: TranslationUnit) -> TranslationUnit:
    """What other files may disagree with: the external names, without what their definitions say."""
    from .c.agreement import is_external
    from .c.ast import Compound, IntConst
    from .c.types import INT

    functions = [
        replace(
            f,
            params=[],
            body=None if f.body is None else Compound(loc=f.loc, body=[]),
            directives=[],
        )
        for f in unit.functions
        if is_external(f)
    ]
    variables = [
        replace(v, init=None if v.init is None else IntConst(type=INT, loc=v.loc, value=0))
        for v in unit.variables
        if is_external(v)
    ]
    return replace(unit, functions=functions, variables=variables, directives=[])


def _key_of_outline(source: PreprocessedSource, options: CompileOptions) -> str:
    wall = "wall" if options.wall else ""
    return content_key(
        "file outline", compiler_fingerprint(), options.target, wall, source.file, source.text
    )


def found_outline(source: PreprocessedSource, options: CompileOptions) -> FileOutline | None:
    """The outline of a file that was compiled before; None if it was not."""
    from .c.file_groups import FileUse
    from .c.kept import from_bytes

    data = DiskCache.default("checked").get(_key_of_outline(source, options))
    if data is None:
        return None
    with phase("read outlines"):
        size = int.from_bytes(data[:8], "little")
        tree = from_bytes(data[8 : 8 + size])
        warned, use, apart = json.loads(data[8 + size :])
    if tree is None:
        return None
    return FileOutline(*tree, [from_plain(each) for each in warned], FileUse.from_plain(use), apart)


def compile_group(
    sources: Sequence[PreprocessedSource],
    units: Sequence[TranslationUnit],
    options: CompileOptions,
    sink: DiagnosticSink,
    *,
    selects_host: bool,
) -> Executable:
    """
    The code of a group of files, which is kept; `units` are their typed trees. `selects_host`: some file of
    the program may make the host its current device. Messages go to `sink`. Raises `CompileError`.
    """
    with phase(LOADING):
        from .translate import executable_of, module_of

    for unit in units:
        unit.selects_host = selects_host
    mark = f".f{content_key(*(source.file for source in sources))[:12]}"
    functions = KeptFunctions.of(sources, options, mark)

    def compiled() -> tuple[Executable, DiagnosticSink]:
        said = DiagnosticSink()
        if functions is None:
            return executable_of(module_of(units, options, said, mark=mark), options, said), said
        restore = functions.cut(units)
        try:
            functions.see_units(units)
            module = module_of(units, options, said, mark=mark)
            functions.see_module(module)
            made = executable_of(module, options, said, kept=functions)
        finally:
            restore()
        functions.keep(said.diagnostics)
        return made, said

    try:
        executable, said = compiled()
    except NotKept:
        assert functions is not None
        functions.whole()
        executable, said = compiled()
    data = executable_to_json(executable, said.diagnostics)
    key = _key_of_group(sources, options, selects_host=selects_host)
    DiskCache.default("program").put(key, data)
    sink.diagnostics += said.diagnostics
    return executable


def found_group(
    sources: Sequence[PreprocessedSource],
    options: CompileOptions,
    sink: DiagnosticSink,
    *,
    selects_host: bool,
) -> Executable | None:
    """The code of a group that was compiled before, with its messages in `sink`; None if it was not."""
    key = _key_of_group(sources, options, selects_host=selects_host)
    data = DiskCache.default("program").get(key)
    return None if data is None else executable_from_json(data, options, sink)


def has_group(
    sources: Sequence[PreprocessedSource], options: CompileOptions, *, selects_host: bool
) -> bool:
    """Whether the code of a group is kept."""
    key = _key_of_group(sources, options, selects_host=selects_host)
    return DiskCache.default("program").has(key)


def _key_of_group(
    sources: Sequence[PreprocessedSource], options: CompileOptions, *, selects_host: bool
) -> str:
    assembler = str(find_ptxas()) if options.target == "nvptx" else ""
    texts = [part for source in sources for part in (source.file, source.text)]
    of_program = [assembler, options.key(), "host too" if selects_host else ""]
    return content_key("group", compiler_fingerprint(), *of_program, *texts)


def compile_alone(
    source: PreprocessedSource, options: CompileOptions, kept: KeptFiles
) -> FileOutline:
    """
    The outline of a file without directives, whose code is also made and kept, object code too, if it may be
    apart from the other files. Raises `CompileError` with the mistakes of its check.
    """
    with phase(LOADING):
        from .c.program import keep_file

    found, unit = outline_file(source, options, kept, DiagnosticSink(), keep=False)
    if found.may_be_apart and not source.has_directives:
        with suppress(CompileError):  # compiling the whole program reports it
            _compile_with_objects(source, unit, options)
            return found
    keep_file(source, unit, found.checked, options.target, kept)
    return found


def _compile_with_objects(
    source: PreprocessedSource, unit: TranslationUnit, options: CompileOptions
) -> None:
    """Compiles a group of one file up to its object code."""
    with phase(LOADING):
        from .backend.jit import compile_host
    sink = DiagnosticSink()
    made = compile_group([source], [unit], options, sink, selects_host=unit.selects_host)
    with phase("object code"):
        compile_host(joined([made.host_ir]), options.opt_level, DiskCache.default("host"))
