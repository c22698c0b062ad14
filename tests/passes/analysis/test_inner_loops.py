"""Iterations side by side, unroll factors and narrow counters: the decisions, without IR."""

from __future__ import annotations

import pytest
from accopt.passes.decisions.launch_shape import Sizes
from accopt.passes.decisions.loop_tree import LoopNode
from accopt.passes.decisions.schedule import ScheduleTuning, plan_construct
from accopt.passes.decisions.shared_work import (
    FULL_DEVICE,
    InnerWork,
    StagedPiece,
    choose_piece,
    enough_iterations,
    iterations_side_by_side,
)
from accopt.passes.decisions.unrolling import (
    LoopBody,
    part_of,
    storing_factor,
    unroll_factor,
)
from accopt.passes.narrow_counters import fits

CONVOLUTION = InnerWork(shared_loads=1, own_operations=6)


@pytest.mark.parametrize(
    ("work", "count"),
    [
        (CONVOLUTION, 4),
        (InnerWork(shared_loads=4, own_operations=32), 4),
        (InnerWork(shared_loads=1, own_operations=24), 1),
        (InnerWork(own_operations=6), 1),
        (InnerWork(shared_loads=1, strided_loads=1, own_operations=6), 1),
        (InnerWork(shared_loads=1, own_operations=4, kept_words=8), 4),
        (InnerWork(shared_loads=1, own_operations=4, kept_words=9), 1),
        (InnerWork(shared_loads=1, own_operations=4, kept_words=64), 1),
        (InnerWork(shared_loads=1, own_operations=4, kept_words=65), 4),
    ],
)
def test_iterations_side_by_side(work: InnerWork, count: int) -> None:
    assert iterations_side_by_side(work) == count


@pytest.mark.parametrize(
    ("sizes", "trip", "expected"),
    [
        ([4], None, StagedPiece(128, (0,), 4, 4)),
        ([4, 4, 4, 4], None, StagedPiece(128, (0, 4, 8, 12), 16, 16)),
        ([4, 4, 4], None, StagedPiece(128, (0, 4, 8), 16, 16)),
        ([2, 8], None, StagedPiece(128, (0, 8), 16, 16)),
        ([1], None, StagedPiece(128, (0,), 1, 1)),
        ([8] * 5, None, StagedPiece(128, (0, 8, 16, 24, 32), 48, 16)),
        ([8] * 20, None, None),
        ([], None, None),
        ([4], 255, None),
        ([4], 256, StagedPiece(128, (0,), 4, 4)),
    ],
)
def test_choose_piece(sizes: list[int], trip: int | None, expected: StagedPiece | None) -> None:
    assert choose_piece(sizes, 128, trip) == expected


def test_gangs_that_share_what_they_read_are_large() -> None:
    node = LoopNode(True, streaming=False, work=CONVOLUTION)
    assert plan_construct([node], Sizes()).vector_length == 256
    assert plan_construct([LoopNode(True, streaming=False)], Sizes()).vector_length == 128


@pytest.mark.parametrize(("accesses", "elements"), [(1, 8), (2, 4)])
def test_reductions_keep_eight_loads_in_flight(accesses: int, elements: int) -> None:
    assert _elements(LoopNode(True, reduction=True, contiguous=accesses)) == elements


def _elements(node: LoopNode, tuning: ScheduleTuning | None = None) -> int:
    return plan_construct([node], Sizes(), tuning=tuning).loops[node].elements


def test_schedule_asks_for_them() -> None:
    assert _elements(LoopNode(True, streaming=False, work=CONVOLUTION)) == 4
    assert _elements(LoopNode(True, streaming=False)) == 1
    assert _elements(LoopNode(True, streaming=False, reduction=True, work=CONVOLUTION)) == 1


def test_constant_trip_counts_that_leave_the_device_empty_take_fewer() -> None:
    def of(trip: int) -> int:
        return _elements(LoopNode(True, streaming=False, trip=trip, work=CONVOLUTION))

    assert of(enough_iterations(4)) == 4
    assert of(enough_iterations(4) - 1) == 2
    assert of(FULL_DEVICE) == 1


def test_tuning_wins() -> None:
    node = LoopNode(True, streaming=False, work=CONVOLUTION)
    assert _elements(node, ScheduleTuning(elements=2)) == 2


@pytest.mark.parametrize(
    ("body", "factor"),
    [
        (LoopBody(loads=1, operations=2), 8),
        (LoopBody(loads=9, operations=25), 8),
        (LoopBody(loads=30, operations=60), 2),
        (LoopBody(loads=60, operations=120), None),
        (LoopBody(loads=0, operations=16), 8),
        (LoopBody(loads=0, operations=300), None),
        (LoopBody(loads=1, operations=2, trip=64), None),
        (LoopBody(loads=1, operations=2, trip=1000), 8),
        (LoopBody(loads=4, operations=100, trip=3), 3),
        (LoopBody(loads=1, operations=40, trip=7), 7),
        (LoopBody(loads=4, operations=100, trip=1), None),
        (LoopBody(loads=4, operations=30, trip=19), 8),
        (LoopBody(loads=1, operations=2, opaque=True), None),
        (LoopBody(loads=0, operations=0), None),
    ],
)
def test_unroll_factor(body: LoopBody, factor: int | None) -> None:
    assert unroll_factor(body) == factor


@pytest.mark.parametrize(
    ("loads", "bytes", "operations", "trip", "factor"),
    [
        (0, 0, 10, None, None),
        (1, 8, 10, None, 8),
        (4, 32, 40, None, 4),
        (2, 64, 40, None, 2),
        (2, 128, 40, None, None),
        (13, 52, 40, None, None),
        (1, 8, 200, None, 2),
        (1, 8, 10, 3, 8),
        (1, 8, 10, 1, None),
    ],
)
def test_loads_of_several_iterations_have_registers(
    loads: int, bytes: int, operations: int, trip: int | None, factor: int | None
) -> None:
    body = LoopBody(loads, operations, trip)
    assert storing_factor(loads, bytes, body) == factor


@pytest.mark.parametrize(
    ("steps", "trip", "expected"),
    [(1, None, True), (2, None, False), (2, 1000, True), (2, 1 << 30, False), (0, 5, False)],
)
def test_fits(steps: int, trip: int | None, expected: bool) -> None:
    assert fits(steps, trip) is expected


@pytest.mark.parametrize(("iterations", "part"), [(256, 32), (255, 17), (64, 32), (7, 1), (67, 1)])
def test_parts_of_a_triangle_have_as_many_iterations_as_divide_them(
    iterations: int, part: int
) -> None:
    assert part_of(iterations) == part
