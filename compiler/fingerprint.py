"""A fingerprint of the compiler's version, for the keys of files that are kept on disk."""

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
    """A text that changes whenever a file of the compiler does."""
    root = str(Path(__file__).resolve().parent.parent)
    return content_key(
        *(part for package in _PACKAGES for part in _files(f"{root}{os.sep}{package}", package))
    )


def _files(folder: str, name: str) -> Iterator[str]:
    """Name, size and time of each file in a folder and its subfolders, sorted by name."""
    with os.scandir(folder) as found:
        entries = sorted(found, key=lambda entry: entry.name)
    for entry in entries:
        if entry.name.endswith(_ENDINGS):
            status = entry.stat()
            yield f"{name}/{entry.name} {status.st_size} {status.st_mtime_ns}"
        elif entry.is_dir() and entry.name != "__pycache__":
            yield from _files(entry.path, f"{name}/{entry.name}")
