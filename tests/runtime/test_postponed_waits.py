"""
Waits and copies between devices that the host goes on from. The fake driver does a stream's work as late as
it may: what is not ordered, or not waited for where it must be, is wrong data.
"""

from __future__ import annotations

import ctypes
import random
from dataclasses import dataclass, field

import numpy as np
import pytest
from accopt.compiler.base.abi import (
    ASYNC_ON_DEVICE,
    ASYNC_SYNC,
    DataKind,
    PeerUpdate,
)
from accopt.runtime import data_routines, entry_points
from test_device_queues import construct, held, on_host, pending
from test_several_gpus import SITES, Gpus, N, of


@pytest.fixture(params=[2, 1], ids=["", "one GPU"])
def gpus(request, monkeypatch):
    gpus = Gpus(2, real=request.param)
    gpus.python = 0

    def noted(module):
        copy = module.copy_peer

        def call(*args):
            gpus.python += 1
            copy(*args)

        monkeypatch.setattr(module, "copy_peer", call)

    noted(data_routines)
    noted(entry_points)
    yield gpus
    gpus.finish(empty=False)


def both(gpus, value=1.0):
    x = np.full(N, value, np.float32)
    for device in (0, 1):
        held(gpus, device, x)
    return x


def depth(gpus, device, queue):
    """How much work of an asynchronous queue has not been done."""
    stream = gpus.fake._handles[gpus.runtime.devices.at(device)._queues[queue].stream]
    return len(stream.work) - stream.done


def lane(gpus, to):
    """The stream of copies to a device from the other one, which it is a stream of."""
    (way,) = gpus.runtime.devices.at(to).device._ways.values()
    return gpus.fake._handles[way.lane().stream]


def directive(gpus, x, to, origin, queue, shape=()):
    words = (ctypes.c_int64 * max(len(shape), 1))(*shape)
    dims, place = len(shape) // 3, ctypes.addressof(words)
    address, size = x.ctypes.data, x.nbytes
    update = PeerUpdate(address, address, to, origin, size, size, dims, dims, place, place, queue)
    function = ctypes.CFUNCTYPE(None, ctypes.c_int32, ctypes.c_void_p)
    function(gpus.program.addresses["__accopt_update_peer"])(1, ctypes.addressof(update))
    gpus.check()


def routine(gpus, x, to, origin, queue):
    address = x.ctypes.data
    if queue == ASYNC_SYNC:
        gpus.call("acc_memcpy_d2d", address, address, x.nbytes, to, origin)
    else:
        gpus.call("acc_memcpy_d2d_async", address, address, x.nbytes, to, origin, queue)


@pytest.mark.parametrize("queue", [3, ASYNC_SYNC, -1])
@pytest.mark.parametrize("copy", [directive, routine])
def test_copies_that_repeat_are_native_and_ordered(gpus, copy, queue):
    """Between kernels on either device: each finds what the one before has left."""
    x = both(gpus)
    on = ASYNC_ON_DEVICE if queue == ASYNC_SYNC else queue
    for turn in range(1, 6):
        before = gpus.python
        for to, origin in ((1, 0), (0, 1)):
            gpus.use(origin)
            construct(gpus, x, 2.0, on)
            copy(gpus, x, to, origin, queue)
        assert turn < 3 or gpus.python == before, "known, with all queues that use the data"
        assert pending(gpus, 0) if queue == ASYNC_SYNC else depth(gpus, 0, max(queue, 0))
    for device in (0, 1):
        gpus.call("acc_wait_all_device", device)
        assert (on_host(gpus, device, x) == 4.0**5).all()
        x[:] = 0


