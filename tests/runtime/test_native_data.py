"""Entry and exit in native code: what is answered there, what goes to Python, what the counters say."""

from __future__ import annotations

import ctypes
import itertools
import threading

import numpy as np
import pytest
from accopt.compiler.base.abi import DataFlag, DataKind, DataRecord
from accopt.runtime.data.cells import CELL, Cells
from accopt.runtime.data.present import Entry, PresentTable
from accopt.runtime.data.quick_entry import QuickEntry
from accopt.runtime.device import CellPage
from accopt.runtime.host.device import HostDevice, HostOptions
from accopt.runtime.native.data import NativeData
from accopt.runtime.native.devices import NativeDevices
from accopt.runtime.program import Runtime
from runtime_fakes import FakeQueue
from runtime_harness import DYNAMIC, Program, record

_i, _q, _p = ctypes.c_int32, ctypes.c_int64, ctypes.c_void_p
PROTOTYPE = ctypes.CFUNCTYPE(None, _i, _q, _i, _q)
DEVICE = 0x7000_0000
SYNC = -2


class Fixture:
    """Two present arrays and a scalar; the "Python entry points" count what reaches them."""

    def __init__(self) -> None:
        self.table = PresentTable()
        self.arrays = [np.zeros(16, np.float32) for _ in range(2)]
        self.entries = [
            self.table.insert(Entry(a.ctypes.data, a.nbytes, DEVICE + 4096 * i, structured=1))
            for i, a in enumerate(self.arrays)
        ]
        self.memory = (ctypes.c_char * (4 * CELL))()
        page = CellPage(ctypes.addressof(self.memory), DEVICE << 4, 4 * CELL)
        self.value = ctypes.c_double(1.5)
        self.quick = QuickEntry(self.table, Cells(page))
        self.slow: list[str] = []
        self.keep = [PROTOTYPE(self.slow_enter), PROTOTYPE(self.slow_exit)]
        slow = (ctypes.cast(f, _p).value or 0 for f in self.keep)
        self.devices = NativeDevices(1, 0)
        self.code = NativeData(2, self.devices, *slow)
        self.quick.native = self.native = self.code.of(0)
        self.call_enter = PROTOTYPE(self.code.enter_address)
        self.call_exit = PROTOTYPE(self.code.exit_address)

    def slow_enter(self, site: int, records: int, count: int, queue: int) -> None:
        self.slow.append("enter")
        assert (
            self.quick.enter(site, records, count, None if queue == SYNC else FakeQueue()) == count
        )

    def slow_exit(self, site: int, records: int, count: int, queue: int) -> None:
        self.slow.append("exit")
        assert self.quick.exit(site, records, count) == 0

    def records(self, *which: int, cell: bool = False) -> ctypes.Array[DataRecord]:
        """Records as host code fills them: `device` is the host address."""
        listed = [
            record(self.arrays[i].ctypes.data, self.arrays[i].nbytes, DataKind.PRESENT)
            for i in which
        ]
        if cell:
            base = ctypes.addressof(self.value)
            listed.append(record(base, 8, DataKind.COPY, DataFlag.CELL))
        for r in listed:
            r.device = r.base
        return (DataRecord * len(listed))(*listed)

    def enter(
        self, records: ctypes.Array[DataRecord], site: int = 0, queue: int = SYNC
    ) -> list[str]:
        self.call_enter(site, ctypes.addressof(records), len(records), queue)
        return self.taken()

    def leave(
        self, records: ctypes.Array[DataRecord], site: int = 0, queue: int = SYNC
    ) -> list[str]:
        self.call_exit(site, ctypes.addressof(records), len(records), queue)
        return self.taken()

    def taken(self) -> list[str]:
        slow, self.slow[:] = list(self.slow), []
        return slow

    def counters(self) -> list[int]:
        self.quick.settle()
        return [e.structured for e in self.entries]


@pytest.fixture
def data() -> Fixture:
    return Fixture()


def test_regions_on_present_data_are_native(data: Fixture) -> None:
    for _ in range(3):
        records = data.records(0, 1)
        assert data.enter(records) == []
        assert [r.device for r in records] == [DEVICE, DEVICE + 4096]
        assert data.leave(records) == []
    assert data.counters() == [1, 1]


def test_looking_makes_the_counters_complete(data: Fixture) -> None:
    records = data.records(0)
    data.enter(records)
    assert data.counters() == [2, 1]
    assert data.leave(records) == ["exit"] and data.counters() == [1, 1]


def test_regions_may_nest_and_repeat(data: Fixture) -> None:
    outer, inner, again = data.records(0), data.records(0, 1), data.records(0)
    data.enter(outer)
    data.enter(inner, 1)
    assert data.enter(again) == []
    assert data.counters() == [4, 2]
    assert data.leave(again) + data.leave(inner, 1) + data.leave(outer) == ["exit"] * 3
    assert data.counters() == [1, 1]


def test_clauses_that_do_more_than_count_go_to_python(data: Fixture) -> None:
    for flag in (DataFlag.ALWAYS_IN, DataFlag.ALWAYS_OUT, DataFlag.FINALIZE):
        records = data.records(0, 1)
        records[1].flags = flag
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(data.quick, "enter", lambda *_: 2)
            patch.setattr(data.quick, "exit", lambda *_: 0)
            assert data.enter(records) + data.leave(records) == ["enter", "exit"], flag
    assert data.counters() == [1, 1]


