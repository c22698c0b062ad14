"""
The CUDA device and the runtime on it. `kernels.ptx` is compiled from `kernels.ll`.

Tests of what happens without a GPU run anywhere; the others need one.
"""

import ctypes
import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from accopt.compiler.base.abi import DataKind, DeviceProperty, DeviceType
from accopt.runtime.cuda import driver as cuda_driver
from accopt.runtime.cuda.device import CudaDevice, cuda_devices
from accopt.runtime.cuda.staging import PIECE
from accopt.runtime.device import STAGED_BYTES, CubinImage, NativeImage, PtxImage, Strips
from accopt.runtime.errors import AccRuntimeError, ErrorClass, NoDeviceError
from accopt.runtime.program import Runtime
from runtime_harness import DYNAMIC, Program, record

PTX = (Path(__file__).parent / "kernels.ptx").read_text()
gpu = pytest.mark.gpu

TABLE = (ctypes.c_int32 * 4)(10, 20, 30, 40)
SITES = [
    {"kind": "parallel loop", "file": "g.c", "line": 5, "function": "main", "vars": ["x"],
     "kernel": "scale", "arg_bytes": [8, 4, 8]},
    {"kind": "parallel", "file": "g.c", "line": 9, "kernel": "spin", "arg_bytes": [8]},
    {"kind": "parallel", "file": "g.c", "line": 15, "kernel": "reverse", "arg_bytes": [8, 4]},
    {"kind": "parallel", "file": "g.c", "line": 21, "kernel": "table_sum", "arg_bytes": [8],
     "declare": [("TABLE", "table", 16, int(DataKind.COPYIN))]},
    {"kind": "parallel", "file": "g.c", "line": 30, "kernel": "crash", "arg_bytes": [8]},
    {"kind": "parallel", "file": "g.c", "line": 40, "kernel": "missing", "arg_bytes": []},
]  # fmt: skip


# Without a GPU


def test_missing_bindings_name_the_package(monkeypatch):
    monkeypatch.setitem(sys.modules, "cuda.bindings.driver", None)
    with pytest.raises(NoDeviceError, match="cuda-bindings") as caught:
        cuda_devices()
    assert "--target=host" in caught.value.render()


def test_missing_driver_library(monkeypatch):
    monkeypatch.setattr(cuda_driver, "_import_bindings", lambda: object())

    def no_library(name):
        raise OSError(name)

    monkeypatch.setattr(cuda_driver.ctypes, "CDLL", no_library)
    with pytest.raises(NoDeviceError, match="libcuda"):
        cuda_devices()


# With one


@pytest.fixture(scope="module")
def device():
    device = CudaDevice(0)
    device.load(PtxImage(PTX))
    yield device
    device.close()


@pytest.fixture(scope="module")
def runtime():
    runtime = Runtime(SITES, cuda_devices())
    runtime.start(PtxImage(PTX), lambda _: ctypes.addressof(TABLE))
    yield runtime
    runtime.finish()


@pytest.fixture
def program(runtime):
    return Program(runtime)


def address(x):
    return x.ctypes.data


@gpu
def test_properties(device):
    properties = device.properties()
    assert "NVIDIA" in properties.name and properties.vendor == "NVIDIA"
    assert properties.driver.startswith("CUDA ")
    assert properties.memory >= device.free_memory() > 0
    assert device.compute_capability >= (5, 0)


@gpu
@pytest.mark.parametrize(
    "size", [1, 1000, STAGED_BYTES - 1, STAGED_BYTES, PIECE, PIECE + 1, 5 * PIECE + 12345]
)
@pytest.mark.parametrize("asynchronous", [False, True])
def test_copies_of_all_sizes(device, size, asynchronous):
    queue = device.new_queue() if asynchronous else device.sync_queue
    source = np.random.default_rng(size).integers(0, 256, size, dtype=np.uint8)
    original, back = source.copy(), np.zeros_like(source)
    a, b = device.allocate(size, queue), device.allocate(size, queue)
    assert a % 256 == 0
    device.copy_in(a, address(source), Strips(0, size), queue)
    source[:] = 0  # the source may change as soon as the call returns
    device.copy_device(b, a, size, queue)
    device.copy_out(address(back), b, Strips(0, size), queue)
    queue.wait()
    np.testing.assert_array_equal(back, original)
    device.free(a, queue)
    device.free(b, queue)