def test_a_queue_is_marked_once_for_a_wait_and_copies_both_ways(gpus):
    """Whatever native code or Python puts on it in between is covered all the same."""
    x, y = both(gpus), both(gpus)

    def launch(site):
        r = of(x, DataKind.PRESENT)
        gpus.data("data_enter", [r], 1)
        gpus.launch(r, len(x), 2.0, 1, site=site)
        gpus.data("data_exit", [r], 1)

    def step():
        for device in (0, 1):
            gpus.use(device)
            launch(0)
            gpus.program.wait(1)
        gpus.fake.log.clear()
        for to, origin in ((1, 0), (0, 1)):
            routine(gpus, y, to, origin, ASYNC_SYNC)
        return [device for name, device in gpus.fake.log if name == "cuEventRecord"]

    for _ in range(4):
        step()
    assert step() == [0, gpus.real - 1], "after each copy; the waits have marked the queues"
    gpus.use(0)
    for turn in range(1, 5):  # site 2 comes to Python first
        launch(0)
        gpus.program.wait(1)
        launch(2)
        routine(gpus, x, 1, 0, ASYNC_SYNC)
        gpus.call("acc_wait_all_device", 1)
        assert (on_host(gpus, 1, x) == 2.0 ** (5 + 2 * turn)).all()
        gpus.use(0)


def test_a_clock_that_is_read_after_copies_waits_for_them_alone(gpus):
    """Nothing on the synchronous queues is asked for where nothing can be; with constructs, it is."""
    x = both(gpus)
    gpus.use(0)
    now = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p)(gpus.program.addresses["time"])

    def calls():
        names = [name for name, _ in gpus.fake.log]
        gpus.fake.log.clear()
        return [name for name in names if name != "cuCtxSetCurrent"]

    def step(constructs):
        for _ in range(constructs):
            construct(gpus, x, 2.0, ASYNC_ON_DEVICE)
        calls()
        routine(gpus, x, 1, 0, ASYNC_SYNC)
        copied = calls()
        now(None)
        return copied, calls()

    for _ in range(3):
        step(1)
    assert step(1)[1] == ["cuEventSynchronize", "cuStreamSynchronize"]
    alone = ["cuMemcpyPeerAsync", "cuEventRecord"], ["cuEventSynchronize"]
    assert [step(0), step(0)] == [alone, alone]
    copied, waited = step(2)
    assert "cuStreamWaitEvent" in copied and "cuStreamSynchronize" in waited
    assert step(0) == alone
    assert (on_host(gpus, 1, x) == 2.0**6).all()


def test_a_queue_of_its_own_default_goes_to_python(gpus):
    x = both(gpus)
    for _ in range(2):
        routine(gpus, x, 1, 0, -1)
    assert gpus.python == 1
    gpus.call("acc_set_default_async", 5)
    for _ in range(2):
        routine(gpus, x, 1, 0, -1)
    assert gpus.python == 3 and depth(gpus, 1, 5)


def selected(shape):
    """Which of N elements a section of two or three dimensions selects."""
    words = np.array([0])
    for lower, extent, stride in zip(shape[::3], shape[1::3], shape[2::3], strict=True):
        words = (words[:, None] + (lower + np.arange(extent)) * stride).ravel()
    return words // 4


@pytest.mark.parametrize("queue", [ASYNC_SYNC, 3])
def test_sections_are_native_whatever_their_dimensions(gpus, queue):
    x = both(gpus)
    for shape, native in (
        ((2, 3, 40, 0, 10, 4), True),
        ((2, 1, 40, 3, 4, 4), True),
        ((1, 1, 200, 2, 1, 40, 0, 5, 4), True),
        ((0, 3, 40, 0, 5, 4), True),
        ((0, 3, 40, 1, 5, 4), True),
        ((0, 2, 200, 1, 3, 40, 2, 3, 4), True),
        ((0, 1, 40, 0, 0, 4), False),
    ):
        gpus.python = 0
        for value in (5.0, 6.0, 7.0):
            before = on_host(gpus, 1, x).copy()
            x[:] = value
            gpus.use(0)
            gpus.data("update", [of(x, DataKind.UPDATE_DEVICE)])
            directive(gpus, x, 1, 0, queue, shape)
            gpus.use(1)
            gpus.call("acc_wait", queue)
            before[selected(shape)] = value
            np.testing.assert_array_equal(on_host(gpus, 1, x), before)
        assert gpus.python in ((1, 2) if native else (3,)), "native once it is known"


