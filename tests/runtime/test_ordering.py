"""What waits for the other queues that still use a block of device memory."""

from __future__ import annotations

import ctypes
import threading
from dataclasses import dataclass, field

import numpy as np
import pytest
from accopt.compiler.base.abi import DataKind, DeviceProperty
from accopt.runtime.data.ordering import Ordering, Users
from accopt.runtime.device import NativeImage
from accopt.runtime.host.device import HostDevice, HostOptions
from accopt.runtime.program import Runtime
from runtime_harness import DYNAMIC, NativeCode, Program, record

SITES = [
    {
        "kind": "parallel loop",
        "file": "p.c",
        "line": line,
        "function": "main",
        "vars": ["x"],
        "kernel": "spin",
        "arg_bytes": [8],
    }
    for line in (7, 9)
]


@dataclass(eq=False)
class Queue:
    pending: bool = True
    waits: list[Queue] = field(default_factory=list)

    def wait(self) -> None:
        self.pending = False

    def done(self) -> bool:
        return not self.pending

    def wait_for(self, other: Queue) -> None:
        self.waits.append(other)


@dataclass
class Device:
    sync_queue: Queue = field(default_factory=Queue)
    made: list[Queue] = field(default_factory=list)
    freed: list[tuple[int, Queue]] = field(default_factory=list)

    def new_queue(self) -> Queue:
        self.made.append(Queue())
        return self.made[-1]

    def free(self, address: int, queue: Queue) -> None:
        self.freed.append((address, queue))


@pytest.fixture
def device() -> Device:
    return Device()


def test_blocks_nobody_else_uses_are_freed_on_the_queue_itself(device):
    ordering, users, own = Ordering(device), Users(), Queue()
    ordering.use(users, own)
    ordering.use(users, device.sync_queue)
    ordering.free(16, users, own)
    assert device.freed == [(16, own)] and not device.made and not own.waits


def test_frees_wait_for_pending_users_elsewhere(device):
    ordering, users, idle, busy = Ordering(device), Users(), Queue(pending=False), Queue()
    for queue in (idle, busy):
        ordering.use(users, queue)
    ordering.free(16, users, device.sync_queue)
    (frees,) = device.made
    assert device.freed == [(16, frees)] and frees.waits == [device.sync_queue, busy]
    assert not device.sync_queue.waits, "the program does not wait for memory"


def test_users_that_nobody_recorded_may_be_on_any_queue(device):
    busy = Queue()
    ordering = Ordering(device, lambda: [device.sync_queue, busy])
    ordering.before_copy(Users(), device.sync_queue)
    assert not device.sync_queue.waits
    ordering.before_copy(Users(any=True), device.sync_queue)
    assert device.sync_queue.waits == [busy]


def test_asynchronous_copies_are_ordered_by_the_program(device):
    ordering, users, busy, own = Ordering(device), Users(), Queue(), Queue()
    ordering.use(users, busy)
    ordering.before_copy(users, own)
    assert not own.waits


@pytest.fixture
def program():
    runtime = Runtime(SITES, HostDevice(HostOptions(threads=1)))
    runtime.start(NativeImage(NativeCode().address))
    yield Program(runtime)
    runtime.finish()


def present(x):
    return record(x.ctypes.data, x.nbytes, DataKind.PRESENT)


def spin(program: Program, r, flag: int, queue: int = 1) -> None:
    """A kernel that runs until the word at `flag` is not zero, and clears it; native code does not take it
    for a short one."""
    program.runtime.current.device._kernel("spin").queued = 0
    program.data("data_enter", [r], queue)
    program.launch(0, [ctypes.c_int64(flag)], queue=queue)
    program.data("data_exit", [r], queue)


@pytest.mark.parametrize("repeats", [0, 1, 3], ids=["python", "remembered", "native"])
def test_a_synchronous_copy_out_waits_for_the_kernel(program, repeats):
    """Also when all that the runtime saw of the asynchronous construct was an armed slot."""
    x, flag = np.zeros(8, dtype=np.int64), np.ones(1, dtype=np.int64)
    outer = record(x.ctypes.data, x.nbytes, DataKind.COPY)
    program.data("data_enter", [outer], site=1)
    for _ in range(repeats):
        flag[0] = 1
        spin(program, present(x), flag.ctypes.data)
        program.call("acc_wait_all")
    word = ctypes.c_int64.from_address(outer.device)
    spin(program, present(x), outer.device)
    assert not program.call("acc_async_test", 1)

    released = threading.Event()

    def release() -> None:
        released.set()
        word.value = 5

    timer = threading.Timer(0.2, release)
    timer.start()
    program.data("data_exit", [outer], site=1)
    assert released.is_set(), "copied while the kernel was still running"
    assert program.call("acc_async_test", 1) and x[0] == 0
    timer.join()


def test_a_region_first_entered_synchronously_is_told_of_queues(program):
    """A slot armed by synchronous constructs must not swallow the first asynchronous one."""
    x, flag = np.zeros(8, dtype=np.int64), np.ones(1, dtype=np.int64)
    outer = record(x.ctypes.data, x.nbytes, DataKind.CREATE, DYNAMIC)
    program.data("data_enter", [outer], site=1)
    for _ in range(3):
        flag[0] = 1
        spin(program, present(x), flag.ctypes.data, queue=-2)
    (entry,) = program.runtime.current.table
    assert not entry.users.any and not entry.users.queues
    for _ in range(3):
        flag[0] = 1
        spin(program, present(x), flag.ctypes.data)
        assert entry.users.queues
        program.call("acc_wait_all")


def test_wait_any_never_chooses_the_synchronous_queue(program):
    queues = (ctypes.c_int * 3)(-2, 1, -2)
    address = ctypes.addressof(queues)
    assert program.call("acc_wait_any", 3, address) == 1
    queues[1] = -2
    assert program.call("acc_wait_any", 3, address) == -1


def test_the_default_queue_has_a_number(program):
    default = program.call("acc_get_default_async")
    assert default >= 0
    state = program.runtime.current
    assert state.queue(default, 7) is state.queue(-3, 7) is state.queue(-1, default)
    program.call("acc_set_default_async", default + 1)
    assert program.call("acc_get_default_async") == default + 1
    program.call("acc_set_default_async", -3)
    assert program.call("acc_get_default_async") == default


def test_free_memory_counts_what_the_program_holds(program):
    def free() -> int:
        return program.call("acc_get_property", 0, 1, int(DeviceProperty.FREE_MEMORY))

    before = free()
    block = program.call("acc_malloc", 1000)
    assert free() == before - 1000
    program.call("acc_free", block)
    assert free() == before


def test_fresh_device_memory_of_the_host_is_zero(program):
    blocks = [program.call("acc_malloc", 4096) for _ in range(20)]
    for block in blocks:
        ctypes.memset(block, 0x3F, 4096)
        program.call("acc_free", block)
    again = [program.call("acc_malloc", 4096) for _ in range(20)]
    assert all(ctypes.string_at(block, 4096) == bytes(4096) for block in again)
    assert all(block % 256 == 0 for block in again)
