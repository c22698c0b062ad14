"""Constructs that work in the program's memory: only where nothing of it is present or overlaps."""

import numpy as np
import pytest
from accopt.compiler.base.abi import DataFlag, DataKind
from accopt.runtime.data.in_place import records_in_place
from accopt.runtime.data.present import PresentTable
from accopt.runtime.host.device import HostDevice, HostOptions
from accopt.runtime.program import Runtime
from runtime_harness import DYNAMIC, Program, record

SITES = [{"kind": "data"}] * 3
FLAG = DataFlag.IN_PLACE


class Case:
    def __init__(self, poison: bool = False):
        self.runtime = Runtime(SITES, HostDevice(HostOptions(threads=1, poison=poison)))
        self.program = Program(self.runtime)
        self.array = np.arange(64, dtype=np.int64)

    def record(self, kind=DataKind.COPY, start=0, end=64, flags=FLAG, **rest):
        base = self.array.ctypes.data
        return record(base, 8 * (end - start), kind, flags, offset=8 * start, **rest)

    def shared(self, *records, site: int = 0) -> list[bool]:
        """Enters and leaves a construct; which records had host addresses."""
        listed = list(records)
        self.program.data("data_enter", listed, site=site)
        found = [r.device == r.base for r in listed]
        self.program.data("data_exit", listed, site=site)
        assert len(self.runtime.current._table) == self.present  # `table` would disarm
        return found

    present = 0


@pytest.fixture
def case():
    return Case()


def test_what_only_the_construct_can_see_is_not_copied(case):
    for _ in range(3):
        assert case.shared(case.record(end=32), case.record(DataKind.COPYIN, 32)) == [True, True]


def test_clauses_without_the_flag_are_copied(case):
    assert case.shared(case.record(end=32), case.record(DataKind.CREATE, 32, flags=0)) == [
        True,
        False,
    ]
    assert not case.shared(case.record(DataKind.CREATE, 32, flags=0), case.record(end=32))[0]


def test_overlapping_sections_are_one_copy(case):
    assert case.shared(case.record(), case.record(DataKind.COPYIN)) == [False, False]
    assert case.shared(case.record(), case.record(DataKind.COPYIN, 10, 20)) == [False, False]
    assert case.shared(case.record(), case.record(DataKind.CREATE, 10, 20, flags=0)) == [
        False,
        False,
    ]


def test_pointer_objects_are_attached_in_a_copy(case):
    target = np.zeros(4)
    holder = case.array.ctypes.data + 80
    case.array[10] = target.ctypes.data
    values = record(target.ctypes.data, target.nbytes, DataKind.COPY, pointer=holder)
    assert case.shared(case.record(), values) == [False, False]
    assert case.array[10] == target.ctypes.data


def test_what_points_at_each_other_is_in_place_together(case):
    target, other = np.zeros(4), np.zeros(4)
    case.array[10] = target.ctypes.data
    holder = case.array.ctypes.data + 80

    def values(flags=FLAG, pointer=holder):
        return record(target.ctypes.data, target.nbytes, DataKind.COPY, flags, pointer=pointer)

    scratch = record(other.ctypes.data, other.nbytes, DataKind.CREATE)
    for _ in range(4):  # by Python, then by native code
        assert case.shared(case.record(), values()) == [True, True]
        assert case.shared(values(pointer=other.ctypes.data), site=1) == [
            True
        ]  # it attaches nothing
    assert case.runtime.current.quick.native.armed == 2
    assert case.shared(case.record(flags=0), values()) == [False, False]
    assert case.shared(values(), case.record(flags=0)) == [False, False]
    # All of them have copies where something after them needs one, whatever their order.
    for listed in ([case.record(), scratch, values()], [values(), scratch, case.record()]):
        assert case.shared(*listed) == [False] * 3
    assert case.array[10] == target.ctypes.data
    case.program.data("data_enter", [values(flags=DYNAMIC)], site=2)
    case.present = 1
    assert case.shared(case.record(), values()) == [False, False]


def rows_record(pointers, columns, kind=DataKind.COPY):
    shape = np.array([0, len(pointers), -8, 0, columns, 8], dtype=np.int64)
    made = record(pointers.ctypes.data, 8 * len(pointers), kind, FLAG | DataFlag.ROWS)
    made.dims, made.shape = 2, shape.ctypes.data
    return made, shape


def test_rows_are_in_place_with_their_pointers(case):
    memory = np.arange(12, dtype=np.int64)
    first = memory.ctypes.data
    pointers = np.array([first, first + 64, 0, first], dtype=np.int64)
    listed, _shape = rows_record(pointers, 4)
    for _ in range(3):
        assert case.shared(listed, case.record()) == [True, True]
    between = record(first + 32, 32, DataKind.COPY, FLAG)
    assert case.shared(listed, between) == [True, True]
    pointers[2] = first + 32  # seen although the record is the same
    assert case.shared(listed, between) == [False, False]
    case.program.data("data_enter", [record(first + 64, 8, DataKind.COPYIN, DYNAMIC)], site=1)
    case.present = 1
    pointers[1] = 0
    assert case.shared(listed) == [True]


