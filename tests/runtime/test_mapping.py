"""The data clauses: each row of the table in OpenACC 2.7, attachment, and a model-based test."""

import pytest
from accopt.compiler.base.abi import DataFlag, DataKind
from accopt.runtime.data.clauses import Link, Request
from accopt.runtime.data.mapping import Mapper
from accopt.runtime.data.present import Entry, PresentTable
from accopt.runtime.errors import AccRuntimeError, ErrorClass
from hypothesis import given, settings
from hypothesis import strategies as st
from runtime_fakes import FakeDevice, FakeQueue

HOST = 0x1000
Q = FakeQueue()


@pytest.fixture
def device():
    return FakeDevice(host={HOST + i: i % 256 for i in range(256)})


@pytest.fixture
def mapper(device):
    return Mapper(device, PresentTable(), read_pointer=device.host_word)


def request(kind, start=HOST, size=16, flags=0, pointer=0, name="x", **more):
    return Request(start, 0, size, kind, DataFlag(flags), pointer, name=name, **more)


def device_bytes(device, address, size):
    return [device.memory[address + i] for i in range(size)]


def change_on_device(device, address, size, value=0xAA):
    for i in range(size):
        device.memory[address + i] = value


def host_bytes(device, size, start=HOST):
    return [device.host[start + i] for i in range(size)]


FIRST = list(range(16))
NEW = [0xAA] * 16


@pytest.mark.parametrize(
    ("kind", "copied_in", "copied_out"),
    [
        (DataKind.COPY, True, True),
        (DataKind.COPYIN, True, False),
        (DataKind.COPYOUT, False, True),
        (DataKind.CREATE, False, False),
    ],
)
def test_structured_region_of_absent_data(device, mapper, kind, copied_in, copied_out):
    r = request(kind)
    mapper.enter([r], Q)
    assert (device_bytes(device, r.device, 16) == FIRST) is copied_in
    change_on_device(device, r.device, 16)
    mapper.exit([r], Q)
    assert (host_bytes(device, 16) == NEW) is copied_out
    assert not device.live and len(mapper.table) == 0


def test_a_pointer_without_a_section_is_what_is_present_of_its_array(mapper):
    def section(offset, base=HOST):
        return Request(base, offset, 16, DataKind.CREATE, DataFlag.DYNAMIC, name="x")

    def pointer(kind=DataKind.PRESENT, base=HOST, flags=DataFlag.UNBOUNDED):
        return request(kind, base, 4, flags)

    first = section(64)
    mapper.enter([first], Q)
    (entry,) = mapper.table
    for kind in (DataKind.PRESENT, DataKind.USE_DEVICE):
        r = pointer(kind)
        mapper.enter([r], Q)
        assert r.device == entry.device - 64 and entry.structured == (kind == DataKind.PRESENT)
        mapper.exit([r], Q)
        assert entry.structured == 0
    for absent in (pointer(flags=0), pointer(base=HOST + 64 + 16), pointer(base=HOST + 4)):
        with pytest.raises(AccRuntimeError) as caught:
            mapper.enter([absent], Q)
        assert caught.value.kind == ErrorClass.NOT_PRESENT
    mapper.enter([section(128)], Q)
    with pytest.raises(AccRuntimeError):  # it could be either
        mapper.enter([pointer()], Q)
    mapper.enter([section(0)], Q)
    r = pointer()
    mapper.enter([r], Q)
    assert r.device == mapper.table.at(HOST).device, "what it points to comes first"


@pytest.mark.parametrize(
    "kind", [DataKind.COPY, DataKind.COPYIN, DataKind.COPYOUT, DataKind.CREATE]
)
def test_inner_region_of_present_data_moves_nothing(device, mapper, kind):
    outer, inner = request(DataKind.CREATE), request(kind)
    mapper.enter([outer], Q)
    mapper.actions.moved = False
    mapper.enter([inner], Q)
    assert inner.device == outer.device and not mapper.actions.moved
    change_on_device(device, outer.device, 16)
    mapper.exit([inner], Q)
    assert host_bytes(device, 16) == FIRST and not mapper.actions.moved
    mapper.exit([outer], Q)
    assert host_bytes(device, 16) == FIRST and not device.live


