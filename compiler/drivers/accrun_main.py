"""The command `accrun` (`accrun_run.py`): a GPU's context is made while its modules are loaded."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Sequence
from itertools import takewhile

from ..base.command import begin_command
from .context_early import start_context

_USUAL = re.compile(
    r"[^-@].*|-[DILOUWgl].*|--target=(?:auto|nvptx)|--sm=.*|--fast-math|--remarks|--timing"
)
"""Arguments with which a program begins on the first GPU, if there is one."""


def _is_usual(arguments: Iterable[str]) -> bool:
    own = takewhile(lambda argument: argument != "--", arguments)
    return all(map(_USUAL.fullmatch, own))


def main(argv: Sequence[str] | None = None) -> int:
    """Entry point of the `accrun` command. Leaves the process with the program's exit status."""
    if argv is None:
        argv = sys.argv[1:]
        begin_command()
        if _is_usual(argv):
            start_context("auto")
    from .accrun_run import run

    return run(argv)


if __name__ == "__main__":
    sys.exit(main())
