"""Compiles pieces of host code into the cache in several processes, if there is much to compile."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryFile

from ..base.diagnostics import CompileError
from ..base.options import OptLevel
from .cache import DiskCache
from .host_objects import compile_object
from .kernel_processes import command_for, processors

_WORTH_A_PROCESS = 150_000
"""The characters of LLVM IR from which LLVM takes longer than starting another process."""


def compile_ahead(
    texts: Sequence[str],
    cache: DiskCache,
    opt_level: OptLevel,
    compile_here: Callable[[str], object],
) -> None:
    """
    Compiles modules into `cache`: one share of them by `compile_here`, the others in other processes. A
    module that fails is not in the cache afterwards, and the caller compiles it itself.
    """
    size = sum(map(len, texts))
    count = min(processors(), len(texts), size // _WORTH_A_PROCESS)
    if count < 2:
        return
    shares: list[list[str]] = [[] for _ in range(count)]
    loads = [0] * count
    for text in sorted(texts, key=len, reverse=True):
        least = loads.index(min(loads))
        shares[least].append(text)
        loads[least] += len(text)
    others = [_started(share, cache, opt_level) for share in shares[1:]]
    try:
        with suppress(CompileError):  # the error is raised again where the code is needed
            for text in shares[0]:
                compile_here(text)
    finally:
        for process in others:
            if process is not None:
                process.wait()


def _started(
    texts: list[str], cache: DiskCache, opt_level: OptLevel
) -> subprocess.Popen[bytes] | None:
    root = "" if cache.root is None else str(cache.root)
    arguments = [str(cache.folder), root, str(cache.limit_bytes), str(opt_level)]
    with suppress(OSError), TemporaryFile() as file:
        file.write(json.dumps(texts).encode())
        file.seek(0)
        return subprocess.Popen(
            command_for(__name__, "main", *arguments),
            stdin=file,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
    return None


def main() -> None:
    """Compiles the modules in standard input into the cache that the arguments name."""
    folder, root, limit, level = sys.argv[1:5]
    cache = DiskCache(Path(folder), int(limit), Path(root) if root else None)
    levels: dict[str, OptLevel] = {"0": 0, "1": 1, "2": 2, "3": 3}
    for text in json.load(sys.stdin.buffer):  # errors are reported where the code is needed
        compile_object(text, opt_level=levels[level], cache=cache)
