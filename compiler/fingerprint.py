"""What tells one compiler from another, for the keys of what is kept on disk."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from .backend.cache import content_key


@cache
def compiler_fingerprint() -> str:
    """Something that changes whenever a file of the compiler does."""
    root = Path(__file__).resolve().parent.parent
    files = sorted(
        file
        for package in ("compiler", "dialects", "passes", "runtime")
        for pattern in ("*.py", "*.c", "*.h", "*.txt")
        for file in (root / package).rglob(pattern)
    )
    stats = [(str(file.relative_to(root)), file.stat()) for file in files]
    return content_key(*(f"{name} {s.st_size} {s.st_mtime_ns}" for name, s in stats))
