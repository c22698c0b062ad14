"""Generated programs that differ from day to day."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

PROGRAMS = 1000
"""At most so many programs of a kind have the same `--rotation`."""


class Rotation:
    """
    The day's programs of one kind: as many as there is time for, or with `--program` one. They share a
    folder, in which what the compiler keeps between runs is made once.
    """

    def __init__(self, request: pytest.FixtureRequest, folder: Path) -> None:
        self._node = request.node
        self._options = request.config.option
        self._folder = folder

    def run(
        self, check: Callable[[int, str, Path], None], targets: Sequence[str] = ("sim", "host")
    ) -> None:
        """Calls `check(seed, target, folder)` with seed after seed, for the targets in turn."""
        only = self._options.program
        end = time.monotonic() + self._options.fuzz_seconds
        done = 0
        for number in itertools.count() if only is None else [only]:
            if (done and time.monotonic() > end) or number == PROGRAMS:
                break
            seed = self._options.rotation * PROGRAMS + number
            try:
                check(seed, targets[number % len(targets)], self._folder)
            except BaseException as e:
                e.add_note(f"To repeat: {self._command(number)}")
                raise
            done += 1
        self._node.user_properties.append(("generated", done))

    def _command(self, number: int) -> str:
        place = self._node.nodeid
        return f"pytest {place} --rotation={self._options.rotation} --program={number}"


@pytest.fixture
def rotation(request: pytest.FixtureRequest, tmp_path: Path) -> Rotation:
    """What runs the day's programs of a kind."""
    return Rotation(request, tmp_path)
