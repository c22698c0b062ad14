"""
Asynchronous queues of the CPU: native code does short work of a queue that is at rest, and the queue's thread
does everything else, in the order in which it was given.
"""

from __future__ import annotations

import ctypes
import random
import threading
import time

import numpy as np
import pytest
from accopt.compiler.base.abi import DataKind
from accopt.runtime.device import NativeImage
from accopt.runtime.entry_points import EntryPoints
from accopt.runtime.host.device import HostDevice, HostOptions
from accopt.runtime.native.gangs_queues import AT_ONCE_NS
from accopt.runtime.program import Runtime
from runtime_harness import DYNAMIC, SCALE_ARGS, NativeCode, Program, record

N = 128
FIELDS = {"kind": "parallel loop", "file": "p.c", "line": 1, "function": "main", "vars": ["x"]}
SITES = [
    {**FIELDS, "kernel": "scale", "arg_bytes": SCALE_ARGS},
    {**FIELDS, "kernel": "spin", "arg_bytes": [8]},
    {"kind": "update", "vars": ["x"]},
]
IN, OUT = DataKind.UPDATE_DEVICE, DataKind.UPDATE_SELF


class Queues(Program):
    """A program with an array `x` on the device; `slow`: the entry points in Python that were entered."""

    def __init__(self, monkeypatch):
        self.slow: list[str] = []
        for name in ("launch", "update", "wait", "data_enter", "data_exit"):
            original = getattr(EntryPoints, name)

            def entered(entries, *arguments, name=name, original=original):
                self.slow.append(name)
                return original(entries, *arguments)

            monkeypatch.setattr(EntryPoints, name, entered)
        runtime = Runtime(SITES, HostDevice(HostOptions(threads=2)))
        super().__init__(runtime)
        runtime.start(NativeImage(NativeCode().address))
        self.x = np.ones(N, dtype=np.float32)
        self.data("data_enter", [self.of(DataKind.COPYIN, DYNAMIC)])
        (entry,) = runtime.current.table
        self.there = np.ctypeslib.as_array((ctypes.c_float * N).from_address(entry.device))
        for queue in (1, 2):
            self.construct(1, queue)
            self.call("acc_wait", queue)
        self.slow.clear()

    def of(self, kind, flags=0, offset=0, size=4 * N):
        return record(self.x.ctypes.data, size, kind, flags, offset=offset)

    def construct(self, factor: float, queue: int, takes: int = 1) -> None:
        """A launch whose kernel seems to have taken so long the last time (`GangKernel.queued`)."""
        self.kernel("scale").queued = takes
        r = self.of(DataKind.PRESENT)
        self.data("data_enter", [r], queue)
        values = [ctypes.c_int64(r.device), ctypes.c_float(factor), ctypes.c_int64(N)]
        self.launch(0, values, grid=(2, 1, 1), queue=queue)
        self.data("data_exit", [r], queue)

    def update(self, kind, queue, offset=0, size=4 * N) -> None:
        self.data("update", [self.of(kind, offset=offset, size=size)], queue, 2)

    def hold(self, queue: int) -> ctypes.c_int64:
        """Gives a queue a kernel that runs until the returned word is not zero."""
        flag = ctypes.c_int64(0)
        self.kernel("spin").queued = 0
        self.launch(1, [ctypes.c_int64(ctypes.addressof(flag))], queue=queue)
        return flag

    def kernel(self, name: str):
        return self.runtime.current.device._kernel(name)


@pytest.fixture
def program(monkeypatch):
    program = Queues(monkeypatch)
    yield program
    program.runtime.finish()


def test_short_work_of_a_queue_at_rest_takes_no_python(program):
    program.construct(2, 1)
    program.update(OUT, 1)
    assert program.x.tolist() == [2] * N
    program.x[:] = 5
    program.update(IN, 1)
    program.construct(3, 1)
    assert program.call("acc_async_test", 1) == 1
    program.wait(1)
    program.wait(1, async_queue=2)
    program.update(OUT, -2)
    assert program.x.tolist() == [15] * N and not program.slow


