"""Compiles pieces of host code into the cache in several processes, if there is much to compile."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from ..base.diagnostics import CompileError
from ..base.options import OptLevel, opt_level_of
from ..base.processors import usable_processors
from .cache import DiskCache
from .host_objects import compile_object
from .processes import command_for, in_shares, started

_WORTH_A_PROCESS = 150_000
"""The characters of LLVM IR from which LLVM takes longer than starting another process."""


def compile_ahead(texts: Sequence[str], cache: DiskCache, opt_level: OptLevel) -> None:
    """
    Compiles modules into `cache`: one share of them here, the others in other processes. A module that fails
    is not in the cache afterwards, and the caller compiles it itself.
    """
    size = sum(map(len, texts))
    count = min(usable_processors(), len(texts), size // _WORTH_A_PROCESS)
    if count < 2:
        return
    own, *shares = in_shares(texts, len, count)
    others = [_started(share, cache, opt_level) for share in shares]
    try:
        with suppress(CompileError):  # the error is raised again where the code is needed
            for text in own:
                compile_object(text, opt_level=opt_level, cache=cache)
    finally:
        for process in others:
            if process is not None:
                process.wait()


def _started(
    texts: list[str], cache: DiskCache, opt_level: OptLevel
) -> subprocess.Popen[bytes] | None:
    root = "" if cache.root is None else str(cache.root)
    arguments = [str(cache.folder), root, str(cache.limit_bytes), str(opt_level)]
    return started(command_for(__name__, "main", *arguments), json.dumps(texts).encode())


def main() -> None:
    """Compiles the modules in standard input into the cache that the arguments name."""
    folder, root, limit, level = sys.argv[1:5]
    cache = DiskCache(Path(folder), int(limit), Path(root) if root else None)
    for text in json.load(sys.stdin.buffer):  # errors are reported where the code is needed
        compile_object(text, opt_level=opt_level_of(level), cache=cache)
