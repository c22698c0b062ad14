"""Converts names in C into names of values and symbols in IR, and back."""

from __future__ import annotations

import re
from functools import lru_cache

from .identifiers import BEYOND_ASCII, ascii_name, from_ascii_name

_NOT_IN_NAMES = re.compile(rf"[^\w${BEYOND_ASCII}]+")
_NOT_IN_PTX = re.compile(r"[^\w$.]", re.ASCII)
_RESERVED_IN_PTX = re.compile(
    r"(WARP_SZ|_|A7|function_name|inlined_at|__cuda_dummy_entry__|(.*_)?param_?\d+|(func_)?retval\d+"
    r"|prototype_\d+|temp_param_reg|__local_depot\d+)?\$*|\$L_.*"
)
"""
Names of functions and variables that ptxas 13.0 refuses (of the reserved words of PTX only these, PTX ISA,
4.4 and 4.5), and those that LLVM gives to parameters, results, frames and labels.
"""
_NUMBERED = re.compile(r".*_\d+_*")
_NUMBERED_HINT = re.compile(r"(.*_\d+_*)_")

CONTROL_PREFIX = "__emutls_v."
"""The prefix of the names of thread-local variables' control objects, before the variable's name."""


@lru_cache(1 << 14)
def value_name(text: str) -> str:
    """
    A name for a value made of `text`, which may be a C expression such as `p->x`. xDSL removes `_` and a
    number at the end of a name each time that a value gets it; names in C that end so (`t_1`, `_0`) get
    another `_`, which `c_name` removes; characters beyond ASCII are as in `ascii_name`.
    """
    name = ascii_name(_NOT_IN_NAMES.sub("_", text))
    if _NUMBERED.fullmatch(name):
        name += "_"
    return name if name and not name[0].isdigit() else f"v{name}"


def ptx_name(name: str) -> str:
    """
    `name` of a function or variable, or another for it (see `c_name`) where PTX has no such name. The `.` of
    functions is left to LLVM.
    """
    name = _NOT_IN_PTX.sub(lambda found: f"_${ord(found[0])}_", ascii_name(name))
    return f"{name}$" if _RESERVED_IN_PTX.fullmatch(name) else name


def c_name(name: str) -> str:
    """
    The name in C of a value with the hint `name` (see `value_name`) or of a symbol: static variables of
    functions are `function.variable.number` in IR, and what several files call alike is `name.number`.
    """
    if name.endswith("$") and _RESERVED_IN_PTX.fullmatch(name[:-1]):
        name = name[:-1]
    name = from_ascii_name(name)
    numbered = _NUMBERED_HINT.fullmatch(name)
    if numbered is not None:
        return numbered.group(1)
    parts = name.split(".")
    while len(parts) > 1 and parts[-1].isdigit():
        parts.pop()
    return parts[-1]
