"""Regions that native code enters on its own: what comes to Python, and that counters and data are right."""

from __future__ import annotations

import ctypes
import random
from collections.abc import Callable

import numpy as np
import pytest
from accopt.compiler.base.abi import DataFlag, DataKind, DataRecord
from accopt.runtime.data.host_pages import ENOUGH
from accopt.runtime.device import STAGED_BYTES, Queue
from accopt.runtime.entry_points import EntryPoints
from accopt.runtime.errors import AccRuntimeError, ErrorClass
from accopt.runtime.host.device import HostDevice, HostOptions
from accopt.runtime.program import Runtime
from fake_cuda import FakeCuda
from runtime_harness import DYNAMIC, Program, memory_before_a_hole, record

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
        assert regions.refuses or section[0].device == whole[0].device
        regions.program.data("data_exit", section, site=2)
        return regions.taken()

    regions.taken()
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
        assert regions.taken() == []
        regions.refuses = True
        longer = [record(base, extent + 4, DataKind.PRESENT)]
        regions.program.data("data_enter", longer, site=2)
        assert regions.taken() == ["data_enter"], "not all of it is there"
        regions.refuses = False
        assert regions.runtime.current.table.at(base)
        regions.program.data("data_exit", outer, site=1)
    regions.check()


def _native_program(
    monkeypatch: pytest.MonkeyPatch, sites: int, name: str
) -> tuple[Program, Callable[[], list[str]]]:
    """A program on a device by name, and what has come to Python since the last call."""
    slow: list[str] = []

    def count(entry: str) -> None:
        original = getattr(EntryPoints, entry)

        def counted(entries: EntryPoints, *arguments: int) -> None:
            slow.append(entry)
            original(entries, *arguments)

        monkeypatch.setattr(EntryPoints, entry, counted)

    count("data_enter")
    count("data_exit")
    device = HostDevice(HostOptions(threads=1)) if name == "host" else FakeCuda(1).provider()
    program = Program(Runtime([{"kind": "data"}] * sites, device))

    def taken() -> list[str]:
        found, slow[:] = list(slow), []
        return found

    return program, taken


def _add(device: int, count: int, what: int) -> None:
    """What a kernel does to `count` integers."""
    memory = (ctypes.c_int32 * count).from_address(device)
    for i in range(count):
        memory[i] += what


