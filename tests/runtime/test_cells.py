"""Reduction scalars in pinned memory: what entry stores, exit fetches, and when no cell is used."""

from __future__ import annotations

import ctypes

import pytest
from accopt.compiler.base.abi import DataFlag, DataKind, DataRecord
from accopt.runtime.data.cells import CELL, Cells
from accopt.runtime.data.present import Entry, PresentTable
from accopt.runtime.data.quick_entry import QuickEntry
from accopt.runtime.device import CellPage
from runtime_fakes import FakeQueue

DEVICE = 0x7000_0000


class Fixture:
    """A page of two cells, seen by a "device" at another address, and one float to reduce."""

    def __init__(self) -> None:
        self.memory = (ctypes.c_char * (2 * CELL))()
        page = CellPage(ctypes.addressof(self.memory), DEVICE, 2 * CELL)
        self.table = PresentTable()
        self.quick = QuickEntry(self.table, Cells(page))
        self.value = ctypes.c_double(1.5)
        self.records = (DataRecord * 1)()
        self.records[0].base = ctypes.addressof(self.value)
        self.records[0].bytes = 8
        self.records[0].kind = DataKind.COPY
        self.records[0].flags = DataFlag.CELL | DataFlag.IMPLICIT

    def enter(self, *, site: int = 0, synchronous: bool = True) -> int:
        return self.quick.enter(
            site, ctypes.addressof(self.records), 1, None if synchronous else FakeQueue()
        )

    def leave(self, site: int = 0) -> int:
        return self.quick.exit(site, ctypes.addressof(self.records), 1)

    def cell(self) -> ctypes.c_double:
        """The cell that the record's device address stands for."""
        offset = self.records[0].device - DEVICE
        assert 0 <= offset < 2 * CELL
        return ctypes.c_double.from_buffer(self.memory, offset)


@pytest.fixture
def reduction() -> Fixture:
    return Fixture()


def test_value_goes_in_and_out_on_every_entry(reduction: Fixture) -> None:
    """The second and third entries take the remembered path and must move the value as well."""
    for step in range(3):
        reduction.value.value = start = 10.0 + step
        assert reduction.enter() == 1
        assert reduction.cell().value == start
        reduction.cell().value = start + 0.25
        assert reduction.leave() == 0
        assert reduction.value.value == start + 0.25


def test_present_data_is_used_instead(reduction: Fixture) -> None:
    base = ctypes.addressof(reduction.value)
    entry = reduction.table.insert(Entry(base, 8, 0x1234_0000, structured=1))
    assert reduction.enter() == 1
    assert reduction.records[0].device == 0x1234_0000
    assert entry.structured == 2
    assert reduction.leave() == 0
    assert entry.structured == 1


def test_asynchronous_constructs_use_no_cell(reduction: Fixture) -> None:
    assert reduction.enter() == 1
    assert reduction.leave() == 0
    assert reduction.enter(synchronous=False) == 0


def test_a_cell_serves_one_region_at_a_time(reduction: Fixture) -> None:
    assert reduction.enter() == 1
    assert reduction.enter() == 0, "another thread in the same construct"
    reduction.cell().value = 4.0
    assert reduction.leave() == 0
    assert reduction.value.value == 4.0
    assert reduction.enter() == 1


def test_no_room_and_too_large(reduction: Fixture) -> None:
    for site in range(2):
        assert reduction.enter(site=site) == 1
        assert reduction.leave(site) == 0
    assert reduction.enter(site=2) == 0
    reduction.records[0].bytes = CELL + 8
    assert reduction.enter(site=0) == 0


def test_other_copies_use_no_cell(reduction: Fixture) -> None:
    reduction.records[0].flags = DataFlag.IMPLICIT
    assert reduction.enter() == 0


def test_a_record_behind_it_that_must_be_freed_does_not_keep_the_value() -> None:
    """The array behind the scalar is this construct's own: its exit is the mapper's, the cell's is not."""
    reduction = Fixture()
    array = (ctypes.c_double * 4)()
    reduction.records = (DataRecord * 2)(reduction.records[0], DataRecord())
    reduction.records[1].base = ctypes.addressof(array)
    reduction.records[1].bytes = 32
    reduction.records[1].kind = DataKind.COPY
    for step in range(3):
        reduction.value.value = 10.0 + step
        address = ctypes.addressof(reduction.records)
        assert reduction.quick.enter(0, address, 2) == 1
        entry = reduction.table.insert(Entry(reduction.records[1].base, 32, 0x1234_0000, 1))
        reduction.records[1].device = 0x1234_0000
        reduction.cell().value = 20.0 + step
        assert reduction.quick.exit(0, address, 2) == 2
        assert reduction.value.value == 20.0 + step
        reduction.table.remove(entry)
