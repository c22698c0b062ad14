"""The host device by itself: memory, queues, threads."""

import ctypes
import threading
import time

import pytest
from accopt.compiler.base.abi import LAUNCH_FORMAT, Launch
from accopt.runtime.device import NativeImage, PtxImage, Strips
from accopt.runtime.errors import AccRuntimeError, ErrorClass
from accopt.runtime.host.device import HostDevice, HostOptions
from accopt.runtime.host.queues import ThreadQueue
from runtime_harness import SCALE_ARGS, NativeCode

KERNEL = ctypes.CFUNCTYPE(None, ctypes.c_int64, ctypes.c_int64, ctypes.c_int64, ctypes.c_void_p)


@pytest.fixture
def device():
    device = HostDevice(HostOptions(threads=3, poison=True))
    yield device
    device.close()


def launch_values(grid=(1, 1, 1), args=0):
    return LAUNCH_FORMAT.unpack(bytes(Launch(grid, (1, 1, 1), 0, 0, -2, args)))


def test_memory_is_aligned_and_poisoned(device):
    address = device.allocate(1000, device.sync_queue)
    assert address % 256 == 0
    assert ctypes.string_at(address, 1000) == b"\xcb" * 1000
    device.zero(address + 10, 5, device.sync_queue)
    assert ctypes.string_at(address + 9, 7) == b"\xcb\0\0\0\0\0\xcb"
    device.store_pointer(address, 0x1122, device.sync_queue)
    assert ctypes.c_int64.from_address(address).value == 0x1122
    device.free(address, device.sync_queue)
    with pytest.raises(AccRuntimeError, match="freed before"):
        device.free(address, device.sync_queue)


def test_strided_copies(device):
    source = ctypes.create_string_buffer(bytes(range(100)), 100)
    target = device.allocate(100, device.sync_queue)
    device.copy_in(target, ctypes.addressof(source), Strips(3, 2, 4, 20), device.sync_queue)
    expected = bytearray(b"\xcb" * 100)
    for row in range(4):
        expected[3 + 20 * row : 5 + 20 * row] = bytes([3 + 20 * row, 4 + 20 * row])
    assert ctypes.string_at(target, 100) == bytes(expected)


@pytest.mark.parametrize("gangs", [1, 2, 7, 100, 1000])
def test_every_gang_runs_exactly_once(device, gangs):
    seen, lock = [], threading.Lock()

    def body(begin, end, total, args):
        with lock:
            seen.extend(range(begin, end))
            assert total == gangs

    kernel = KERNEL(body)
    device.load(NativeImage(lambda _: ctypes.cast(kernel, ctypes.c_void_p).value))
    device.launcher("k", [])(launch_values((gangs, 1, 1)), device.sync_queue)
    assert sorted(seen) == list(range(gangs))


def test_gangs_run_at_the_same_time(device):
    barrier = threading.Barrier(2, timeout=10)
    kernel = KERNEL(lambda *_: (barrier.wait(), None)[1])
    device.load(NativeImage(lambda _: ctypes.cast(kernel, ctypes.c_void_p).value))
    device.launcher("k", [])(launch_values((2, 1, 1)), device.sync_queue)


def test_argument_values_of_every_size_are_copied(device):
    got = []

    def body(begin, end, total, args):
        pointers = (ctypes.c_int64 * 4).from_address(args)
        sizes = (1, 8, 4, 24)
        got.extend(ctypes.string_at(p, n) for p, n in zip(pointers, sizes, strict=True))

    kernel = KERNEL(body)
    device.load(NativeImage(lambda _: ctypes.cast(kernel, ctypes.c_void_p).value))
    launcher = device.launcher("k", [1, 8, 4, 24])
    values = [ctypes.create_string_buffer(bytes([i]) * 24, 24) for i in range(4)]
    pointers = (ctypes.c_int64 * 4)(*map(ctypes.addressof, values))
    queue, gate = device.new_queue(), threading.Event()
    queue.submit(gate.wait)
    launcher(launch_values(args=ctypes.addressof(pointers)), queue)
    for value in values:
        value.raw = b"\xff" * 24
    ctypes.memset(pointers, 0, 32)
    gate.set()
    queue.wait()
    assert got == [b"\0", b"\1" * 8, b"\2" * 4, b"\3" * 24]


def test_queue_order_and_joins(device):
    first, second = device.new_queue(), device.new_queue()
    log, gate = [], threading.Event()
    first.submit(gate.wait)
    for i in range(20):
        first.submit(lambda i=i: log.append(i))
    second.wait_for(first)
    second.submit(lambda: log.append("after"))
    assert not first.done() and not second.done() and log == []
    gate.set()
    second.wait()
    assert log == [*range(20), "after"] and first.done()


def test_wait_for_does_not_wait_for_later_work(device):
    first, second = device.new_queue(), device.new_queue()
    gate = threading.Event()
    second.wait_for(first)
    first.submit(gate.wait)
    second.wait()
    gate.set()


def test_a_failure_reaches_whoever_joins_and_stops_the_queue(device):
    queue, log = device.new_queue(), []

    def fail():
        raise AccRuntimeError(ErrorClass.EXECUTION, "it broke")

    queue.submit(fail)
    queue.submit(lambda: log.append(1))
    with pytest.raises(AccRuntimeError, match="it broke"):
        queue.wait()
    assert log == []


def test_many_queues_many_threads(device):
    counters = [0] * 8
    queues = [device.new_queue() for _ in counters]

    def bump(index):
        value = counters[index]
        time.sleep(0)
        counters[index] = value + 1  # safe only because a queue is in order

    def feed():
        for _ in range(50):
            for index, queue in enumerate(queues):
                queue.submit(lambda index=index: bump(index))

    threads = [threading.Thread(target=feed) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for queue in queues:
        queue.wait()
    assert counters == [150] * 8


def test_closing_finishes_the_work():
    queue, log = ThreadQueue("q"), []
    for i in range(10):
        queue.submit(lambda i=i: log.append(i))
    queue.close()
    assert log == list(range(10))


def test_native_kernel_and_foreign_image(device):
    code = NativeCode()
    device.load(NativeImage(code.address))
    assert device.global_address("table")
    assert device.launcher("scale", SCALE_ARGS)
    with pytest.raises(AccRuntimeError, match="PtxImage"):
        device.load(PtxImage(""))
    assert device.properties().memory >= device.free_memory() > 0
