"""Ends a program after an error."""

from __future__ import annotations

import os
import sys
import traceback
from typing import NoReturn

from ..compiler.base.diagnostics import CompileError, render
from ..compiler.base.memory import memory_message, memory_ran_out
from ..compiler.base.ranks import of_rank
from ..compiler.base.standard_streams import flush_output
from .errors import AccRuntimeError, ProgramPlace


def end_process(error: BaseException, place: ProgramPlace, device: str) -> NoReturn:
    """
    Prints the error at its place in the program, flushes what the program has printed, and ends the
    process: with status 130 where it was interrupted, else 1. `device`: the name of the device in use.
    """
    status = 1
    if isinstance(error, AccRuntimeError):
        message = error.located(place, device).render()
    elif isinstance(error, CompileError):  # from a kernel that is compiled at its launch
        message = "\n".join(render(d) for d in error.diagnostics)
    elif isinstance(error, KeyboardInterrupt):
        message, status = "interrupted", 130
    elif memory_ran_out(error):
        what, remedy = memory_message()
        message = f"{place}: error: {what}\n    help: {remedy}"
    else:
        message = (
            f"internal error: {type(error).__name__}: {error} ({place})\n"
            "    help: this is a fault in accopt; ACCOPT_DEBUG=1 shows where"
        )
        if os.environ.get("ACCOPT_DEBUG"):
            message += "\n" + "".join(traceback.format_exception(error))
    flush_output()
    print(of_rank(message), file=sys.stderr, flush=True)
    os._exit(status)
