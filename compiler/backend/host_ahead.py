"""
Compiles host code in another process while this one compiles device code; the result goes into the cache,
where the loader of the program finds it.
"""

from __future__ import annotations

import subprocess
import sys
from contextlib import suppress
from tempfile import TemporaryFile

from ..base.options import OptLevel
from .cache import DiskCache
from .kernel_processes import command_for, processors

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
        if self._ir or len(ir) < _WORTH_A_PROCESS or processors() < 2:
            return
        from .jit import has_host  # loads LLVM

        self._ir = ir
        if has_host(ir, opt_level, DiskCache.default("host")):
            return
        # If no process can be started, the code is made where it is needed. A file, not a pipe: into a
        #         # full pipe this process would wait to write.
        with suppress(OSError), TemporaryFile() as text:
            text.write(ir.encode("utf-8", "surrogateescape"))
            text.seek(0)
            self._process = subprocess.Popen(
                command_for(__name__, "main", str(opt_level)),
                stdin=text,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )

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

    levels: dict[str, OptLevel] = {"0": 0, "1": 1, "2": 2, "3": 3}
    text = sys.stdin.buffer.read().decode("utf-8", "surrogateescape")
    compile_host(text, levels[sys.argv[1]], DiskCache.default("host"))