def test_pointers_that_are_attached_later_stay(gpus):
    x, pointers = both(gpus), np.zeros(4, np.int64)
    for device in (0, 1):
        held(gpus, device, pointers)
    for _ in range(3):
        routine(gpus, pointers, 1, 0, ASYNC_SYNC)
    pointers[1] = x.ctypes.data
    gpus.use(1)
    gpus.call("acc_attach", pointers.ctypes.data + 8)
    entry = gpus.runtime.devices.at(1).table.at(pointers.ctypes.data)
    memory = (ctypes.c_int64 * 4).from_address(entry.device)
    gpus.call("acc_wait_all_device", 1)
    attached = memory[1]
    assert attached not in (0, x.ctypes.data)
    routine(gpus, pointers, 1, 0, ASYNC_SYNC)
    gpus.call("acc_wait_all_device", 1)
    assert list(memory) == [0, attached, 0, 0]


def test_copies_of_different_memory_do_not_wait_for_one_another(gpus):
    """There and back at the same time, ordered where they use the same bytes."""
    x = both(gpus)
    first, last = x[:10], x[-10:]
    for turn in range(4):
        for device in (0, 1):
            gpus.use(device)
            construct(gpus, x, 2.0, 3)
            gpus.call("acc_wait", 3)
        routine(gpus, first, 1, 0, ASYNC_SYNC)
        routine(gpus, last, 0, 1, ASYNC_SYNC)
        if turn == 3:
            there, back = (lane(gpus, to) for to in (1, 0))
            back.run()
            assert there.done < len(there.work), "the second does not wait for the first"
        routine(gpus, first, 0, 1, ASYNC_SYNC)
    back.run()
    assert there.done == len(there.work), "and the third does"
    for device in (0, 1):
        assert (on_host(gpus, device, x) == 16).all()


def test_an_exchange_waits_for_nothing_twice(gpus):
    """And the copies that the next kernels wait for are kernels."""
    x = both(gpus)
    for turn in range(6):
        gpus.fake.log.clear()
        for device in (0, 1):
            if turn == 3:  # what Python has put on the synchronous queues is done
                gpus.call("acc_wait_all_device", device)
            gpus.use(device)
            construct(gpus, x, 2.0, 3)
        for device in (0, 1):
            gpus.use(device)
            gpus.call("acc_wait", 3)
        routine(gpus, x[:12], 1, 0, ASYNC_SYNC)
        routine(gpus, x[-12:], 0, 1, ASYNC_SYNC)
    calls = [name for name, _ in gpus.fake.log]
    assert calls.count("cuStreamWaitEvent") == 8, (
        "each copy and each queue: for one of either device"
    )
    assert calls.count("cuLaunchKernel") == 4 and "cuMemcpyPeerAsync" not in calls
    for device in (0, 1):
        assert (on_host(gpus, device, x) == 64).all()
    for _ in range(4):
        gpus.fake.log.clear()
        routine(gpus, x[:12], 1, 0, ASYNC_SYNC)
    calls = [name for name, _ in gpus.fake.log]
    assert "cuMemcpyPeerAsync" in calls and "cuLaunchKernel" not in calls, (
        "nothing comes before it, as the driver says when it is asked"
    )


def test_the_driver_is_not_asked_about_queues_in_use(gpus):
    """A queue with new work has an event that covers it: a wait for that is shorter than an answer."""
    x = both(gpus)
    asked = []
    for _ in range(12):
        gpus.fake.log.clear()
        for device in (0, 1):
            gpus.use(device)
            construct(gpus, x, 1.0, 3)
            gpus.call("acc_wait", 3)
        routine(gpus, x[:12], 1, 0, ASYNC_SYNC)
        routine(gpus, x[-12:], 0, 1, ASYNC_SYNC)
        asked.append([name for name, _ in gpus.fake.log].count("cuStreamQuery"))
    assert sum(asked[4:]) <= 2 * 8, "one for each device, although nothing is ever done"
    for device in (0, 1):
        assert (on_host(gpus, device, x) == 1).all()


