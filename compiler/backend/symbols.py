"""The symbols of LLVM IR text."""

from __future__ import annotations

import re

from .module_parts import is_joined

DECLARATION = re.compile(
    r'^(?:declare (?!extern_weak )[^@]*@("[^"]*"|[\w.$-]+)\(|@("[^"]*"|[\w.$-]+) = external )',
    re.MULTILINE,
)
_DEFINITION = re.compile(
    r'^(?:define (?!internal |private )[^@]*@("[^"]*"|[\w.$-]+)\('
    r'|@("[^"]*"|[\w.$-]+) = (?!internal |private |external |extern_weak )[^\n]*\b(?:global|constant) )',
    re.MULTILINE,
)


def exported_names(ir: str) -> list[str]:
    """The functions and variables that an LLVM IR text defines with external linkage."""
    return [(function or variable).strip('"') for function, variable in _DEFINITION.findall(ir)]


def declared_names(host_ir: str) -> list[str]:
    """The names that a program declares and does not define, except weak ones and LLVM's intrinsics."""
    found = {(a or b).strip('"') for a, b in DECLARATION.findall(host_ir)}
    defined = exported_names(host_ir) if is_joined(host_ir) else ()
    return sorted(name for name in found.difference(defined) if not name.startswith("llvm."))
