"""
Diagnostics: where in the user's C something is wrong, what is wrong, and what to write instead.

Every user mistake is raised as a `CompileError` that carries one or more `Diagnostic`s. The drivers
render them (`render`) as `file:line:column: error: cause`, the source line with a caret, and a
`help:` line with the remedy, and exit with status 1. Nothing else may reach the user: an exception
that is not a `CompileError` (or an `AccRuntimeError` of the runtime) is a bug in accopt.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from enum import Enum
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from xdsl.dialects.builtin import FileLineColLoc, IntAttr, StringAttr, UnknownLoc
    from xdsl.ir import Attribute


class Severity(Enum):
    ERROR = "error"
    WARNING = "warning"
    REMARK = "remark"
    NOTE = "note"


@dataclass(frozen=True, slots=True)
class SourceLoc:
    """A place in a C (or .mlir) file. Lines and columns count from 1; column 0 means unknown."""

    file: str
    line: int
    column: int = 0

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}"

    def __reduce__(self) -> tuple[type[SourceLoc], tuple[str, int, int]]:
        """Takes half of the time that pickling a data class takes: a tree has a place for each node."""
        return SourceLoc, (self.file, self.line, self.column)

    def to_attr(self) -> FileLineColLoc:
        """The xDSL location attribute of this place."""
        from xdsl.dialects.builtin import FileLineColLoc

        return FileLineColLoc(_text(self.file), _number(self.line), _number(self.column))

    @staticmethod
    def from_attr(attr: Attribute) -> SourceLoc:
        """The place an operation's location names; `UNKNOWN_LOC` when it names none."""
        from xdsl.dialects.builtin import FileLineColLoc

        if isinstance(attr, FileLineColLoc):
            return SourceLoc(attr.filename.data, attr.line.data, attr.column.data)
        written: SourceLoc | None = getattr(attr, _WRITTEN, None)
        return UNKNOWN_LOC if written is None else _OnlyInText("<unknown>", 0, 0, written)


@dataclass(frozen=True, slots=True, eq=False)
class _OnlyInText(SourceLoc):
    """The place of an operation without a location that was read from an IR file: `UNKNOWN_LOC` to all but
    errors, which name its place in that file."""

    written: SourceLoc | None = None


_WRITTEN = "written"


def place_of_error(loc: SourceLoc) -> SourceLoc:
    """The place that an error at `loc` names: in the C file, or in the IR file of an operation that has no
    other."""
    return (isinstance(loc, _OnlyInText) and loc.written) or loc


def without_location(written: SourceLoc) -> UnknownLoc:
    """The unknown location of an operation that was read at this place of an IR file."""
    from xdsl.dialects.builtin import UnknownLoc

    unknown = UnknownLoc()
    object.__setattr__(unknown, _WRITTEN, written)
    return unknown


@lru_cache(1 << 10)
def _text(value: str) -> StringAttr:
    from xdsl.dialects.builtin import StringAttr

    return StringAttr(value)


@lru_cache(1 << 14)
def _number(value: int) -> IntAttr:
    from xdsl.dialects.builtin import IntAttr

    return IntAttr(value)


UNKNOWN_LOC = SourceLoc("<unknown>", 0, 0)


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """
    One message. `remedy` says what to write or do instead; `notes` point at related places; `option` is the
    NAME in `-Wno-NAME` and `-Werror=NAME`, for warnings that have one.
    """

    severity: Severity
    loc: SourceLoc
    message: str
    remedy: str | None = None
    notes: tuple[tuple[SourceLoc, str], ...] = ()
    option: str | None = None


def to_plain(each: Diagnostic) -> dict[str, Any]:
    """A diagnostic as a dictionary for JSON."""
    return {**asdict(each), "severity": each.severity.value}


def from_plain(fields: Mapping[str, Any]) -> Diagnostic:
    """The diagnostic from a dictionary that `to_plain` made."""
    notes = tuple((SourceLoc(**loc), text) for loc, text in fields["notes"])
    severity, loc = Severity(fields["severity"]), SourceLoc(**fields["loc"])
    return Diagnostic(severity, loc, fields["message"], fields["remedy"], notes, fields["option"])


class CompileError(Exception):
    """The user's program (or command line) is wrong; `diagnostics` says how."""

    def __init__(self, diagnostics: Sequence[Diagnostic]):
        self.diagnostics = tuple(diagnostics)
        super().__init__(self.diagnostics)

    def __str__(self) -> str:
        return "\n".join(render(diagnostic) for diagnostic in self.diagnostics)


class CommandLineError(CompileError):
    """The command line is wrong, whatever the program contains."""


def error(
    loc: SourceLoc,
    message: str,
    remedy: str | None = None,
    notes: Sequence[tuple[SourceLoc, str]] = (),
) -> CompileError:
    """A `CompileError` with one diagnostic: `raise error(loc, "…", "write …")`."""
    places = tuple((place_of_error(at), text) for at, text in notes)
    return CompileError([Diagnostic(Severity.ERROR, place_of_error(loc), message, remedy, places)])


def warning(
    loc: SourceLoc,
    message: str,
    remedy: str | None = None,
    notes: Sequence[tuple[SourceLoc, str]] = (),
    option: str | None = None,
) -> Diagnostic:
    """A warning; the caller puts it into a `DiagnosticSink`."""
    return Diagnostic(Severity.WARNING, loc, message, remedy, tuple(notes), option)


@dataclass
class DiagnosticSink:
    """Collects warnings and remarks of one compilation, in order; errors are raised instead."""

    diagnostics: list[Diagnostic] = field(default_factory=list[Diagnostic])

    def warn(
        self,
        loc: SourceLoc,
        message: str,
        remedy: str | None = None,
        notes: Sequence[tuple[SourceLoc, str]] = (),
    ) -> None:
        self.diagnostics.append(warning(loc, message, remedy, notes))

    def remark(self, loc: SourceLoc, message: str, remedy: str | None = None) -> None:
        self.diagnostics.append(Diagnostic(Severity.REMARK, loc, message, remedy))


@lru_cache(maxsize=4)
def _lines(file: str, _state: tuple[int, ...]) -> Sequence[str]:
    """The lines of a file in this state, which a change of the file changes."""
    try:
        return Path(file).read_text(errors="replace").splitlines()
    except OSError:
        return ()


def source_line(loc: SourceLoc) -> str | None:
    """The text of the line of a place, as the file is now; None if the file cannot be read."""
    try:
        state = Path(loc.file).stat()
    except OSError:
        return None
    lines = _lines(loc.file, (state.st_mtime_ns, state.st_size, state.st_ino))
    return lines[loc.line - 1] if 0 < loc.line <= len(lines) else None


def _caret_block(loc: SourceLoc) -> list[str]:
    line = source_line(loc)
    if line is None:
        return []
    block = [f"    {line.expandtabs(1)}"]
    if loc.column > 0:
        block.append("    " + " " * (loc.column - 1) + "^")
    return block


def render(diagnostic: Diagnostic) -> str:
    """The text a user sees for one diagnostic: position, cause, source line, caret, remedy."""
    known = diagnostic.loc.line > 0
    where = f"{diagnostic.loc}: " if known else ""
    option = f" [-W{diagnostic.option}]" if diagnostic.option else ""
    out = [f"{where}{diagnostic.severity.value}: {diagnostic.message}{option}"]
    if known:
        out += _caret_block(diagnostic.loc)
    if diagnostic.remedy:
        out.append(f"    help: {diagnostic.remedy}")
    for loc, text in diagnostic.notes:
        out.append(f"{loc}: note: {text}")
        out += _caret_block(loc)
    return "\n".join(out)
