"""Regions that native code enters on its own: what comes to Python, and that counters are right."""

from __future__ import annotations

import random

import numpy as np
import pytest
from accopt.compiler.base.abi import DataFlag, DataKind, DataRecord
from native_regions import SITES, Regions, native_program, opened
from runtime_harness import DYNAMIC, record


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
        assert regions.taken() == []
    regions.check()


def test_another_array_in_between_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    regions = Regions(monkeypatch)
    regions.enter(0, 0)
    for _ in range(2):
        _step(regions, between=1)
    regions.taken()
    _step(regions, between=2)
    assert regions.taken() == []
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
        # Takes the block that the array had.
        assert regions.runtime.current.quick.drain()
    assert len(places) > 1
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
        assert regions.slow.refuses or section[0].device == whole[0].device
        regions.program.data("data_exit", section, site=2)
        return regions.taken()

    regions.taken()
    for offset, extent in ((4, 8), (0, size), (size - 4, 4), (0, 1), (8, 16)):
        assert opened(offset, extent) == [], "inside of the entry"
    regions.slow.refuses = True
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
        assert regions.taken() == []
        regions.slow.refuses = True
        longer = [record(base, extent + 4, DataKind.PRESENT)]
        regions.program.data("data_enter", longer, site=2)
        assert regions.taken() == ["data_enter"], "not all of it is there"
        regions.slow.refuses = False
        assert regions.runtime.current.table.at(base)
        regions.program.data("data_exit", outer, site=1)
    regions.check()


def test_references_of_native_code_count_for_python(monkeypatch: pytest.MonkeyPatch) -> None:
    """`finalize`, and the exit that Python makes of what native code entered, and the other way round."""
    program, taken = native_program(monkeypatch, 5, "cuda")
    x = np.arange(8, dtype=np.int32)

    def listed(kind, flags=0):
        return [record(x.ctypes.data, x.nbytes, kind, DYNAMIC | flags)]

    for _ in range(2):
        program.data("data_enter", listed(DataKind.COPYIN), site=1)
        program.data("data_exit", listed(DataKind.DELETE), site=2)
    taken()
    for _ in range(3):
        program.data("data_enter", listed(DataKind.COPYIN), site=1)
    assert taken() == []
    program.data("data_exit", listed(DataKind.DELETE), site=2)
    assert taken() == [] and program.call("acc_is_present", x.ctypes.data, 4) == 1
    (entry,) = program.runtime.current.table
    assert (entry.structured, entry.dynamic) == (0, 2)
    program.data("data_enter", listed(DataKind.COPYIN), site=1)
    program.data("data_exit", listed(DataKind.DELETE, DataFlag.FINALIZE), site=3)
    assert not program.call("acc_is_present", x.ctypes.data, 4)
    program.data("data_exit", listed(DataKind.COPYOUT), site=2)
    assert x.tolist() == list(range(8)), "nothing to do"
    program.runtime.finish()


@pytest.mark.parametrize("name", ["host", "cuda"])
def test_inferred_regions_are_native(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """Those that are entered completely; the others leave their data to the constructs."""
    program, taken = native_program(monkeypatch, 3, name)
    x, y = (np.zeros(64, np.int32) for _ in range(2))

    def region(*sections: tuple[int, int]) -> list[DataRecord]:
        return [record(b, n, DataKind.COPY, DataFlag.INFERRED) for b, n in sections]

    both = region((x.ctypes.data, 256), (y.ctypes.data, 256))
    for _ in range(3):
        opened(program, both)
    taken()
    assert all(opened(program, both)) and taken() == []
    outer = [record(x.ctypes.data, 256, DataKind.COPY)]
    program.data("data_enter", outer)
    assert all(opened(program, both)) and taken() == []
    for sections in (
        ((x.ctypes.data, 256), (x.ctypes.data + 128, 64)),
        ((y.ctypes.data, 256), (y.ctypes.data + 128, 64)),
        ((y.ctypes.data, 256), (x.ctypes.data + 128, 256)),
        ((y.ctypes.data, 256), (0, 64)),
    ):
        skipped = region(*sections)
        program.data("data_enter", skipped)
        assert taken() == ["data_enter"]
        expected = [False, False] if sections[1][0] else [True, False]
        assert [r.device != 0 for r in skipped] == expected
        program.data("data_exit", skipped)
        assert taken() == ["data_exit"]
    (entry,) = program.runtime.current.table
    assert (entry.host, entry.structured) == (x.ctypes.data, 1)
    program.data("data_exit", outer)
    program.runtime.finish()


@pytest.mark.parametrize("name", ["host", "cuda"])
def test_python_finds_the_section_of_an_array(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """A section that native code has entered is what a pointer without a section stands for."""
    program, taken = native_program(monkeypatch, 3, name)
    x = np.zeros(64, np.int32)
    for _ in range(4):
        region = [record(x.ctypes.data, 64, DataKind.COPY, offset=128)]
        taken()
        program.data("data_enter", region)
        was_native = not taken()
        inner = [record(x.ctypes.data, 4, DataKind.PRESENT, DataFlag.UNBOUNDED | DataFlag.IMPLICIT)]
        program.data("data_enter", inner, site=2)
        assert inner[0].device == region[0].device
        program.data("data_exit", inner, site=2)
        program.data("data_exit", region)
    assert was_native
    program.runtime.finish()
