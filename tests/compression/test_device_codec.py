"""
What is encoded by kernels, by the device's packer, and in native transfers has the bits of the host's
codec, whose properties `test_codec.py` checks: for any numbers, NaNs and infinities included.
"""

from __future__ import annotations

import ctypes
import functools
import math
import os
import random
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from accopt.compiler.base.options import TargetName
from accopt.compiler.base.packed import Code, PackedFormat, coefficients
from accopt.runtime.compression import transfers as compression_transfers
from accopt.runtime.compression.codec import Codec
from accopt.runtime.compression.codec_kernels import codec_kernels, range_of_keys
from accopt.runtime.cuda import staging as staging_module
from accopt.runtime.cuda.staging import PIECE, StagingCopier
from accopt.runtime.device import PackedPlace, Strips
from accopt.runtime.native.transfer import NOT_READY

from .test_saturation import FORMATS, WIDE_FORMATS, program

codec = functools.cache(Codec)
SIZES = {"float": 32, "double": 64}
CASES = [("float", c) for c in FORMATS] + [("double", c) for c in WIDE_FORMATS]
MAGNITUDES = (1.0, 3.7e-20, 2.5e20, 0.0)


def format_of(real: str, code: str) -> PackedFormat:
    if code.startswith("bits"):
        bits, _, centred = code.partition(":")
        return PackedFormat(SIZES[real], Code.CENTRED if centred else Code.RANGE, int(bits[4:]))
    return PackedFormat(SIZES[real], Code[code.upper()], 16)


def limits(fmt: PackedFormat, magnitude: float) -> tuple[float, float]:
    """A range with that magnitude: around zero, or away from it. The routines take floats."""
    low = np.float32(magnitude) * np.float32(0.9 if fmt.code == Code.CENTRED else -1)
    return float(low), magnitude


def numbers(fmt: PackedFormat, n: int, magnitude: float, seed: int = 0) -> np.ndarray:
    """Any bits at all, numbers of the range, its ends and their neighbours, what is not a number."""
    rng = np.random.default_rng(seed)
    word, real = (np.uint32, np.float32) if fmt.base_bits == 32 else (np.uint64, np.float64)
    x = rng.integers(0, 2**fmt.base_bits, n, dtype=word).view(real)
    half = n // 2
    low, high = limits(fmt, magnitude)
    x[:half] = (low + high) / 2 + rng.uniform(-0.505, 0.505, half) * (high - low)
    ends = [high, low, np.inf, -np.inf, np.nan, -np.nan, 0.0, -0.0]
    x[:8] = ends
    x[8:10] = np.nextafter(real(magnitude), real(np.inf)), np.nextafter(real(magnitude), real(0))
    return x


def reference(fmt: PackedFormat, x: np.ndarray, magnitude: float) -> tuple[np.ndarray, int]:
    """The bytes of the host's codec, and how many are saturated."""
    packed = np.zeros(len(x) * fmt.storage_bytes, np.uint8)
    coefs = coefficients(fmt, *limits(fmt, magnitude))
    return packed, codec(fmt).encode(packed.ctypes.data, x.ctypes.data, len(x), coefs)


def decoded(fmt: PackedFormat, packed: np.ndarray, magnitude: float) -> np.ndarray:
    count = len(packed) // fmt.storage_bytes
    out = np.empty(count, np.float32 if fmt.base_bits == 32 else np.float64)
    coefs = coefficients(fmt, *limits(fmt, magnitude))
    codec(fmt).decode(out.ctypes.data, packed.ctypes.data, count, coefs)
    return out


# Kernels


