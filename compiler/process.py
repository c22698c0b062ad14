"""
Saves time in short processes: no garbage collection during compilation, no destruction of objects at the
end.
"""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import NoReturn

from .base.command import begin_command


@contextmanager
def without_collection() -> Generator[None]:
    """
    Turns off the cyclic garbage collector inside. A compilation makes some hundred thousand objects that
    live to its end; the collector's repeated searches through them take an eighth of its time.
    """
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def collect_from_here() -> None:
    """
    Turns the garbage collector on, for objects that are made from now on: a compiled program begins to run.
    """
    gc.freeze()
    gc.enable()


def run_command(main: Callable[[], int]) -> NoReturn:
    """
    Runs a command and ends the process with its status, without looking for garbage and without destroying
    every object first.
    """
    begin_command()
    gc.disable()  # for good: enabling it after a compilation would scan all objects
    try:
        status = main()
        sys.stdout.flush()
    except BrokenPipeError:
        status = 1  # the reader of a pipe has gone: the rest of the output is lost
    except OSError as e:
        status = 1
        print(f"error: cannot write standard output: {e.strerror}", file=sys.stderr)
    sys.stderr.flush()
    os._exit(status)