def test_rows_that_overlap_in_part_have_no_place(case):
    memory = np.arange(12, dtype=np.int64)
    pointers = memory.ctypes.data + np.array([0, 8])
    listed, _shape = rows_record(pointers, 4)
    assert not records_in_place(bytes(listed), PresentTable())
    pointers[1] += 24
    assert records_in_place(bytes(listed), PresentTable())


def test_present_data_is_used(case):
    for _ in range(3):
        assert case.shared(case.record(end=32)) == [True]
    whole = [case.record(DataKind.COPYIN, flags=DYNAMIC)]
    case.program.data("data_enter", whole, site=1)
    case.present = 1
    for _ in range(3):
        assert case.shared(case.record(end=32)) == [False]
    case.program.data("data_exit", [case.record(DataKind.DELETE, flags=DYNAMIC)], site=2)
    case.present = 0
    for _ in range(3):
        assert case.shared(case.record(end=32)) == [True]


def test_data_entered_during_a_construct_has_a_copy(case):
    """By another thread, as the construct's own cannot: both leave in any order."""
    for first in (True, False):
        inner, outer = [case.record(end=32)], [case.record(flags=DYNAMIC)]
        case.program.data("data_enter", inner, site=0)
        case.program.data("data_enter", outer, site=1)
        assert inner[0].device == inner[0].base and outer[0].device != outer[0].base
        leave = [case.record(DataKind.COPYOUT, flags=DYNAMIC)]
        if first:
            case.program.data("data_exit", inner, site=0)
        case.program.data("data_exit", leave, site=2)
        if not first:
            case.program.data("data_exit", inner, site=0)
        assert len(case.runtime.current.table) == 0


def test_asynchronous_constructs_and_poisoned_memory_have_copies(case):
    listed = [case.record()]
    case.program.data("data_enter", listed, queue=1)
    assert listed[0].device != listed[0].base
    case.program.data("data_exit", listed, queue=1)
    case.program.wait(1)
    assert Case(poison=True).shared(case.record()) == [False]


class Region:
    """A data region on 128 KiB of the host's memory, of which clauses name pieces."""

    def __init__(self, poison: bool = False):
        self.runtime = Runtime(SITES, HostDevice(HostOptions(threads=1, poison=poison)))
        self.program = Program(self.runtime)
        self.array = np.arange(16384, dtype=np.int64)

    def clause(self, kind, start, end, flags=DataFlag.SHARED):
        return record(self.array.ctypes.data, 8 * (end - start), kind, flags, offset=8 * start)

    def shared(self, *clauses) -> list[bool]:
        """Which clauses of a region had host addresses; constructs in it find all present, there."""
        listed = list(clauses)
        self.program.data("data_enter", listed, site=0)
        inner = [record(r.base, r.bytes, DataKind.PRESENT, 0, offset=r.offset) for r in listed]
        for _ in range(3):
            self.program.data("data_enter", inner, site=1)
            assert [r.device for r in inner] == [r.device for r in listed]
            self.program.data("data_exit", inner, site=1)
        found = [r.device == r.base for r in listed]
        self.program.data("data_exit", listed, site=0)
        assert len(self.runtime.current.table) == 0
        return found


def test_regions_stay_in_the_program_s_memory():
    region, kinds = Region(), (DataKind.COPY, DataKind.COPYIN, DataKind.COPYOUT)
    before = region.array.copy()
    for kind in kinds * 2:
        assert region.shared(region.clause(kind, 0, 8192), region.clause(kind, 8192, 16384)) == [
            True,
            True,
        ]
    inferred = DataFlag.SHARED | DataFlag.INFERRED
    assert region.shared(region.clause(DataKind.COPY, 0, 16384, flags=inferred)) == [True]
    assert (region.array == before).all()


def test_regions_copy_what_is_short_and_what_overlaps():
    region = Region()
    long = region.clause(DataKind.COPY, 0, 8192)
    assert region.shared(long, region.clause(DataKind.COPY, 8192, 8200)) == [True, False]
    assert region.shared(long, region.clause(DataKind.CREATE, 8192, 16384, 0)) == [True, False]
    assert region.shared(long, region.clause(DataKind.CREATE, 0, 8192, 0)) == [False, False]
    assert region.shared(region.clause(DataKind.COPY, 0, 16384), long) == [False, False]
    assert Region(poison=True).shared(long) == [False]


def test_regions_use_what_is_present():
    region = Region()
    outer = [region.clause(DataKind.COPYIN, 0, 16384, flags=0)]
    region.program.data("data_enter", outer, site=2)
    inner = [region.clause(DataKind.COPY, 0, 8192)]
    region.program.data("data_enter", inner, site=0)
    assert inner[0].device == outer[0].device != inner[0].base
    region.program.data("data_exit", inner, site=0)
    region.program.data("data_exit", outer, site=2)
    assert len(region.runtime.current.table) == 0
