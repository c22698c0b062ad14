"""The symbols of LLVM IR text."""

from __future__ import annotations

import re

DECLARATION = re.compile(
    r'^(?:declare [^@]*@("[^"]*"|[\w.$-]+)\(|@("[^"]*"|[\w.$-]+) = external )', re.MULTILINE
)


def declared_names(host_ir: str) -> list[str]:
    """The functions and variables that LLVM IR declares and does not define, without LLVM's own."""
    found = ((a or b).strip('"') for a, b in DECLARATION.findall(host_ir))
    return sorted(name for name in found if not name.startswith("llvm."))
