"""
A program whose files are compiled separately (`files_apart.py`), in groups of files that depend on each other
(`c/file_groups.py`). Its host code is the concatenation of the groups' modules, its GPU code too
(`backend/module_parts.py`); its sites are those of all groups, the largest group first, so that an edit of a
small file does not change the numbers in the code of a large one.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from .backend.module_parts import joined, joined_ptx
from .base.abi import SITE_FIRST
from .base.diagnostics import CompileError, Diagnostic, DiagnosticSink
from .base.options import CompileOptions
from .base.phases import LOADING, phase
from .compiled import Executable
from .file_copies import outlines
from .files_apart import FileOutline, compile_group, found_group

if TYPE_CHECKING:
    from .c.ast import TranslationUnit
    from .c.kept_files import KeptFiles
    from .c.preprocess import PreprocessedSource

_LIBRARY = frozenset(("malloc_usable_size", "atexit"))
"""
Functions of the C library that are replaced in programs that do not define them (`backend/heap.py`), apart
from those that passes know, too.
"""
_CALL = re.compile(rf"(call \w+ @(?:{'|'.join(SITE_FIRST)})\(i32 )([^,)]+)")
"""Matches a call of a function whose first argument is a site's number."""


@dataclass
class _File:
    """A file of the program: its text, its outline, and its typed tree if that is in memory."""

    source: PreprocessedSource
    outline: FileOutline
    unit: TranslationUnit | None


@dataclass
class _Messages:
    """The messages of a program, in the order in which compiling it as a whole gives them."""

    agreement: DiagnosticSink = field(default_factory=DiagnosticSink)
    translated: DiagnosticSink = field(default_factory=DiagnosticSink)

    def all(self, files: Sequence[_File]) -> list[Diagnostic]:
        """The messages of the program of these files."""
        checked = [message for file in files for message in file.outline.checked]
        warned = [message for file in files for message in file.outline.warned]
        return [*checked, *self.agreement.diagnostics, *warned, *self.translated.diagnostics]


def program_apart(
    sources: Sequence[PreprocessedSource],
    options: CompileOptions,
    kept: KeptFiles,
    sink: DiagnosticSink,
) -> Executable | None:
    """
    The program of these files, of which only the groups that are not kept are compiled. None if it must be
    compiled as a whole, which then reports the reason, if that is a mistake. Raises `CompileError` with the
    mistakes that checking single files finds.
    """
    found = outlines(sources, options, kept, sink)
    files = [_File(source, *of) for source, of in zip(sources, found, strict=True)]
    messages = _Messages()
    with suppress(CompileError):
        with phase("compare files"):
            groups = _groups(files, options, kept, messages)
        if groups is None:
            return None
        selects_host = any(file.outline.unit.selects_host for file in files)
        made = [
            _code(group, options, kept, messages.translated, selects_host=selects_host)
            for group in groups
        ]
        whole = merged(made, options)
        if whole is not None:
            sink.diagnostics += messages.all(files[: len(sources)])
        return whole
    return None


def _groups(
    files: list[_File], options: CompileOptions, kept: KeptFiles, messages: _Messages
) -> list[list[_File]] | None:
    """
    The groups of the program, to whose `files` those of ours that it needs are added; None if it is to be
    compiled as a whole. Raises `CompileError` for files that disagree.
    """
    from ..passes.decisions.device_functions import KNOWN_FUNCTIONS
    from .c.agreement import are_independent, check_agreement
    from .c.file_groups import groups
    from .c.program import own_files, own_source

    units = [file.outline.unit for file in files]
    if not all(file.outline.may_be_apart for file in files):
        return None
    check_agreement(units, messages.agreement)
    taken = {*_LIBRARY, *KNOWN_FUNCTIONS}
    for name in own_files(units):
        source = own_source(name, kept)
        ((outline, unit),) = outlines([source], options, kept, DiagnosticSink())
        files.append(_File(source, outline, unit))
        taken.update(name for name, f in outline.use.functions.items() if f.is_external)
        if not outline.may_be_apart:
            return None
    if not are_independent(units, frozenset(taken)):
        return None
    found = groups([file.outline.use for file in files])
    return [[files[i] for i in group] for group in found] if len(found) > 1 else None


def _code(
    group: Sequence[_File],
    options: CompileOptions,
    kept: KeptFiles,
    sink: DiagnosticSink,
    *,
    selects_host: bool,
) -> Executable:
    """The code of a group, kept or compiled now; its messages go to `sink`. Raises `CompileError`."""
    sources = [file.source for file in group]
    found = found_group(sources, options, sink, selects_host=selects_host)
    if found is not None:
        return found
    with phase(LOADING):
        from .c.program import check_file

    units: list[TranslationUnit] = []
    for file in group:
        unit, file.unit = file.unit, None
        if unit is None:
            unit = check_file(file.source, DiagnosticSink(), options.target, kept)
        units.append(unit)
    return compile_group(sources, units, options, sink, selects_host=selects_host)


def merged(made: Sequence[Executable], options: CompileOptions) -> Executable | None:
    """One program of several; None if their code names sites in a way that is not known here."""
    first = 0
    sites: list[dict[str, Any]] = []
    texts = [""] * len(made)
    for index in sorted(range(len(made)), key=lambda i: -len(made[i].sites)):
        text = with_sites_from(made[index].host_ir, first)
        if text is None:
            return None
        texts[index] = text
        sites += made[index].sites
        first = len(sites)
    ptx = joined_ptx([each.ptx for each in made if each.ptx])
    return Executable(joined(texts), ptx, tuple(sites), options)


def with_sites_from(host_ir: str, first: int) -> str | None:
    """
    LLVM IR whose sites are numbered from `first` on instead of 0. None if a site's number is not a constant.
    """
    if first == 0:
        return host_ir

    def moved(found: re.Match[str]) -> str:
        number = int(found[2])
        return found[1] + str(number + first if number >= 0 else number)

    try:
        return _CALL.sub(moved, host_ir)
    except ValueError:
        return None