def test_work_of_a_busy_queue_is_done_after_it(program):
    flag = program.hold(1)
    program.slow.clear()
    for factor in (2, 3):
        program.construct(factor, 1)
    program.update(OUT, 1)
    assert "launch" in program.slow and "update" in program.slow
    assert program.call("acc_async_test", 1) == 0 and program.there.tolist() == [1] * N
    flag.value = 1
    program.wait(1)
    assert program.x.tolist() == [6] * N
    program.slow.clear()
    program.construct(2, 1)
    assert not program.slow


def test_a_queue_that_waits_for_a_busy_one_is_busy(program):
    flag = program.hold(2)
    program.wait(2, async_queue=1)
    program.construct(2, 1)
    assert program.there.tolist() == [1] * N
    flag.value = 1
    program.wait(1)
    assert program.there.tolist() == [2] * N


def test_a_synchronous_update_comes_after_busy_queues(program):
    program.construct(2, 1)
    flag = program.hold(1)
    program.construct(2, 1)
    timer = threading.Timer(0.1, lambda: setattr(flag, "value", 1))
    timer.start()
    program.update(OUT, -2)
    assert program.x.tolist() == [4] * N
    timer.join()


@pytest.mark.parametrize("gangs_take", [0, 2 * AT_ONCE_NS * 1024])
def test_launches_that_are_not_known_to_be_short_leave_the_host_alone(program, gangs_take):
    program.construct(2, 1, gangs_take)
    assert program.slow == ["launch"]
    program.wait(1)
    assert program.kernel("scale").queued > 0, "the queue's thread measures, too"


def test_a_failure_in_a_queue_is_reported_by_the_next_wait(program):
    def fail() -> None:
        raise ValueError("of the queue")

    queue = program.runtime.current.queue(1, 0)
    queue.submit(fail)
    while queue._finished < queue._submitted:
        time.sleep(0.001)
    assert queue._state.unfinished == 1, "native code leaves the queue to Python"
    with pytest.raises(ValueError, match="of the queue"):
        queue.wait()
    assert queue._state.unfinished == 0
    program.slow.clear()
    program.construct(2, 1)
    assert not program.slow


def test_columns_of_an_array_take_no_python(program):
    rows = (ctypes.c_int64 * 6)(0, 8, 64, 3, 1, 4)
    r = record(program.x.ctypes.data, 7 * 64 + 4, IN, offset=12)
    r.dims, r.shape = 2, ctypes.addressof(rows)
    program.x[:] = np.arange(N)
    program.data("update", [r], 1, 2)
    expected = [i if i % 16 == 3 else 1 for i in range(N)]
    assert program.there.tolist() == expected and not program.slow


@pytest.mark.parametrize("seed", range(6))
def test_random_work_of_two_queues_is_done_in_order(program, seed):
    """Long and short work in turn; each half of the array belongs to a queue."""
    choose = random.Random(seed)
    expected = np.ones(2)
    flags = []
    for _ in range(60):
        queue = choose.choice((1, 2))
        match choose.randrange(5):
            case 0:
                flags.append(program.hold(queue))
                timer = threading.Timer(0.001, lambda flag=flags[-1]: setattr(flag, "value", 1))
                timer.start()
            case 1:
                program.wait(queue)
                program.update(OUT, queue, 256 * (queue - 1), 256)
                program.wait(queue)
                assert set(program.x[64 * (queue - 1) : 64 * queue]) == {expected[queue - 1]}
            case 2:
                program.kernel("scale").queued = choose.choice((0, 1))
            case _:
                factor = choose.choice((2, 0.5))
                expected[queue - 1] *= factor
                address = program.there.ctypes.data + 256 * (queue - 1)
                values = [ctypes.c_int64(address), ctypes.c_float(factor), ctypes.c_int64(64)]
                program.launch(0, values, queue=queue)
    program.call("acc_wait_all")
    assert program.there.tolist() == [expected[0]] * 64 + [expected[1]] * 64
