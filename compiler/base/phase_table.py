"""The output of `--timing`: processor time of a command by phase, and hits and misses of the caches."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Generator
from contextlib import contextmanager

from .phases import Recording, recording


def add_timing(group: argparse._ActionsContainer) -> None:  # pyright: ignore[reportPrivateUsage]
    """Adds the option `--timing` to a group of a parser."""
    group.add_argument(
        "--timing",
        action="store_true",
        help="print the processor time of each phase, and hits and misses of the caches",
    )


@contextmanager
def timed(*, wanted: bool) -> Generator[None]:
    """If `wanted`, prints the processor time of each phase since the start of the process to standard
    error."""
    if not wanted:
        yield
        return
    with recording() as phases:
        yield
    print(table(phases), file=sys.stderr, flush=True)


def table(root: Recording) -> str:
    """
    The tree as text: seconds, seconds of the phase alone, share, the most memory in MB until its end,
    operations before and after. Then the totals of phases outside of the compiler itself, of other
    processes, and of the caches.
    """
    total = root.seconds or 1e-9
    lines = ["seconds     own   share     MB  phase"]
    around: dict[str, float] = {}
    for depth, entry in root.flat():
        sizes = "" if entry.sizes is None else "  {:,} → {:,}".format(*entry.sizes)
        lines.append(
            f"{entry.seconds:7.3f} {entry.own:7.3f} {100 * entry.seconds / total:5.1f} % {entry.peak:6.0f}"
            f"  {'  ' * depth}{entry.name}{sizes}"
        )
        if entry.name.startswith("("):
            around[entry.name] = around.get(entry.name, 0.0) + entry.own
    lines += [f"{seconds:7.3f} in all: {name}" for name, seconds in around.items()]
    if root.others > 0.0005:
        lines.append(f"{root.others:7.3f} in other processes, beside these")
    if root.caches:
        lines.append("seconds    hits  misses     KB read  cache")
    for kind, use in sorted(root.caches.items()):
        lines.append(
            f"{use.seconds:7.3f} {use.hits:7} {use.misses:7} {use.read / 1024:11,.1f}  {kind}"
        )
    return "\n".join(lines)
