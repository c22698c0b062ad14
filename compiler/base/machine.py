"""
The processor that host code is compiled for, as far as C's types and calling convention depend on it: this
computer's, or the one that `ACCOPT_MACHINE` names, whose code other tools link and run.
"""

from __future__ import annotations

import os
import platform
import shutil
from functools import cache
from typing import Literal

from .diagnostics import UNKNOWN_LOC, error

Machine = Literal["x86_64", "aarch64"]
_NAMES: dict[str, Machine] = {
    "x86_64": "x86_64",
    "AMD64": "x86_64",
    "aarch64": "aarch64",
    "arm64": "aarch64",
}
VARIABLE = "ACCOPT_MACHINE"


def this_machine() -> Machine:
    """That of this computer."""
    return _NAMES.get(platform.machine(), "x86_64")


@cache
def target_machine() -> Machine:
    """That for which this process compiles: this computer's where the variable names none."""
    return _NAMES.get(os.environ.get(VARIABLE, ""), this_machine())


def check_machine() -> None:
    """Raises `CompileError` where the variable has a value that is no name of a processor."""
    name = os.environ.get(VARIABLE)
    if name and name not in _NAMES:
        message = f"{VARIABLE} names no processor: '{name}'"
        raise error(UNKNOWN_LOC, message, "use x86_64 or aarch64")


def is_foreign() -> bool:
    """Whether this computer cannot run what is compiled."""
    return target_machine() != this_machine()


def tool(name: str) -> str | None:
    """The path of a program of binutils for the machine (`ld`, `as`); None where it is not installed."""
    return shutil.which(f"{machine_folder()}-{name}" if is_foreign() else name)


def machine_folder() -> str:
    """The name of the folders of the machine's headers and libraries, and of its tools."""
    return f"{target_machine()}-linux-gnu"