@pytest.mark.parametrize("name", ["host", "cuda"])
def test_a_time_step_never_comes_to_python(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """Arrays in a data region, work arrays from the heap, an index list that comes, a result that goes."""
    program, taken = _native_program(monkeypatch, 4, name)
    state = [np.arange(32, dtype=np.int32) for _ in range(3)]
    fields = [record(a.ctypes.data, a.nbytes, DataKind.COPY) for a in state]
    program.data("data_enter", fields)
    calls: list[list[str]] = []
    for step in range(6):
        size = 16 + 4 * (step % 3)
        work = [np.zeros(size, np.int32) for _ in range(3)]
        index, result = np.full(size, step, np.int32), np.full(size, -1, np.int32)
        region = [record(a.ctypes.data, a.nbytes, DataKind.CREATE) for a in work]
        region.append(record(index.ctypes.data, index.nbytes, DataKind.COPYIN))
        region.append(record(result.ctypes.data, result.nbytes, DataKind.COPY))
        program.data("data_enter", region, site=1)
        for kind in (DataKind.PRESENT, DataKind.COPY):  # a construct of its own: counted
            inner = [record(a.ctypes.data, a.nbytes, kind) for a in (*state, *work)]
            program.data("data_enter", inner, site=2)
            assert [r.device for r in inner[3:]] == [r.device for r in region[:3]]
            program.data("data_exit", inner, site=2)
        assert (ctypes.c_int32 * size).from_address(region[3].device)[:] == [step] * size
        _add(region[4].device, size, step)
        program.data("data_exit", region, site=1)
        assert result.tolist() == [step - 1] * size
        calls.append(taken())
    assert calls[3:] == [[], [], []]
    program.data("data_exit", fields)
    assert not len(program.runtime.current.table)
    program.runtime.finish()


@pytest.mark.parametrize("name", ["host", "cuda"])
@pytest.mark.parametrize("held", [True, False], ids=["present", "absent"])
def test_enter_and_exit_data_never_come_to_python(
    monkeypatch: pytest.MonkeyPatch, name: str, held: bool
) -> None:
    """A function that maps what it uses, and is called in each step, with its constructs in between."""
    program, taken = _native_program(monkeypatch, 5, name)
    x, y, small = (np.zeros(n, np.int32) for n in (40, 32, 8))
    if held:
        program.data("data_enter", [record(a.ctypes.data, a.nbytes, DataKind.COPY) for a in (x, y)])
    calls: list[list[str]] = []
    for step in range(6):
        x[:], small[:] = step, 3 * step
        entered = [
            record(x.ctypes.data, x.nbytes, DataKind.COPYIN, DYNAMIC),
            record(y.ctypes.data, y.nbytes, DataKind.CREATE, DYNAMIC),
            record(small.ctypes.data, small.nbytes, DataKind.COPYIN, DYNAMIC),
        ]
        program.data("data_enter", entered, site=1)
        inner = [record(a.ctypes.data, a.nbytes, DataKind.PRESENT) for a in (x, y, small)]
        program.data("data_enter", inner, site=2)
        assert [r.device for r in inner] == [r.device for r in entered]
        memory = (ctypes.c_int32 * 8).from_address(inner[2].device)
        assert memory[:] == [3 * step] * 8
        memory[:] = [-step] * 8
        program.data("data_exit", inner, site=2)
        left = [record(a.ctypes.data, a.nbytes, DataKind.DELETE, DYNAMIC) for a in (x, y)]
        left.append(record(small.ctypes.data, small.nbytes, DataKind.COPYOUT, DYNAMIC))
        program.data("data_exit", left, site=3)
        assert small.tolist() == [-step] * 8, "nothing else holds it"
        calls.append(taken())
    assert calls[3:] == [[], [], []]
    table = program.runtime.current.table
    assert [(e.host, e.structured, e.dynamic) for e in table] == sorted(
        (a.ctypes.data, 1, 0) for a in (x, y) if held
    )
    program.runtime.finish()


def test_results_that_are_large_go_through_pinned_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """`enter data create` of a large array is native, its `exit data copyout` is not."""
    program, taken = _native_program(monkeypatch, 5, "cuda")
    x = np.zeros(STAGED_BYTES // 4, np.int32)
    for step in range(4):
        entered = [record(x.ctypes.data, x.nbytes, DataKind.CREATE, DYNAMIC)]
        program.data("data_enter", entered, site=1)
        (ctypes.c_int32 * x.size).from_address(entered[0].device)[:] = [step] * x.size
        came = taken()
        program.data(
            "data_exit", [record(x.ctypes.data, x.nbytes, DataKind.COPYOUT, DYNAMIC)], site=2
        )
        assert (x == step).all() and taken() == ["data_exit"]
    assert came == []
    program.runtime.finish()


def test_references_of_native_code_count_for_python(monkeypatch: pytest.MonkeyPatch) -> None:
    """`finalize`, and the exit that Python makes of what native code entered, and the other way round."""
    program, taken = _native_program(monkeypatch, 5, "cuda")
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


LONG = ENOUGH // 4
"""The elements from which an array of a region may stay where it is."""
COPIED_IN, COPIED_OUT = (DataKind.COPY, DataKind.COPYIN), (DataKind.COPY, DataKind.COPYOUT)


class _Model:
    """What sections 2.6.3 to 2.7 of the specification say of a few arrays, beside a program that does it."""

    def __init__(self, program: Program, draw: random.Random, *, in_place: bool):
        self.in_place = in_place
        self.program, self.draw = program, draw
        self.arrays = [np.full(16, i, np.int32) for i in range(5)]
        self.arrays += [np.full(LONG, i, np.int32) for i in range(2)]
        self.shared: set[int] = set()
        """The arrays that are present at their host addresses."""
        self.device: dict[int, list[int]] = {}
        """The values of each array that is present, and where."""
        self.places: dict[int, int] = {}
        self.counts = [[0, 0] for _ in self.arrays]
        """Structured and dynamic."""

    def records(self, listed: list[tuple[int, DataKind]], flags: int = 0) -> list[DataRecord]:
        """Data regions may share long arrays, enter data may not."""
        flags = flags or DataFlag.SHARED
        found = [self.arrays[i] for i, _ in listed]
        return [
            record(a.ctypes.data, a.nbytes, kind, flags)
            for a, (_, kind) in zip(found, listed, strict=True)
        ]

    def enter(
        self, site: int, listed: list[tuple[int, DataKind]], flags: int = 0
    ) -> list[DataRecord]:
        records = self.records(listed, flags)
        self.program.data("data_enter", records, site=site)
        for (i, kind), found in zip(listed, records, strict=True):
            if not sum(self.counts[i]):
                assert i not in self.device
                self.places[i] = found.device
                here = found.device == self.arrays[i].ctypes.data
                assert here == (self.in_place and not flags and self.arrays[i].size == LONG)
                if here:
                    self.shared.add(i)
                self.device[i] = self.arrays[i][:16].tolist()
                if kind not in COPIED_IN:
                    (ctypes.c_int32 * 16).from_address(found.device)[:] = self.device[i]
            self.counts[i][bool(flags)] += 1
            assert found.device == self.places[i]
        self.look()
        return records

    def leave(
        self,
        site: int,
        listed: list[tuple[int, DataKind]],
        records: list[DataRecord],
        flags: int = 0,
    ) -> None:
        self.program.data("data_exit", records, site=site)
        for i, kind in listed:
            self.counts[i][bool(flags)] -= 1
            if not sum(self.counts[i]):
                if kind in COPIED_OUT or i in self.shared:
                    assert self.arrays[i][:16].tolist() == self.device[i]
                del self.device[i], self.places[i]
                self.shared.discard(i)
        self.look()

    def look(self) -> None:
        """The device has what it should, and gets something new; so does the host."""
        for i, values in self.device.items():
            memory = (ctypes.c_int32 * 16).from_address(self.places[i])
            assert memory[:] == values
            self.device[i] = memory[:] = [v + self.draw.randrange(9) for v in values]
        changed = self.draw.randrange(len(self.arrays))
        if changed not in self.shared:
            self.arrays[changed] += 1


@pytest.mark.parametrize("name", ["host", "cuda"])
@pytest.mark.parametrize("seed", range(12))
def test_data_is_what_the_specification_says(
    monkeypatch: pytest.MonkeyPatch, name: str, seed: int
) -> None:
    draw, share = random.Random(seed), (0.06, 0.2)[seed % 2]
    program, taken = _native_program(monkeypatch, SITES, name)
    model = _Model(program, draw, in_place=name == "host")
    some = range(len(model.arrays))
    kinds = [DataKind.COPY, DataKind.COPYIN, DataKind.COPYOUT, DataKind.CREATE]
    uses = [
        [(i, draw.choice(kinds)) for i in draw.sample(some, draw.randint(1, 3))]
        for _ in range(SITES)
    ]
    opened: list[tuple[int, list[DataRecord]]] = []
    for _ in range(250):
        what = draw.random()
        if what < share:
            kind = draw.choice((DataKind.COPYIN, DataKind.CREATE))
            model.enter(0, [(i, kind) for i in draw.sample(some, draw.randint(1, 2))], DYNAMIC)
        elif what < 2 * share:
            held = [i for i, (_, dynamic) in enumerate(model.counts) if dynamic]
            if held:
                kind = draw.choice((DataKind.COPYOUT, DataKind.DELETE))
                left = [(i, kind) for i in draw.sample(held, draw.randint(1, min(2, len(held))))]
                model.leave(0, left, model.records(left, DYNAMIC), DYNAMIC)
        elif len(opened) < 5 and what < 0.56:
            site = draw.randrange(SITES)
            opened.append((site, model.enter(site, uses[site])))
        elif opened:
            site, records = opened.pop(-1 if draw.random() < 0.85 else 0)
            model.leave(site, uses[site], records)
        if draw.random() < 0.05:
            held_now = {e.host: (e.structured, e.dynamic) for e in program.runtime.current.table}
            assert held_now == {
                a.ctypes.data: tuple(n)
                for a, n in zip(model.arrays, model.counts, strict=True)
                if sum(n)
            }
    assert len(taken()) < 200, "some were native"
    program.runtime.finish()


@pytest.mark.parametrize("name", ["host", "cuda"])
def test_blocks_are_kept_after_asynchronous_constructs(
    monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """The queue has finished before the region ends, so that the next one gets the block without Python."""
    program, taken = _native_program(monkeypatch, 3, name)
    x = np.zeros(64, np.int32)
    for kind in (DataKind.CREATE, DataKind.COPY):
        for queue in (1, 2, 1):
            region = [record(x.ctypes.data, x.nbytes, kind)]
            program.data("data_enter", region)
            inner = [record(x.ctypes.data, x.nbytes, DataKind.PRESENT)]
            program.data("data_enter", inner, queue, site=2)
            program.data("data_exit", inner, queue, site=2)
            program.wait(queue)
            program.data("data_exit", region)
    for _ in range(2):
        taken()
        _opened(program, [record(x.ctypes.data, x.nbytes, DataKind.COPY)])
    assert taken() == []
    program.runtime.finish()


@pytest.mark.parametrize("name", ["host", "cuda"])
def test_copies_below_the_size_of_staged_ones_are_native(
    monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    program, taken = _native_program(monkeypatch, 3, name)
    x = np.zeros(STAGED_BYTES // 4, np.int32)
    for size, native in ((ENOUGH, True), (STAGED_BYTES - 4, True), (STAGED_BYTES, False)):
        for step in range(3):
            taken()
            x[:] = step
            region = [record(x.ctypes.data, size, DataKind.COPY)]
            program.data("data_enter", region)
            last = (ctypes.c_int32 * 1).from_address(region[0].device + size - 4)
            assert last[0] == step
            last[0] = step + 7
            program.data("data_exit", region)
            assert x[size // 4 - 1] == step + 7
        assert (taken() == []) == native
    program.runtime.finish()


def _opened(program: Program, records: list[DataRecord], site: int = 1) -> list[int]:
    """The distances of device addresses from host addresses in a region, which is entered and left."""
    program.data("data_enter", records, site=site)
    found = [r.device - r.base for r in records]
    program.data("data_exit", records, site=site)
    return found


@pytest.mark.parametrize("flags", [DataFlag.SHARED, DataFlag.SHARED | DataFlag.INFERRED])
def test_long_arrays_stay_without_python(monkeypatch: pytest.MonkeyPatch, flags: int) -> None:
    """At every place and length; constructs find them, and Python knows what has entered them."""
    program, taken = _native_program(monkeypatch, 3, "host")
    x = np.zeros(9 * LONG, np.int32)
    heap = x.ctypes.data
    _opened(program, [record(heap, 4, DataKind.COPY)])
    taken()
    for first, last in ((0, LONG), (4, LONG + 4), (LONG - 1, 3 * LONG + 1), (0, 9 * LONG)):
        kinds = (DataKind.COPY, DataKind.COPYIN, DataKind.COPYOUT)
        for kind in kinds:
            region = [record(heap, 4 * (last - first), kind, flags, offset=4 * first)]
            program.data("data_enter", region)
            inner = [record(heap, 64, DataKind.PRESENT, offset=4 * (last - 16))]
            assert _opened(program, inner, 2) == [0] and region[0].device == heap
            assert taken() == [], (first, last, kind)
            (entry,) = program.runtime.current.table
            assert (entry.base, entry.structured, entry.shared) == (heap, 1, True)
            assert entry.origin == "data construct, '?'"
            program.data("data_exit", region)
            assert taken() == ["data_exit"], "it is Python's now"
            assert _opened(program, region) == [0]
            assert taken() == []
    assert not len(program.runtime.current.table)
    program.runtime.finish()


def test_short_and_overlapping_arrays_are_copied(monkeypatch: pytest.MonkeyPatch) -> None:
    program, _ = _native_program(monkeypatch, 3, "host")
    x = np.zeros(4 * LONG, np.int32)
    base, flags = x.ctypes.data, DataFlag.SHARED
    whole = record(base, x.nbytes, DataKind.COPY, flags)
    for _ in range(3):
        assert _opened(program, [whole]) == [0]
        assert 0 not in _opened(program, [record(base, 4 * LONG - 4, DataKind.COPY, flags)])
        assert 0 not in _opened(program, [whole, record(base, 4, DataKind.COPYIN, flags)])
        assert 0 not in _opened(program, [record(base, x.nbytes, DataKind.COPY)])
    program.runtime.finish()


def test_a_long_section_beyond_the_memory_comes_to_python(monkeypatch: pytest.MonkeyPatch) -> None:
    program, _ = _native_program(monkeypatch, 3, "host")
    x = np.zeros(1)
    _opened(program, [record(x.ctypes.data, 4, DataKind.COPY)])  # native from now on
    asked: list[int] = []
    monkeypatch.setattr(EntryPoints, "_perform", lambda *arguments: asked.append(arguments[2]))
    start = memory_before_a_hole(ENOUGH)
    for size, python in ((ENOUGH, 0), (ENOUGH + 1, 1), (2 * ENOUGH, 1)):
        region = [record(start, size, DataKind.COPY, DataFlag.SHARED)]
        program.data("data_enter", region, site=1)
        assert len(asked) == python and (region[0].device == start) == (not python)
        if not python:
            program.data("data_exit", region, site=1)
        asked.clear()


def test_arrays_in_place_are_counted_where_a_region_shares_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A construct that copies another array comes to Python, and must count the shared one out again."""
    program, taken = _native_program(monkeypatch, 3, "host")
    x, other = np.zeros(LONG, np.int32), np.zeros(LONG, np.int32)
    place = x.ctypes.data
    for order in (1, -1, 1, -1):
        region = [record(place, x.nbytes, DataKind.COPY, DataFlag.SHARED)]
        program.data("data_enter", region)
        inner = [
            record(place, x.nbytes, DataKind.COPY, DataFlag.IN_PLACE),
            record(other.ctypes.data, other.nbytes, DataKind.COPYIN, DataFlag.ALWAYS_IN),
        ][::order]
        taken()
        assert 0 in _opened(program, inner)
        assert taken() == ["data_enter", "data_exit"]
        (entry,) = program.runtime.current.table
        assert (entry.host, entry.structured) == (place, 1)
        program.data("data_exit", region)
        assert not len(program.runtime.current.table)
    program.runtime.finish()


@pytest.mark.parametrize("name", ["host", "cuda"])
def test_inferred_regions_are_native(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """Those that are entered completely; the others leave their data to the constructs."""
    program, taken = _native_program(monkeypatch, 3, name)
    x, y = (np.zeros(64, np.int32) for _ in range(2))

    def region(*sections: tuple[int, int]) -> list[DataRecord]:
        return [record(b, n, DataKind.COPY, DataFlag.INFERRED) for b, n in sections]

    both = region((x.ctypes.data, 256), (y.ctypes.data, 256))
    for _ in range(3):
        _opened(program, both)
    taken()
    assert all(_opened(program, both)) and taken() == []
    outer = [record(x.ctypes.data, 256, DataKind.COPY)]
    program.data("data_enter", outer)
    assert all(_opened(program, both)) and taken() == []
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
    program, taken = _native_program(monkeypatch, 3, name)
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


@pytest.mark.parametrize("kind", [DataKind.CREATE, DataKind.COPYOUT])
def test_the_host_hands_out_zeroed_memory(monkeypatch: pytest.MonkeyPatch, kind: DataKind) -> None:
    """Python makes the block, hands it out again, and native code does."""
    regions = Regions(monkeypatch)
    ways = []
    for size in (64, 64, 64, 40, 64):
        regions.arrays[1] = np.ones(size, np.int32)
        records = regions.enter(1, 1, kind=kind)
        ways.append(len(regions.taken()))
        memory = (ctypes.c_int32 * size).from_address(records[0].device)
        assert not any(memory)
        memory[:] = [0x3F] * size
        regions.leave(1, records, 1)
    assert ways[0] and not ways[-1], "made by Python, then handed out by native code"
    regions.runtime.finish()


def test_kept_blocks_are_freed_when_memory_is_short(monkeypatch: pytest.MonkeyPatch) -> None:
    regions = Regions(monkeypatch)
    for i in (0, 1):
        regions.leave(1, regions.enter(1, i), i)
    state = regions.runtime.current
    allocate, full = state.device.allocate, [True]
    free = state.device.free

    def scarce(size: int, queue: Queue) -> int:
        if full[0]:
            raise AccRuntimeError(ErrorClass.OUT_OF_MEMORY, "full")
        return allocate(size, queue)

    def freed(address: int, queue: Queue) -> None:
        full[0] = False
        free(address, queue)

    monkeypatch.setattr(state.device, "allocate", scarce)
    monkeypatch.setattr(state.device, "free", freed)
    larger = np.zeros(4096, np.int32)
    records = [record(larger.ctypes.data, larger.nbytes, DataKind.CREATE)]
    regions.program.data("data_enter", records)
    assert not full[0] and records[0].device
    assert not regions.runtime.current.quick.drain()
    regions.program.data("data_exit", records)
    regions.runtime.finish()
