"""
Regions of programs as host code opens them, with what comes to Python counted: for tests of regions that
native code enters on its own.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from accopt.compiler.base.abi import DataKind, DataRecord
from accopt.runtime.data.host_pages import ENOUGH
from accopt.runtime.entry_points import EntryPoints
from accopt.runtime.host.device import HostDevice, HostOptions
from accopt.runtime.program import Runtime
from fake_cuda import FakeCuda
from runtime_harness import Program, record

SITES = 12

LONG = ENOUGH // 4
"""The 32-bit elements from which an array of a region may stay where it is."""


class Slow:
    """The calls of Python that enter and leave data, in order; they do nothing while `refuses` is set."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch):
        self.refuses = False
        self._calls: list[str] = []
        for name in ("data_enter", "data_exit"):
            self._count(monkeypatch, name)

    def _count(self, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
        original = getattr(EntryPoints, name)

        def counted(entries: EntryPoints, *arguments: int) -> None:
            self._calls.append(name)
            if not self.refuses:
                original(entries, *arguments)

        monkeypatch.setattr(EntryPoints, name, counted)

    def taken(self) -> list[str]:
        """The calls since the last time."""
        calls, self._calls[:] = list(self._calls), []
        return calls


class Regions:
    """Structured regions on a few arrays of the host target."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, arrays: int = 4):
        self.slow = Slow(monkeypatch)
        self.taken = self.slow.taken
        device = HostDevice(HostOptions(threads=1))
        self.runtime = Runtime([{"kind": "data"}] * SITES, device)
        self.program = Program(self.runtime)
        self.arrays = [np.zeros(64, np.int32) for _ in range(arrays)]
        self.counts = [0] * arrays
        """How many open regions hold each array."""

    def enter(self, site: int, *which: int, kind: DataKind = DataKind.CREATE) -> list[DataRecord]:
        records = [record(self.arrays[i].ctypes.data, self.arrays[i].nbytes, kind) for i in which]
        self.program.data("data_enter", records, site=site)
        for i, found in zip(which, records, strict=True):
            self.counts[i] += 1
            assert found.device not in (0, self.arrays[i].ctypes.data), "on the device"
        return records

    def leave(self, site: int, records: list[DataRecord], *which: int) -> None:
        self.program.data("data_exit", records, site=site)
        for i in which:
            self.counts[i] -= 1

    def check(self) -> None:
        held = {e.host: e.structured for e in self.runtime.current.table}
        wanted = {a.ctypes.data: n for a, n in zip(self.arrays, self.counts, strict=True) if n}
        assert held == wanted


def native_program(
    monkeypatch: pytest.MonkeyPatch, sites: int, name: str
) -> tuple[Program, Callable[[], list[str]]]:
    """A program on a device by name (host, cuda), and what has come to Python since the last call."""
    slow = Slow(monkeypatch)
    device = HostDevice(HostOptions(threads=1)) if name == "host" else FakeCuda(1).provider()
    return Program(Runtime([{"kind": "data"}] * sites, device)), slow.taken


def opened(program: Program, records: list[DataRecord], site: int = 1) -> list[int]:
    """The distances of device addresses from host addresses in a region, which is entered and left."""
    program.data("data_enter", records, site=site)
    found = [r.device - r.base for r in records]
    program.data("data_exit", records, site=site)
    return found
