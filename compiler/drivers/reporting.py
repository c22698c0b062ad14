"""
Reports diagnostics: which warnings the drivers show, which of them are errors, and in what form.

The options are those of other C compilers: `-w`, `-Werror`, `-Werror=NAME`, `-Wno-NAME`, `-fmax-errors=N`,
`-fdiagnostics-color=WHEN`, and `-fdiagnostics-format=json` or `sarif-stderr`, in which each list of messages
is one document on standard error. Names of warnings that accopt does not have are ignored.
"""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ..base.diagnostics import (
    UNKNOWN_LOC,
    CompileError,
    Diagnostic,
    DiagnosticSink,
    Severity,
    SourceLoc,
    error,
    render,
)

_FORMATS = ("text", "json", "json-stderr", "sarif-stderr")
_COLOURS = {
    Severity.ERROR: "1;31",
    Severity.WARNING: "1;35",
    Severity.REMARK: "1;34",
    Severity.NOTE: "1;36",
}
_COLOUR_SWITCHES = {
    "-fdiagnostics-color": "always",
    "-fno-diagnostics-color": "never",
    "-fcolor-diagnostics": "always",
    "-fno-color-diagnostics": "never",
}


@dataclass(frozen=True)
class Reporting:
    """The settings for diagnostics. `failing` and `allowed` are the names in `-Werror=NAME` and
    `-Wno-error=NAME`."""

    form: str = "text"
    colour: str = "auto"
    silent: bool = False
    all_fail: bool = False
    failing: frozenset[str] = frozenset()
    allowed: frozenset[str] = frozenset()
    disabled: frozenset[str] = frozenset()
    most_errors: int = 0

    def shown(self, diagnostics: Sequence[Diagnostic]) -> Iterator[Diagnostic]:
        """The diagnostics to report, with their severity by the options."""
        errors = 0
        for each in diagnostics:
            if each.severity is Severity.WARNING:
                if self.silent or each.option in self.disabled:
                    continue
                if self._fails(each.option):
                    each = replace(each, severity=Severity.ERROR)
            if each.severity is Severity.ERROR:
                errors += 1
                if 0 < self.most_errors < errors:
                    return
            yield each

    def _fails(self, option: str | None) -> bool:
        return option in self.failing or (self.all_fail and option not in self.allowed)


_reporting = Reporting()
_OF_SEPARATE_MEMORIES = frozenset(("overwritten-writes", "stale-reads"))
"""The warnings of `c/warnings/host_copies.py`."""


def take_options(arguments: Sequence[str]) -> list[str]:
    """
    Applies the options about messages among `arguments` to this process, and returns the other arguments.
    Raises `CompileError` for unknown values.
    """
    global _reporting
    chosen = Reporting()
    rest: list[str] = []
    for at, argument in enumerate(arguments):
        if argument == "--":
            rest += arguments[at:]
            break
        changed = _changed(chosen, argument)
        if changed is None:
            rest.append(argument)
        else:
            chosen = changed
    _reporting = chosen
    return rest


def options_or_leave(read: Callable[[DiagnosticSink], list[str]]) -> list[str]:
    """The result of `read`, which reads a command line, for a driver: prints its warnings; on a mistake,
    prints that too and ends the process with status 2."""
    sink = DiagnosticSink()
    try:
        found = read(sink)
    except CompileError as mistake:
        report_options(sink.diagnostics)
        report(mistake.diagnostics)
        sys.exit(2)
    report_options(sink.diagnostics)
    return found


def _changed(old: Reporting, argument: str) -> Reporting | None:
    """The settings after one argument; None if the argument is not about messages."""
    name, _, value = argument.partition("=")
    if argument in ("-w", "-silent"):
        return replace(old, silent=True)
    if argument in _COLOUR_SWITCHES:
        return replace(old, colour=_COLOUR_SWITCHES[argument])
    if name == "-fdiagnostics-color":
        return replace(old, colour=_one_of(argument, value, ("auto", "always", "never")))
    if name == "-fdiagnostics-format":
        return replace(old, form=_one_of(argument, value, _FORMATS))
    if name == "-fmax-errors":
        if not value.isdecimal():
            raise error(
                UNKNOWN_LOC, f"'{argument}': '{value}' is not a number", "write -fmax-errors=20"
            )
        return replace(old, most_errors=int(value))
    m = re.fullmatch(r"-W(no-)?(error)?(?:=?([a-zA-Z][\w+-]*))?(=[\w+-]+)?", argument)
    if m is None or argument in ("-W", "-Wall"):
        return None
    no, fails, option = bool(m[1]), bool(m[2]), m[3]
    if fails and option is None:
        return replace(old, all_fail=not no)
    if fails and no:
        return replace(old, allowed=old.allowed | {option}, failing=old.failing - {option})
    if fails:
        return replace(old, failing=old.failing | {option}, disabled=old.disabled - {option})
    if no:
        return replace(old, disabled=old.disabled | {option})
    return replace(old, disabled=old.disabled - {option})


