"""What tells one compiler from another, for the keys of what is kept on disk."""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from .backend.cache import content_key

_PACKAGES = ("compiler", "dialects", "passes", "runtime")
_ENDINGS = (".py", ".c", ".h", ".txt")


@cache
def compiler_fingerprint() -> str:
    """Something that changes whenever a file of the compiler does."""
    root = str(Path(__file__).resolve().parent.parent)
    return content_key(
        *(part for package in _PACKAGES for part in _files(f"{root}{os.sep}{package}", package))
    )


def _files(folder: str, name: str) -> Iterator[str]:
    """Name, size and time of each file in a folder and in those below, in order of names."""
    with os.scandir(folder) as found:
        entries = sorted(found, key=lambda entry: entry.name)
    for entry in entries:
        if entry.name.endswith(_ENDINGS):
            status = entry.stat()
            yield f"{name}/{entry.name} {status.st_size} {status.st_mtime_ns}"
        elif entry.is_dir() and entry.name != "__pycache__":
            yield from _files(entry.path, f"{name}/{entry.name}")
