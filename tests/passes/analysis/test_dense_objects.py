"""What alignment saves for accesses to the small objects of a thread."""

from __future__ import annotations

from accopt.passes.decisions.dense_objects import AlignmentGain, DenseAccess, gain_of, pays


def loads(
    *offsets: int,
    bytes: int = 8,
    stride: int = 144,
    array: str = "a",
    place: str = "i",
    depth: int = 0,
) -> DenseAccess:
    return DenseAccess(array, place, stride, offsets, bytes, writes=False, depth=depth)


def test_pairs_of_doubles_within_sixteen_bytes_are_one_access() -> None:
    assert gain_of([loads(0), loads(8), loads(16), loads(24)]) == AlignmentGain(2, 4, {"a": 16})


def test_four_floats_are_one_access() -> None:
    assert gain_of([loads(0, 4, 8, 12, 16, bytes=4, stride=32)]) == AlignmentGain(3, 5, {"a": 16})


def test_neighbours_across_a_boundary_are_two_accesses() -> None:
    assert gain_of([loads(8), loads(16)]).saved == 0


def test_each_element_counts_once_however_often_it_is_read() -> None:
    assert gain_of([loads(0, 0, 0, 8, 8, 8)]) == AlignmentGain(1, 2, {"a": 16})


def test_the_stride_limits_the_alignment() -> None:
    assert gain_of([loads(0, 4, bytes=4, stride=24)]) == AlignmentGain(1, 2, {"a": 8})
    assert gain_of([loads(0, 8, stride=24)]) == AlignmentGain(0, 2, {})


def test_neighbours_of_other_threads_are_no_object() -> None:
    assert gain_of([loads(0, 8, 16, 24, stride=8)]).saved == 0


def test_a_table_for_all_threads_is_an_object() -> None:
    assert gain_of([loads(0, 8, stride=0)]).alignments == {"a": 16}


def test_loads_and_stores_and_other_objects_are_counted_apart() -> None:
    store = DenseAccess("a", "i", 16, (8,), 8, writes=True)
    assert gain_of([loads(0, stride=16), store]).saved == 0
    assert gain_of([loads(0), loads(8, place="j")]).saved == 0


def test_wide_accesses_stay_as_they_are() -> None:
    wide = DenseAccess("a", "i", 16, (0,), 8, writes=False, wide=True)
    assert gain_of([wide, loads(8, stride=16)]).saved == 0


def test_it_pays_where_the_share_of_accesses_saved_is_large() -> None:
    few = [loads(0, 8), loads(*range(0, 80, 8), array="b", stride=8)]
    assert not pays(gain_of(few))
    assert pays(gain_of([*few, loads(16, 24)]))


def test_accesses_in_long_loops_count_more() -> None:
    inner = loads(0, array="b", stride=8, depth=1)
    assert not pays(gain_of([loads(0, 8), loads(16, 24), inner, inner]))
    assert pays(gain_of([loads(0, array="b", stride=8), loads(0, 8, depth=1)]))
