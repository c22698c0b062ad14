"""Writes the output files of commands, completely or not at all."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from pathlib import Path

from ..base.diagnostics import UNKNOWN_LOC, CompileError, error
from .reporting import report


def write_output(path: Path, data: bytes) -> None:
    """
    Writes a file. Raises `CompileError` if that fails, for example on a full disk; an incomplete regular
    file is then removed.
    """
    try:
        with path.open("wb") as file:
            file.write(data)
    except OSError as e:
        with suppress(OSError):
            if path.is_file():
                path.unlink()
        raise error(
            UNKNOWN_LOC, f"cannot write '{path}': {e.strerror}", "check -o, and the disk"
        ) from e


def print_answer(text: str) -> int:
    """Writes to standard output for an option that asks something; returns the exit status."""
    try:
        print_output(text)
    except CompileError as e:
        report(e.diagnostics)
        return 1
    except BrokenPipeError:
        return 1
    return 0


STANDARD_OUTPUT = Path("-")


def write_text(path: Path | None, text: str) -> None:
    """Writes a text to a file, or to standard output if `path` is None or `-`. Raises as `write_output` and
    `print_output` do."""
    if path is None or path == STANDARD_OUTPUT:
        print_output(text)
    else:
        write_output(path, text.encode(errors="surrogateescape"))


def print_output(text: str) -> None:
    """Writes to standard output. Raises `CompileError` if that fails, `BrokenPipeError` without a reader."""
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except OSError as e:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # for output that is still buffered
        if isinstance(e, BrokenPipeError):
            raise
        raise error(
            UNKNOWN_LOC, f"cannot write standard output: {e.strerror}", "give a file with -o"
        ) from e
