"""
The message for a failure of accopt itself: the place in the user's program, what to do, and no traceback.

The place is that of the operation or C construct in the innermost frame that has one. `ACCOPT_DEBUG=1`
shows the traceback as well.
"""

from __future__ import annotations

import os
import sys
import traceback
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from types import FrameType, TracebackType
from typing import TYPE_CHECKING

from .base.diagnostics import (
    UNKNOWN_LOC,
    CompileError,
    Diagnostic,
    Severity,
    SourceLoc,
    place_of_error,
    render,
)
from .base.memory import memory_message, memory_ran_out

if TYPE_CHECKING:
    from xdsl.ir import Operation

DEBUG_VARIABLE = "ACCOPT_DEBUG"


_FRAMES = 2000
"""The number of innermost frames that are searched; a program nested too deeply has very many."""


def _place_of(value: object) -> SourceLoc:
    """The C place of the value of a local variable of accopt; `UNKNOWN_LOC` if it has none."""
    # Imported only after a failure: `accrun` starts cached programs without these modules.
    from pycparser import c_ast
    from xdsl.ir import Operation

    from .c.ast import Expr, Stmt, VarDecl

    if isinstance(value, Operation):
        # An operation under construction has no location yet.
        location = getattr(value, "location", None)
        return UNKNOWN_LOC if location is None else SourceLoc.from_attr(location)
    if isinstance(value, Expr | Stmt | VarDecl):
        return value.loc
    if isinstance(value, c_ast.Node) and value.coord is not None:
        return SourceLoc(str(value.coord.file), value.coord.line, value.coord.column or 0)
    return UNKNOWN_LOC


def place_of_failure(trace: TracebackType | None) -> SourceLoc:
    """The C place in the innermost frame that has one; `UNKNOWN_LOC` if none has."""
    frames: deque[FrameType] = deque(maxlen=_FRAMES)
    while trace is not None:
        frames.append(trace.tb_frame)
        trace = trace.tb_next
    for frame in reversed(frames):
        try:
            places = [place_of_error(_place_of(value)) for value in frame.f_locals.values()]
        except ModuleNotFoundError:  # a standalone program has no compiler
            return UNKNOWN_LOC
        known = [place for place in places if place.line > 0]
        if known:
            return known[-1]
    return UNKNOWN_LOC


def operation_of_failure(trace: TracebackType | None) -> Operation | None:
    """The operation whose method is the innermost one on the stack; None without one."""
    from xdsl.ir import Operation

    found: Operation | None = None
    while trace is not None:
        value = trace.tb_frame.f_locals.get("self")
        if isinstance(value, Operation):
            found = value
        trace = trace.tb_next
    return found


_PASS_NOTE = "in the pass '"
_OF_PACKAGE = "' of "
_PACKAGE = __name__.partition(".")[0]


def pass_note(name: str, module: str) -> str:
    """The note to add to an exception from the pass `name`, which is in the Python module `module`."""
    package = module.partition(".")[0]
    return _PASS_NOTE + name + ("'" if package == _PACKAGE else _OF_PACKAGE + package)


def notes_of(failure: Exception) -> str:
    """
    The note with the pass from which a failure came; xDSL's own notes, which contain whole modules, are
    left out.
    """
    notes: list[str] = getattr(failure, "__notes__", [])
    return "".join(f" {note}" for note in notes if note.startswith(_PASS_NOTE))


def mistakes_in_ir(failure: Exception) -> Sequence[Diagnostic]:
    """The errors in IR that a user wrote, at the operation whose verifier or pass refused it."""
    if isinstance(failure, CompileError):
        return failure.diagnostics
    op = operation_of_failure(failure.__traceback__)
    where = UNKNOWN_LOC if op is None else place_of_error(SourceLoc.from_attr(op.location))
    what = "" if op is None else f"'{op.name}': "
    return [Diagnostic(Severity.ERROR, where, f"invalid IR{notes_of(failure)}: {what}{failure}")]


def describe(failure: Exception) -> Diagnostic:
    """The message for an unexpected exception."""
    if isinstance(failure, RecursionError):
        return Diagnostic(
            Severity.ERROR,
            place_of_failure(failure.__traceback__),
            "the program is nested too deeply",
            "split the expression or the blocks here into several",
        )
    if memory_ran_out(failure):
        return Diagnostic(Severity.ERROR, UNKNOWN_LOC, *memory_message())
    text = str(failure).partition("\n")[0]
    what = f"{type(failure).__name__}: {text}" if text else type(failure).__name__
    notes = notes_of(failure)
    if _OF_PACKAGE in notes:
        title, whom = "internal error", "tell its authors"
    else:
        title, whom = "internal error of accopt", "please report this with the program"
    return Diagnostic(
        Severity.ERROR,
        place_of_failure(failure.__traceback__),
        f"{title}{notes} ({what})",
        f"{whom}; {DEBUG_VARIABLE}=1 shows where it is raised",
    )


def guarded(run: Callable[[], int]) -> int:
    """Runs a command; an unexpected exception becomes a message and exit status 1."""
    try:
        return run()
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:  # the reader of standard output has gone: the rest is lost
        return 1
    except Exception as failure:
        if os.environ.get(DEBUG_VARIABLE):
            traceback.print_exception(failure)
        try:
            print(render(describe(failure)), file=sys.stderr)
        except Exception as again:
            if not (memory_ran_out(again) or isinstance(again, OSError)):
                raise
            # No memory is left for what a message needs.
            with suppress(OSError):
                os.write(2, b"error: memory ran out\n    help: raise the limit (ulimit -v)\n")
        return 1
