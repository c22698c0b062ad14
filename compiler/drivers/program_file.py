"""
The executable file of a linked program: either with its sources, whose code is in the cache
(`linked_program.py`), or with the code and the runtime (`standalone.py`).
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from ...runtime.native.gangs import compile_team
from ..backend.cache import DiskCache, RecordingCache
from ..backend.foreign_objects import ForeignObject, merged
from ..backend.jit import compile_host
from ..base.diagnostics import DiagnosticSink
from ..base.phases import phase, working_on
from ..compiled import Executable
from ..executable import build_sources
from .c_options import command_error
from .linked_program import ORIGIN, LinkedProgram
from .readable_strings import readable_strings

if TYPE_CHECKING:
    from ..base.options import CompileOptions
    from ..c.kept_files import KeptFiles
    from ..c.preprocess import PreprocessedSource


def program_file(
    executable: Executable,
    args: argparse.Namespace,
    options: CompileOptions,
    sources: Sequence[PreprocessedSource],
    foreign: Sequence[ForeignObject],
    kept: KeptFiles,
) -> bytes:
    """
    The contents of the file. `executable` is the program for this machine; it is also compiled for the
    other compute capabilities of `--sm`, and with `--standalone` and no given target for both a GPU and the
    host.
    """
    program = LinkedProgram(
        tuple(sources),
        args.target,
        args.sm,
        options,
        tuple(args.libraries),
        tuple(
            folder if folder.startswith(ORIGIN) else str(Path(folder).resolve())
            for folder in args.library_dirs
        ),
        merged(foreign) if foreign else b"",
        readable_strings(executable.host_ir),
    )
    here = executable.options
    wanted = _variants(here, args)
    executables = [
        executable
        if (each.target, each.sm) == (here.target, here.sm)
        else build_sources(sources, each, DiagnosticSink(), kept=kept)
        for each in wanted
    ]
    cache = RecordingCache(DiskCache.default("host").folder)
    for each in executables:
        with phase("object code"), working_on([source.file for source in sources]):
            compile_host(each.host_ir, options.opt_level, cache, whole=bool(foreign))
        if each.options.target == "host":
            compile_team(cache)
    if not args.standalone:
        return program.to_bytes()
    from .standalone import bundle

    return bundle(program, executables, cache.entries)


def require_standalone(args: argparse.Namespace) -> None:
    """Raises `CommandLineError` if `--standalone` is combined with an option that excludes it."""
    if args.standalone and args.target == "sim":
        raise command_error(
            "a standalone program contains no simulator, which needs most of accopt",
            "leave out --standalone, or --target=sim",
        )
    if args.standalone and args.shared:
        raise command_error(
            "--standalone is for programs: libraries need the accopt that linked them",
            "leave out --standalone, or -shared",
        )


def _variants(here: CompileOptions, args: argparse.Namespace) -> list[CompileOptions]:
    """The options of all variants for which the program is compiled, beginning with `here`."""
    found = [here]
    gpu = here.target == "nvptx"
    if args.standalone and args.target == "auto":
        found.append(replace(here, target="host" if gpu else "nvptx"))
    if gpu or args.standalone:
        found += [
            replace(each, sm=sm) for each in found if each.target == "nvptx" for sm in args.sm
        ]
    if args.sm:
        found = [each for each in found if each.target != "nvptx" or each.sm in args.sm]
    return list(
        {(each.target, each.sm * (each.target == "nvptx")): each for each in found}.values()
    )
