"""Regions that the compiler inferred are entered whole or not at all."""

from __future__ import annotations

import pytest
from accopt.compiler.base.abi import DataFlag, DataKind
from accopt.runtime.data.clauses import Request
from accopt.runtime.data.inferred import SKIPPED
from accopt.runtime.data.mapping import Mapper
from accopt.runtime.data.present import PresentTable
from accopt.runtime.errors import AccRuntimeError, ErrorClass
from runtime_fakes import FakeDevice, FakeQueue

HOST = 0x1000
Q = FakeQueue()


def inferred(start: int, size: int, kind: DataKind = DataKind.COPY) -> Request:
    return Request(start, 0, size, kind, DataFlag.INFERRED, name="x")


def given(start: int, size: int, kind: DataKind = DataKind.COPY) -> Request:
    return Request(start, 0, size, kind, name="x")


@pytest.fixture
def device() -> FakeDevice:
    return FakeDevice(host={HOST + i: i % 256 for i in range(256)})


@pytest.fixture
def mapper(device: FakeDevice) -> Mapper:
    return Mapper(device, PresentTable(), read_pointer=lambda address: 0)


def test_arrays_apart_are_mapped_and_copied_back(device: FakeDevice, mapper: Mapper) -> None:
    region = [inferred(HOST, 16), inferred(HOST + 16, 16, DataKind.COPYIN)]
    mapper.enter(region, Q)
    assert len(mapper.table) == 2
    for request in region:
        device.memory[request.device] = 0xAA
    mapper.exit(region, Q)
    assert device.host[HOST] == 0xAA and device.host[HOST + 16] == 16
    assert len(mapper.table) == 0 and not device.live


@pytest.mark.parametrize("second", [HOST, HOST + 8, HOST + 15])
def test_sections_that_overlap_leave_everything_to_the_constructs(
    mapper: Mapper, second: int
) -> None:
    region = [inferred(HOST, 16), inferred(second, 16)]
    mapper.enter(region, Q)
    assert len(mapper.table) == 0 and [r.device for r in region] == [SKIPPED, SKIPPED]
    construct = given(second, 16)
    mapper.enter([construct], Q)
    mapper.exit(region, Q)
    assert len(mapper.table) == 1
    mapper.exit([construct], Q)
    assert len(mapper.table) == 0


def test_data_present_in_part_leaves_everything_to_the_constructs(mapper: Mapper) -> None:
    held = given(HOST, 8)
    mapper.enter([held], Q)
    region = [inferred(HOST + 64, 8), inferred(HOST, 16)]
    mapper.enter(region, Q)
    assert len(mapper.table) == 1
    mapper.exit(region, Q)
    assert len(mapper.table) == 1


def test_present_data_is_only_counted(device: FakeDevice, mapper: Mapper) -> None:
    held = given(HOST, 32, DataKind.COPYIN)
    mapper.enter([held], Q)
    region = [inferred(HOST + 8, 16)]
    mapper.enter(region, Q)
    device.memory[region[0].device] = 0xAA
    mapper.exit(region, Q)
    assert device.host[HOST + 8] == 8
    mapper.exit([held], Q)
    assert not device.live


def test_empty_and_null_sections_take_no_part(mapper: Mapper) -> None:
    region = [inferred(HOST, 0), inferred(0, 16), inferred(HOST, 16)]
    mapper.enter(region, Q)
    assert [r.device == SKIPPED for r in region] == [True, True, False]
    mapper.exit(region, Q)
    assert len(mapper.table) == 0


class SmallDevice(FakeDevice):
    def allocate(self, size: int, queue: FakeQueue) -> int:
        if sum(self.live.values()) + size > 40:
            raise AccRuntimeError(ErrorClass.OUT_OF_MEMORY, "full")
        return super().allocate(size, queue)


def test_a_full_device_leaves_everything_to_the_constructs() -> None:
    device = SmallDevice(host={HOST + i: i for i in range(256)})
    mapper = Mapper(device, PresentTable(), read_pointer=lambda address: 0)
    region = [inferred(HOST, 32), inferred(HOST + 32, 32)]
    mapper.enter(region, Q)
    assert not device.live and len(mapper.table) == 0
    mapper.exit(region, Q)
    with pytest.raises(AccRuntimeError):
        mapper.enter([given(HOST, 64)], Q)
