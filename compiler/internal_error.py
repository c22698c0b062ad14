"""
What a user sees when accopt itself fails: where in their program, what to do, and no traceback.

The place is that of the operation or C construct which the innermost code that has one was working
on. `ACCOPT_DEBUG=1` shows the traceback as well.
"""

from __future__ import annotations

import os
import sys
import traceback
from collections import deque
from collections.abc import Callable, Sequence
from types import FrameType, TracebackType
from typing import TYPE_CHECKING

from .base.diagnostics import UNKNOWN_LOC, CompileError, Diagnostic, Severity, SourceLoc, render

if TYPE_CHECKING:
    from xdsl.ir import Operation

DEBUG_VARIABLE = "ACCOPT_DEBUG"


_FRAMES = 2000
"""How many of the innermost frames are looked at: a program nested too deeply has very many."""


def _place_of(value: object) -> SourceLoc:
    """The C place that a local variable of accopt stands for."""
    # Not before something fails: `accrun` starts a program it knows without these.
    from pycparser import c_ast
    from xdsl.ir import Operation

    from .c.ast import Expr, Stmt, VarDecl

    if isinstance(value, Operation):
        # An operation that is just being made has no location yet.
        location = getattr(value, "location", None)
        return UNKNOWN_LOC if location is None else SourceLoc.from_attr(location)
    if isinstance(value, Expr | Stmt | VarDecl):
        return value.loc
    if isinstance(value, c_ast.Node) and value.coord is not None:
        return SourceLoc(str(value.coord.file), value.coord.line, value.coord.column or 0)
    return UNKNOWN_LOC


def place_of_failure(trace: TracebackType | None) -> SourceLoc:
    """The C place that the innermost frame with one was working on; `UNKNOWN_LOC` if none was."""
    frames: deque[FrameType] = deque(maxlen=_FRAMES)
    while trace is not None:
        frames.append(trace.tb_frame)
        trace = trace.tb_next
    for frame in reversed(frames):
        try:
            places = [_place_of(value) for value in frame.f_locals.values()]
        except ModuleNotFoundError:  # a standalone program has no compiler
            return UNKNOWN_LOC
        known = [place for place in places if place.line > 0]
        if known:
            return known[-1]
    return UNKNOWN_LOC


def operation_of_failure(trace: TracebackType | None) -> Operation | None:
    """The operation that the innermost method of one was working on."""
    from xdsl.ir import Operation

    found: Operation | None = None
    while trace is not None:
        value = trace.tb_frame.f_locals.get("self")
        if isinstance(value, Operation):
            found = value
        trace = trace.tb_next
    return found


PASS_NOTE = "in the pass"
"""How the note begins that a failure in a pass gets on its way up."""


def notes_of(failure: Exception) -> str:
    """The pass that a failure came from; xDSL's own notes are whole modules, and left out."""
    notes: list[str] = getattr(failure, "__notes__", [])
    return "".join(f" {note}" for note in notes if note.startswith(PASS_NOTE))


def mistakes_in_ir(failure: Exception) -> Sequence[Diagnostic]:
    """What is wrong with IR that somebody wrote, at the operation whose verifier or pass refused it."""
    if isinstance(failure, CompileError):
        return failure.diagnostics
    op = operation_of_failure(failure.__traceback__)
    where = UNKNOWN_LOC if op is None else SourceLoc.from_attr(op.location)
    what = "" if op is None else f"'{op.name}': "
    return [Diagnostic(Severity.ERROR, where, f"invalid IR{notes_of(failure)}: {what}{failure}")]


def describe(failure: Exception) -> Diagnostic:
    """The message for a failure that no part of accopt expected."""
    if isinstance(failure, RecursionError):
        return Diagnostic(
            Severity.ERROR,
            place_of_failure(failure.__traceback__),
            "the program is nested too deeply",
            "split the expression or the blocks here into several",
        )
    text = str(failure).partition("\n")[0]
    what = f"{type(failure).__name__}: {text}" if text else type(failure).__name__
    return Diagnostic(
        Severity.ERROR,
        place_of_failure(failure.__traceback__),
        f"internal error of accopt{notes_of(failure)} ({what})",
        f"please report this with the program; {DEBUG_VARIABLE}=1 shows where in accopt",
    )


def guarded(run: Callable[[], int]) -> int:
    """Runs a command; a failure nobody expected becomes a message and exit status 1."""
    try:
        return run()
    except KeyboardInterrupt:
        return 130
    except Exception as failure:
        if os.environ.get(DEBUG_VARIABLE):
            traceback.print_exception(failure)
        print(render(describe(failure)), file=sys.stderr)
        return 1