def _one_of(argument: str, value: str, values: Sequence[str]) -> str:
    if value not in values:
        raise error(UNKNOWN_LOC, f"'{argument}': unknown value", f"use {', '.join(values)}")
    return value


def expect_shared_memory() -> None:
    """Turns off the warnings that do not hold where host and device share memory."""
    global _reporting
    _reporting = replace(_reporting, disabled=_reporting.disabled | _OF_SEPARATE_MEMORIES)


def report(diagnostics: Sequence[Diagnostic]) -> None:
    """Prints the diagnostics to standard error, by the options."""
    shown = list(_reporting.shown(diagnostics))
    if shown:
        print(_document(shown), file=sys.stderr, flush=True)


def report_options(diagnostics: Sequence[Diagnostic]) -> None:
    """
    Prints diagnostics about a command line: `-Werror` does not apply to them, as they are about options and
    not about the program.
    """
    shown = [d for d in diagnostics if not (_reporting.silent and d.severity is Severity.WARNING)]
    if shown:
        print(_document(shown), file=sys.stderr, flush=True)


def require_no_failing(diagnostics: Sequence[Diagnostic]) -> None:
    """Raises a `CompileError` without diagnostics if some of these diagnostics, already printed, count as
    errors."""
    if any(each.severity is Severity.ERROR for each in _reporting.shown(diagnostics)):
        raise CompileError(())


def _document(shown: Sequence[Diagnostic]) -> str:
    match _reporting.form:
        case "sarif-stderr":
            return json.dumps(_sarif(shown))
        case "json" | "json-stderr":
            return json.dumps([_json(each) for each in shown])
        case _:
            return "\n".join(map(_text, shown))


def _text(diagnostic: Diagnostic) -> str:
    text = render(diagnostic)
    if not _in_colour():
        return text
    for severity, colour in _COLOURS.items():
        word = f"{severity.value}: "
        text = re.sub(
            rf"^((?:\S.*?:\d+:\d+: )?)({word})", rf"\1\033[{colour}m\2\033[0m", text, flags=re.M
        )
    return re.sub(r"^( +\^)$", "\033[1;32m\\1\033[0m", text, flags=re.M)


def _in_colour() -> bool:
    if _reporting.colour != "auto":
        return _reporting.colour == "always"
    return sys.stderr.isatty() and "NO_COLOR" not in os.environ and os.environ.get("TERM") != "dumb"


def _json(each: Diagnostic) -> dict[str, Any]:
    """One message in the form of gcc's `-fdiagnostics-format=json`, with our remedy as `help`."""
    found: dict[str, Any] = {
        "kind": each.severity.value,
        "message": each.message,
        "locations": _places(each.loc),
        "children": [
            {"kind": "note", "message": text, "locations": _places(loc)} for loc, text in each.notes
        ],
    }
    if each.option:
        found["option"] = f"-W{each.option}"
    if each.remedy:
        found["help"] = each.remedy
    return found


def _places(loc: SourceLoc) -> list[dict[str, Any]]:
    if loc.line <= 0:
        return []
    return [{"caret": {"file": loc.file, "line": loc.line, "column": loc.column}}]


def _sarif(shown: Sequence[Diagnostic]) -> dict[str, Any]:
    """The messages as a log of SARIF 2.1.0."""
    levels = {Severity.ERROR: "error", Severity.WARNING: "warning"}
    results: list[dict[str, Any]] = []
    for each in shown:
        text = each.message + (f" ({each.remedy})" if each.remedy else "")
        results.append(
            {
                "level": levels.get(each.severity, "note"),
                "ruleId": f"-W{each.option}" if each.option else each.severity.value,
                "message": {"text": text},
                "locations": _physical(each.loc),
                "relatedLocations": [
                    {**place, "message": {"text": note}}
                    for loc, note in each.notes
                    for place in _physical(loc)
                ],
            }
        )
    tool = {"driver": {"name": "accopt"}}
    return {"version": "2.1.0", "runs": [{"tool": tool, "results": results}]}


def _physical(loc: SourceLoc) -> list[dict[str, Any]]:
    if loc.line <= 0:
        return []
    region = {"startLine": loc.line, **({"startColumn": loc.column} if loc.column > 0 else {})}
    return [{"physicalLocation": {"artifactLocation": {"uri": loc.file}, "region": region}}]