def test_always_moves_present_data(device, mapper):
    outer = request(DataKind.CREATE)
    inner = request(DataKind.COPY, flags=DataFlag.ALWAYS_IN | DataFlag.ALWAYS_OUT)
    mapper.enter([outer], Q)
    mapper.enter([inner], Q)
    assert device_bytes(device, outer.device, 16) == FIRST
    change_on_device(device, outer.device, 16)
    mapper.exit([inner], Q)
    assert host_bytes(device, 16) == NEW and device.live


def test_zero_modifier_clears_new_memory_only(device, mapper):
    outer = request(DataKind.CREATE, flags=DataFlag.ZERO)
    mapper.enter([outer], Q)
    assert device_bytes(device, outer.device, 16) == [0] * 16
    change_on_device(device, outer.device, 16)
    mapper.enter([request(DataKind.CREATE, flags=DataFlag.ZERO)], Q)
    assert device_bytes(device, outer.device, 16) == NEW


def test_present_of_absent_data_names_the_variable_and_the_remedy(mapper):
    with pytest.raises(AccRuntimeError) as caught:
        mapper.enter([request(DataKind.PRESENT, name="velocity")], Q)
    assert caught.value.kind is ErrorClass.NOT_PRESENT
    assert "'velocity'" in caught.value.message and "enter data" in caught.value.remedy


@pytest.mark.parametrize("size", [0, 4])
def test_implicit_present_asks_for_a_data_clause(mapper, size):
    flags = DataFlag.IMPLICIT | DataFlag.UNBOUNDED
    with pytest.raises(AccRuntimeError) as caught:
        mapper.enter([request(DataKind.PRESENT, size=size, flags=flags)], Q)
    assert "copy(x[0:n])" in caught.value.remedy


def test_an_empty_section_of_known_extent_need_not_be_present(mapper):
    mapper.enter([request(DataKind.PRESENT, size=0, flags=DataFlag.IMPLICIT)], Q)
    assert len(mapper.table) == 0


def test_partly_present_is_an_error_whichever_side_sticks_out(mapper):
    mapper.enter([request(DataKind.CREATE, HOST + 16, 16)], Q)
    for start, size in ((HOST + 8, 16), (HOST + 24, 16), (HOST, 64)):
        with pytest.raises(AccRuntimeError) as caught:
            mapper.enter([request(DataKind.COPYIN, start, size)], Q)
        assert caught.value.kind is ErrorClass.PARTLY_PRESENT


def test_a_section_inside_present_data_translates_the_base(mapper):
    whole = request(DataKind.CREATE, HOST, 128)
    part = Request(HOST, 32, 16, DataKind.COPY, name="x")
    mapper.enter([whole, part], Q)
    assert part.device == whole.device


def test_a_section_with_an_offset_maps_only_its_bytes(device, mapper):
    part = Request(HOST, 32, 16, DataKind.COPY, name="x")
    mapper.enter([part], Q)
    assert list(device.live.values()) == [16]
    assert device_bytes(device, part.device + 32, 16) == list(range(32, 48))


def test_no_create_uses_the_host_address_when_absent(device, mapper):
    absent = request(DataKind.NO_CREATE)
    mapper.enter([absent], Q)
    assert absent.device == HOST
    mapper.enter([request(DataKind.COPYIN, flags=DataFlag.DYNAMIC)], Q)
    mapper.exit([absent], Q)  # mapped meanwhile by another construct: not ours to release
    (entry,) = mapper.table
    assert (entry.structured, entry.dynamic) == (0, 1)
    present = request(DataKind.NO_CREATE)
    mapper.enter([present], Q)
    assert present.device == entry.device and entry.structured == 1


def test_deviceptr_and_null_pointers_do_nothing(device, mapper):
    pointer, null = request(DataKind.DEVICEPTR), request(DataKind.COPY, 0)
    mapper.enter([pointer, null], Q)
    assert (pointer.device, null.device) == (HOST, 0)
    mapper.exit([pointer, null], Q)
    mapper.update([request(DataKind.UPDATE_SELF, 0)], Q)
    assert not device.live


