"""Decisions that only steer speed: private counters, lanes per row, hoisted loops."""

from __future__ import annotations

import pytest
from accopt.passes.decisions.invariant_loops import Invariant, keep_inside, unroll_factor
from accopt.passes.decisions.lane_choice import BLOCK, RowFacts, lane_versions
from accopt.passes.decisions.private_counters import (
    SHARED_BUDGET,
    choose_copies,
    gang_share,
    is_worthwhile,
    most_gangs,
)


@pytest.mark.parametrize(
    ("elements", "bytes", "copies"),
    [(256, 4, 32), (1, 4, 32), (256, 8, 16), (500, 8, 8), (4096, 4, 2), (4097, 4, 0), (0, 4, 0)],
)
def test_copies_fill_the_budget_up_to_a_warp(elements: int, bytes: int, copies: int):
    assert choose_copies(elements, bytes, SHARED_BUDGET) == copies


def test_copies_never_exceed_what_is_left():
    for elements in range(1, 5000, 7):
        for budget in (0, 1000, 9000, SHARED_BUDGET):
            copies = choose_copies(elements, 4, budget)
            assert copies * elements * 4 <= budget
            assert copies & (copies - 1) == 0


def test_most_copies_can_be_given():
    assert choose_copies(10, 4, SHARED_BUDGET, 4) == 4


def test_few_updates_do_not_repay_copies():
    assert is_worthwhile(None, 1 << 20)
    assert is_worthwhile(1024, 256)
    assert not is_worthwhile(1023, 256)


def test_a_gang_has_an_iteration_for_each_counter():
    assert gang_share(8192, 1024) == 8
    assert gang_share(8193, 1024) == 9
    assert gang_share(10, 1024) == 1
    assert gang_share(10, 0) == 10


def test_larger_blocks_make_a_smaller_grid():
    assert most_gangs(256) == 132 * 8
    assert most_gangs(1024) == 132 * 2
    assert most_gangs(None) == most_gangs(32) == 132 * 8
    assert most_gangs(256, limit=7) == 7


def test_shared_memory_limits_the_grid():
    assert most_gangs(256, 32 * 1024) == 132 * 6
    assert most_gangs(256, 1024) == 132 * 8
    assert most_gangs(256, 400 * 1024) == 132


def test_lane_versions_cover_all_lengths_in_order():
    versions = lane_versions(RowFacts())
    assert [v.lanes for v in versions] == [4, 8, 16, 32]
    assert all(v.lanes * v.workers == BLOCK for v in versions)
    lengths = [v.longest for v in versions[:-1]]
    assert lengths == sorted(lengths, key=lambda n: n or 0) and versions[-1].longest is None


def test_a_thread_takes_short_rows_under_a_condition():
    one, *others = lane_versions(RowFacts(conditional=True))
    assert one.lanes == 1 and others == lane_versions(RowFacts())
    assert one.longest is not None and one.longest < (others[0].longest or 0)


def test_a_thread_takes_short_rows_for_which_nobody_asks_for_lanes():
    one, *others = lane_versions(RowFacts(asked=False))
    few, *rest = lane_versions(RowFacts(asked=False, stores=True))
    assert one.lanes == few.lanes == 1 and others == rest == lane_versions(RowFacts())
    assert (few.longest or 0) < (one.longest or 0)


def test_few_lanes_add_up_what_has_an_order():
    free, some, every = (
        {v.lanes: v.longest or 1 << 30 for v in lane_versions(facts)}
        for facts in (
            RowFacts(),
            RowFacts(in_order=True),
            RowFacts(in_order=True, all_in_order=True),
        )
    )
    assert some[8] == free[8] and some[16] > free[16]
    assert every[4] > free[4] and every[8] > free[8]


@pytest.mark.parametrize(
    ("mean", "lanes"), [(0, 4), (27, 4), (48, 4), (49, 8), (150, 16), (1e6, 32)]
)
def test_longer_rows_get_more_lanes(mean: float, lanes: int):
    chosen = next(v for v in lane_versions(RowFacts()) if v.longest is None or mean <= v.longest)
    assert chosen.lanes == lanes


def test_a_long_loop_is_hoisted():
    assert keep_inside(Invariant(64, None, None, others=False)) is None
    assert keep_inside(Invariant(None, 8192, 8192, others=False)) is None


@pytest.mark.parametrize(
    ("case", "reason"),
    [
        (Invariant(2, None, None, others=False), "2 iterations"),
        (Invariant(64, 8, None, others=False), "8 iterations would share"),
        (Invariant(64, None, 10, others=False), "10 iterations for gangs"),
        (Invariant(64, None, None, others=True), "other loops"),
    ],
)
def test_why_a_loop_stays(case: Invariant, reason: str):
    assert reason in (keep_inside(case) or "")


def test_short_hoisted_loops_are_unrolled_whole():
    assert [unroll_factor(n) for n in (None, 1, 64, 65)] == [0, 0, 64, 0]
