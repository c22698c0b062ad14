"""The symbols of LLVM IR text."""

from __future__ import annotations

import re

DECLARATION = re.compile(
    r'^(?:declare (?!extern_weak )[^@]*@("[^"]*"|[\w.$-]+)\(|@("[^"]*"|[\w.$-]+) = external )',
    re.MULTILINE,
)


def declared_names(host_ir: str) -> list[str]:
    """What LLVM IR declares, does not define and cannot do without, except LLVM's own functions."""
    found = ((a or b).strip('"') for a, b in DECLARATION.findall(host_ir))
    return sorted(name for name in found if not name.startswith("llvm."))