def test_any_versions_of_a_construct_are_native(data: Fixture) -> None:
    opened = []
    for which in (w for n in (1, 2, 3, 4) for w in itertools.product((0, 1), repeat=n)):
        opened.append(data.records(*which))
        data.enter(opened[-1])
    assert data.taken() == [] and data.counters() == [1 + 49, 1 + 49]
    for records in opened:
        data.leave(records)
    assert data.counters() == [1, 1]


def test_reductions_take_their_values_along(data: Fixture) -> None:
    for step in range(4):
        data.value.value = start = 10.0 + step
        records = data.records(0, cell=True)
        assert data.enter(records) == (["enter"] if step == 0 else [])
        cell = ctypes.c_double.from_buffer(data.memory, records[1].device - (DEVICE << 4))
        assert cell.value == start
        cell.value = start + 0.25
        assert data.leave(records) == (["exit"] if step == 0 else [])
        assert data.value.value == start + 0.25


def test_a_cell_serves_one_synchronous_region_at_a_time(data: Fixture) -> None:
    first = data.records(0, cell=True)
    data.enter(first)
    data.leave(first)
    asynchronous = data.records(0, cell=True)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(data.quick, "enter", lambda *_: 2)
        assert data.enter(asynchronous, queue=1) == ["enter"]
        assert data.enter(first) == []
        assert data.enter(data.records(0, cell=True)) == ["enter"], "the cell is taken"
    assert data.leave(first) == []


def test_a_region_in_a_cell_keeps_others_out_when_python_looks(data: Fixture) -> None:
    other, third = ctypes.c_double(20.0), ctypes.c_double(30.0)

    def of(value: ctypes.c_double) -> ctypes.Array[DataRecord]:
        records = data.records(0, cell=True)
        records[1].base = records[1].device = ctypes.addressof(value)
        return records

    for value in (data.value, other):
        records = of(value)
        data.enter(records)
        data.leave(records)
    mine, theirs = of(data.value), of(other)
    assert data.enter(mine) == []
    with pytest.raises(AssertionError):
        data.slow_enter(
            0, ctypes.addressof(of(third)), 2, SYNC
        )  # another thread's: not in the cell
    cell = ctypes.c_double.from_buffer(data.memory, mine[1].device - (DEVICE << 4))
    cell.value = 7.0
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(data.quick, "enter", lambda *_: 2)
        data.slow.clear()
        assert data.enter(theirs) == ["enter"]
    assert cell.value == 7.0
    data.quick.settle()
    assert data.leave(mine) == ["exit"] and data.value.value == 7.0
    records = of(other)
    data.enter(records)
    assert records[1].device == mine[1].device, "the cell is free again"
    cell.value = 8.0
    data.leave(records)
    assert (data.value.value, other.value) == (7.0, 8.0)


def test_a_cell_is_of_the_variable_that_enters(data: Fixture) -> None:
    """What is remembered of a site names its variable, whoever was in the cell since."""
    other = ctypes.c_double(20.0)
    theirs = data.records(0, cell=True)
    theirs[1].base = theirs[1].device = ctypes.addressof(other)
    before = bytes(theirs)
    for records in (data.records(0, cell=True), theirs):
        data.enter(records)
        data.leave(records)
    again = data.records(0, cell=True)
    assert data.enter(again) == []
    data.quick.settle()  # the cell is now known to be of the first variable
    data.leave(again)
    theirs = (DataRecord * 2).from_buffer_copy(before)
    data.enter(theirs)
    cell = ctypes.c_double.from_buffer(data.memory, theirs[1].device - (DEVICE << 4))
    assert cell.value == 20.0
    cell.value = 21.0
    data.leave(theirs)
    assert (data.value.value, other.value) == (1.5, 21.0)


def test_counters_of_regions_on_several_threads() -> None:
    """Native entries and exits against a thread that keeps looking and one that maps and unmaps."""
    device = HostDevice(HostOptions(threads=1))
    runtime = Runtime([{"kind": "data"}] * 3, device)
    program = Program(runtime)
    arrays = [np.zeros(64, np.int32) for _ in range(2)]

    def of(i: int, kind: DataKind, flags: int = 0) -> DataRecord:
        return record(arrays[i].ctypes.data, arrays[i].nbytes, kind, flags)

    program.data("data_enter", [of(0, DataKind.COPYIN, DYNAMIC)])
    problems: list[object] = []

    def work(site: int) -> None:
        for _ in range(400):
            inner = [of(0, DataKind.PRESENT)]
            program.data("data_enter", inner, site=site)
            if inner[0].device == arrays[0].ctypes.data:
                problems.append("not present")
            program.data("data_exit", inner, site=site)

    def disturb() -> None:
        for _ in range(200):
            other = [of(1, DataKind.CREATE)]
            program.data("data_enter", other, site=2)
            program.data("data_exit", other, site=2)

    threads = [threading.Thread(target=work, args=(site,)) for site in (0, 0, 1)]
    threads.append(threading.Thread(target=disturb))
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    (entry,) = runtime.current.table
    assert not problems and (entry.structured, entry.dynamic) == (0, 1)
    runtime.finish()
