"""The mapping decision on plain loop descriptions."""

from __future__ import annotations

import pytest
from accopt.compiler.base.diagnostics import CompileError
from accopt.passes.decisions.launch_shape import Sizes
from accopt.passes.decisions.levels import Level
from accopt.passes.decisions.loop_tree import LoopNode, check_nesting
from accopt.passes.decisions.schedule import ScheduleTuning, plan_construct
from accopt.passes.decisions.schedule_space import alternatives, describe

G, W, V = Level.GANG, Level.WORKER, Level.VECTOR


def loop(*children: LoopNode, **facts: object) -> LoopNode:
    facts.setdefault("parallel", True)
    node = LoopNode(**facts)  # pyright: ignore
    node.children = list(children)
    node.streaming = not children
    return node


def test_single_streaming_loop_takes_gangs_and_lanes():
    node = loop(contiguous=3)
    schedule = plan_construct([node], Sizes())
    plan = schedule.loops[node]
    assert plan.levels == {G, V}
    assert (plan.elements, schedule.vector_length, schedule.num_workers) == (4, 256, 1)


def test_doubles_saturate_memory_at_one_element():
    node = loop(contiguous=3, element_bytes=8)
    assert plan_construct([node], Sizes()).loops[node].elements == 1


def test_reduction_grid_is_capped():
    node = loop(contiguous=1, reduction=True)
    assert plan_construct([node], Sizes()).loops[node].capped


def test_tight_nest_is_a_two_dimensional_grid():
    inner = loop(contiguous=4)
    outer = loop(inner, tight=True)
    schedule = plan_construct([outer], Sizes())
    assert schedule.name == "2_2"
    assert schedule.loops[outer].levels == {G} and schedule.loops[outer].gang_dim == 2
    assert schedule.loops[inner].levels == {G, V} and schedule.loops[inner].gang_dim == 1


def test_loops_one_after_the_other_share_the_dimensions_of_the_grid():
    """Gangs along a second dimension would all run the single loop's iterations."""
    inner, alone = loop(contiguous=4), loop(contiguous=3)
    outer = loop(inner, tight=True)
    steps = loop(outer, alone, parallel=False)
    for roots in ([outer, alone], [steps]):
        schedule = plan_construct(roots, Sizes())
        assert all(plan.gang_dim == 1 for plan in schedule.loops.values())
    second = loop(loop(contiguous=4), tight=True)
    schedule = plan_construct([outer, second], Sizes())
    assert schedule.loops[outer].gang_dim == schedule.loops[second].gang_dim == 2


@pytest.mark.parametrize(
    "name, levels, block",
    [("2_1", [{G}, {V}], (1, 128)), ("2_3", [{G, W}, {G, V}], (8, 32))],
)
def test_numbered_strategies(name: str, levels: list[set[Level]], block: tuple[int, int]):
    inner = loop(contiguous=4)
    outer = loop(inner, tight=True)
    schedule = plan_construct([outer], Sizes(), "nvptx", name)  # pyright: ignore
    assert [schedule.loops[n].levels for n in (outer, inner)] == levels
    assert (schedule.num_workers, schedule.vector_length) == block


def test_triple_nests():
    inner = loop(contiguous=4)
    middle = loop(inner, tight=True)
    outer = loop(middle, tight=True)
    schedule = plan_construct([outer], Sizes(), "nvptx", "3_1")
    assert [schedule.loops[n].levels for n in (outer, middle, inner)] == [{G}, {W}, {V}]
    schedule = plan_construct([outer], Sizes())
    assert [schedule.loops[n].gang_dim for n in (outer, middle, inner)] == [3, 2, 1]


def test_rows_that_reduce_are_side_by_side_where_they_may_share_what_they_read():
    def rows(trip: int | None = None, *, gangs: bool = False, **facts: object) -> tuple[int, int]:
        inner = loop(contiguous=4, reduction=True)
        for name, value in facts.items():
            setattr(inner, name, value)
        outer = loop(inner, reduction=True, trip=trip)
        schedule = plan_construct([outer], Sizes(gangs=gangs))
        return schedule.loops[outer].elements, schedule.vector_length

    assert rows() == (4, 256)
    assert rows(trip=100) == (1, 128)  # as many gangs as rows, to fill the device
    assert rows(streaming=False) == (1, 128)
    assert rows(contiguous=1, strided=3) == (1, 128)
    assert rows(host_trip=False)[0] == 1
    assert rows(reduction=False)[0] == 1
    assert rows(gangs=True) == (1, 128)


