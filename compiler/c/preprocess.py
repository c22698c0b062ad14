"""
Preprocessing: merges a C file and its headers into one text that pycparser reads.

By default the headers are accopt's own (`include/`), which declare the C library of x86-64 Linux
in plain C99, so neither a C compiler nor its headers are needed; where they do not suffice, the system's
(`preprocess_headers.py`). `use_system_cpp` runs the host's `cc -E` with the host's headers instead.

The text keeps places: `# 12 "file.c"` line markers and padding (see `preprocess_output`). OpenACC pragmas
remain, on one line each, with macros after `#pragma acc` expanded (OpenACC 3.4, 1.3); `_Pragma("acc …")`
becomes such a line. OpenMP's pragmas remain if the options ask for them. Other pragmas are removed.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from ..base.diagnostics import CompileError, DiagnosticSink, SourceLoc, error
from ..base.options import PreprocessOptions
from .preprocess_headers import (
    OPENACC_INCLUDE_DIR,
    HeaderSearch,
    Inputs,
    NeedsSystemHeaders,
)
from .preprocess_macros import MacroPreprocessor
from .preprocess_output import OutputWriter
from .preprocess_predefined import (
    C23_MARK,
    C23_VERSION,
    FOR_IDENTIFICATION,
    IDENTIFYING_FILE,
    OPENACC_VERSION,
    OPENMP_VERSION,
    PREDEFINED,
)
from .preprocess_sources import Headers, read_input, read_source, source_text

_DIRECTIVE = re.compile(r"^[ \t]*#[ \t]*pragma[ \t]+(?:acc|omp)\b|\b_Pragma\b", re.MULTILINE)


@dataclass(frozen=True)
class PreprocessedSource:
    """
    `text` is preprocessed C with line markers; `file` is the name of the C file; `read` are the files that
    were read, except accopt's own headers.
    """

    file: str
    text: str
    read: tuple[str, ...] = ()

    @cached_property
    def has_directives(self) -> bool:
        """Whether the text has directives of OpenACC or OpenMP, or `_Pragma` that may be one."""
        return _DIRECTIVE.search(self.text) is not None


STANDARD_INPUT = Path("-")
"""The file name that means standard input."""

_PLAIN_HEADERS = ("-D__STRICT_ANSI__", "-D_DEFAULT_SOURCE")
"""Macros for glibc's headers: without the first, `assert` is a statement expression; the second makes the
headers declare what the first hides."""


def preprocess(
    path: Path,
    options: PreprocessOptions | None = None,
    sink: DiagnosticSink | None = None,
    headers: Headers | None = None,
    inputs: Inputs | None = None,
) -> PreprocessedSource:
    """
    Preprocess a C file. Warnings and remarks go to `sink`; `headers` are those of the program; `inputs`
    records what the result depends on. Raises `CompileError` at the line and column of the mistake: a
    header that cannot be found, an unterminated #if, #error, ….
    """
    inputs = inputs or Inputs()
    options = options or PreprocessOptions()
    if path == STANDARD_INPUT:
        return _preprocess(
            source_text(read_input()), "<stdin>", Path("<stdin>"), options, sink, headers, inputs
        )
    if not path.is_file():
        raise error(
            SourceLoc(str(path), 0), f"cannot find the C file '{path}'", "check its name and folder"
        )
    if options.use_system_cpp:
        return _system_preprocess(path, options)
    text = read_source(path, SourceLoc(str(path), 0))
    return _preprocess(text, str(path), path, options, sink, headers, inputs)


def preprocess_text(
    text: str,
    filename: str = "<text>",
    options: PreprocessOptions | None = None,
    sink: DiagnosticSink | None = None,
) -> PreprocessedSource:
    """As `preprocess`, for C text in memory; `#include "…"` looks beside `filename`."""
    options = options or PreprocessOptions()
    if options.use_system_cpp:
        raise error(
            SourceLoc(filename, 0),
            "the system preprocessor needs a file, not text",
            "write the text to a file, or use accopt's own preprocessor",
        )
    return _preprocess(text, filename, Path(filename), options, sink, None, Inputs())


def _preprocess(
    text: str,
    name: str,
    path: Path,
    options: PreprocessOptions,
    sink: DiagnosticSink | None,
    headers: Headers | None,
    inputs: Inputs,
) -> PreprocessedSource:
    headers = headers or Headers()
    try:
        return _preprocess_with(text, name, path, options, sink, headers, inputs, system=False)
    except NeedsSystemHeaders:
        return _preprocess_with(text, name, path, options, sink, headers, inputs, system=True)


def _preprocess_with(
    text: str,
    name: str,
    path: Path,
    options: PreprocessOptions,
    sink: DiagnosticSink | None,
    headers: Headers,
    inputs: Inputs,
    *,
    system: bool,
) -> PreprocessedSource:
    output = OutputWriter(name)
    cpp = _started(output, options, said := DiagnosticSink(), headers, inputs, system=system)
    if path.name == IDENTIFYING_FILE:
        for macro, body in FOR_IDENTIFICATION:
            cpp.predefine(macro, body)
    try:
        cpp.process(text, name, path)
    except CompileError:
        _pass_on(said, sink)
        raise
    if not system and cpp.files.lacking():
        raise NeedsSystemHeaders
    _pass_on(said, sink)
    text = C23_MARK + output.text() if options.c23 else output.text()
    return PreprocessedSource(name, text, tuple(dict.fromkeys(cpp.files.names)))


def _started(
    output: OutputWriter,
    options: PreprocessOptions,
    said: DiagnosticSink,
    headers: Headers,
    inputs: Inputs,
    *,
    system: bool,
) -> MacroPreprocessor:
    """A preprocessor that has read everything before the file: `-D`, `-U`, `-imacros`, `-include`."""
    search = HeaderSearch(
        options.include_dirs,
        inputs,
        system=system,
        quote=options.quote_dirs,
        after=options.after_dirs,
        standard=options.standard_dirs,
    )
    unwritten = OutputWriter("<command line>")
    cpp = MacroPreprocessor(
        unwritten, search, said, openmp=options.openmp, c23=options.c23, headers=headers
    )
    inputs.clock |= cpp.clock()
    _predefine(cpp, options, headers)
    for forced in options.forced_macros:
        cpp.include_first(forced)
    cpp.output = output
    for forced in options.forced_includes:
        cpp.include_first(forced)
    return cpp


def _predefine(cpp: MacroPreprocessor, options: PreprocessOptions, headers: Headers) -> None:
    """The macros of the machine and of the command line, which all files of a program share."""
    known = headers.predefined.get(repr(options))
    if known is not None:
        added, removed = known
        for name in removed:
            cpp.undefine(name)
        cpp.table.update(added)
        return
    before = dict(cpp.table)
    for macro, body in PREDEFINED:
        cpp.predefine(macro, body)
    if options.openmp:
        cpp.predefine("_OPENMP", OPENMP_VERSION)
    if options.c23:
        cpp.undefine("__STDC_VERSION__")
        cpp.predefine("__STDC_VERSION__", C23_VERSION)
    for define in options.defines:
        macro, equals, body = define.partition("=")
        cpp.predefine(macro, body if equals else "1")
    for macro in options.undefines:
        cpp.undefine(macro)
    added = {name: macro for name, macro in cpp.table.items() if before.get(name) is not macro}
    headers.predefined[repr(options)] = added, before.keys() - cpp.table.keys()


def macros(path: Path, options: PreprocessOptions) -> str:
    """The macros that hold at the end of a C file, as `#define`s: what `-dM -E` prints."""
    piped = path == STANDARD_INPUT
    text = source_text(read_input()) if piped else read_source(path, SourceLoc(str(path), 0))
    headers = Headers()
    for system in (False, True):
        try:
            cpp = _started(
                OutputWriter(str(path)), options, DiagnosticSink(), headers, Inputs(), system=system
            )
            cpp.process(text, str(path), path)
            return cpp.definitions()
        except NeedsSystemHeaders:
            continue
    raise AssertionError("the system's headers need the system's headers")


def _pass_on(said: DiagnosticSink, sink: DiagnosticSink | None) -> None:
    if sink is not None:
        sink.diagnostics += said.diagnostics


def _system_preprocess(path: Path, options: PreprocessOptions) -> PreprocessedSource:
    """
    Run `$CC -E -fopenacc`, which also expands macros in OpenACC pragmas and carries out `_Pragma`.
    """
    where = SourceLoc(str(path), 0)
    compiler = shlex.split(os.environ.get("CC", "cc")) or ["cc"]
    if shutil.which(compiler[0]) is None:
        raise error(
            where,
            f"the system preprocessor was asked for, but there is no C compiler '{compiler[0]}'",
            "install one, name it in the environment variable CC, or use accopt's own headers",
        )
    command = [
        *compiler,
        "-E",
        "-fopenacc",
        "-std=gnu2x" if options.c23 else "-std=gnu11",
        "-x",
        "c",
        "-U_OPENACC",
        *_PLAIN_HEADERS,
    ]
    command += [f"-D_OPENACC={OPENACC_VERSION}", "-D__ACCOPT__=1"]
    if options.openmp:
        command += ["-fopenmp", "-U_OPENMP", f"-D_OPENMP={OPENMP_VERSION}"]
    command += [f"-I{directory}" for directory in (*options.include_dirs, OPENACC_INCLUDE_DIR)]
    command += [f"-D{define}" for define in options.defines]
    command += [f"-U{name}" for name in options.undefines]
    command.append(str(path))
    done = subprocess.run(command, capture_output=True, check=False)
    log = done.stderr.decode(errors="replace").strip()
    if done.returncode != 0:
        raise error(
            where,
            f"'{shlex.join(command)}' failed:\n{log}",
            "correct what it reports, or use accopt's own preprocessor",
        )
    text = done.stdout.decode("utf-8", "surrogateescape")
    if options.c23:
        text = C23_MARK + text
    return PreprocessedSource(str(path), text if options.openmp else without_openmp(text))


_OPENMP_LINE = re.compile(r"^[ \t]*#[ \t]*pragma[ \t]+omp\b.*$", re.MULTILINE)


def without_openmp(text: str) -> str:
    """Preprocessed text with OpenMP's pragmas replaced by blank lines."""
    return _OPENMP_LINE.sub("", text)
