"""Arrays that come and go between constructs: what native code keeps, and that counters stay right."""

from __future__ import annotations

import random

import numpy as np
import pytest
from accopt.compiler.base.abi import DataKind, DataRecord
from accopt.runtime.entry_points import EntryPoints
from accopt.runtime.host.device import HostDevice, HostOptions
from accopt.runtime.program import Runtime
from runtime_harness import Program, record

SITES = 12


class Regions:
    """
    Structured regions on a few arrays, as host code opens them; `slow` counts calls of Python, which do
    nothing while `refuses` is set.
    """

    def __init__(self, monkeypatch: pytest.MonkeyPatch, arrays: int = 4):
        self.slow: list[str] = []
        self.refuses = False
        for name in ("data_enter", "data_exit"):
            self._counted(monkeypatch, name)
        device = HostDevice(HostOptions(threads=1))
        self.runtime = Runtime([{"kind": "data"}] * SITES, device)
        self.program = Program(self.runtime)
        self.arrays = [np.zeros(64, np.int32) for _ in range(arrays)]
        self.counts = [0] * arrays
        """How many open regions hold each array."""

    def _counted(self, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
        original = getattr(EntryPoints, name)

        def counted(entries: EntryPoints, *arguments: int) -> None:
            self.slow.append(name)
            if not self.refuses:
                original(entries, *arguments)

        monkeypatch.setattr(EntryPoints, name, counted)

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

    def taken(self) -> list[str]:
        slow, self.slow[:] = list(self.slow), []
        return slow

    def check(self) -> None:
        held = {e.host: e.structured for e in self.runtime.current.table}
        wanted = {a.ctypes.data: n for a, n in zip(self.arrays, self.counts, strict=True) if n}
        assert held == wanted


def _step(regions: Regions, between: int = 0) -> None:
    """A time step: a work array around constructs that use it, and one that does not."""
    work = regions.enter(1, 1)
    for site, which in ((2, (0, 1)), (3, (0,)), (4, (1,))):
        inner = regions.enter(site, *which, kind=DataKind.PRESENT)
        regions.leave(site, inner, *which)
    for _ in range(between):
        other = regions.enter(5, 2)
        regions.leave(5, other, 2)
    regions.leave(1, work, 1)


def test_constructs_on_work_arrays_stay_native(monkeypatch: pytest.MonkeyPatch) -> None:
    regions = Regions(monkeypatch)
    regions.enter(0, 0)
    _step(regions)
    regions.taken()
    for _ in range(3):
        _step(regions)
        assert regions.taken() == ["data_enter", "data_exit"], "the work array's own region"
    regions.check()


def test_another_array_in_between_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    regions = Regions(monkeypatch)
    regions.enter(0, 0)
    _step(regions, between=1)
    regions.taken()
    _step(regions, between=2)
    assert len(regions.taken()) == 2 + 4
    regions.check()


def test_the_work_array_may_come_back_elsewhere_on_the_device(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    regions = Regions(monkeypatch)
    places: set[int] = set()
    for _ in range(3):
        work = regions.enter(1, 1)
        inner = regions.enter(2, 1, kind=DataKind.PRESENT)
        assert inner[0].device == work[0].device
        places.add(inner[0].device)
        regions.leave(2, inner, 1)
        regions.leave(1, work, 1)
        # Holds the block that the array had.
        held = regions.runtime.current.device.allocate(256, regions.runtime.current.sync_queue)
        assert held
    assert len(places) > 1
    assert regions.taken().count("data_enter") == 3 + 1
    regions.check()


def test_an_open_region_keeps_the_array_of_a_region_that_ends(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    regions = Regions(monkeypatch)
    outer = regions.enter(1, 1)
    first = regions.enter(2, 1, kind=DataKind.PRESENT)
    regions.leave(2, first, 1)
    second = regions.enter(2, 1, kind=DataKind.PRESENT)  # natively
    regions.leave(1, outer, 1)
    regions.check()
    regions.leave(2, second, 1)
    regions.check()


@pytest.mark.parametrize("seed", range(8))
def test_any_order_of_regions_counts_right(monkeypatch: pytest.MonkeyPatch, seed: int) -> None:
    draw = random.Random(seed)
    regions = Regions(monkeypatch)
    open_ones: list[tuple[int, list[DataRecord], tuple[int, ...]]] = []
    uses = [tuple(draw.sample(range(4), draw.randint(1, 3))) for _ in range(SITES)]
    for _ in range(300):
        if len(open_ones) < 6 and draw.random() < 0.55:
            site = draw.randrange(SITES)
            which = uses[site]
            open_ones.append((site, regions.enter(site, *which), which))
        elif open_ones:
            # Mostly the last: structured regions nest, but threads may mix them.
            site, records, which = open_ones.pop(-1 if draw.random() < 0.8 else 0)
            regions.leave(site, records, *which)
        if draw.random() < 0.03:
            regions.check()
    while open_ones:
        site, records, which = open_ones.pop()
        regions.leave(site, records, *which)
    regions.check()
    assert len(regions.taken()) < 560, "some were native"


def test_sections_of_any_size_stay_native(monkeypatch: pytest.MonkeyPatch) -> None:
    regions = Regions(monkeypatch)
    whole = regions.enter(0, 0)
    base, size = regions.arrays[0].ctypes.data, regions.arrays[0].nbytes

    def opened(offset: int, extent: int) -> list[str]:
        section = [record(base, extent, DataKind.PRESENT)]
        section[0].offset = offset
        regions.program.data("data_enter", section, site=2)
        assert regions.refuses or section[0].device == whole[0].device
        regions.program.data("data_exit", section, site=2)
        return regions.taken()

    regions.taken()
    assert opened(4, 8) == ["data_enter"], "armed"
    for offset, extent in ((4, 8), (0, size), (size - 4, 4), (0, 1), (8, 16)):
        assert opened(offset, extent) == [], "inside of the entry"
    regions.refuses = True
    for offset, extent in ((4, size), (-4, 8), (size, 4), (0, 0)):
        assert opened(offset, extent) == ["data_enter", "data_exit"], "not all of it is there"
    regions.check()


def test_an_array_may_come_back_with_another_size(monkeypatch: pytest.MonkeyPatch) -> None:
    regions = Regions(monkeypatch)
    base = regions.arrays[0].ctypes.data
    for extent in (64, 32, 128):
        outer = [record(base, extent, DataKind.CREATE)]
        regions.program.data("data_enter", outer, site=1)
        regions.taken()
        inner = [record(base, extent, DataKind.PRESENT)]
        regions.program.data("data_enter", inner, site=2)
        regions.program.data("data_exit", inner, site=2)
        assert regions.taken() == (["data_enter"] if extent == 64 else []), "armed the first time"
        regions.refuses = True
        longer = [record(base, extent + 4, DataKind.PRESENT)]
        regions.program.data("data_enter", longer, site=2)
        assert regions.taken() == ["data_enter"], "not all of it is there"
        regions.refuses = False
        regions.program.data("data_exit", outer, site=1)
    regions.check()