def check_kernel(target: TargetName, real: str, code: str, n: int) -> None:
    fmt, p = format_of(real, code), program(target, real, code)
    pointer, size, single = ctypes.c_void_p, ctypes.c_size_t, ctypes.c_float
    types = (pointer, size, ctypes.c_char_p, pointer, ctypes.c_int, single, single)
    copyin = p.function("acc_copyin", pointer, (pointer, size))
    compress = p.function("acc_compress_copyin", pointer, types)
    update = p.function("acc_update_self", None, (pointer, size))
    delete = p.function("acc_delete", None, (pointer, size))
    kernel = p.function("scale", None, (ctypes.c_long, pointer, pointer))
    for magnitude in MAGNITUDES:
        low = float(np.float32(magnitude))
        x = numbers(fmt, n, low)
        y = np.zeros_like(x)
        copyin(x.ctypes.data, x.nbytes)
        compress(y.ctypes.data, y.nbytes, f"{real}:{code}".encode(), None, 0, *limits(fmt, low))
        kernel(n, x.ctypes.data, y.ctypes.data)
        update(y.ctypes.data, y.nbytes)
        for array in (x, y):
            delete(array.ctypes.data, array.nbytes)
        expected = decoded(fmt, reference(fmt, x, low)[0], low)
        assert y.tobytes() == expected.tobytes(), magnitude


@pytest.mark.parametrize(("real", "code"), CASES)
def test_host_kernels_encode_as_the_codec(real: str, code: str):
    check_kernel("host", real, code, 1003)


@pytest.mark.parametrize(
    ("real", "code"), [*CASES, ("double", "bits44"), ("double", "bits50:centred")]
)
def test_simulated_kernels_encode_as_the_codec(real: str, code: str):
    check_kernel("sim", real, code, 203)


@pytest.mark.gpu
@pytest.mark.parametrize(("real", "code"), CASES)
def test_gpu_kernels_encode_as_the_codec(real: str, code: str):
    check_kernel("nvptx", real, code, 100_003)


# Native transfers


class Calls:
    """Driver functions that copy at once, as far as `StagingCopier` calls them."""

    class api:
        class CUevent_flags:
            CU_EVENT_DISABLE_TIMING = 2

        cuMemHostAlloc, cuEventCreate, cuEventDestroy, cuMemFreeHost = "allocate", "", "", ""

    def __init__(self, status: int = 0, busy: Callable[[int], bool] = lambda event: False) -> None:
        word, status_type = ctypes.c_int64, ctypes.c_int32
        one = ctypes.CFUNCTYPE(status_type, word)
        two = ctypes.CFUNCTYPE(status_type, word, word)
        four = ctypes.CFUNCTYPE(status_type, word, word, word, word)

        def copy(target: int, source: int, size: int, stream: int) -> int:
            ctypes.memmove(target, source, size)
            return status

        self.functions = {
            "cuCtxSetCurrent": one(lambda context: 0),
            "cuEventSynchronize": one(lambda event: 0),
            "cuEventQuery": one(lambda event: NOT_READY if busy(event) else 0),
            "cuEventRecord": two(lambda event, stream: 0),
            "cuMemcpyAsync": four(copy),
        }
        self.keep: list[Any] = []

    def address(self, name: str) -> int:
        return ctypes.cast(self.functions[name], ctypes.c_void_p).value or 0

    def call(self, function: str, *args: int) -> int:
        if function != "allocate":
            return len(self.keep)
        self.keep.append(np.zeros(args[0], np.uint8))
        return self.keep[-1].ctypes.data

    def check(self, status: int, name: str) -> None:
        if status:
            raise RuntimeError(f"{name}: {status}")


