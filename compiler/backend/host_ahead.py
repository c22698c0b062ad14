"""
Compiles host code in another process while this one compiles device code; the result goes into the cache,
where the loader of the program finds it.
"""

from __future__ import annotations

import subprocess
import sys

from ..base.options import OptLevel, opt_level_of
from ..base.processors import usable_processors
from .cache import DiskCache
from .processes import command_for, started

_WORTH_A_PROCESS = 100_000
"""The characters of LLVM IR from which LLVM takes longer than starting another process."""


class HostAhead:
    """The compilation of a program's host code, which is known before its device code."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._ir = ""

    def start(self, ir: str, opt_level: OptLevel) -> None:
        """Starts the compilation, once, if the code is not in the cache and a second processor is free for
        it."""
        if self._ir or len(ir) < _WORTH_A_PROCESS or usable_processors() < 2:
            return
        from .jit import has_host  # loads LLVM

        self._ir = ir
        if has_host(ir, opt_level, DiskCache.default("host")):
            return
        command = command_for(__name__, "main", str(opt_level))
        self._process = started(command, ir.encode("utf-8", "surrogateescape"))

    def finish(self, ir: str | None) -> None:
        """
        Waits for the result if `ir` is the code that was started. Afterwards the process has ended, so that
        a program run in this process has no unknown children.
        """
        if self._process is not None:
            if ir != self._ir:
                self._process.terminate()
            self._process.wait()


def main() -> None:
    """Compiles standard input at the level in the argument into the cache."""
    from .jit import compile_host

    text = sys.stdin.buffer.read().decode("utf-8", "surrogateescape")
    compile_host(text, opt_level_of(sys.argv[1]), DiskCache.default("host"))