def test_copies_within_a_device_are_native_and_ordered(gpus):
    x = both(gpus)
    first, last = x[:12].ctypes.data, x[-12:].ctypes.data
    for turn in range(1, 5):
        before = gpus.python
        construct(gpus, x, 2.0)
        gpus.call("acc_memcpy_d2d", last, first, 48, 1, 1)
        construct(gpus, x, 0.5)
        gpus.call("acc_memcpy_d2d", first, last, 24, 1, 1)
        assert turn < 3 or gpus.python == before
    assert (on_host(gpus, 1, x) == 1).all()


def test_a_queue_comes_after_what_is_on_the_synchronous_one_and_beside_it(gpus):
    x, y = both(gpus), both(gpus)
    for turn in range(1, 5):
        gpus.use(1)
        construct(gpus, y, 2.0, 3)
        construct(gpus, x, 2.0)
        gpus.call("acc_wait", 3)
        routine(gpus, x, 0, 1, 4)
        gpus.call("acc_wait_device", 4, 0)
        assert (on_host(gpus, 0, x) == 2.0**turn).all()


def test_copies_within_the_only_device_are_native():
    gpus = Gpus(1, sites=[*SITES, {"kind": "update peer", "file": "g.c", "line": 20}])
    x = np.arange(N, dtype=np.float32)
    held(gpus, 0, x)
    for _ in range(4):
        gpus.call("acc_wait_all")
        gpus.fake.log.clear()
        gpus.call("acc_memcpy_d2d", x[50:].ctypes.data, x.ctypes.data, 80, 0, 0)
    calls = [name for name, _ in gpus.fake.log]
    assert calls.count("cuMemcpyPeerAsync") == 1 and "cuStreamWaitEvent" not in calls
    assert (on_host(gpus, 0, x)[50:70] == np.arange(20)).all()
    gpus.finish(empty=False)


def test_who_waits_for_a_queue_goes_on(gpus):
    x = both(gpus)
    for turn in range(1, 4):
        construct(gpus, x, 2.0, 3)
        gpus.call("acc_wait", 3)
        assert (turn == 1) or depth(gpus, 1, 3)
        assert gpus.call("acc_async_test", 3) == 1 and not depth(gpus, 1, 3)
    construct(gpus, x, 2.0, 3)
    gpus.call("acc_wait", 3)
    construct(gpus, x, 0.5, 4)
    assert gpus.call("acc_async_test_all") == 0
    gpus.call("acc_wait", 4)
    assert (on_host(gpus, 1, x) == 8).all()


@pytest.mark.parametrize("native", [True, False])
def test_who_waits_for_a_queue_that_has_waited_for_a_transfer_waits(gpus, native):
    x = both(gpus)
    gpus.fake.pin(x)
    for queue in (3, 4, 3, 4):
        construct(gpus, x, 2.0, queue)
        gpus.call("acc_wait", queue)
    source = 3 if native else 7
    gpus.data("update", [of(x, DataKind.UPDATE_SELF)], source)
    gpus.call("acc_wait_async", source, 4)
    gpus.call("acc_wait", 4)
    assert (x == 16).all()


def test_both_devices_go_on_after_a_synchronous_copy(gpus):
    x = both(gpus)
    for _ in range(3):
        for device in (0, 1):
            gpus.use(device)
            construct(gpus, x, 2.0, 3)
            gpus.call("acc_wait", 3)
        routine(gpus, x, 1, 0, ASYNC_SYNC)
    gpus.python = 0
    for device in (1, 0):
        gpus.use(device)
        construct(gpus, x, 1.0, 3)
        routine(gpus, x, 1, 0, ASYNC_SYNC)
        construct(gpus, x, 3.0, 3)
        gpus.call("acc_wait_device", 3, device)
    assert not gpus.python
    assert (on_host(gpus, 0, x) == 24).all() and (on_host(gpus, 1, x) == 8).all()


def test_one_device_alone_is_waited_for():
    gpus = Gpus(2)
    x = np.ones(N, np.float32)
    held(gpus, 0, x)
    for _ in range(3):
        construct(gpus, x, 2.0, 3)
        gpus.call("acc_wait", 3)
        assert not depth(gpus, 0, 3)
    gpus.finish(empty=False)


