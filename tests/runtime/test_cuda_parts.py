"""Memory, modules and transfers of a GPU, with a driver that is not there."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator

import numpy as np
import pytest
from accopt.compiler.backend.module_parts import joined_ptx
from accopt.runtime.cuda.device import CudaDevice
from accopt.runtime.device import (
    STAGED_BYTES,
    Conversion,
    CubinImage,
    NativeImage,
    NativeMove,
    PtxImage,
    Strips,
)
from accopt.runtime.errors import AccRuntimeError, ErrorClass, NoDeviceError
from fake_cuda import FakeCuda

RECURSIVE = """
.func f() {
call f, ();
}
.extern .func (.param .b64 p) malloc
"""


@pytest.fixture(params=[True, False], ids=["pools", "no_pools"])
def fake(request: pytest.FixtureRequest) -> FakeCuda:
    return FakeCuda(1, {"kernel": lambda _: None}, pools=request.param)


@pytest.fixture
def device(fake: FakeCuda) -> Iterator[CudaDevice]:
    device = fake.provider().open(0)
    assert isinstance(device, CudaDevice)
    yield device
    device.close()


def test_what_a_device_says_of_itself(device: CudaDevice):
    found = device.properties()
    assert (found.name, found.vendor, found.driver) == ("fake", "NVIDIA", "CUDA 13.0")
    assert device.compute_capability == (8, 8) and not device.tells
    before = device.free_memory()
    address = device.allocate(1 << 20, device.sync_queue)
    assert address % 16 == 0 and before - device.free_memory() == 1 << 20
    device.free(address, device.sync_queue)
    assert device.free_memory() == before
    with pytest.raises(NoDeviceError, match="device 1 was requested, but the machine has 1 GPU"):
        CudaDevice(1, device.driver)


@pytest.mark.parametrize("fake", [True], indirect=True)
@pytest.mark.parametrize("failures", [1, 2])
def test_memory_that_is_short(fake: FakeCuda, device: CudaDevice, failures: int, monkeypatch):
    """All queues are waited for, and what the pool keeps is given up, before a second try."""
    events: list[str] = []
    allocate, left = fake.api.cuMemAllocAsync, [2] * failures
    answers = iter([*left, 0])

    def short(size: int, stream: int):
        status = next(answers)
        events.append(f"allocate {status}")
        return (status, 0) if status else allocate(size, stream)

    queue = device.new_queue()
    monkeypatch.setattr(fake.api, "cuMemAllocAsync", short)
    monkeypatch.setattr(fake.api, "cuMemPoolTrimTo", lambda *_: (events.append("trim"), (0,))[1])
    monkeypatch.setattr(queue, "wait", lambda: events.append("wait"))
    if failures == 1:
        assert device.allocate(1, device.sync_queue)
    else:
        with pytest.raises(AccRuntimeError, match="1008 bytes do not fit") as failed:
            device.allocate(1001, device.sync_queue)
        assert failed.value.kind is ErrorClass.OUT_OF_MEMORY
    assert events == ["allocate 2", "wait", "trim", f"allocate {left[-1] if failures > 1 else 0}"]
    monkeypatch.undo()


def test_modules(fake: FakeCuda, device: CudaDevice, monkeypatch):
    limits: dict[str, int] = {}
    set_limit = fake.api.cuCtxSetLimit
    monkeypatch.setattr(
        fake.api,
        "cuCtxSetLimit",
        lambda which, n: limits.update({which.name: n}) or set_limit(which, n),
    )
    device.load(CubinImage(b"\x7fELF"))
    assert not device.tells and not limits
    device.load(PtxImage(RECURSIVE))
    assert set(limits) == {"CU_LIMIT_STACK_SIZE", "CU_LIMIT_MALLOC_HEAP_SIZE"}
    device.load(CubinImage(b"...vprintf..."))
    assert device.tells
    assert device.global_address("x") == device.global_address("x") != device.global_address("y")
    texts: list[bytes] = []
    load = fake.api.cuModuleLoadDataEx
    monkeypatch.setattr(
        fake.api, "cuModuleLoadDataEx", lambda text, *more: texts.append(text) or load(text, *more)
    )
    device.load(PtxImage(joined_ptx([".version 1\n", ".version 2\n"])))
    assert texts == [b".version 1\n\0", b".version 2\n\0"]
    assert device.native_handles("kernel", device.sync_queue, alone=False)[0]
    monkeypatch.setattr(fake.api, "cuModuleGetFunction", lambda *_: (500, None))
    with pytest.raises(AccRuntimeError, match="no kernel 'other'"):
        device.native_handles("other", device.sync_queue, alone=False)
    with pytest.raises(AccRuntimeError, match="cannot load a NativeImage"):
        device.load(NativeImage(lambda _: 0))
    monkeypatch.setattr(fake.api, "cuModuleGetGlobal", lambda *_: (500, 0, 0))
    with pytest.raises(AccRuntimeError, match="no global variable 'x'"):
        device.global_address("x")

    def rejected(text: bytes, count: int, options, values):
        assert text == b"bad\0" and count == len(options) == len(values)
        values[0][:5] = b"line1"
        return 1, None

    monkeypatch.setattr(fake.api, "cuModuleLoadDataEx", rejected)
    with pytest.raises(AccRuntimeError, match=r"CUDA_ERROR_INVALID_VALUE: \nline1$"):
        device.load(PtxImage("bad"))
    monkeypatch.undo()


@pytest.mark.parametrize(
    "strips",
    [Strips(8, 1000), Strips(0, STAGED_BYTES + 8), Strips(16, 24, 5, 64)],
    ids=["run", "staged", "rows"],
)
def test_both_ways(device: CudaDevice, strips: Strips):
    size = strips.offset + strips.width + strips.pitch * (strips.rows - 1)
    here = np.arange(size, dtype=np.uint8)
    there, queue = device.allocate(size, device.sync_queue), device.sync_queue
    device.zero(there, size, queue)
    device.copy_in(there, here.ctypes.data, strips, queue)
    back = np.full(size, 7, np.uint8)
    device.copy_out(back.ctypes.data, there, strips, queue)
    queue.wait()
    expected = np.full(size, 7, np.uint8)
    for start in strips.starts():
        expected[start : start + strips.width] = here[start : start + strips.width]
    assert (back == expected).all()
    device.copy_in(here.ctypes.data, here.ctypes.data, strips, queue)  # memory that both have
    device.free(there, queue)


def test_conversions(device: CudaDevice):
    """By a function that copies, whose results are those of `memcpy`."""
    move = ctypes.cast(ctypes.CDLL(None).memcpy, ctypes.c_void_p).value
    assert move is not None
    told: list[int] = []
    how = Conversion(NativeMove(8, 8, move), lambda *_: 0, told.append)
    here, back = np.arange(1000.0), np.zeros(1000)
    queue = device.sync_queue
    there = device.allocate(8000, queue)
    device.write(there, here.ctypes.data, 8, how, queue)
    device.read(back.ctypes.data, there, 8, how, queue)
    queue.wait()
    assert len(told) == 2 and back[0] == here[0]
    device.free(there, queue)


def test_a_refused_launch_is_repeated(fake: FakeCuda, device: CudaDevice):
    device.load(CubinImage(b"\x7fELF"))
    launch = device.launcher("kernel", ())
    launch((0, 1, 1, 32, 1, 1, 60000, 0, -2, 0), device.sync_queue)
    assert fake.faults == [("cuLaunchKernel", 1)], "an empty grid, then one gang"
    with pytest.raises(AccRuntimeError, match=r"grid 1x1x1, block 0x1x1, 0 bytes of shared memory"):
        launch((1, 1, 1, 0, 1, 1, 0, 0, -2, 0), device.sync_queue)


def test_on_the_device(device: CudaDevice):
    queue, data = device.sync_queue, np.arange(16, dtype=np.uint8)
    one, other = device.allocate(16, queue), device.allocate(16, queue)
    device.copy_in(one, data.ctypes.data, Strips(0, 16), queue)
    device.copy_device(other, one, 16, queue)
    device.store_pointer(other, 0x0706050403020100, queue)
    back = np.zeros(16, np.uint8)
    device.copy_out(back.ctypes.data, other, Strips(0, 16), queue)
    queue.wait()
    assert (back == data).all()
    page = device.cells()
    assert page is not None and page is device.cells() and page.bytes >= 16
    packer = device.packer()
    assert packer is not None and packer is device.packer()