def test_sparse_rows_get_a_warp_each():
    inner = loop(reduction=True, host_trip=False)
    outer = loop(inner)
    schedule = plan_construct([outer], Sizes())
    assert schedule.loops[outer].levels == {G, W}
    assert schedule.loops[inner].levels == {V}
    assert schedule.vector_length == 32 and schedule.num_workers >= 4


@pytest.mark.parametrize("lanes, narrow", [(4, True), (32, True), (64, False), (None, False)])
def test_rows_go_to_workers_of_at_most_a_warp(lanes: int | None, narrow: bool):
    sizes = Sizes(workers=8, lanes=lanes)
    for beside in (False, True):
        inner = loop(contiguous=4, reduction=beside)
        outer = loop(inner, tight=not beside)
        schedule = plan_construct([outer], sizes)
        levels = [schedule.loops[n].levels for n in (outer, inner)]
        assert (levels == [{G, W}, {V}]) == narrow
        assert schedule.loops[inner].elements == 1 or not narrow
        assert schedule.num_workers == 8
    inner = loop(contiguous=4)
    middle = loop(inner, tight=True)
    outer = loop(middle, tight=True)
    plans = [plan_construct([outer], sizes).loops[n] for n in (outer, middle, inner)]
    wanted = [({G}, 2), ({G, W}, 1), ({V}, 1)]
    assert ([(plan.levels, plan.gang_dim) for plan in plans] == wanted) == narrow


def test_rows_go_to_lanes_alone_if_a_gang_has_one_worker():
    inner = loop(contiguous=4, reduction=True)
    outer = loop(inner)
    schedule = plan_construct([outer], Sizes(workers=1, lanes=8))
    assert schedule.loops[outer].levels == {G}


def test_explicit_levels_are_kept_and_free_loops_fill_in():
    inner = loop(contiguous=1)
    outer = loop(inner, levels=frozenset({G}))
    schedule = plan_construct([outer], Sizes())
    assert schedule.loops[outer].levels == {G}
    assert schedule.loops[inner].levels == {V}
    vector = loop(levels=frozenset({V}))
    free = loop(vector)
    assert plan_construct([free], Sizes()).loops[free].levels <= {G, W}


def test_one_loop_with_all_levels_written_streams_like_a_free_one():
    node = loop(levels=frozenset({G, W, V}), contiguous=1, reduction=True)
    schedule = plan_construct([node], Sizes())
    plan = schedule.loops[node]
    assert (plan.levels, plan.elements, plan.capped) == ({G, W, V}, 8, True)
    assert schedule.num_workers * schedule.vector_length == 256


def test_a_gang_and_vector_loop_leaves_nothing_inside():
    inner = loop()
    outer = loop(inner, levels=frozenset({G, V}))
    assert not plan_construct([outer], Sizes()).loops[inner].levels


@pytest.mark.parametrize("outer, inner", [(V, V), (V, W), (W, G), (G, G), (V, G)])
def test_levels_in_the_wrong_order_are_refused(outer: Level, inner: Level):
    nest = loop(loop(levels=frozenset({inner})), levels=frozenset({outer}))
    with pytest.raises(CompileError, match="is inside a loop"):
        check_nesting(nest)


def test_gang_dimensions_nest_outward_in():
    check_nesting(loop(loop(levels=frozenset({G})), levels=frozenset({G}), gang_dim=2))
    with pytest.raises(CompileError):
        check_nesting(loop(loop(levels=frozenset({G}), gang_dim=2), levels=frozenset({G})))


def test_routine_levels_constrain_the_caller():
    node = loop(routine=V)
    schedule = plan_construct([node], Sizes())
    assert V not in schedule.loops[node].levels and G in schedule.loops[node].levels
    assert schedule.vector_length >= 32


def test_sizes_are_capped_at_the_device_limit_and_said_so():
    node = loop(levels=frozenset({G, W, V}))
    schedule = plan_construct([node], Sizes(workers=64, lanes=128))
    assert (schedule.num_workers, schedule.vector_length) == (8, 128)
    assert "capped" in schedule.why
    schedule = plan_construct([node], Sizes(lanes=4096))
    assert schedule.num_workers * schedule.vector_length <= 1024


def test_a_given_grid_goes_to_the_outermost_loop_of_a_nest():
    inner = loop(contiguous=4)
    outer = loop(inner, tight=True)
    schedule = plan_construct([outer], Sizes(gangs=True))
    assert schedule.name == "2_1" and schedule.loops[outer].gang_dim == 1


def test_user_sizes_win():
    node = loop(contiguous=1)
    assert plan_construct([node], Sizes(lanes=64)).vector_length == 64


