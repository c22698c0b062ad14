"""The plain decisions behind the GPU lowering."""

from __future__ import annotations

import pytest
from accopt.compiler.ir.context import make_context
from accopt.dialects.accx import UNROLL
from accopt.passes.convert_acc_compute_to_gpu.barriers import (
    ANY_INTERNAL,
    UNKNOWN,
    ObjectAccess,
    Root,
    Space,
)
from accopt.passes.decisions.block_shape import BlockShape, choose_block_shape
from accopt.passes.decisions.levels import Level
from accopt.passes.decisions.loop_partition import Mode, Partition, Sharers, partition_loop
from accopt.passes.decisions.loop_tree import LoopNode
from accopt.passes.decisions.nest_order import Walk, best_order, order_of_passes, outer_iterations
from accopt.passes.decisions.observable_mapping import GangCode, why_kept
from accopt.passes.decisions.reduction_strategy import Strategy, choose_strategy
from accopt.passes.ir.kernels.exchanges import leave_whole
from xdsl.dialects import scf
from xdsl.dialects.builtin import IntegerAttr
from xdsl.parser import Parser


@pytest.mark.parametrize("lanes", [1, 2, 3, 5, 8, 31, 32, 33, 48, 64, 100, 1000, 1024])
@pytest.mark.parametrize("workers", [1, 2, 3, 7, 15, 16, 31, 32])
@pytest.mark.parametrize("synchronise", [False, True])
def test_shape_keeps_what_the_lowering_relies_on(
    lanes: int, workers: int, synchronise: bool
) -> None:
    shape = choose_block_shape(lanes, workers, workers_synchronise=synchronise)
    assert shape.lanes is not None and shape.workers is not None
    threads = shape.lanes * shape.workers
    assert shape.lanes % 32 == 0 or 32 % shape.lanes == 0
    assert threads % 32 == 0 or 32 % threads == 0
    assert threads <= 1024
    assert shape.lanes <= 32 or not synchronise or shape.workers <= 15
    enough = shape.lanes >= lanes and shape.workers >= workers
    assert enough or not shape.at_least_requested


def test_shape_is_left_alone_when_it_fits() -> None:
    assert choose_block_shape(128, 4, workers_synchronise=True) == BlockShape(128, 4)
    assert choose_block_shape(1, 1, workers_synchronise=True) == BlockShape(1, 1)
    assert choose_block_shape(4, 32, workers_synchronise=True) == BlockShape(4, 32)


def test_cut_shape_does_not_cover() -> None:
    assert not choose_block_shape(64, 16, workers_synchronise=True).at_least_requested


@pytest.mark.parametrize(
    ("worker", "vector", "mode", "unit", "inside"),
    [
        (False, True, Mode.GANG, Sharers.THREADS, Mode.THREAD),
        (True, True, Mode.GANG, Sharers.THREADS, Mode.THREAD),
        (True, False, Mode.GANG, Sharers.WORKERS, Mode.WORKER),
        (False, True, Mode.WORKER, Sharers.LANES, Mode.THREAD),
        (False, False, Mode.GANG, Sharers.NONE, Mode.GANG),
        (False, True, Mode.THREAD, Sharers.NONE, Mode.THREAD),
    ],
)
def test_partition(worker: bool, vector: bool, mode: Mode, unit: Sharers, inside: Mode) -> None:
    found = partition_loop(
        gang_dim=None, worker=worker, vector=vector, mode=mode, shape=BlockShape(32, 4)
    )
    assert found == Partition(None, unit, inside)


def test_single_worker_shares_nothing() -> None:
    found = partition_loop(
        gang_dim=None, worker=True, vector=False, mode=Mode.GANG, shape=BlockShape(128, 1)
    )
    assert found.sequential


def test_strategy() -> None:
    choose = choose_strategy
    assert choose("auto", single_gang=True, atomics=[True]) is Strategy.FOLD
    assert choose("auto", single_gang=False, atomics=[True]) is Strategy.LAST_BLOCK
    assert choose("atomic", single_gang=False, atomics=[True, True]) is Strategy.ATOMIC
    assert choose("atomic", single_gang=False, atomics=[True, False]) is Strategy.LAST_BLOCK


A = Root(Space.DEVICE, "a")
B = Root(Space.DEVICE, "b", True)
SHARED = Root(Space.SHARED, "t", True)


