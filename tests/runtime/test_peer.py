"""Copies between devices: sections of any shapes, by peer access and through pinned buffers."""

from __future__ import annotations

import ctypes
import random

import numpy as np
import pytest
from accopt.compiler.base.abi import ASYNC_SYNC
from accopt.runtime.cuda import peers as cuda_peers
from accopt.runtime.data.peer import PeerSection, copy_peer
from accopt.runtime.data.peer_sections import PeerStrips, paired, without
from accopt.runtime.data.sections import strips_of
from accopt.runtime.errors import AccRuntimeError, ProgramPlace
from test_several_gpus import Gpus

PLACE = ProgramPlace("update", "p.c", 3)


def places(shape, base=0):
    """The bytes of a section, one by one."""
    offsets = [base]
    for index, (lower, extent, stride) in enumerate(shape):
        steps = range(lower * stride, (lower + extent) * stride, stride)
        offsets = [o + s for o in offsets for s in steps]
        if index == len(shape) - 1:
            offsets = [o + byte for o in offsets for byte in range(stride)]
    return offsets


def copied(strips):
    pairs = []
    for s in strips:
        for row in range(s.rows):
            pairs += [(s.target_of(row) + i, s.source_of(row) + i) for i in range(s.width)]
    return pairs


def random_shape(rng, size):
    """Three dimensions with `size` elements of 4 bytes in all."""
    inner = rng.choice([n for n in range(1, size + 1) if size % n == 0])
    middle = rng.choice([n for n in range(1, size // inner + 1) if size // inner % n == 0])
    outer = size // inner // middle
    row = 4 * (inner + rng.randrange(3))
    plane = row * (middle + rng.randrange(3))
    return ((rng.randrange(2), outer, plane), (0, middle, row), (rng.randrange(2), inner, 4))


@pytest.mark.parametrize("seed", range(40))
def test_sections_of_any_shapes_are_paired_byte_by_byte(seed):
    rng = random.Random(seed)
    size = rng.choice((1, 6, 12, 24))
    to, origin = random_shape(rng, size), random_shape(rng, size)
    strips = list(paired(strips_of(to, 0, 0), strips_of(origin, 0, 0)))
    expected = list(zip(places(to), places(origin), strict=True))
    assert copied(strips) == expected
    most = rng.choice((3, 8, 40))
    pieces = [piece for strip in strips for piece in strip.pieces(most)]
    assert copied(pieces) == expected and all(p.width * p.rows <= most for p in pieces)
    words = ([rng.randrange(60)], [rng.randrange(60), 64])
    left = copied(without(strips, *words, 8))
    assert left == [
        (t, s)
        for t, s in expected
        if not any(w <= t < w + 8 for w in words[0]) and not any(w <= s < w + 8 for w in words[1])
    ]


def test_equal_shapes_are_one_rectangle_for_each_plane():
    shape = ((0, 3, 1000), (1, 5, 100), (2, 10, 4))
    strips = list(paired(strips_of(shape, 0, 0), strips_of(shape, 0, 0)))
    assert [(s.width, s.rows) for s in strips] == [(40, 5)] * 3
    flat = list(paired(strips_of(((0, 20, 4),), 0, 0), strips_of(((0, 2, 100), (0, 10, 4)), 0, 0)))
    assert flat == [PeerStrips(0, 0, 40, 2, 40, 100)]


@pytest.fixture(params=["peer access", "pinned buffers", "one GPU", "two GPUs"])
def gpus(request, monkeypatch):
    monkeypatch.setattr(cuda_peers, "PIECE", 64)
    real = {"one GPU": 1, "two GPUs": 2}.get(request.param)
    gpus = Gpus(3, real=real, peer_access=request.param != "pinned buffers")
    yield gpus
    gpus.finish(empty=False)


def on_device(gpus, device, x):
    gpus.use(device)
    address = gpus.call("acc_deviceptr", x.ctypes.data)
    gpus.call("acc_wait_all")
    return np.ctypeslib.as_array((ctypes.c_int32 * x.size).from_address(address)).reshape(x.shape)


def held(gpus, device, x):
    gpus.use(device)
    gpus.call("acc_copyin", x.ctypes.data, x.nbytes)


def side(gpus, device, x, *slices):
    """The section `x[slices]`, each a start and a length."""
    shape = [
        (start, length, stride) for (start, length), stride in zip(slices, x.strides, strict=True)
    ]
    return PeerSection(gpus.runtime.state(device), x.ctypes.data, x.nbytes, shape, "to", "x")


def test_rows_and_planes(gpus):
    x = np.arange(6 * 8 * 10, dtype=np.int32).reshape(6, 8, 10)
    y = np.zeros((9, 30), np.int32)
    held(gpus, 0, x)
    held(gpus, 2, y)
    to = side(gpus, 2, y, (1, 4), (3, 15))
    origin = side(gpus, 0, x, (1, 3), (2, 5), (4, 4))
    copy_peer(gpus.runtime, PLACE, to, origin, ASYNC_SYNC)
    gpus.check()
    expected = y.copy()
    expected[1:5, 3:18] = x[1:4, 2:7, 4:8].reshape(4, 15)
    np.testing.assert_array_equal(on_device(gpus, 2, y), expected)
    if gpus.fake.peer_access:
        assert gpus.real < 3 or {(0, 2), (2, 0)} <= gpus.fake.pool_access
        assert not [name for name, _ in gpus.fake.log if name == "cuMemcpy2DAsync"]


def test_a_queue_of_both_devices_orders_the_copy(gpus):
    """What is queued before on either device comes before, what is queued later comes after."""
    x = np.ones(40, np.int32)
    for device in (0, 1):
        held(gpus, device, x)
    for turn in range(3):
        gpus.use(0)
        x[:] = 10 + turn
        gpus.call("acc_update_device_async", x.ctypes.data, x.nbytes, 5)
        gpus.call("acc_memcpy_d2d_async", x.ctypes.data, x.ctypes.data, x.nbytes, 1, 0, 5)
        x[:] = -1
        gpus.call("acc_update_device_async", x.ctypes.data, x.nbytes, 5)
        gpus.use(1)
        gpus.call("acc_wait", 5)
        assert (on_device(gpus, 1, x) == 10 + turn).all()
        assert (on_device(gpus, 0, x) == -1).all()


def test_copies_on_several_queues_share_the_way(gpus):
    arrays = [np.full(50, n, np.int32) for n in range(4)]
    for n, x in enumerate(arrays):
        held(gpus, 0, x)
        x[:] = -1
        held(gpus, 1, x)
        gpus.call("acc_memcpy_d2d_async", x.ctypes.data, x.ctypes.data, x.nbytes, 1, 0, n)
        if n == 1:
            gpus.call("acc_memcpy_d2d_async", x.ctypes.data, x.ctypes.data, x.nbytes, 0, 1, n + 9)
    for n, x in reversed(list(enumerate(arrays))):
        assert (on_device(gpus, 1, x) == n).all()


def test_a_device_and_itself(gpus):
    x, y = np.arange(20, dtype=np.int32), np.zeros(20, np.int32)
    held(gpus, 1, x)
    held(gpus, 1, y)
    gpus.call("acc_memcpy_d2d", y.ctypes.data, x.ctypes.data, 40, 1, 1)
    assert list(on_device(gpus, 1, y)) == [*range(10), *[0] * 10]


def test_what_cannot_be_copied(gpus):
    x = np.zeros((4, 4), np.int32)
    held(gpus, 0, x)
    whole = side(gpus, 0, x, (0, 4), (0, 4))
    for other, message in (
        (side(gpus, 0, x, (0, 2), (0, 4)), "'x' in 'to' has 64 bytes, and 'x' in 'to' has 32"),
        (side(gpus, 1, x, (0, 4), (0, 4)), "is not present on device 1"),
        (side(gpus, 0, x, (2, 4), (0, 4)), "only partly present"),
    ):
        with pytest.raises(AccRuntimeError, match=message):
            copy_peer(gpus.runtime, PLACE, whole, other, ASYNC_SYNC)
    y = np.zeros(16, np.int32)
    held(gpus, 1, y[:8])
    gpus.use(0)
    with pytest.raises(AccRuntimeError, match="only partly present") as partly:
        copy_peer(gpus.runtime, PLACE, side(gpus, 1, y, (0, 16)), whole, ASYNC_SYNC)
    assert partly.value.device == gpus.runtime.state(1).device.name, "not the thread's"
    copy_peer(
        gpus.runtime, PLACE, side(gpus, 0, x, (0, 0), (0, 4)), side(gpus, 1, x, (0, 0), (0, 4)), 1
    )


def names(gpus, call):
    """What the driver is asked for by a call, without changes of context."""
    gpus.fake.log.clear()
    call()
    return [name for name, _ in gpus.fake.log if name != "cuCtxSetCurrent"]


def native(gpus):
    """What a copy in native code asks for, when each device has one other queue."""
    found = ["cuStreamQuery"] * 4 + ["cuMemcpyPeerAsync", "cuStreamSynchronize"]
    return found if gpus.fake.peer_access else None


@pytest.mark.parametrize("routine", ["acc_memcpy_d2d", "acc_update_peer"])
def test_a_copy_that_repeats_is_native(gpus, routine):
    x = np.arange(10, dtype=np.int32)
    for device in (0, 1):
        held(gpus, device, x)
        gpus.call("acc_update_device_async", x.ctypes.data, 4, 1)
        gpus.call("acc_wait", 1)
    address = x.ctypes.data
    arguments = (address, address, 20, 1, 0)
    if routine == "acc_update_peer":
        arguments = (address, 1, address, 0, 20)

    def copy():
        gpus.call(routine, *arguments)

    copy()
    assert native(gpus) in (None, names(gpus, copy))
    gpus.use(0)
    x[:] = 7
    gpus.call("acc_update_device_async", address, 40, 1)
    assert names(gpus, copy) != native(gpus), "a queue has work on the data"
    assert native(gpus) in (None, names(gpus, copy))
    assert (on_device(gpus, 1, x)[:5] == 7).all()


def test_native_copies_know_when_data_has_moved(gpus):
    x = np.zeros(10, np.int32)
    for device in (0, 1):
        held(gpus, device, x)
    arguments = ("acc_memcpy_d2d", x.ctypes.data, x.ctypes.data, x.nbytes, 1, 0)
    gpus.call(*arguments)
    keep = np.zeros(64, np.int32)
    for turn in range(1, 4):
        gpus.use(turn % 2)
        gpus.call("acc_delete", x.ctypes.data, x.nbytes)
        held(gpus, turn % 2, keep[turn:])  # takes the place
        x[:] = -turn
        held(gpus, turn % 2, x)
        gpus.use(0)
        x[:] = turn
        gpus.call("acc_update_device", x.ctypes.data, x.nbytes)
        gpus.call(*arguments)
        gpus.call(*arguments)
        assert (on_device(gpus, 1, x) == turn).all()


def test_native_copies_end_when_a_device_no_longer_has_the_data(gpus):
    x = np.zeros(10, np.int32)
    for device in (0, 1):
        held(gpus, device, x)
    arguments = (x.ctypes.data, x.ctypes.data, x.nbytes, 1, 0)
    gpus.call("acc_memcpy_d2d", *arguments)
    gpus.use(1)
    gpus.call("acc_delete", x.ctypes.data, x.nbytes)
    with pytest.raises(AccRuntimeError, match="is not present on device 1"):
        to, origin = side(gpus, 1, x, (0, 10)), side(gpus, 0, x, (0, 10))
        copy_peer(gpus.runtime, PLACE, to, origin, ASYNC_SYNC)