@pytest.mark.parametrize("count", [1, 17, 100_003, 5 * PIECE // 4 + 1])
@pytest.mark.parametrize("members", [1, 3])
@pytest.mark.parametrize(("real", "code"), [CASES[0], ("float", "bits20"), *CASES[6:8]])
def test_native_transfers(real: str, code: str, members: int, count: int):
    base = format_of(real, code)
    fmt = PackedFormat(base.base_bits, base.code, base.bits, members)
    staging = StagingCopier(Calls(), 0)  # pyright: ignore[reportArgumentType]
    coefs = coefficients(fmt, *limits(fmt, 1.0))
    h = codec(fmt)
    x = numbers(fmt, count * members + 10, 1.0)[10:]
    expected = np.zeros(count * fmt.storage_bytes + 8, np.uint8)
    saturated = h.encode(expected.ctypes.data, x.ctypes.data, count, coefs, members)
    packed = np.zeros_like(expected)
    found = staging.move(
        packed.ctypes.data, x.ctypes.data, count, h.encoding(coefs, members).native, 0, out=False
    )
    assert found == saturated
    assert (packed == expected).all()
    y, z = np.zeros_like(x), np.zeros_like(x)
    h.decode(y.ctypes.data, packed.ctypes.data, count, coefs, members)
    how = h.decoding(coefs, members).native
    staging.move(packed.ctypes.data, z.ctypes.data, count, how, 0, out=True)
    assert y.tobytes() == z.tobytes()


@pytest.mark.parametrize("size", [1, PIECE - 1, PIECE, 9 * PIECE + 5])
def test_plain_transfers(size: int):
    staging = StagingCopier(Calls(), 0)  # pyright: ignore[reportArgumentType]
    x = np.random.default_rng(size).integers(0, 256, size + 1, dtype=np.uint8)
    y, z = np.zeros_like(x), np.zeros_like(x)
    staging.copy_in(y.ctypes.data, x.ctypes.data, size, 0)
    staging.copy_out(z.ctypes.data, y.ctypes.data, size, 0)
    assert (z[:-1] == x[:-1]).all()
    assert y[-1] == 0 and z[-1] == 0, "past the end"


def test_host_threads_that_transfer_share_the_processors(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(staging_module.os, "sched_getaffinity", lambda _: range(16))
    monkeypatch.setattr(staging_module.time, "monotonic", lambda: 100.0)
    own = StagingCopier(Calls(), 0)  # pyright: ignore[reportArgumentType]
    threads: list[int] = []
    monkeypatch.setattr(own._native, "run", lambda job, _: threads.append(job.threads))
    for others in ([], [math.inf], [100.0, 99.99, math.inf], [math.inf] * 40, [99.0, 50.0]):
        monkeypatch.setattr(staging_module, "_last_use", {-k: t for k, t in enumerate(others, 1)})
        for _ in range(2):
            own.copy_in(0, 0, 64 << 20, 0)
    assert threads == [16, 16, 8, 8, 4, 4, 1, 1, 16, 16]
    own.copy_out(0, 0, 3 << 20, 0)
    assert threads[-1] == 3, "as many as pay"


def test_a_failed_copy_is_an_error():
    staging = StagingCopier(Calls(700), 0)  # pyright: ignore[reportArgumentType]
    x, y = np.zeros(5 * PIECE, np.uint8), np.zeros(5 * PIECE, np.uint8)
    with pytest.raises(RuntimeError, match="700"):
        staging.copy_in(y.ctypes.data, x.ctypes.data, x.nbytes, 0)
    with pytest.raises(RuntimeError, match="700"):
        staging.copy_out(y.ctypes.data, x.ctypes.data, x.nbytes, 0)


def at_times() -> Callable[[int], bool]:
    """Two answers of three."""
    draw = random.Random(7)
    return lambda event: draw.random() < 2 / 3


BUSY: dict[str, Callable[[int], bool]] = {
    "never": lambda event: False,
    "always": lambda event: True,
    "at times": at_times(),
    "the first": lambda event: event == 1,
}


@pytest.mark.parametrize("busy", list(BUSY))
@pytest.mark.parametrize("count", [1, 17, 100_003, 5 * PIECE // 4 + 1])
@pytest.mark.parametrize("real", ["float", "double"])
def test_a_range_is_found_while_numbers_are_sent(real: str, count: int, busy: str):
    fmt = format_of(real, "bits16")
    staging = StagingCopier(Calls(busy=BUSY[busy]), 0)  # pyright: ignore[reportArgumentType]
    for seed in range(4):
        x = numbers(fmt, count + 12, 3.0, seed)[10:]
        if seed == 0:
            x[:] = np.nan
            x[::3] = np.inf
        if seed == 1:
            x = np.abs(np.where(np.isfinite(x), x, 2))
        if seed == 2:
            x[-1] = -np.inf
        y = np.zeros_like(x)
        sent, limits = staging.find(y.ctypes.data, x.ctypes.data, count, fmt.base_bits, 0)
        assert limits == codec(fmt).scan(x.ctypes.data, count)
        assert y[:sent].tobytes() == x[:sent].tobytes()
        assert not y[sent:].any(), "not sent"
        if busy in ("never", "always"):
            assert sent == (count if busy == "never" else 0)


def test_many_threads_share_a_transfer(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(os, "sched_getaffinity", lambda process: set(range(16)))
    fmt = format_of("float", "bits16")
    staging = StagingCopier(Calls(busy=at_times()), 0)  # pyright: ignore[reportArgumentType]
    h, coefs = codec(fmt), coefficients(fmt, -1, 1)
    x = numbers(fmt, 6_000_001, 1.0)
    expected, saturated = reference(fmt, x, 1.0)
    for _ in range(3):
        sent, limits = staging.find(
            (y := np.zeros_like(x)).ctypes.data, x.ctypes.data, len(x), 32, 0
        )
        assert limits == h.scan(x.ctypes.data, len(x))
        assert y[:sent].tobytes() == x[:sent].tobytes()
        assert not y[sent:].any()
        packed = np.zeros_like(expected)
        how = h.encoding(coefs).native
        found = staging.move(packed.ctypes.data, x.ctypes.data, len(x), how, 0, out=False)
        assert found == saturated
        assert (packed == expected).all()
    staging.close()


def test_a_forked_process_ends():
    code = """
import os, sys
import numpy as np
os.sched_getaffinity = lambda process: set(range(4))
from accopt.runtime.cuda.staging import StagingCopier
sys.path.insert(0, sys.argv[1])
from tests.compression.test_device_codec import Calls
staging = StagingCopier(Calls(), 0)
x = np.ones(1 << 25, np.uint8)
for _ in range(2):
    y = np.zeros_like(x)
    staging.copy_in(y.ctypes.data, x.ctypes.data, x.nbytes, 0)
    assert (x == y).all()
    child = os.fork()
    if not child:
        sys.exit(7)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
"""
    root = str(Path(__file__).parents[2])
    subprocess.run([sys.executable, "-W", "ignore", "-c", code, root], check=True, timeout=60)


def test_a_range_is_not_found_if_a_copy_fails():
    staging = StagingCopier(Calls(700, at_times()), 0)  # pyright: ignore[reportArgumentType]
    x, y = np.zeros(5 * PIECE // 4, np.float32), np.zeros(5 * PIECE // 4, np.float32)
    with pytest.raises(RuntimeError, match="700"):
        staging.find(y.ctypes.data, x.ctypes.data, len(x), 32, 0)


# The device's packer


@pytest.mark.parametrize("low", [-2.5, 0.0, 1e-300, -1e300])
def test_keys_keep_the_order(low: float):
    def key(x: float) -> int:
        bits = int(np.float64(x).view(np.uint64))
        return bits ^ (0xFFFF_FFFF_FFFF_FFFF if bits >> 63 else 1 << 63)

    assert range_of_keys(key(low) ^ 0xFFFF_FFFF_FFFF_FFFF, key(7.5)) == (low, 7.5)
    assert key(low) < key(7.5)
    none = range_of_keys(key(1e308) ^ 0xFFFF_FFFF_FFFF_FFFF, key(-1e308))
    assert none == (0, 0)


@pytest.mark.parametrize(("real", "code"), CASES)
def test_the_packers_kernels_compile(real: str, code: str):
    from accopt.compiler.backend.ptx import emit_ptx

    ptx = emit_ptx(codec_kernels(format_of(real, code)), sm=90)
    for name in ("scan", "encode", "decode"):
        assert f".entry {name}(" in ptx
    assert ".ftz" not in ptx


@pytest.fixture
def device() -> Iterator[Any]:
    from accopt.runtime.cuda.device import CudaDevice

    opened = CudaDevice(0)
    yield opened
    opened.close()


@pytest.mark.gpu
@pytest.mark.parametrize("members", [1, 3])
@pytest.mark.parametrize(("real", "code"), CASES)
def test_the_packer(device: Any, real: str, code: str, members: int):
    base = format_of(real, code)
    fmt = PackedFormat(base.base_bits, base.code, base.bits, members)
    count, q, packer = 100_003, device.sync_queue, device.packer()
    x = numbers(fmt, count * members, 1.0)
    plane = (count * fmt.storage_bytes + 15) // 16 * 16
    raw, packed = device.allocate(x.nbytes, q), device.allocate(plane * members + 16, q)
    counter = packed + plane * members
    device.zero(counter, 8, q)
    device.copy_in(raw, x.ctypes.data, Strips(0, x.nbytes), q)
    assert packer.scan(fmt, raw, count, q) == codec(fmt).scan_members(x.ctypes.data, count)
    # Each member has a range of its own.
    sizes = [1.0 + m for m in range(members)]
    coefs = [coefficients(base, *limits(base, size)) for size in sizes]
    packer.encode(fmt, coefs, PackedPlace(packed, plane, count, counter), raw, q)
    found = np.zeros(plane * members + 16, np.uint8)
    device.copy_out(found.ctypes.data, packed, Strips(0, found.nbytes), q)
    q.wait()
    total = 0
    for m in range(members):
        expected, saturated = reference(base, np.ascontiguousarray(x[m::members]), sizes[m])
        assert (found[plane * m :][: len(expected)] == expected).all()
        total += saturated
    assert found[plane * members :].view(np.int64)[0] == total
    device.zero(raw, x.nbytes, q)
    packer.decode(fmt, coefs, PackedPlace(packed, plane, count, 0), raw, q)
    y = np.zeros_like(x)
    device.copy_out(y.ctypes.data, raw, Strips(0, y.nbytes), q)
    q.wait()
    for m in range(members):
        expected, _ = reference(base, np.ascontiguousarray(x[m::members]), sizes[m])
        back = decoded(base, expected, sizes[m])
        number = ~np.isnan(back)  # what conversions make of NaNs differs between processors
        assert y[m::members][number].tobytes() == back[number].tobytes()


@pytest.mark.gpu
@pytest.mark.parametrize(
    "text", ["float:bits16", "double:bits32", "float:bits16:soa2", "float:bits16:centred:soa2"]
)
def test_large_arrays_go_through_the_packer(monkeypatch: pytest.MonkeyPatch, text: str):
    """Same range, bits and count of saturated numbers, whoever packs."""
    p = program("nvptx", "float", "bits16")
    pointer, size, single = ctypes.c_void_p, ctypes.c_size_t, ctypes.c_float
    types = (pointer, size, ctypes.c_char_p, pointer, ctypes.c_int, single, single)
    compress = p.function("acc_compress_copyin", pointer, types)
    statistics = p.function("acc_compression_statistics", ctypes.c_int, (pointer, pointer))
    update = p.function("acc_update_self", None, (pointer, size))
    delete = p.function("acc_delete", None, (pointer, size))
    fmt = format_of(*text.split(":")[:2])
    x = numbers(fmt, 3_000_002, 5.0)
    x[np.abs(x) > 5] = 1
    x[7::1001], x[8::1003] = np.inf, np.nan
    found: list[tuple[bytes, list[float]]] = []
    for needed in (0, 1 << 60):
        monkeypatch.setattr(compression_transfers, "BYTES_PER_CPU", needed)
        y = x.copy()
        before, after = (ctypes.c_double * 6)(), (ctypes.c_double * 6)()
        compress(y.ctypes.data, 8, text.encode(), None, 0, -1.0, 1.0)
        statistics(y.ctypes.data, ctypes.addressof(before))
        delete(y.ctypes.data, 8)
        compress(y.ctypes.data, y.nbytes, text.encode(), None, 1, 0.0, 0.0)
        y[:] = 0
        update(y.ctypes.data, y.nbytes)
        statistics(y.ctypes.data, ctypes.addressof(after))
        delete(y.ctypes.data, y.nbytes)
        found.append((y.tobytes(), [*after[:2], after[4] - before[4]]))
    assert found[0] == found[1]
    assert found[0][1][2] == int((~np.isfinite(x)).sum())
