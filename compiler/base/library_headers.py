"""Tells headers of libraries, ours and the system's, from headers of the program."""

from __future__ import annotations

from pathlib import Path

from .diagnostics import SourceLoc

INCLUDE_DIR = Path(__file__).parent.parent / "c" / "include"
"""Our own headers of the C library and of OpenACC."""


def is_system(loc: SourceLoc) -> bool:
    """Whether a place is in a header of the system."""
    return loc.file.startswith("/usr/")


def is_library(loc: SourceLoc) -> bool:
    """Whether a place is in a header of the system, or in one of ours."""
    return is_system(loc) or loc.file.startswith(str(INCLUDE_DIR))


def is_of_openmp(loc: SourceLoc) -> bool:
    """Whether a place is in the header of OpenMP's routines."""
    return loc.file == str(INCLUDE_DIR / "omp.h")
