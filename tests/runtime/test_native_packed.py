"""Compressed arrays in the native data path: told their coefficients, and checked for what was asked."""

from __future__ import annotations

import ctypes

import numpy as np
import pytest
from accopt.compiler.base.abi import Compression, CompressionFlag, DataFlag, DataKind, DataRecord
from accopt.compiler.base.packed import Code, Coefficients, PackedFormat, coefficients
from accopt.runtime.compression.arrays import Packed
from accopt.runtime.compression.report import TransferReport
from accopt.runtime.data.cells import Cells
from accopt.runtime.data.present import Entry, PresentTable
from accopt.runtime.data.quick_entry import QuickEntry
from accopt.runtime.native.data import NativeData
from accopt.runtime.native.devices import NativeDevices
from runtime_harness import record

PROTOTYPE = ctypes.CFUNCTYPE(None, ctypes.c_int32, ctypes.c_int64, ctypes.c_int32, ctypes.c_int64)
FORMAT = PackedFormat(32, Code.RANGE, 16)
OTHER = PackedFormat(32, Code.RANGE, 12)
DEVICE, COUNTERS, PLANE = 0x7000_0000, 0x7100_0000, 64


class Fixture:
    """A compressed and a plain array; `done` is what Python answered of each entry it was asked for."""

    def __init__(self) -> None:
        self.table = PresentTable()
        self.x, self.y = np.zeros(16, np.float32), np.zeros(16, np.float32)
        self.coefs = coefficients(FORMAT, -1, 1)
        self.report = TransferReport("x", FORMAT, ((-1, 1),), 16, COUNTERS)
        packed = Packed(FORMAT, (self.coefs,), DEVICE, self.report, PLANE)
        self.entry = Entry(self.x.ctypes.data, self.x.nbytes, DEVICE, structured=1, packed=packed)
        self.table.insert(self.entry)
        self.table.insert(Entry(self.y.ctypes.data, self.y.nbytes, DEVICE + 4096, structured=1))
        self.quick = QuickEntry(self.table, Cells(None))
        self.done: list[int] = []
        self.keep = [PROTOTYPE(self.slow_enter), PROTOTYPE(self.slow_exit)]
        addresses = [ctypes.cast(f, ctypes.c_void_p).value or 0 for f in self.keep]
        self.devices = NativeDevices(1, 0)
        self.native = NativeData(1, self.devices, *addresses)
        self.quick.native = self.native.of(0)
        self.descriptor = Compression()
        self.call_enter = PROTOTYPE(self.native.enter_address)
        self.call_exit = PROTOTYPE(self.native.exit_address)

    def slow_enter(self, site: int, records: int, count: int, queue: int) -> None:
        self.done.append(self.quick.enter(site, records, count))

    def slow_exit(self, site: int, records: int, count: int, queue: int) -> None:
        self.done.append(self.quick.exit(site, records, count))

    def records(self, fmt: PackedFormat = FORMAT, decodes: bool = True) -> ctypes.Array[DataRecord]:
        """As host code fills them, with its descriptor at the same place each time."""
        flags = CompressionFlag.DECODES if decodes else CompressionFlag(0)
        ctypes.memset(ctypes.addressof(self.descriptor), 0, ctypes.sizeof(Compression))
        self.descriptor.format, self.descriptor.flags = fmt.word, int(flags)
        packed = record(self.x.ctypes.data, self.x.nbytes, DataKind.PRESENT, DataFlag.COMPRESSED)
        packed.shape = ctypes.addressof(self.descriptor)
        plain = record(self.y.ctypes.data, self.y.nbytes, DataKind.PRESENT)
        return (DataRecord * 2)(packed, plain)

    def region(self, records: ctypes.Array[DataRecord]) -> list[int]:
        """Entry and exit; what Python was asked."""
        self.done.clear()
        self.call_enter(0, ctypes.addressof(records), len(records), -2)
        asked = list(self.done)
        if asked in ([], [len(records)]):
            self.call_exit(0, ctypes.addressof(records), len(records), -2)
        return asked

    def told(self) -> tuple[Coefficients | None, int, int]:
        d = self.descriptor
        words = (ctypes.c_double * 4).from_address(d.coefficients) if d.coefficients else None
        return None if words is None else Coefficients(*words), d.plane, d.counter


@pytest.fixture
def data() -> Fixture:
    return Fixture()


def test_repeated_regions_are_native_and_told_the_coefficients(data: Fixture):
    for step in range(4):
        records = data.records()
        assert data.region(records) == ([2] if step == 0 else [])
        assert data.told() == (data.coefs, PLANE, COUNTERS)
        assert [r.device for r in records] == [DEVICE, DEVICE + 4096]
    data.quick.settle()
    assert data.entry.structured == 1


def test_another_format_at_the_same_place_goes_to_python(data: Fixture):
    """What follows is left to `Mapper`, which finds the mistake."""
    for _ in range(3):
        data.region(data.records())
    for records in (data.records(OTHER), data.records(decodes=False)):
        words = data.told()
        assert data.region(records) == [0]
        assert data.told() == words, "nothing was told"
    assert data.region(data.records()) in ([], [2])
    data.quick.settle()
    assert data.entry.structured == 1


def test_a_plain_record_of_a_compressed_array_goes_to_python(data: Fixture):
    for _ in range(3):
        data.region(data.records())
    records = data.records()
    records[0].flags, records[0].shape = 0, 0
    assert data.region(records) == [0]


def test_an_array_packed_anew_is_told_its_new_coefficients(data: Fixture):
    for _ in range(3):
        data.region(data.records())
    data.quick.settle()
    data.table.remove(data.entry)
    assert data.entry.packed is not None
    data.coefs = coefficients(FORMAT, -3, 3)
    data.entry.packed = Packed(FORMAT, (data.coefs,), DEVICE, data.report, PLANE)
    data.table.insert(data.entry)
    assert data.region(data.records()) == [2]
    for _ in range(2):
        data.region(data.records())
        assert data.told()[0] == data.coefs


def test_uncounted_stores_are_known(data: Fixture):
    records = data.records()
    data.descriptor.flags |= int(CompressionFlag.UNCOUNTED)
    data.region(records)
    assert data.entry.packed is not None and not data.entry.packed.report.counted
