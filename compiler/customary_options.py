"""
Options that Makefiles pass to any C compiler: turned into ours where there is one, dropped where what
they ask for holds anyway or does not matter here (warnings, the language standard, code generation for
a CPU), so that `CFLAGS` of gcc, clang and nvc work unchanged.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

_RENAMED: tuple[tuple[str, tuple[str, ...]], ...] = (
    (r"-O(?:fast)|-fast", ("-O3", "--fast-math")),
    (r"-O", ("-O1",)),
    (r"-O[sz]", ("-O2",)),
    (r"-Og", ("-O1",)),
    (r"-O[4-9]", ("-O3",)),
    (r"-g(?:\d|gdb\d?|dwarf.*)|-gopt", ("-g",)),
    (r"-ffast-math|-funsafe-math-optimizations|-Mfprelaxed", ("--fast-math",)),
    (r"-ffp-contract=off|-Mnofma|-mno-fma|-nofma", ("--no-fma",)),
    (r"-Minfo(?:=.*)?|-fopt-info.*", ("--remarks",)),
    (r"-acc=(?:host|multicore)|-ta=(?:host|multicore)", ("--target=host",)),
    (r"-acc=gpu|-foffload=nvptx.*", ("--target=nvptx",)),
    (r"-gpu=(?:.*,)?cc(\d+).*|-ta=.*[:,]cc(\d+).*|-arch=sm_(\d+)", ("--sm=\\1",)),
    (r"-(?:isystem|iquote|idirafter)", ("-I",)),
)
"""A pattern of the whole argument, and what it becomes; `\\1` is what one of its groups matched."""

_DROPPED = re.compile(
    r"-W.*|-w|-std=.*|-ansi|-c\d\d|-pedantic(?:-errors)?|-pipe|-p|-pg|-s|-v|-f(?!syntax-only).*|-m.*|-M[a-z].*"
    r"|-acc(?:=.*)?|-gpu=.*|-ta=.*|-pthread|-static(?:-.*)?|-rdynamic|-no-pie|-pie|-B(?:static|dynamic)"
)


def translate(arguments: Sequence[str]) -> list[str]:
    """`arguments` with the customary options among them translated or dropped."""
    found: list[str] = []
    for argument in arguments:
        found += _one(argument)
    return found


def _one(argument: str) -> Sequence[str]:
    for pattern, replacement in _RENAMED:
        match = re.fullmatch(pattern, argument)
        if match is not None:
            group = next((g for g in match.groups() if g is not None), "")
            return [part.replace("\\1", group) for part in replacement]
    return [] if _DROPPED.fullmatch(argument) else [argument]
