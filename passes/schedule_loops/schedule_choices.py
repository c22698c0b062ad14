"""Selecting schedules from outside: names of constructs, and choices as text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from pathlib import PurePath

from xdsl.dialects import acc
from xdsl.ir import Operation

from ...compiler.base.diagnostics import UNKNOWN_LOC, error
from ..ir.ops.acc_ops import source_loc


def construct_keys(module: Operation) -> dict[acc.ParallelOp, str]:
    """
    A name for every compute construct: `file.c:7` for the first of a line, `file.c:7#1` for the
    second (loops of a kernels construct, versions of one loop).
    """
    seen: Counter[str] = Counter()
    keys: dict[acc.ParallelOp, str] = {}
    for op in module.walk():
        if isinstance(op, acc.ParallelOp):
            loc = source_loc(op)
            place = f"{PurePath(loc.file).name}:{loc.line}"
            keys[op] = f"{place}#{seen[place]}" if seen[place] else place
            seen[place] += 1
    return keys


def parse_choices(option: str, texts: Sequence[str], known: Collection[str]) -> dict[str, int]:
    """
    `file.c:7=2` as {"file.c:7": 2}, for constructs among `known`. Raises `CompileError` for other texts,
    naming `option`.
    """
    choices: dict[str, int] = {}
    for text in texts:
        key, _, number = text.rpartition("=")
        if not key or not number.isdecimal():
            raise error(
                UNKNOWN_LOC,
                f"schedule-loops{{{option}}}: cannot read '{text}'",
                f'write {option}="file.c:LINE=NUMBER"',
            )
        if key not in known:
            raise error(
                UNKNOWN_LOC,
                f"schedule-loops{{{option}}}: there is no construct '{key}'",
                f"choose among {', '.join(known)}",
            )
        choices[key] = int(number)
    return choices