@gpu
def test_many_staged_copies_reuse_the_buffers_safely(device):
    arrays = [np.full(8 * PIECE, i, np.uint8) for i in range(6)]
    queues = [device.new_queue() for _ in arrays]
    copies = [device.allocate(8 * PIECE, q) for q in queues]
    for at, x, queue in zip(copies, arrays, queues, strict=True):
        device.copy_in(at, address(x), Strips(0, x.nbytes), queue)
    for at, x, queue in zip(copies, arrays, queues, strict=True):
        back = np.empty_like(x)
        device.copy_out(address(back), at, Strips(0, x.nbytes), queue)
        queue.wait()
        np.testing.assert_array_equal(back, x)
        device.free(at, queue)


@gpu
def test_strided_copies_touch_only_their_rows(device):
    queue = device.sync_queue
    source = np.arange(4096, dtype=np.uint8).reshape(64, 64)
    at = device.allocate(4096, queue)
    device.zero(at, 4096, queue)
    device.copy_in(at, address(source), Strips(5, 3, 60, 64), queue)
    back = np.full((64, 64), 9, np.uint8)
    device.copy_out(address(back), at, Strips(4, 5, 10, 64), queue)
    queue.wait()
    expected = np.full((64, 64), 9, np.uint8)
    expected[:10, 4:9] = 0
    expected[:10, 5:8] = source[:10, 5:8]
    np.testing.assert_array_equal(back, expected)
    device.free(at, queue)


@gpu
def test_zero_and_store_pointer(device):
    queue = device.sync_queue
    at = device.allocate(64, queue)
    back = np.full(8, -1, np.int64)
    device.zero(at, 64, queue)
    device.store_pointer(at + 16, 0x123456789ABC, queue)
    device.copy_out(address(back), at, Strips(0, 64), queue)
    queue.wait()
    assert list(back) == [0, 0, 0x123456789ABC, 0, 0, 0, 0, 0]
    device.free(at, queue)


@gpu
def test_queues_overlap_and_order(device):
    from accopt.compiler.base.abi import LAUNCH_FORMAT

    first, second = device.new_queue(), device.new_queue()
    ns = ctypes.c_int64(200_000_000)
    pointers = (ctypes.c_int64 * 1)(ctypes.addressof(ns))
    values = LAUNCH_FORMAT.unpack(
        LAUNCH_FORMAT.pack(1, 1, 1, 1, 1, 1, 0, 1, 1, ctypes.addressof(pointers))
    )
    device.launcher("spin", [8])(values, first)
    assert not first.done() and second.done()
    second.wait_for(first)
    at = device.allocate(8, second)
    assert not second.done()
    begin = time.perf_counter()
    second.wait()
    assert time.perf_counter() - begin > 0.05 and first.done()
    device.free(at, second)


@gpu
def test_out_of_memory_is_an_error_and_leaves_the_device_usable(device):
    with pytest.raises(AccRuntimeError) as caught:
        device.allocate(1 << 40, device.sync_queue)
    assert caught.value.kind is ErrorClass.OUT_OF_MEMORY
    device.free(device.allocate(1024, device.sync_queue), device.sync_queue)


@gpu
@pytest.mark.slow
def test_freed_memory_comes_back_when_all_is_taken(device):
    """Takes the memory of tests beside it, too: not for `pytest -n`."""
    queue, other = device.sync_queue, device.new_queue()
    size = device.free_memory() * 6 // 10
    for q in (queue, other, queue):
        at = device.allocate(size, q)
        device.zero(at, 1 << 20, q)
        device.free(at, q)
    other.wait()
    queue.wait()


@gpu
def test_bad_ptx_shows_the_log(device):
    with pytest.raises(AccRuntimeError) as caught:
        device.load(PtxImage(PTX.replace("ld.param", "nonsense.param", 1)))
    assert "nonsense" in caught.value.message or "ptxas" in caught.value.message
    with pytest.raises(AccRuntimeError, match="NativeImage"):
        device.load(NativeImage(lambda _: 0))


@gpu
def test_cubin(tmp_path):
    assembler = next(Path(sys.prefix).rglob("bin/ptxas"), None)
    assembler = assembler or next(iter(map(Path, ["/usr/local/cuda/bin/ptxas"])), None)
    if assembler is None or not assembler.exists():
        pytest.skip("no ptxas")
    device = CudaDevice(0)
    major, minor = device.compute_capability
    source, cubin = tmp_path / "k.ptx", tmp_path / "k.cubin"
    source.write_text(PTX)
    subprocess.run([assembler, f"-arch=sm_{major}{minor}", source, "-o", cubin], check=True)
    device.load(CubinImage(cubin.read_bytes()))
    assert device.launcher("scale", [8, 4, 8]) and device.global_address("table")
    device.close()


