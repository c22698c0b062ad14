"""
Options that Makefiles pass to any C compiler: they are translated into ours where possible, and dropped
where they ask for our default behaviour or have no meaning here (warnings, the language standard, code
generation for a CPU), so that `CFLAGS` of gcc, clang and nvc work unchanged.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from ..base.diagnostics import UNKNOWN_LOC, DiagnosticSink
from .accelerator_options import ON_HOST, accelerator_options
from .known_options import unknown_option

_RENAMED: tuple[tuple[str, tuple[str, ...]], ...] = (
    (r"-O(?:fast)|-fast(?:sse)?", ("-O3", "--fast-math")),
    (r"-O", ("-O1",)),
    (r"-O[sz]", ("-O2",)),
    (r"-Og", ("-O1",)),
    (r"-O[4-9]", ("-O3",)),
    (r"-g(?:\d|gdb\d?|dwarf.*)|-gopt", ("-g",)),
    (r"-ffast-math|-funsafe-math-optimizations|-Mfprelaxed", ("--fast-math",)),
    (r"-ffp-contract=off|-Mnofma|-mno-fma|-nofma", ("--no-fma",)),
    (r"-ffp-contract=fast|-mfma4?", ("--host-fma",)),
    (r"-Minfo(?:=.*)?|-fopt-info.*", ("--remarks",)),
    (r"-f?openmp|-mp(?:=.*)?|-qopenmp|-xopenmp", ("--openmp",)),
    (r"-foffload=nvptx.*", ("--target=nvptx",)),
    (r"-foffload=disable", ("--target=host",)),
    (r"-target=gpu", ("--target=nvptx",)),
    (r"-target=(?:multicore|host)", ON_HOST),
    (r"-std=(?:c|gnu)2[3x]|-c23", ("--c23",)),
    (r"-std=.*|-ansi|-c\d\d", ("--no-c23",)),
)
"""A pattern for the whole argument, and its translation."""

_DROPPED = re.compile(
    r"-W[lpa],.*|-W|-pedantic(?:-errors)?|-pipe|-p|-pg|-s|-v|-f(?!syntax-only).*|-m.*|-M[a-z].*"
    r"|-acc|-ta|-gpu|-Mcuda|-cuda|-tp(?:=.*)?|-pthread|-static(?:-.*)?|-rdynamic|-no-pie|-pie"
    r"|-B(?:static|dynamic)(?:_nvidia|_pgi)?|-K(?:no)?ieee(?:=.*)?|-K(?:pic|PIC)|-cudalibs?(?:=.*)?"
    r"|-(?:acc|mpi|fortran|c\+\+|pg?c\+\+|pgf77|pgf90)libs|-(?:no)?traceback|-time|-alias=\w+|-X[act]"
)
_PRECISE = re.compile(r"-Kieee(?:=(?:strict|precise))?")
"""Options by which arithmetic is that of IEEE 754, whatever others allow."""


def translate(arguments: Sequence[str], sink: DiagnosticSink | None = None) -> list[str]:
    """
    `arguments` with the customary options among them translated or dropped. Requests that are not honoured
    are warnings in `sink`, one for each.
    """
    precise = any(_PRECISE.fullmatch(argument) for argument in arguments)
    found: list[str] = []
    warned: set[str] = set()
    for argument in arguments:
        accelerator = accelerator_options(argument)
        if accelerator is None:
            renamed = _one(argument)
            unknown = unknown_option(argument) if not renamed else None
            accelerator = renamed, [unknown] if unknown else []
        found += accelerator[0]
        for message in accelerator[1]:
            if sink is not None and message not in warned:
                sink.warn(UNKNOWN_LOC, message)
            warned.add(message)
    return [option for option in found if not (precise and option == "--fast-math")]


def _one(argument: str) -> list[str]:
    for pattern, replacement in _RENAMED:
        if re.fullmatch(pattern, argument):
            return list(replacement)
    return [] if _DROPPED.fullmatch(argument) else [argument]
