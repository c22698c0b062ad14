"""
CUDA's streams shared between the runtime and the program (`acc_get_cuda_stream`, `acc_set_cuda_stream`). The
fake driver does a stream's work as late as it may, so what is not ordered would be seen.
"""

from __future__ import annotations

import ctypes

import numpy as np
import pytest
from accopt.compiler.base.abi import ASYNC_SYNC, DataFlag, DataKind
from fake_cuda import Name, Stream
from test_several_gpus import Gpus, N, of


@pytest.fixture(params=["native", "python"])
def gpus(request):
    gpus = Gpus(1)
    if request.param == "python":
        gpus.program.addresses = {
            name: ctypes.cast(function, ctypes.c_void_p).value
            for name, function in gpus.runtime._callbacks.items()
        }
    yield gpus
    gpus.finish(empty=False)


@pytest.fixture
def x(gpus):
    """Ones, on the device, too."""
    x = np.ones(N, np.float32)
    gpus.data("data_enter", [of(x, DataKind.COPYIN, DataFlag.DYNAMIC)])
    return x


def construct(gpus, x, a, queue=ASYNC_SYNC):
    r = of(x, DataKind.PRESENT)
    gpus.data("data_enter", [r], queue)
    gpus.launch(r, len(x), a, queue)
    gpus.data("data_exit", [r], queue)


def by_library(gpus, stream, address, a, factor=1):
    """Work that a library puts on a stream: changes the numbers at a device address."""

    def work():
        memory = (ctypes.c_float * N).from_address(address)
        for i in range(N):
            memory[i] = memory[i] * factor + a

    gpus.fake._handles[stream].work.append(work)


def device_address(gpus, x):
    return gpus.call("acc_deviceptr", x.ctypes.data)


def fetched(gpus, x, queue=ASYNC_SYNC):
    gpus.data("update", [of(x, DataKind.UPDATE_SELF)], queue)
    return x


@pytest.mark.parametrize("queue", [3, ASYNC_SYNC])
def test_work_of_a_library_on_the_queues_stream_takes_its_turn(gpus, x, queue):
    expected = 1.0
    for turn in range(4):
        construct(gpus, x, 2.0, queue)
        stream = gpus.call("acc_get_cuda_stream", queue)
        assert stream and stream == gpus.call("acc_get_cuda_stream", queue)
        by_library(gpus, stream, device_address(gpus, x), turn)
        construct(gpus, x, 3.0, queue)
        expected = (expected * 2 + turn) * 3
    if queue != ASYNC_SYNC:
        gpus.call("acc_wait", queue)
    assert (fetched(gpus, x) == expected).all()


def test_a_queue_that_waits_for_it_comes_after_a_librarys_work(gpus, x):
    """Also if the runtime has put nothing on the stream since it was last waited for."""
    for queue in (3, 4, 3, 4):  # known to native code
        construct(gpus, x, 2.0, queue)
        gpus.call("acc_wait", queue)
    stream = gpus.call("acc_get_cuda_stream", 3)
    address, expected = device_address(gpus, x), 16.0
    for turn in range(1, 5):
        by_library(gpus, stream, address, turn, factor=2)
        gpus.call("acc_wait_async", 3, 4)
        expected = expected * 2 + turn
    gpus.call("acc_wait", 4)
    assert list((ctypes.c_float * N).from_address(address)) == [expected] * N


@pytest.mark.parametrize("queue", [3, ASYNC_SYNC])
@pytest.mark.parametrize("used_before", [False, True])
def test_a_stream_of_the_program_becomes_a_queues(gpus, x, queue, used_before):
    expected = 1.0
    if used_before:
        for _ in range(3):
            construct(gpus, x, 5.0, queue)
            expected *= 5
    stream = gpus.fake.cuStreamCreate(0)
    assert gpus.call("acc_set_cuda_stream", queue, stream) == 1
    assert gpus.call("acc_get_cuda_stream", queue) == stream
    for turn in range(4):
        before = len(gpus.fake._handles[stream].work)
        construct(gpus, x, 2.0, queue)
        assert len(gpus.fake._handles[stream].work) > before
        by_library(gpus, stream, device_address(gpus, x), turn)
        expected = expected * 2 + turn
    assert (fetched(gpus, x, queue) == expected).all() or queue != ASYNC_SYNC
    if queue != ASYNC_SYNC:
        gpus.call("acc_wait", queue)
    assert (fetched(gpus, x) == expected).all()


def test_regions_copy_on_the_programs_stream(gpus):
    """Regions that copy little, which native code performs."""
    stream = gpus.fake.cuStreamCreate(0)
    x, expected = np.ones(N, np.float32), 1.0
    gpus.call("acc_create", x.ctypes.data, 16)
    for turn in range(8):
        if turn == 4:
            gpus.call("acc_set_cuda_stream", ASYNC_SYNC, stream)
        r = of(x[10:20], DataKind.COPY)
        gpus.data("data_enter", [r])
        gpus.launch(r, 10, 2.0)
        if turn >= 4:

            def work(address=r.device):
                (ctypes.c_float * 10).from_address(address)[0] += 1

            gpus.fake._handles[stream].work.append(work)
        gpus.data("data_exit", [r])
        expected = expected * 2 + (turn >= 4)
        assert x[10] == expected


def test_the_programs_streams_are_not_destroyed():
    gpus = Gpus(1)
    streams = [gpus.fake.cuStreamCreate(0) for _ in range(2)]
    for queue, stream in zip((3, ASYNC_SYNC), streams, strict=True):
        gpus.call("acc_set_cuda_stream", queue, stream)
    gpus.finish()
    assert [s for s in streams if s in gpus.fake._handles] == streams
    assert not [h for h in gpus.fake._handles.values() if isinstance(h, Stream)][2:]


def test_the_synchronous_queue_takes_turns_with_the_default_stream(gpus):
    """Libraries use the default stream unless told otherwise; other queues are independent of it."""
    streams = {queue: gpus.call("acc_get_cuda_stream", queue) for queue in (ASYNC_SYNC, 3)}
    flags = {queue: gpus.fake._handles[stream].flags for queue, stream in streams.items()}
    assert flags == {ASYNC_SYNC: Name("CU_STREAM_DEFAULT"), 3: Name("CU_STREAM_NON_BLOCKING")}


def test_handles_of_cuda(gpus):
    assert (
        gpus.call("acc_get_current_cuda_context")
        == gpus.runtime.devices.at(0).device.native_context()
        != 0
    )
    assert gpus.call("acc_get_current_cuda_device") == 0


def test_the_host_waits_once_the_program_has_a_stream(gpus, x):
    construct(gpus, x, 2.0)
    gpus.call("acc_get_cuda_stream", ASYNC_SYNC)
    state = gpus.runtime.devices.at(0)
    assert state.native.waits
    construct(gpus, x, 2.0)
    stream = gpus.fake._handles[state.sync_queue.stream]
    assert stream.done == len(stream.work)
