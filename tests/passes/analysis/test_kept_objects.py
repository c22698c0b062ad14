"""Which objects a thread keeps in an array of its own."""

from __future__ import annotations

from accopt.passes.decisions.kept_objects import (
    KeptAccess,
    KeptObject,
    kept_object,
    read_object,
    resident_blocks,
)


def access(
    *offsets: int, times: int = 16, writes: bool = False, in_loop: bool = True
) -> KeptAccess:
    return KeptAccess(frozenset(offsets), min(offsets), max(offsets), times, writes, in_loop)


def chosen(low: int, high: int, *, writes: bool = False) -> KeptAccess:
    return KeptAccess(frozenset(), low, high, 16, writes, in_loop=True)


def test_all_elements_read_and_written_again_and_again() -> None:
    accesses = [access(0, 8, 16), access(0, 8, 16, writes=True)]
    assert kept_object(accesses, 8) == KeptObject(0, 8, 3, (0, 1, 2), (0, 1, 2), ())


def test_holes_are_neither_read_nor_written() -> None:
    accesses = [access(8, 32), access(32, writes=True)]
    assert kept_object(accesses, 8) == KeptObject(8, 8, 4, (0, 3), (3,), ())


def test_elements_written_perhaps_have_flags() -> None:
    accesses = [access(0, 8, 16), access(16, writes=True), chosen(0, 16, writes=True)]
    assert kept_object(accesses, 8) == KeptObject(0, 8, 3, (0, 1, 2), (2,), (0, 1))


def test_an_element_that_perhaps_nobody_accesses_may_be_outside_of_the_array() -> None:
    assert kept_object([access(0, 8), access(0, writes=True), chosen(0, 16)], 8) is None


def test_it_needs_reuse_in_a_loop_that_writes() -> None:
    assert kept_object([access(0, 8, times=2), access(0, 8, times=2, writes=True)], 8) is None
    assert kept_object([access(0, 8), access(0, writes=True, in_loop=False)], 8) is None


def test_objects_larger_than_registers_stay() -> None:
    offsets = range(0, 65 * 8, 8)
    assert kept_object([access(*offsets, times=999), access(*offsets, writes=True)], 8) is None


def test_places_between_elements_stay() -> None:
    assert kept_object([access(0, 8), access(4, writes=True)], 8) is None


def test_an_object_of_more_than_two_sectors_is_read_whole() -> None:
    offsets = range(0, 72, 8)
    expected = KeptObject(0, 8, 9, tuple(range(9)), (), ())
    assert read_object([access(*offsets)], 8, 72) == expected
    assert read_object([access(*offsets[:7])], 8, 72) is None
    assert read_object([access(*range(0, 200, 8))], 8, 200) is None


def test_only_what_each_iteration_reads_of_its_own_is_read_whole() -> None:
    offsets = range(0, 72, 8)
    assert read_object([access(*offsets)], 8, 64) is None
    assert read_object([access(*offsets), chosen(0, 64)], 8, 72) is None
    assert read_object([access(*offsets, writes=True)], 8, 72) is None


def test_what_is_read_again_and_again_may_be_larger_and_shared() -> None:
    offsets = range(0, 256, 4)
    often = access(*offsets, times=8 * 64)
    assert read_object([often], 4, 256) == KeptObject(0, 4, 64, tuple(range(64)), (), ())
    assert read_object([often], 4, 4) is not None
    assert read_object([often], 4, 256, once=True) is None
    assert read_object([often], 4, 256, long=True) is None
    assert (
        read_object([access(*range(72), times=8 * 72)], 1, 72) is None
    )  # a register for each byte
    assert read_object([access(*offsets, times=7 * 64)], 4, 256) is None
    assert read_object([access(*range(0, 260, 4), times=8 * 65)], 4, 260) is None


def test_registers_for_an_object_limit_the_blocks() -> None:
    assert resident_blocks(144, 128) == 8
    assert resident_blocks(144, 256) == 4
    assert resident_blocks(72, 128) == 8
    assert resident_blocks(144, 1024) == 1