def test_serial_runs_in_order():
    node = loop()
    schedule = plan_construct([node], Sizes(gangs=True, workers=1, lanes=1, single=True))
    assert not schedule.loops[node].levels


@pytest.mark.parametrize("given", [{V}, {W}, {W, V}])
def test_host_shares_nothing_out_to_gangs_inside_of_a_loop_over_lanes(given: set[Level]):
    """All gangs would repeat the outer loop, and what it sums up would count several times."""
    inner = loop(contiguous=4)
    outer = loop(inner, levels=given)
    schedule = plan_construct([outer], Sizes(), "host")
    assert all(G not in schedule.loops[node].levels for node in (outer, inner))


def test_host_puts_gangs_outside_and_simd_inside():
    inner = loop()
    outer = loop(inner)
    schedule = plan_construct([outer], Sizes(), "host")
    assert schedule.loops[outer].levels == {G} and schedule.loops[inner].levels == {V}
    assert (schedule.num_workers, schedule.vector_length) == (1, 1)


def test_every_alternative_is_legal_and_distinct():
    inner = loop(contiguous=4)
    outer = loop(inner, tight=True)
    found = alternatives([outer], Sizes())
    assert {"2_1", "2_2", "2_3"} <= {s.name for s in found}
    for schedule in found:
        assert 1 <= schedule.num_workers * schedule.vector_length <= 1024
        assert set(schedule.loops) == {outer, inner}
    shapes = [(tuple(s.loops.values()), s.num_workers, s.vector_length) for s in found]
    assert len(set(shapes)) == len(shapes)


def test_the_space_begins_with_the_default_and_has_other_row_counts():
    inner = loop(contiguous=4)
    outer = loop(inner, tight=True)
    found = alternatives([outer], Sizes())
    assert describe(found[0]) == describe(plan_construct([outer], Sizes()))
    assert {s.loops[outer].elements for s in found} >= {1, 2, 4, 8, 16, 32}


def test_what_the_user_gave_is_the_same_in_the_whole_space():
    node = loop(levels=frozenset({G, V}), contiguous=1)
    found = alternatives([node], Sizes(gangs=True, workers=2, lanes=64))
    assert {(s.num_workers, s.vector_length) for s in found} == {(2, 64)}
    assert all(s.loops[node].levels == {G, V} for s in found)


def test_a_serial_construct_has_one_schedule():
    node = loop()
    sizes = Sizes(gangs=True, workers=1, lanes=1, single=True)
    assert len(alternatives([node], sizes)) == 1


def test_a_limit_holds_for_rows_and_elements():
    inner = loop(contiguous=4)
    inner.streaming = False
    outer = loop(inner, tight=True)
    assert plan_construct([outer], Sizes()).loops[outer].elements == 8
    limited = plan_construct([outer], Sizes(), tuning=ScheduleTuning(most=2))
    assert limited.loops[outer].elements == 2
    single = loop(contiguous=3)
    assert (
        plan_construct([single], Sizes(), tuning=ScheduleTuning(most=2)).loops[single].elements == 2
    )


def test_tuned_elements_hold_in_nests_of_one_row_per_gang():
    inner = loop(contiguous=4)
    outer = loop(loop(inner, tight=True), tight=True, trip=64)
    for elements, expected in ((0, 4), (1, 1), (2, 2)):
        tuning = ScheduleTuning(rows=1, elements=elements)
        assert plan_construct([outer], Sizes(), tuning=tuning).loops[inner].elements == expected


def test_descriptions_name_levels_dimensions_and_counts():
    inner = loop(contiguous=4)
    outer = loop(inner, tight=True)
    space = {s.name: describe(s) for s in alternatives([outer], Sizes())[:4]}
    assert space["2_1"] == "1x128: gang / vector"
    assert space["2_3"] == "8x32: gang worker(dim:2) / gang vector"


def test_a_streaming_inner_loop_behind_other_code_gets_wide_gangs():
    inner = loop(contiguous=1)
    outer = loop(inner)
    schedule = plan_construct([outer], Sizes())
    assert schedule.loops[outer].levels == {G}
    assert schedule.loops[inner].levels == {V}
    assert (schedule.loops[inner].elements, schedule.vector_length) == (4, 256)


def test_rows_of_unknown_length_take_workers_and_a_warp():
    inner = loop(contiguous=1, host_trip=False)
    outer = loop(inner)
    schedule = plan_construct([outer], Sizes())
    assert schedule.loops[outer].levels == {G, W}
    assert (schedule.loops[inner].elements, schedule.vector_length) == (1, 32)