def test_zero_length_sections_are_not_mapped_but_hold_what_is_there(device, mapper):
    empty = request(DataKind.COPY, size=0)
    mapper.enter([empty], Q)
    assert empty.device == 0 and not device.live
    outer, held = request(DataKind.CREATE), request(DataKind.COPY, size=0)
    mapper.enter([outer], Q)
    mapper.exit([empty], Q)
    mapper.enter([held], Q)
    assert held.device == outer.device
    mapper.exit([held], Q)
    assert len(mapper.table) == 1
    mapper.exit([outer], Q)
    assert not device.live


# enter data, exit data


def test_exit_data_counts_and_copies_out_at_the_last(device, mapper):
    enter = request(DataKind.COPYIN, flags=DataFlag.DYNAMIC)
    leave = request(DataKind.COPYOUT, flags=DataFlag.DYNAMIC)
    mapper.enter([enter], Q)
    mapper.enter([enter], Q)
    change_on_device(device, enter.device, 16)
    mapper.exit([leave], Q)
    assert host_bytes(device, 16) == FIRST
    mapper.exit([leave], Q)
    assert host_bytes(device, 16) == NEW and not device.live
    mapper.exit([leave], Q)  # absent: no action


def test_exit_data_leaves_structured_data_alone(device, mapper):
    region = request(DataKind.COPY)
    mapper.enter([region], Q)
    mapper.exit([request(DataKind.DELETE, flags=DataFlag.DYNAMIC | DataFlag.FINALIZE)], Q)
    assert device.live
    mapper.exit([region], Q)
    assert not device.live


def test_finalize_frees_whatever_the_count(device, mapper):
    enter = request(DataKind.CREATE, flags=DataFlag.DYNAMIC)
    for _ in range(3):
        mapper.enter([enter], Q)
    mapper.exit([request(DataKind.DELETE, flags=DataFlag.DYNAMIC | DataFlag.FINALIZE)], Q)
    assert not device.live


def test_data_that_a_region_enters_and_enter_data_keeps_is_copied_out_by_exit_data(device, mapper):
    region = request(DataKind.COPY)
    mapper.enter([region], Q)
    mapper.enter([request(DataKind.COPYIN, flags=DataFlag.DYNAMIC)], Q)
    change_on_device(device, region.device, 16)
    mapper.exit([region], Q)
    assert host_bytes(device, 16) == FIRST and device.live
    mapper.exit([request(DataKind.COPYOUT, flags=DataFlag.DYNAMIC)], Q)
    assert host_bytes(device, 16) == NEW and not device.live


def test_pinned_entries_survive_their_counters(device, mapper):
    entry = Entry(HOST, 64, 0x9000, dynamic=1, pinned=True)
    mapper.table.insert(entry)
    mapper.exit([request(DataKind.DELETE, flags=DataFlag.DYNAMIC)], Q)
    assert list(mapper.table) == [entry]


# update, host_data


def test_update_moves_only_the_section(device, mapper):
    whole = request(DataKind.COPYIN, HOST, 64)
    mapper.enter([whole], Q)
    change_on_device(device, whole.device, 64)
    # rows 1 and 2, columns 2 and 3, of a 4 x 4 array of 4-byte elements
    part = Request(HOST, 24, 24, DataKind.UPDATE_SELF, name="x", shape=((1, 2, 16), (2, 2, 4)))
    mapper.update([part], Q)
    changed = {i for i in range(64) if device.host[HOST + i] == 0xAA}
    assert changed == {*range(24, 32), *range(40, 48)}
    assert next(iter(mapper.table)).structured == 1


def test_data_clauses_take_contiguous_sections_only(mapper):
    rows = Request(HOST, 16, 32, DataKind.COPY, name="x", shape=((1, 2, 16), (0, 4, 4)))
    mapper.enter([rows], Q)
    mapper.exit([rows], Q)
    columns = Request(HOST, 24, 24, DataKind.COPY, name="x", shape=((1, 2, 16), (2, 2, 4)))
    with pytest.raises(AccRuntimeError) as caught:
        mapper.enter([columns], Q)
    assert caught.value.kind is ErrorClass.INVALID_DATA_SECTION


def test_update_of_absent_data(mapper):
    mapper.update([request(DataKind.UPDATE_DEVICE, flags=DataFlag.IF_PRESENT)], Q)
    with pytest.raises(AccRuntimeError) as caught:
        mapper.update([request(DataKind.UPDATE_DEVICE)], Q)
    assert caught.value.kind is ErrorClass.NOT_PRESENT


