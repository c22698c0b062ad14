"""
Scalars of asynchronous reductions: their results are in the variable for whoever waits, whatever else is on
the queues, and no call of Python is made for them.
"""

from __future__ import annotations

import ctypes
import random

import pytest
from accopt.compiler.base.abi import DataFlag, DataKind
from accopt.runtime.data.cells import LATE_CELLS
from runtime_harness import DYNAMIC, record
from test_native_updates import Updates

CELL = int(DataFlag.CELL | DataFlag.IMPLICIT)


def add(values):
    """The kernel: adds `values[1]` to the variable at `values[0]`."""
    ctypes.c_int64.from_address(values[0]).value += values[1]


class Reductions(Updates):
    """GPUs whose kernel reduces into a scalar; the streams of the driver do their work late."""

    def reduce(self, s, value: int, queue: int) -> list[str]:
        """A construct that adds to `s`; returns which calls came to Python."""
        self.slow.clear()
        r = record(ctypes.addressof(s), 8, DataKind.COPY, CELL)
        self.data("data_enter", [r], queue)
        values = [ctypes.c_int64(r.device), ctypes.c_int64(value), ctypes.c_int64(0)]
        self.program.launch(0, values, queue=queue)
        self.data("data_exit", [r], queue)
        return list(self.slow)


@pytest.fixture
def gpus():
    gpus = Reductions()
    gpus.fake.kernels["scale"] = add
    s = ctypes.c_int64(0)
    for queue in (1, 2):
        gpus.reduce(s, 1, queue)
        gpus.call("acc_wait", queue)
    yield gpus
    gpus.finish()


def test_the_result_is_there_after_a_wait(gpus):
    s = ctypes.c_int64(5)
    assert gpus.reduce(s, 7, 1) == []
    assert s.value == 5, "the host goes on"
    gpus.call("acc_wait", 1)
    assert s.value == 12


def test_constructs_on_one_queue_need_no_wait(gpus):
    s = ctypes.c_int64(1)
    for _ in range(3):
        assert gpus.reduce(s, 10, 1) == []
    gpus.program.wait(1, async_queue=2)
    assert gpus.reduce(s, 100, 2) == []
    assert s.value == 1
    gpus.call("acc_wait", 2)
    assert s.value == 131


def test_more_constructs_than_cells(gpus):
    sums = [ctypes.c_int64(i) for i in range(LATE_CELLS + 5)]
    slow = [gpus.reduce(s, 1, 1) != [] for s in sums]
    assert slow == [i == LATE_CELLS for i in range(len(sums))], (
        "its copy has waited for the results"
    )
    gpus.call("acc_wait", 1)
    assert [s.value for s in sums] == [i + 1 for i in range(len(sums))]
    assert gpus.reduce(sums[0], 1, 1) == []
    gpus.call("acc_wait", 1)


@pytest.mark.parametrize("updated", [False, True], ids=["enter data", "update"])
def test_copies_on_a_queue_find_the_result(gpus, updated):
    """The driver reads pageable memory at once, so such copies wait for the results."""
    s = ctypes.c_int64(3)
    gpus.reduce(s, 4, 1)
    gpus.program.wait(1, async_queue=2)
    r = record(ctypes.addressof(s), 8, DataKind.CREATE if updated else DataKind.COPYIN, DYNAMIC)
    gpus.data("data_enter", [r], 2)
    if updated:
        gpus.update(record(ctypes.addressof(s), 8, DataKind.UPDATE_DEVICE), queue=2)
    gpus.call("acc_wait", 2)
    assert s.value == 7 and ctypes.c_int64.from_address(r.device).value == 7
    r.kind = int(DataKind.DELETE)
    gpus.data("data_exit", [r])


@pytest.mark.parametrize("seed", range(4))
def test_random_reductions(gpus, seed):
    """Sums on their queues, waited for now and then, beside synchronous ones."""
    choose = random.Random(seed)
    sums = {queue: [ctypes.c_int64(0) for _ in range(3)] for queue in (1, 2, -2)}
    expected = {queue: [0] * 3 for queue in sums}
    for _ in range(200):
        queue, which, value = choose.choice((1, 2, -2)), choose.randrange(3), choose.randrange(100)
        if choose.random() < 0.15:
            gpus.call("acc_wait", queue)
            assert [s.value for s in sums[queue]] == expected[queue]
        gpus.reduce(sums[queue][which], value, queue)
        expected[queue][which] += value
    gpus.call("acc_wait_all")
    assert {queue: [s.value for s in own] for queue, own in sums.items()} == expected
