"""What regions that native code enters on its own copy in and out, and whether that comes to Python."""

from __future__ import annotations

import ctypes
import random

import numpy as np
import pytest
from accopt.compiler.base.abi import DataFlag, DataKind, DataRecord
from accopt.runtime.data.host_pages import ENOUGH
from accopt.runtime.device import STAGED_BYTES
from native_regions import LONG, SITES, native_program
from runtime_harness import DYNAMIC, Program, record

COPIED_IN, COPIED_OUT = (DataKind.COPY, DataKind.COPYIN), (DataKind.COPY, DataKind.COPYOUT)


def _add(device: int, count: int, what: int) -> None:
    """What a kernel does to `count` integers."""
    memory = (ctypes.c_int32 * count).from_address(device)
    for i in range(count):
        memory[i] += what


@pytest.mark.parametrize("name", ["host", "cuda"])
def test_a_time_step_never_comes_to_python(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """Arrays in a data region, work arrays from the heap, an index list that comes, a result that goes."""
    program, taken = native_program(monkeypatch, 4, name)
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
    program, taken = native_program(monkeypatch, 5, name)
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
    program, taken = native_program(monkeypatch, 5, "cuda")
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


@pytest.mark.parametrize("name", ["host", "cuda"])
def test_copies_below_the_size_of_staged_ones_are_native(
    monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    program, taken = native_program(monkeypatch, 3, name)
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
    program, taken = native_program(monkeypatch, SITES, name)
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