def test_host_data(device, mapper):
    with pytest.raises(AccRuntimeError):
        mapper.enter([request(DataKind.USE_DEVICE)], Q)
    optional = request(DataKind.USE_DEVICE, flags=DataFlag.IF_PRESENT)
    mapper.enter([optional], Q)
    assert optional.device == HOST
    region, use = request(DataKind.CREATE), request(DataKind.USE_DEVICE)
    mapper.enter([region, use], Q)
    assert use.device == region.device
    mapper.exit([use], Q)
    assert device.live


# attach, detach: struct s at HOST holds a pointer at HOST + 8 to the array at HOST + 128

POINTER, TARGET = HOST + 8, HOST + 128


@pytest.fixture
def deep(device, mapper):
    device.set_host_word(POINTER, TARGET)
    s = request(DataKind.COPY, HOST, 32, name="s")
    array = request(DataKind.COPY, TARGET, 64, pointer=POINTER, name="s.p")
    return s, array


def test_attach_stores_the_device_address_in_either_order(device, mapper, deep):
    s, array = deep
    for order in ([s, array], [array, s]):
        mapper.enter(order, Q)
        assert device.word(s.device + 8) == array.device
        mapper.exit(order, Q)
        assert device.host_word(POINTER) == TARGET
        assert not device.live


def test_copy_out_never_leaks_a_device_address(device, mapper, deep):
    s, array = deep
    mapper.enter([s, array], Q)
    change_on_device(device, s.device, 8)
    change_on_device(device, s.device + 16, 16)
    mapper.update([request(DataKind.UPDATE_SELF, HOST, 32)], Q)
    assert device.host_word(POINTER) == TARGET
    assert host_bytes(device, 8) == NEW[:8]
    assert host_bytes(device, 16, HOST + 16) == NEW
    mapper.update([request(DataKind.UPDATE_DEVICE, HOST, 32)], Q)
    assert device.word(s.device + 8) == array.device


def test_attach_counts_and_detach_restores_at_zero(device, mapper, deep):
    s, array = deep
    again = request(DataKind.PRESENT, TARGET, 64, pointer=POINTER)
    mapper.enter([s, array], Q)
    mapper.enter([again], Q)
    mapper.exit([again], Q)
    assert device.word(s.device + 8) == array.device
    mapper.exit([array], Q)
    assert device.word(s.device + 8) == TARGET


def test_detach_finalize_is_immediate(device, mapper, deep):
    s, array = deep
    mapper.enter([s, array], Q)
    mapper.enter([Request(TARGET, 0, 0, DataKind.ATTACH, pointer=POINTER)], Q)
    flags = DataFlag.FINALIZE | DataFlag.DYNAMIC
    mapper.exit([Request(TARGET, 0, 0, DataKind.DETACH, flags, POINTER)], Q)
    assert device.word(s.device + 8) == TARGET


def test_attach_of_a_section_keeps_the_pointer_at_the_base(device, mapper, deep):
    s, _ = deep
    section = Request(TARGET, 16, 32, DataKind.COPYIN, pointer=POINTER)
    mapper.enter([s, section], Q)
    assert device.word(s.device + 8) == section.device
    assert device_bytes(device, section.device + 16, 1) == [(128 + 16) % 256]


def test_attach_needs_both_sides(device, mapper, deep):
    s, array = deep
    mapper.enter([array], Q)  # the struct is absent
    assert not next(iter(mapper.table)).attachments
    mapper.exit([array], Q)
    mapper.enter([s], Q)
    mapper.enter([Request(TARGET, 0, 0, DataKind.ATTACH, pointer=POINTER)], Q)  # the array is
    assert device.word(s.device + 8) == TARGET


def test_manual_deep_copy(device, mapper, deep):
    s, array = deep
    for r in (s, array):
        r.flags, r.kind = DataFlag.DYNAMIC, DataKind.COPYIN
        mapper.enter([r], Q)
    assert device.word(s.device + 8) == array.device
    for r in (array, s):
        r.kind = DataKind.COPYOUT
        mapper.exit([r], Q)
    assert device.host_word(POINTER) == TARGET and not device.live


