"""The processor that a program is compiled for, as far as C's types and calling convention depend on it."""

from __future__ import annotations

import platform
from typing import Literal

Machine = Literal["x86_64", "aarch64"]


def this_machine() -> Machine:
    """That of this computer."""
    return "aarch64" if platform.machine() in ("aarch64", "arm64") else "x86_64"
