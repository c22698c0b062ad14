"""
Synchronous constructs that nobody waits for: the host goes on, and nothing else can tell. The fake
driver does a stream's work as late as it may, so what is not ordered would be seen.
"""

from __future__ import annotations

import ctypes

import numpy as np
import pytest
from accopt.compiler.base.abi import ASYNC_ON_DEVICE, ASYNC_SYNC, DataFlag, DataKind
from test_several_gpus import Gpus, N, of


@pytest.fixture(params=["native", "python"])
def gpus(request):
    gpus = Gpus(2)
    if request.param == "python":
        gpus.program.addresses = {
            name: ctypes.cast(function, ctypes.c_void_p).value
            for name, function in gpus.runtime._callbacks.items()
        }
    yield gpus
    gpus.finish(empty=False)


def held(gpus, device, x):
    """On a device by `enter data`, which tells no address."""
    gpus.use(device)
    gpus.data("data_enter", [of(x, DataKind.COPYIN, DataFlag.DYNAMIC)])


def construct(gpus, x, a=2.0, queue=ASYNC_ON_DEVICE, kind=DataKind.PRESENT):
    r = of(x, kind)
    gpus.data("data_enter", [r], queue)
    gpus.launch(r, len(x), a, queue)
    gpus.data("data_exit", [r], queue)


def pending(gpus, device):
    """How much work of the synchronous queue has not been done."""
    stream = gpus.fake._handles[gpus.runtime.devices.at(device).sync_queue.stream]
    return len(stream.work) - stream.done


def on_host(gpus, device, x):
    gpus.use(device)
    gpus.data("update", [of(x, DataKind.UPDATE_SELF)])
    return x


def test_the_host_goes_on_and_both_devices_have_work(gpus):
    x = np.ones(N, np.float32)
    for device in (0, 1):
        held(gpus, device, x)
    for turn in range(3):
        for device in (0, 1):
            gpus.use(device)
            construct(gpus, x)
            assert pending(gpus, device) >= turn + 1, "queued, not done"
    for device in (0, 1):
        assert (on_host(gpus, device, x) == 8).all()
        x[:] = 0


def test_wait_on_the_device_drains_it(gpus):
    x = np.ones(N, np.float32)
    held(gpus, 1, x)
    construct(gpus, x)
    gpus.use(0)
    assert pending(gpus, 1)
    gpus.call("acc_wait_all_device", 1)
    assert not pending(gpus, 1)


def test_the_end_of_a_region_that_copies_out_waits(gpus):
    x = np.ones(N, np.float32)
    gpus.use(1)
    construct(gpus, x, kind=DataKind.COPY)
    assert (x == 2).all() and not pending(gpus, 1)


def test_an_asynchronous_construct_comes_after_it(gpus):
    """Natively and through Python, on queues that are new and on others; each time anew."""
    x = np.ones(N, np.float32)
    held(gpus, 1, x)
    for turn in range(1, 6):
        construct(gpus, x, 2.0)
        construct(gpus, x, 0.5, queue=3)
        construct(gpus, x, 3.0, queue=3)
        gpus.data("update", [of(x, DataKind.UPDATE_SELF)], 3)
        gpus.call("acc_wait", 3)
        assert (x == 3**turn).all()
    construct(gpus, x, 2.0)
    x[:] = 7
    gpus.data("update", [of(x, DataKind.UPDATE_DEVICE)], 4)
    construct(gpus, x, 2.0, queue=4)
    gpus.data("update", [of(x, DataKind.UPDATE_SELF)], 4)
    gpus.call("acc_wait", 4)
    assert (x == 14).all()


def test_copies_between_devices_come_after_it(gpus):
    x = np.ones(N, np.float32)
    for device in (0, 1):
        held(gpus, device, x)
    for queue in ("", "_async"):
        gpus.use(1)
        construct(gpus, x, 2.0)
        more = [9] if queue else []
        gpus.call(f"acc_memcpy_d2d{queue}", x.ctypes.data, x.ctypes.data, x.nbytes, 0, 1, *more)
        gpus.call("acc_wait_all_device", 0)
        assert (on_host(gpus, 0, x) == (4 if queue else 2)).all()


def test_queues_seem_done_that_have_nothing_else(gpus):
    x = np.ones(N, np.float32)
    held(gpus, 0, x)
    construct(gpus, x)
    assert gpus.call("acc_async_test_all") == gpus.call("acc_async_test", ASYNC_SYNC) == 1
    assert pending(gpus, 0)


def expose_by_deviceptr(gpus, x):
    gpus.call("acc_deviceptr", x.ctypes.data)


def expose_by_malloc(gpus, x):
    gpus.call("acc_free", gpus.call("acc_malloc", 64))


def expose_by_copyin(gpus, x):
    gpus.call("acc_copyin", x.ctypes.data, x.nbytes)


def expose_by_host_data(gpus, x):
    gpus.data("data_enter", [of(x, DataKind.USE_DEVICE)])


def expose_by_deviceptr_clause(gpus, x):
    gpus.data("data_enter", [of(x, DataKind.DEVICEPTR)])


@pytest.mark.parametrize(
    "expose",
    [
        expose_by_deviceptr,
        expose_by_malloc,
        expose_by_copyin,
        expose_by_host_data,
        expose_by_deviceptr_clause,
    ],
)
def test_who_knows_device_addresses_finds_the_work_done(gpus, expose):
    x = np.ones(N, np.float32)
    held(gpus, 0, x)
    held(gpus, 1, x)
    gpus.use(1)
    construct(gpus, x)
    expose(gpus, x)
    assert not pending(gpus, 1)
    for _ in range(3):
        construct(gpus, x)
        assert not pending(gpus, 1), "and all later work"
    gpus.use(0)
    construct(gpus, x)
    assert pending(gpus, 0), "the other device has told nothing"


def test_reductions_in_cells_are_there_at_the_end(gpus):
    value = np.array([3.0], np.float32)
    gpus.use(1)
    for _ in range(4):
        r = of(value, DataKind.COPY, DataFlag.CELL)
        gpus.data("data_enter", [r], ASYNC_ON_DEVICE, 2)
        gpus.launch(r, 1, 2.0, ASYNC_ON_DEVICE, 2)
        gpus.data("data_exit", [r], ASYNC_ON_DEVICE, 2)
    assert value[0] == 48


def test_it_can_be_switched_off_and_kernels_that_print_switch_it_off():
    x = np.ones(N, np.float32)
    for options, text in (({"device_queues": False}, ""), ({}, ".extern .func vprintf")):
        gpus = Gpus(1, text=text, **options)
        held(gpus, 0, x)
        for _ in range(3):
            construct(gpus, x)
            assert not pending(gpus, 0)
        gpus.finish(empty=False)