@gpu
def test_missing_symbols(device):
    with pytest.raises(AccRuntimeError, match="'nothing'"):
        device.launcher("nothing", [])
    with pytest.raises(AccRuntimeError, match="'nothing'"):
        device.global_address("nothing")
    with pytest.raises(NoDeviceError, match="device 99"):
        CudaDevice(99)


# Through the entry points


def of(x, kind, flags=0):
    return record(x.ctypes.data, x.nbytes, kind, flags)


def scale(program, r, factor, n, queue=-2):
    values = [ctypes.c_int64(r.device), ctypes.c_float(factor), ctypes.c_int64(n)]
    program.launch(0, values, ((n + 127) // 128, 1, 1), (128, 1, 1), queue)


@gpu
@pytest.mark.parametrize("n", [1, 1000, 3_000_001])
@pytest.mark.parametrize("queue", [-2, -1, 4])
def test_construct_with_copy(program, n, queue):
    x = np.arange(n, dtype=np.float32)
    r = of(x, DataKind.COPY)
    program.data("data_enter", [r], queue)
    scale(program, r, 3, n, queue)
    scale(program, r, 2, n, queue)
    program.data("data_exit", [r], queue)
    program.wait(queue)
    np.testing.assert_array_equal(x, 6 * np.arange(n, dtype=np.float32))


@gpu
def test_data_region_and_update(program):
    x = np.arange(5000, dtype=np.float32)
    r = of(x, DataKind.COPYIN, DYNAMIC)
    program.data("data_enter", [r])
    for _ in range(3):
        inner = of(x, DataKind.PRESENT)
        program.data("data_enter", [inner])
        scale(program, inner, 2, len(x))
        program.data("data_exit", [inner])
    program.call("acc_update_self", address(x), 400)
    np.testing.assert_array_equal(x[:101], [*range(0, 800, 8), 100])
    program.data("data_exit", [of(x, DataKind.DELETE, DYNAMIC)])
    assert program.call("acc_is_present", address(x), 4) == 0


@gpu
@pytest.mark.parametrize("shared", [4096, 100 << 10])
def test_dynamic_shared_memory(program, shared):
    x = np.arange(256, dtype=np.int32)
    r = of(x, DataKind.COPY)
    program.data("data_enter", [r])
    values = [ctypes.c_int64(r.device), ctypes.c_int32(shared // 4 - 256)]
    program.launch(2, values, (1, 1, 1), (256, 1, 1), shared=shared)
    program.data("data_exit", [r])
    np.testing.assert_array_equal(x, np.arange(256)[::-1])


@gpu
def test_declared_global(program):
    out = np.zeros(1, np.int32)
    r = of(out, DataKind.COPYOUT)
    program.data("data_enter", [r])
    program.launch(3, [ctypes.c_int64(r.device)])
    program.data("data_exit", [r])
    assert out[0] == 50
    TABLE[3] = 7
    program.call("acc_update_device", ctypes.addressof(TABLE), 16)
    program.data("data_enter", [r])
    program.launch(3, [ctypes.c_int64(r.device)])
    program.data("data_exit", [r])
    assert out[0] == 17


@gpu
def test_async_queues(program):
    program.launch(1, [ctypes.c_int64(200_000_000)], queue=1)
    assert program.call("acc_async_test", 1) == 0
    program.wait(1, async_queue=2)
    assert program.call("acc_async_test", 2) == 0
    assert program.call("acc_async_test", 3) == 1
    program.call("acc_wait_all")
    assert program.call("acc_async_test_all") == 1


@gpu
def test_empty_grid_runs_one_gang(program):
    x = np.ones(128, np.float32)
    r = of(x, DataKind.COPY)
    program.data("data_enter", [r])
    values = [ctypes.c_int64(r.device), ctypes.c_float(4), ctypes.c_int64(128)]
    program.launch(0, values, (0, 1, 1), (128, 1, 1))
    program.data("data_exit", [r])
    assert list(x) == [4] * 128


@gpu
def test_scratch(program):
    at = program.entry("scratch", 0, 256)
    back = np.ones(32, np.int64)
    program.call("acc_memcpy_from_device", address(back), at, 256)
    assert not back.any() and program.entry("scratch", 0, 128) == at


@gpu
def test_another_thread(program):
    import threading

    x = np.arange(1000, dtype=np.float32)

    def work():
        r = of(x, DataKind.COPY)
        program.data("data_enter", [r])
        scale(program, r, 2, len(x))
        program.data("data_exit", [r])

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    np.testing.assert_array_equal(x, 2 * np.arange(1000, dtype=np.float32))


@gpu
def test_api(program):
    assert program.call("acc_get_num_devices", DeviceType.NVIDIA) >= 1
    assert program.call("acc_get_num_devices", DeviceType.NOT_HOST) >= 1
    assert program.call("acc_get_device_type") == DeviceType.NVIDIA
    name = program.call("acc_get_property_string", 0, DeviceType.NVIDIA, DeviceProperty.NAME)
    assert b"NVIDIA" in ctypes.string_at(name)
    assert program.call("acc_get_property", 0, DeviceType.NVIDIA, DeviceProperty.MEMORY) > 1 << 30


IN_A_PROCESS = """
import ctypes
from test_cuda_device import *
runtime = Runtime(SITES, cuda_devices())
runtime.start(PtxImage(PTX), lambda _: ctypes.addressof(TABLE))
program = Program(runtime)
"""


@gpu
@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("program.launch(4, [ctypes.c_int64(16)])",
         ["g.c:30: error: in parallel: a kernel failed on the GPU", "CUDA_ERROR_ILLEGAL_ADDRESS",
          "[acc_error_execution]", "device:    0 (NVIDIA"]),
        ("program.launch(4, [ctypes.c_int64(16)], queue=3)\nprogram.wait(3)",
         ["a kernel failed on the GPU"]),
        ("program.launch(5, [])", ["has no kernel 'missing'"]),
        ("program.launch(0, [ctypes.c_int64(0)] * 3, (1, 1, 1), (4096, 1, 1))",
         ["g.c:5: error", "block 4096x1x1", "CUDA_ERROR_INVALID_VALUE"]),
        ("program.call('acc_malloc', 1 << 40)", ["[acc_error_out_of_memory]"]),
        ("program.call('acc_set_device_type', DeviceType.RADEON)", ["acc_device_radeon"]),
    ],
)  # fmt: skip
def test_errors_end_the_process_with_a_message(body, expected):
    here = str(Path(__file__).parent)
    path = os.pathsep.join([here, *filter(None, sys.path)])
    done = subprocess.run(
        [sys.executable, "-c", IN_A_PROCESS + body + "\nprint('not reached')"],
        capture_output=True, text=True, env={**os.environ, "PYTHONPATH": path}, check=False,
    )  # fmt: skip
    assert done.returncode == 1 and "not reached" not in done.stdout
    for text in expected:
        assert text in done.stderr
    assert "Traceback" not in done.stderr


@gpu
def test_launch_overhead(program, capsys):
    """Not a claim about the GPU: the Python path of a repeated launch must stay short."""
    x = np.zeros(128, np.float32)
    r = of(x, DataKind.CREATE)
    program.data("data_enter", [r])
    values = [ctypes.c_int64(r.device), ctypes.c_float(1), ctypes.c_int64(128)]
    pointers = (ctypes.c_int64 * 3)(*map(ctypes.addressof, values))
    from accopt.compiler.base.abi import Launch, entry_point_types

    launch = Launch((1, 1, 1), (128, 1, 1), 0, 3, 7, ctypes.addressof(pointers))
    entry = ctypes.CFUNCTYPE(*([entry_point_types("__accopt_launch")[0]]), ctypes.c_int32,
                             ctypes.c_int64)(program.addresses["__accopt_launch"])  # fmt: skip
    at = ctypes.addressof(launch)
    best = float("inf")
    for _ in range(20):
        begin = time.perf_counter()
        for _ in range(500):
            entry(0, at)
        best = min(best, (time.perf_counter() - begin) / 500)
        program.wait(7)
    with capsys.disabled():
        print(f"\n__accopt_launch: {best * 1e6:.2f} us")
    program.data("data_exit", [r])
    assert best < 20e-6


@gpu
def test_transfer_rates(device, capsys):
    """Prints the rates of pageable transfers; fails only when something is badly wrong."""
    x = np.ones(256 << 20, np.uint8)
    queue = device.sync_queue
    at = device.allocate(x.nbytes, queue)
    rates = {}
    for name, move in (
        ("in", lambda: device.copy_in(at, address(x), Strips(0, x.nbytes), queue)),
        ("out", lambda: device.copy_out(address(x), at, Strips(0, x.nbytes), queue)),
    ):
        times = []
        for _ in range(4):
            begin = time.perf_counter()
            move()
            queue.wait()
            times.append(time.perf_counter() - begin)
        rates[name] = x.nbytes / min(times) / 1e9
    device.free(at, queue)
    with capsys.disabled():
        print(f"\npageable GB/s: {rates}")
    assert min(rates.values()) > 1