def test_who_asks_for_the_time_finds_postponed_waits_made_up_for(gpus):
    x = both(gpus)
    for _ in range(3):
        construct(gpus, x, 2.0, 3)
        gpus.call("acc_wait", 3)
    assert depth(gpus, 1, 3)
    time = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p)(gpus.program.addresses["time"])
    time(None)
    assert not depth(gpus, 1, 3)


@dataclass(eq=False)
class Operation:
    """Something asynchronous: waiting for one of these queues of devices is enough."""

    queues: set[tuple[int, int]] = field(default_factory=set)


class Walk:
    """
    A random program without races: before it uses what an asynchronous operation may be using, it waits in
    one of the ways there are. So memory must be what it is if every operation is done at once.
    """

    def __init__(self, seed, *, queues=True):
        self.random = random.Random(seed)
        self.count = 2 + seed % 2
        self.exposes = seed % 4 == 0
        self.gpus = Gpus(self.count, device_queues=queues, real=1 if seed % 3 == 1 else None)
        self.arrays = [np.full(N, 1 + i, np.float32) for i in range(2)]
        self.expected = {("host", i): x.copy() for i, x in enumerate(self.arrays)}
        self.users: dict[tuple, list[Operation]] = {}
        self.addresses: dict[tuple[int, int], int] = {}
        for x in self.arrays:
            self.gpus.fake.pin(x)
        for device in range(self.count):
            for i, x in enumerate(self.arrays):
                held(self.gpus, device, x)
                self.expected[device, i] = x.copy()
        self.at = self.count - 1
        self.copies = [(*self.random.sample(range(self.count), 2), self.part()) for _ in range(4)]
        """Few, so that most of them are native."""

    def part(self):
        """All of an array, a run of it, or a section of two dimensions."""
        part, shape = slice(None), ()
        match self.random.randrange(4):
            case 1:
                part = self.random.choice((slice(0, 60), slice(40, N), slice(20, 30)))
            case 2:
                shape = self.random.choice(((1, 4, 40, 0, 3, 4), (0, 9, 40, 2, 4, 4)))
        return part, shape

    def go(self, device):
        if self.at != device:
            self.gpus.use(device)
            self.at = device

    def wait(self, device, queue):
        """On the host."""
        self.go(device)
        if self.random.random() < 0.5:
            self.gpus.call("acc_wait", queue)
        else:
            self.directive([queue])
        for operations in self.users.values():
            operations[:] = [o for o in operations if (device, queue) not in o.queues]

    def directive(self, queues, waiter=ASYNC_SYNC):
        words = (ctypes.c_int64 * len(queues))(*queues)
        types = (None, ctypes.c_int32, ctypes.c_void_p, ctypes.c_int32, ctypes.c_int64)
        function = ctypes.CFUNCTYPE(*types)(self.gpus.program.addresses["__accopt_wait"])
        function(1, ctypes.addressof(words), len(queues), waiter)
        self.gpus.check()

    def chain(self, device, queue, waiter):
        self.go(device)
        if self.random.random() < 0.5:
            self.gpus.call("acc_wait_async", queue, waiter)
        else:
            self.directive([queue], waiter)
        for operations in self.users.values():
            for operation in operations:
                if (device, queue) in operation.queues:
                    operation.queues.add((device, waiter))

    def order(self, resources, places):
        """Waits for other users; `places`: the queues of the operation to come, none if it is synchronous."""
        for resource in resources:
            while late := [o for o in self.users.get(resource, ()) if not (o.queues & set(places))]:
                device, queue = self.random.choice(sorted(late[0].queues))
                same = [q for d, q in places if d == device]
                if same and self.random.random() < 0.6:
                    self.chain(device, queue, same[0])
                else:
                    self.wait(device, queue)

    def done(self, resources, places):
        operation = Operation(set(places))
        for resource in resources if places else ():
            self.users.setdefault(resource, []).append(operation)

    def step(self):
        rng = self.random
        device, i = rng.randrange(self.count), rng.randrange(2)
        queue = rng.choice((None, None, 1, 2))
        places = [] if queue is None else [(device, queue)]
        number = ASYNC_SYNC if queue is None else queue
        x, here = self.arrays[i], (device, i)
        match rng.choice(("run", "run", "peer", "peer", "peer", "update", "host", "peek")):
            case "run":
                self.order([here], places)
                self.go(device)
                factor = rng.choice((0.5, 2.0, 0.25, 4.0))
                on = rng.choice((ASYNC_SYNC, ASYNC_ON_DEVICE)) if queue is None else queue
                construct(self.gpus, x, factor, on)
                self.expected[here] *= np.float32(factor)
                self.done([here], places)
            case "peer":
                device, to, (part, shape) = rng.choice(self.copies)
                here = device, i
                places = [] if queue is None else [(device, queue), (to, queue)]
                self.order([here, (to, i)], places)
                if shape or rng.random() < 0.5:
                    directive(self.gpus, x[part], to, device, number, shape)
                else:
                    routine(self.gpus, x[part], to, device, number)
                chosen = selected(shape) if shape else part
                self.expected[to, i][chosen] = self.expected[here][chosen]
                self.done([here, (to, i)], places)
            case "update":
                out = rng.random() < 0.5
                self.order([here, ("host", i)], places)
                self.go(device)
                kind = DataKind.UPDATE_SELF if out else DataKind.UPDATE_DEVICE
                self.gpus.data("update", [of(x, kind)], number)
                pair = [("host", i), here] if out else [here, ("host", i)]
                self.expected[pair[0]][:] = self.expected[pair[1]]
                self.done(pair, places)
            case "host":
                self.order([("host", i)], [])
                np.testing.assert_array_equal(x, self.expected["host", i])
                x += 1
                self.expected["host", i] += 1
            case "peek" if self.exposes and (here in self.addresses or rng.random() < 0.05):
                if here not in self.addresses:
                    self.go(device)
                    self.addresses[here] = self.gpus.call("acc_deviceptr", x.ctypes.data)
                self.order([here], [])
                memory = (ctypes.c_float * N).from_address(self.addresses[here])
                np.testing.assert_array_equal(memory, self.expected[here])
            case _:
                pass

    def run(self, steps):
        for _ in range(steps):
            self.step()
        for i, x in enumerate(self.arrays):
            self.order([("host", i), *((d, i) for d in range(self.count))], [])
            for device in range(self.count):
                np.testing.assert_array_equal(
                    on_host(self.gpus, device, x), self.expected[device, i]
                )
        self.gpus.finish(empty=False)


