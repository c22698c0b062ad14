"""The present table against a list of ranges."""

import pytest
from accopt.runtime.data.present import Entry, PresentTable
from accopt.runtime.errors import AccRuntimeError, ErrorClass
from hypothesis import given
from hypothesis import strategies as st

requests = st.tuples(st.booleans(), st.integers(0, 120), st.integers(1, 25))


@given(st.lists(requests, max_size=60))
def test_lookup_agrees_with_a_naive_model(steps):
    table, model = PresentTable(), []
    for insert, start, size in steps:
        held = [e for e in model if e.host < start + size and start < e.end]
        inside = [e for e in held if e.host <= start and start + size <= e.end]
        assert list(table.overlapping(start, size)) == sorted(held, key=lambda e: e.host)
        assert table.containing(start, size) is (inside[0] if inside else None)
        at = [e for e in model if e.host <= start < e.end]
        assert table.at(start) is (at[0] if at else None)
        assert table.lookup(start, 0, "x") is table.at(start)
        epoch = table.epoch
        if held and not inside:
            with pytest.raises(AccRuntimeError) as caught:
                table.lookup(start, size, "x")
            assert caught.value.kind is ErrorClass.PARTLY_PRESENT
            assert len(caught.value.overlapping) == len(held)
        elif insert and not held:
            model.append(table.insert(Entry(start, size, 0x1000 + start)))
            assert table.epoch > epoch
        elif not insert and inside:
            table.remove(inside[0])
            model.remove(inside[0])
            assert table.epoch > epoch
        else:
            assert table.epoch == epoch
    assert list(table) == sorted(model, key=lambda e: e.host)


def test_device_address_works_outside_the_entry():
    entry = Entry(1000, 80, 5000)
    assert entry.device_address(1016) == 5016
    assert entry.device_address(960) == 4960


def test_host_address_of_a_device_address():
    table = PresentTable()
    entry = table.insert(Entry(1000, 80, 5000))
    assert table.by_device_address(5079) is entry
    assert table.by_device_address(5080) is None


def test_adjacent_entries_do_not_serve_one_request():
    table = PresentTable()
    table.insert(Entry(0, 8, 100))
    table.insert(Entry(8, 8, 200))
    with pytest.raises(AccRuntimeError):
        table.lookup(4, 8, "x")
