"""Other processes that compile beside this one: their command, their input, and what each of them gets."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterable
from contextlib import suppress
from tempfile import TemporaryFile
from typing import TypeVar

T = TypeVar("T")


def command_for(module: str, function: str, *arguments: str) -> list[str]:
    """A command that calls a function of this package with arguments in a process of its own."""
    # Only this process's module folders, whatever its current folder and environment.
    places = [place for place in sys.path if place]
    run = f"import sys; sys.path[:] = {places!r}; from {module} import {function}; {function}()"
    return [sys.executable, "-I", "-c", run, *arguments]


def started(command: list[str], text: bytes) -> subprocess.Popen[bytes] | None:
    """A process with `text` as its standard input and no output; None if it cannot be started: the work is
    then done where its result is needed."""
    # A file, not a pipe: into a full pipe this process would wait to write.
    with suppress(OSError), TemporaryFile() as file:
        file.write(text)
        file.seek(0)
        nothing = subprocess.DEVNULL
        return subprocess.Popen(command, stdin=file, stdout=nothing, stderr=nothing)
    return None


def in_shares(items: Iterable[T], size: Callable[[T], int], count: int) -> list[list[T]]:
    """The items in at most `count` groups of about the same total size, none of them empty."""
    shares: list[list[T]] = [[] for _ in range(count)]
    loads = [0] * count
    for item in sorted(items, key=size, reverse=True):
        least = loads.index(min(loads))
        shares[least].append(item)
        loads[least] += size(item)
    return [share for share in shares if share]
