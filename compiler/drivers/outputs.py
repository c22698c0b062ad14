"""Files that commands write: whole, or not there."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from pathlib import Path

from ..base.diagnostics import UNKNOWN_LOC, error


def write_output(path: Path, data: bytes) -> None:
    """
    Writes a file. Raises `CompileError` if that fails, as on a full disk; a file that is there in part is
    removed then (a device, such as /dev/full, stays).
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


def print_output(text: str) -> None:
    """Writes to standard output. Raises `CompileError` if that fails, `BrokenPipeError` without a reader."""
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except BrokenPipeError:
        raise
    except OSError as e:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # for what is still to be flushed
        raise error(
            UNKNOWN_LOC, f"cannot write standard output: {e.strerror}", "give a file with -o"
        ) from e
