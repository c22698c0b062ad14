"""
Helper processes that preprocess, check and compile files of a program from the last one backwards, while
this process works from the first one forwards. Each process first looks whether a file is kept
(`checked_files.py`, `files_apart.py`), so that no file is done twice. Files with mistakes, or that a helper
cannot handle, are left to this process.
"""

from __future__ import annotations

import pickle
import signal
import subprocess
import sys
from collections.abc import Generator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from .backend.kernel_processes import command_for, processors
from .base.deep_stack import with_deep_stack
from .base.diagnostics import CompileError, DiagnosticSink
from .files_apart import host_code, is_plain, seem_plain
from .process import without_collection

if TYPE_CHECKING:
    from .base.options import CompileOptions
    from .c.preprocess import PreprocessOptions
    from .c.preprocess_sources import Headers

_WORTH_A_PROCESS = 200_000
"""The bytes of C, without headers, from which checking takes longer than starting a process."""
_SURE_AFTER = 2
"""The number of newly preprocessed files from which a program counts as new, and not as edited."""


class Helpers:
    """
    The helpers for the files `paths`, which start when `worked` has been called often enough. `compiling`:
    the options of the program, if its files are also compiled; None if they are only checked.
    """

    def __init__(
        self,
        paths: Sequence[Path],
        options: PreprocessOptions,
        target: str,
        compiling: CompileOptions | None = None,
    ) -> None:
        self._work = paths, options, target, compiling
        self._count = 0
        self._processes: list[subprocess.Popen[bytes]] = []

    def worked(self) -> None:
        """Records that a file had to be preprocessed; starts helpers after enough of them."""
        self._count += 1
        if self._count == _SURE_AFTER:
            count = self._wanted()
            for number in range(count):
                self._start(number, count)

    def _wanted(self) -> int:
        """The number of helpers for which there is enough work."""
        paths, options, *_ = self._work
        if options.use_system_cpp:
            return 0
        size = 0
        for path in paths[_SURE_AFTER:]:
            with suppress(OSError):
                size += path.stat().st_size
        return min(processors() - 1, len(paths) - _SURE_AFTER, size // _WORTH_A_PROCESS)

    def _start(self, number: int, count: int) -> None:
        paths, options, target, compiling = self._work
        work = paths, options, target, compiling if seem_plain(paths) else None
        command = command_for(__name__, "help_out", str(number), str(count))
        with suppress(OSError):  # no process to be had: the work is done here
            process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
            )
            self._processes.append(process)
            assert process.stdin is not None
            process.stdin.write(pickle.dumps(work))
            process.stdin.close()

    def close(self) -> None:
        """Ends them, so that the program that is run has no children it does not know."""
        for process in self._processes:
            process.terminate()
            process.wait()


@contextmanager
def helped(
    paths: Sequence[Path],
    options: PreprocessOptions,
    target: str,
    compiling: CompileOptions | None = None,
) -> Generator[Helpers]:
    """Provides helpers while the block runs."""
    helpers = Helpers(paths, options, target, compiling)
    try:
        yield helpers
    finally:
        helpers.close()


def help_out() -> None:
    """The main function of a helper: argument 1 is its number, argument 2 the number of helpers."""
    signal.signal(signal.SIGTERM, _leave)
    number, count = map(int, sys.argv[1:3])
    paths, options, target, compiling = pickle.load(sys.stdin.buffer)
    from .c.preprocess_sources import Headers
    from .c.shared_declarations import shared_declarations

    headers = Headers()
    with without_collection(), shared_declarations():
        for path in paths[::-1][number::count]:
            work_ahead(path, options, target, compiling, headers)


@with_deep_stack
def work_ahead(
    path: Path,
    options: PreprocessOptions,
    target: str,
    compiling: CompileOptions | None = None,
    headers: Headers | None = None,
) -> None:
    """
    Preprocesses and checks a file whose result is not kept yet. With `compiling`, also compiles it, if it
    can be compiled alone. `headers`: those that other files of the program have read.
    """
    from .c.preprocess_kept import preprocess_or_find
    from .c.program import check_file
    from .checked_files import CheckedFiles

    kept = CheckedFiles()
    with suppress(CompileError, RecursionError):
        source = preprocess_or_find(path, options, DiagnosticSink(), headers, kept)
        if kept.has(source.file, source.text, target) and not compiling:
            return
        unit = check_file(source, DiagnosticSink(), target, kept)
        if compiling and is_plain(unit, source.text, compiling):
            host_code(unit, source, compiling, DiagnosticSink())


def _leave(*_: object) -> NoReturn:
    sys.exit(1)
