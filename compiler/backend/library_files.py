"""Finds the shared libraries that `-l` and `-L` name."""

from __future__ import annotations

import ctypes.util
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

from ..base.diagnostics import UNKNOWN_LOC, error

Loaded = TypeVar("Loaded")


def library_files(name: str, folders: Sequence[str]) -> list[str]:
    """
    The names to try with the dynamic loader, the best first, for a path, `-lNAME`, or `-l:FILE`; `folders`
    as after `-L`. Empty if no file has that name. A library that is no longer at its path is looked for in
    the folders, and in the loader's own.
    """
    if "/" in name and Path(name).exists():
        return [name]
    if "/" in name:
        name = f":{Path(name).name}"
    file = name[1:] if name.startswith(":") else f"lib{name}.so"
    found = [str(path) for folder in folders if (path := Path(folder).absolute() / file).exists()]
    system = file if name.startswith(":") else ctypes.util.find_library(name)
    return [*found, *([system] if system else [])]


def load_library(
    name: str, folders: Sequence[str], load: Callable[[str], Loaded], failure: type[Exception]
) -> Loaded:
    """
    The result of `load` for the first of the `library_files` for which it does not raise `failure`. Raises
    `CompileError` if there is none.
    """
    reason = "no such file"
    for file in library_files(name, folders):
        try:
            return load(file)
        except failure as e:
            reason = str(e)
    raise error(
        UNKNOWN_LOC,
        f"cannot find the library '{name.removeprefix(':')}': {reason}",
        "install its shared library, or give its folder with -L",
    )