@pytest.mark.parametrize(
    ("first", "second", "conflict"),
    [
        (ObjectAccess(A, False, False), ObjectAccess(A, False, False), False),
        (ObjectAccess(A, True, True), ObjectAccess(A, False, False), True),
        (ObjectAccess(A, True, True), ObjectAccess(A, True, True), False),
        (ObjectAccess(A, False, False), ObjectAccess(A, True, True), True),
        (ObjectAccess(A, True, True), ObjectAccess(B, False, False), False),
        (ObjectAccess(A, True, True), ObjectAccess(Root(Space.DEVICE), False, False), True),
        (ObjectAccess(A, True, True), ObjectAccess(SHARED, False, False), False),
        (ObjectAccess(B, True, True), ObjectAccess(UNKNOWN, False, False), True),
        (ObjectAccess(SHARED, True, True), ObjectAccess(UNKNOWN, False, False), True),
        (
            ObjectAccess(ANY_INTERNAL, True, False),
            ObjectAccess(Root(Space.INTERNAL, "x"), False, False),
            True,
        ),
        (ObjectAccess(ANY_INTERNAL, True, False), ObjectAccess(UNKNOWN, True, False), False),
    ],
)
def test_conflicts(first: ObjectAccess, second: ObjectAccess, conflict: bool) -> None:
    assert first.conflicts(second) is conflict


def test_loops_with_barriers_are_unrolled_only_if_no_iterations_can_be_left_over():
    module = Parser(
        make_context(),
        """
        llvm.func @f(%n: i32) {
          %zero = arith.constant 0 : i32
          %one = arith.constant 1 : i32
          %eight = arith.constant 8 : i32
          scf.for %i = %zero to %n step %one : i32 { "gpu.barrier"() : () -> () } {accx.unroll = 8 : i32}
          scf.for %i = %zero to %n step %one : i32 { "gpu.barrier"() : () -> () } {accx.unroll = 1 : i32}
          scf.for %i = %zero to %eight step %one : i32 { "gpu.barrier"() : () -> () } {accx.unroll = 4 : i32}
          scf.for %i = %zero to %n step %one : i32 { "gpu.thread_id"()
            <{dimension = #gpu<dim x>}> : () -> index } {accx.unroll = 2 : i32}
          llvm.return
        }
        """,
    ).parse_module()
    leave_whole(module)
    factors = [
        factor.value.data if isinstance(factor := op.attributes.get(UNROLL), IntegerAttr) else None
        for op in module.walk()
        if isinstance(op, scf.ForOp)
    ]
    assert factors == [None, 1, 4, 2]


ALONG, ACROSS, EVEN = Walk(3, 0), Walk(0, 3), Walk(1, 1)


@pytest.mark.parametrize(
    ("walks", "order"),
    [
        ([ACROSS, ALONG], None),
        ([ALONG, ACROSS], [1, 0]),
        ([EVEN, EVEN], None),
        ([EVEN, ACROSS], None),
        ([ALONG, EVEN], None),
        ([ALONG, ACROSS, ACROSS], [2, 1, 0]),
        ([ACROSS, ALONG, ACROSS], [0, 2, 1]),
        ([Walk(2, 1), Walk(3, 0), ACROSS], [0, 2, 1]),
        ([ACROSS], None),
        ([], None),
    ],
)
def test_the_innermost_loop_walks_along_memory(walks: list[Walk], order: list[int] | None) -> None:
    assert best_order(walks) == order


@pytest.mark.parametrize(
    ("walks", "order"),
    [
        ([Walk(0, 0, 6), ALONG], [1, 0]),
        ([Walk(0, 0, 8), ACROSS, ALONG], [1, 2, 0]),
        ([Walk(0, 0, 9), ALONG], None),
        ([Walk(0, 0), ALONG], None),
        ([Walk(0, 1, 6), ALONG], None),
        ([Walk(0, 0, 6), ACROSS], None),
        ([Walk(0, 0, 6)], None),
    ],
)
def test_a_few_passes_over_the_same_elements(walks: list[Walk], order: list[int] | None) -> None:
    assert order_of_passes(walks) == order


@pytest.mark.parametrize(("trips", "order"), [(63, None), (64, [1, 0]), (None, [1, 0])])
def test_threads_keep_their_iterations(trips: int | None, order: list[int] | None) -> None:
    walks = [Walk(3, 0, 5), Walk(0, 3, trips)]
    assert best_order(walks, outer_iterations("host")) == order
    assert best_order(walks, outer_iterations("nvptx")) == [1, 0]


@pytest.mark.parametrize(
    ("code", "roots", "kept"),
    [
        (GangCode(), [LoopNode(True, levels=frozenset({Level.VECTOR}))], False),
        (GangCode(gangs=4), [LoopNode(True, levels=frozenset({Level.VECTOR}))], True),
        (GangCode(gangs=None), [LoopNode(True, levels=frozenset({Level.VECTOR}))], True),
        (GangCode(), [LoopNode(True, levels=frozenset({Level.WORKER})) for _ in range(2)], True),
        (GangCode(), [LoopNode(False)], True),
        (GangCode(redundant=True), [LoopNode(True, levels=frozenset({Level.VECTOR}))], True),
        (GangCode(gangs=4), [LoopNode(True, levels=frozenset({Level.GANG}))], False),
    ],
)
def test_one_gang_does_for_a_lone_loop(code: GangCode, roots: list[LoopNode], kept: bool) -> None:
    assert (why_kept(code, roots) is not None) == kept