def test_declare_link_follows_enter_data(device, mapper):
    slot = device.allocate(8, Q)
    mapper.links.append(Link(HOST, 256, slot))
    part = Request(HOST, 64, 32, DataKind.COPYIN, DataFlag.DYNAMIC, name="table")
    mapper.enter([part], Q)
    assert device.word(slot) == part.device
    part.kind = DataKind.DELETE
    mapper.exit([part], Q)
    assert device.word(slot) == 0


def test_shared_memory_maps_nothing_but_captured_data(device):
    device.shares_memory = True
    mapper = Mapper(device, PresentTable(), read_pointer=device.host_word)
    for kind in (DataKind.COPY, DataKind.PRESENT, DataKind.NO_CREATE, DataKind.USE_DEVICE):
        r = request(kind)
        mapper.enter([r], Q)
        assert r.device == HOST
        mapper.exit([r], Q)
    mapper.update([request(DataKind.UPDATE_SELF)], Q)
    captured = request(DataKind.COPY, flags=DataFlag.CAPTURE)
    mapper.enter([captured], Q)
    assert captured.device != HOST and device.live
    mapper.exit([captured], Q)
    assert not device.live


# A model: four variables, random constructs, counters kept the naive way

KINDS = [DataKind.COPY, DataKind.COPYIN, DataKind.COPYOUT, DataKind.CREATE]
steps = st.lists(
    st.tuples(
        st.integers(0, 3),
        st.integers(0, 3),
        st.sampled_from(["enter", "leave", "data", "done", "up"]),
        st.booleans(),
    ),
    max_size=50,
)


@settings(max_examples=200)
@given(steps)
def test_counters_and_contents_agree_with_a_model(actions):
    device = FakeDevice(host={HOST + i: 0 for i in range(64)})
    mapper = Mapper(device, PresentTable())
    counts = [[0, 0] for _ in range(4)]  # structured, dynamic
    open_regions: list[tuple[int, Request]] = []
    on_device: list[int | None] = [None] * 4
    on_host = [0] * 4
    clock = 0
    for variable, which, action, flag in actions:
        kind, start = KINDS[which], HOST + 16 * variable
        held = sum(counts[variable]) > 0
        if action in ("enter", "data"):
            flags = DataFlag.DYNAMIC if action == "enter" else DataFlag(0)
            r = request(kind, start, flags=flags)
            mapper.enter([r], Q)
            if not held:
                on_device[variable] = on_host[variable] if kind <= DataKind.COPYIN else 0xCB
            counts[variable][action == "enter"] += 1
            if action == "data":
                open_regions.append((variable, r))
            clock = clock % 200 + 1
            change_on_device(device, r.device, 16, clock)
            on_device[variable] = clock
        elif action == "leave":
            out = DataKind.COPYOUT if which < 2 else DataKind.DELETE
            finalize = DataFlag.FINALIZE if flag else DataFlag(0)
            mapper.exit([request(out, start, flags=DataFlag.DYNAMIC | finalize)], Q)
            if counts[variable][1] > 0:
                counts[variable][1] = 0 if flag else counts[variable][1] - 1
                if sum(counts[variable]) == 0 and out == DataKind.COPYOUT:
                    on_host[variable] = on_device[variable]
        elif action == "done" and open_regions:
            closed, r = open_regions.pop()
            mapper.exit([r], Q)
            counts[closed][0] -= 1
            if sum(counts[closed]) == 0 and r.kind in (DataKind.COPY, DataKind.COPYOUT):
                on_host[closed] = on_device[closed]
        elif action == "up" and held:
            mapper.update([request(DataKind.UPDATE_SELF, start)], Q)
            on_host[variable] = on_device[variable]
        for v in range(4):
            entry = mapper.table.at(HOST + 16 * v)
            assert (entry is not None) == (sum(counts[v]) > 0)
            if entry is not None:
                assert [entry.structured, entry.dynamic] == counts[v]
                assert set(device_bytes(device, entry.device, 16)) == {on_device[v]}
            assert set(host_bytes(device, 16, HOST + 16 * v)) == {on_host[v]}
    assert len(device.live) == len(mapper.table)
