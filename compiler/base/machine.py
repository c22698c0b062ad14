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
    """The processor of this computer."""
    return _NAMES.get(platform.machine(), "x86_64")


@cache
def target_machine() -> Machine:
    """The processor for which this process compiles: that in `ACCOPT_MACHINE`, or else this computer's."""
    return _NAMES.get(os.environ.get(VARIABLE, ""), this_machine())


def check_machine() -> None:
    """Raises `CompileError` if the value of `ACCOPT_MACHINE` is not the name of a known processor."""
    name = os.environ.get(VARIABLE)
    if name and name not in _NAMES:
        message = f"{VARIABLE} is not the name of a known processor: '{name}'"
        raise error(UNKNOWN_LOC, message, "use x86_64 or aarch64")


def is_foreign() -> bool:
    """Whether this process compiles for another kind of processor, whose code this computer cannot run."""
    return target_machine() != this_machine()


def tool(name: str) -> str | None:
    """The path of a tool of binutils for the target machine (`ld`, `as`); None if it is not installed."""
    return shutil.which(f"{machine_folder()}-{name}" if is_foreign() else name)


def machine_folder() -> str:
    """The name of the folders of the machine's headers and libraries, and of its tools."""
    return f"{target_machine()}-linux-gnu"