@pytest.mark.parametrize("queues", [True, False])
@pytest.mark.parametrize("seed", range(20))
@pytest.mark.sampled(3)
def test_random_programs_without_races(seed, queues):
    Walk(seed, queues=queues).run(200)


@pytest.mark.parametrize("queues", [(ASYNC_SYNC,) * 2, (3, 3), (3, ASYNC_SYNC)])
@pytest.mark.parametrize(
    "copies", [((1, 0), (2, 1)), ((1, 0), (0, 2)), ((1, 0), (1, 2))], ids=["read", "free", "again"]
)
def test_copies_of_the_same_memory_are_ordered(copies, queues):
    """What the first writes and the second reads; what it reads, or writes, and the second writes."""
    gpus = Gpus(3)
    x = np.zeros(N, np.float32)
    for device in range(3):
        held(gpus, device, x)
    for turn in range(4):
        for device in range(3):
            gpus.use(device)
            x[:] = 10 * turn + device
            gpus.data("update", [of(x, DataKind.UPDATE_DEVICE)])
        expected = [10 * turn + device for device in range(3)]
        for (to, origin), queue in zip(copies, queues, strict=True):
            routine(gpus, x, to, origin, queue)
            expected[to] = expected[origin]
        order = (2, 1, 0) if turn % 2 else (0, 2, 1)
        for device in order:
            gpus.use(device)
            for queue in queues:
                gpus.call("acc_wait", queue)
            assert (on_host(gpus, device, x) == expected[device]).all()
    gpus.finish(empty=False)
