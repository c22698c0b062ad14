"""
Checks a program's new files in a copy of this process (`backend/forks.py`), while this process loads what
follows. The typed trees go into the cache, where this process finds them. Files with mistakes are left to
this process.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from .backend.forks import ForkedCopies, can_copy_now
from .base.diagnostics import CompileError, DiagnosticSink
from .base.phases import LOADING, Phase, add, apart, phase, waiting
from .checked_files import CheckedFiles

if TYPE_CHECKING:
    from .c.kept_files import KeptFiles
    from .c.preprocess import PreprocessedSource

_MOST = 500_000
"""The characters of preprocessed C from which reading the trees takes longer than loading what follows."""


class CheckAhead:
    """
    A copy of this process that checks those of the files `sources` that `kept` does not have; none if there
    are no such files, or where this process must not be copied. A program without a cache is checked by this
    process.
    """

    def __init__(self, sources: Sequence[PreprocessedSource], target: str, kept: KeptFiles) -> None:
        with phase(LOADING):
            from .c.program import check_file, new_files

        self._copy: ForkedCopies[Phase] | None = None
        new = new_files(sources, target, kept)
        if not 0 < sum(len(source.text) for source in new) < _MOST:
            return
        if not can_copy_now() or not isinstance(kept, CheckedFiles) or not kept.is_usable():
            return

        def check(_: int) -> Phase:
            with apart() as phases, phase("check"):
                with phase(LOADING):
                    from .c.shared_declarations import shared_declarations
                with shared_declarations():
                    for source in new:
                        with suppress(CompileError, RecursionError):
                            check_file(source, DiagnosticSink(), target, kept)
            return phases

        self._copy = ForkedCopies(check, (0,), 1)

    def finish(self) -> None:
        """Waits until the copy has ended."""
        if self._copy is None:
            return
        with waiting("check", self._copy.seconds):
            found = self._copy.finish()
        for phases in (found or {}).values():
            add(phases, beside=True)
