"""The runtime on several GPUs, with a driver that notices what is used under a wrong context."""

from __future__ import annotations

import ctypes
import random
import threading

import numpy as np
import pytest
from accopt.compiler.base.abi import ASYNC_SYNC, DataKind, DeviceProperty, DeviceType
from accopt.runtime.cuda.shared_gpus import gpu_of, sharing_of
from accopt.runtime.device import DeviceProvider, NativeImage, PtxImage
from accopt.runtime.host.device import HostOptions, host_devices
from accopt.runtime.program import Runtime
from fake_cuda import FakeCuda
from runtime_harness import SCALE_ARGS, NativeCode, Program, record

N = 100
SITES = [
    {"kind": "parallel loop", "file": "g.c", "line": 5, "function": "main", "vars": ["x"],
     "kernel": "scale", "arg_bytes": SCALE_ARGS},
    {"kind": "wait", "file": "g.c", "line": 9},
    {"kind": "parallel loop", "file": "g.c", "line": 12, "kernel": "scale", "arg_bytes": SCALE_ARGS},
]  # fmt: skip


def scale(values):
    x, a, n = values
    factor = np.int32(a & 0xFFFFFFFF).view(np.float32) if a >= 0 else 0
    memory = (ctypes.c_float * n).from_address(x)
    for i in range(n):
        memory[i] *= factor


class Gpus:
    """
    A program on so many fake GPUs, or so many devices on `real` ones; after each call the thread's device
    is the driver's, too.
    """

    def __init__(
        self,
        count: int = 2,
        *,
        real: int | None = None,
        text: str = "",
        device_queues: bool = True,
        sites=SITES,
        **options,
    ):
        self.real = real or count
        self.fake = FakeCuda(self.real, {"scale": scale}, arguments={"scale": 3}, **options)
        self.runtime = Runtime(sites, self.fake.provider(count), device_queues=device_queues)
        self.runtime.start(PtxImage(text), lambda _: 0)
        self.slow: list[str] = []
        for name in ("launch", "data_enter", "data_exit", "scratch", "update", "wait", "extent"):
            entries = self.runtime.entries
            setattr(entries, name, self._noted(name, getattr(entries, name)))
        self.program = Program(self.runtime)

    def _noted(self, name, method):
        def noted(*args):
            self.slow.append(name)
            return method(*args)

        return noted

    def call(self, name, *args):
        result = self.program.call(name, *args)
        self.check()
        return result

    def check(self):
        assert not self.fake.faults
        assert self.fake.current() == self.runtime.current.number % self.real

    def data(self, which, records, queue=ASYNC_SYNC, site=0):
        self.program.data(which, records, queue, site)
        self.check()

    def launch(self, r, n=N, a=2.0, queue=ASYNC_SYNC, site=0):
        values = (ctypes.c_int64(r.device), _wide(a), ctypes.c_int64(n))
        self.program.launch(site, values, (2, 1, 1), queue=queue)
        self.check()

    def use(self, device):
        self.call("acc_set_device_num", device, DeviceType.DEFAULT)

    def finish(self, *, empty=True):
        self.runtime.finish()
        assert not self.fake.faults
        assert not empty or not [
            b for b in self.fake.blocks.values() if b.device >= 0 and b.size > 16
        ]


def _wide(a):
    return ctypes.c_int64(int(np.float32(a).view(np.int32)))


def of(x, kind, flags=0):
    return record(x.ctypes.data, x.nbytes, kind, flags)


@pytest.fixture
def gpus():
    gpus = Gpus()
    yield gpus
    gpus.finish()


def construct(gpus, x, a=2.0):
    r = of(x, DataKind.COPY)
    gpus.data("data_enter", [r])
    gpus.launch(r, len(x), a)
    gpus.data("data_exit", [r])


def test_constructs_on_one_device_after_another(gpus):
    x = np.ones(N, np.float32)
    for device in (0, 1, 0, 1, 1, 0):
        gpus.use(device)
        construct(gpus, x)
    assert (x == 64).all()


def test_native_paths_serve_every_device(gpus):
    x = np.ones(N, np.float32)
    for device in (0, 1):
        gpus.use(device)
        gpus.call("acc_copyin", x.ctypes.data, x.nbytes)
    for turn in range(4):
        if turn == 2:
            gpus.slow.clear()
        for device in (0, 1):
            gpus.use(device)
            r = of(x, DataKind.PRESENT)
            gpus.data("data_enter", [r])
            gpus.launch(r)
            gpus.data("data_exit", [r])
    assert not gpus.slow, "nothing comes to Python any more"
    launches = [device for name, device in gpus.fake.log if name == "cuLaunchKernel"]
    assert launches[-4:] == [0, 1, 0, 1]
    for device in (0, 1):
        gpus.use(device)
        gpus.call("acc_update_self", x.ctypes.data, x.nbytes)
        assert (x == 16).all()
        gpus.call("acc_delete", x.ctypes.data, x.nbytes)


def test_a_thread_that_is_new_or_has_another_context(gpus):
    x = np.ones(N, np.float32)
    gpus.use(1)
    construct(gpus, x)
    for other in (0, None):
        gpus.fake.set_current(other)
        construct(gpus, x)
    assert (x == 8).all()
    thread = threading.Thread(target=lambda: construct(gpus, x))
    thread.start()
    thread.join()
    assert (x == 16).all(), "a new thread begins with the first device"
    assert gpus.runtime.current.number == 1


def test_native_launches_recover_from_another_context(gpus):
    x = np.ones(N, np.float32)
    gpus.use(1)
    gpus.call("acc_copyin", x.ctypes.data, x.nbytes)
    r = of(x, DataKind.PRESENT)
    for _ in range(3):
        gpus.data("data_enter", [r])
        gpus.launch(r)
        gpus.data("data_exit", [r])
    gpus.fake.set_current(0)
    values = (ctypes.c_int64(r.device), _wide(2.0), ctypes.c_int64(N))
    gpus.program.launch(0, values, (2, 1, 1))
    assert gpus.fake.faults == [("cuLaunchKernel", 400)], "seen by native code, put right by Python"
    gpus.fake.faults.clear()
    gpus.call("acc_copyout", x.ctypes.data, x.nbytes)
    assert (x == 16).all()


def test_threads_with_a_device_each(gpus):
    arrays = [np.full(N, d + 1, np.float32) for d in (0, 1)]
    failures: list[BaseException] = []

    def work(device):
        try:
            gpus.program.call("acc_set_device_num", device, DeviceType.DEFAULT)
            for _ in range(20):
                construct(gpus, arrays[device], 1.5)
            assert gpus.runtime.current.number == device
        except BaseException as failure:
            failures.append(failure)

    threads = [threading.Thread(target=work, args=(d,)) for d in (0, 1)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
    for device, x in enumerate(arrays):
        np.testing.assert_allclose(x, (device + 1) * 1.5**20, rtol=1e-5)


def test_routines_about_other_devices_leave_the_current_one_alone(gpus):
    x = np.ones(N, np.float32)
    for device in (0, 1):
        gpus.use(device)
        gpus.call("acc_copyin", x.ctypes.data, x.nbytes)
        gpus.call("acc_update_device_async", x.ctypes.data, x.nbytes, 3)
    for device in (0, 1):
        other = 1 - device
        gpus.use(device)
        gpus.call("acc_wait_device", 3, other)
        gpus.call("acc_wait_all_device", other)
        gpus.call("acc_wait_device_async", 3, 4, other)
        gpus.call("acc_wait_all_device_async", 5, other)
        gpus.call("acc_async_test_device", 3, other)
        gpus.call("acc_async_test_all_device", other)
        gpus.call("acc_get_property", other, DeviceType.DEFAULT, DeviceProperty.FREE_MEMORY)
        gpus.call("acc_init_device", other, DeviceType.DEFAULT)
        gpus.call("acc_memcpy_d2d", x.ctypes.data, x.ctypes.data, x.nbytes, other, device)
        gpus.call("acc_shutdown_device", other, DeviceType.DEFAULT)
        assert gpus.call("acc_is_present", x.ctypes.data, x.nbytes) == 1
        gpus.use(other)
        assert gpus.call("acc_is_present", x.ctypes.data, x.nbytes) == 0
        gpus.call("acc_copyin", x.ctypes.data, x.nbytes)
    for device in (0, 1):
        gpus.use(device)
        gpus.call("acc_copyout", x.ctypes.data, x.nbytes)


def test_deviceid_is_for_one_construct(gpus):
    enter, leave = (
        gpus.program.addresses[f"__accopt_{name}_device"] for name in ("enter", "leave")
    )
    enter = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int32, ctypes.c_int64)(enter)
    leave = ctypes.CFUNCTYPE(None, ctypes.c_int32, ctypes.c_int64)(leave)
    x = np.ones(N, np.float32)
    gpus.use(0)
    for _ in range(2):
        former = enter(0, 1)
        assert (former, gpus.runtime.current.number, gpus.fake.current()) == (0, 1, 1)
        construct(gpus, x)
        inner = enter(0, 1)
        leave(0, inner)
        gpus.check()
        leave(0, former)
        assert (gpus.runtime.current.number, gpus.fake.current()) == (0, 0)
    gpus.call("acc_set_device_type", DeviceType.HOST)
    former = enter(0, 1)
    assert gpus.runtime.current.device.type == DeviceType.NVIDIA
    leave(0, former)
    assert gpus.runtime.current.device.type == DeviceType.HOST
    gpus.use(0)
    assert (x == 4).all()


class Walk:
    """A random program of one thread, on any devices."""

    def __init__(self, runtime: Runtime, count: int, seed: int):
        self.program, self.count = Program(runtime), count
        self.random = random.Random(seed)
        self.arrays = [np.arange(1, N + 1, dtype=np.float32) for _ in range(2)]
        self.held: set[tuple[int, int]] = set()
        self.device = 0

    def step(self):
        which = self.random.randrange(len(self.arrays))
        x, call = self.arrays[which], self.program.call
        queue = self.random.choice((ASYNC_SYNC, ASYNC_SYNC, 1, 2))
        place = (x.ctypes.data, x.nbytes)
        here = (self.device, which) in self.held
        match self.random.choice(
            ("device", "map", "run", "run", "update", "wait", "copy", "unmap")
        ):
            case "device":
                self.device = self.random.randrange(self.count)
                call("acc_set_device_num", self.device, DeviceType.DEFAULT)
            case "map" if not here:
                call("acc_copyin", *place)
                self.held.add((self.device, which))
            case "unmap" if here:
                call("acc_wait_all")
                call("acc_copyout", *place)
                self.held.discard((self.device, which))
            case "run":
                r = of(x, DataKind.COPY)
                queue = queue if here else ASYNC_SYNC
                self.program.data("data_enter", [r], queue)
                factor = self.random.choice((0.5, 2.0, 0.25))
                values = (ctypes.c_int64(r.device), _wide(factor), ctypes.c_int64(N))
                self.program.launch(0, values, (2, 1, 1), queue=queue)
                self.program.data("data_exit", [r], queue)
                if here:
                    self.program.wait()
            case "update" if here:
                call(f"acc_update_{self.random.choice(('self', 'device'))}", *place)
            case "wait":
                call("acc_wait_all_device", self.random.randrange(self.count))
            case "copy":
                there = [d for d in range(self.count) if (d, which) in self.held]
                if len(there) > 1:
                    to, origin = self.random.sample(there, 2)
                    call("acc_memcpy_d2d", place[0], place[0], place[1], to, origin)
            case _:
                pass

    def run(self, steps: int):
        for _ in range(steps):
            self.step()
        for device, which in sorted(self.held):
            x = self.arrays[which]
            self.program.call("acc_set_device_num", device, DeviceType.DEFAULT)
            self.program.call("acc_copyout", x.ctypes.data, x.nbytes)
        return [x.copy() for x in self.arrays]


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize(("pools", "real"), [(True, 3), (False, 3), (True, 1), (False, 2)])
@pytest.mark.sampled(3)
def test_random_programs_compute_what_the_host_computes(seed, pools, real):
    code = NativeCode()
    on_host = Runtime(SITES, host_devices(HostOptions(threads=1), 3))
    on_host.start(NativeImage(code.address), lambda _: 0)
    expected = Walk(on_host, 3, seed).run(60)
    on_host.finish()
    gpus = Gpus(3, pools=pools, real=real)
    found = Walk(gpus.runtime, 3, seed).run(60)
    gpus.finish()
    for mine, theirs in zip(found, expected, strict=True):
        np.testing.assert_array_equal(mine, theirs)


@pytest.mark.parametrize("seed", range(4))
def test_random_programs_of_several_threads(seed):
    """Each thread has arrays of its own and uses any device; together they compute what each does alone."""
    alone = []
    for thread in range(3):
        gpus = Gpus(2)
        alone.append(Walk(gpus.runtime, 2, 10 * seed + thread).run(40))
        gpus.finish()
    gpus = Gpus(2)
    found: list[list[np.ndarray]] = [[] for _ in range(3)]

    def work(thread):
        found[thread] = Walk(gpus.runtime, 2, 10 * seed + thread).run(40)

    threads = [threading.Thread(target=work, args=(t,)) for t in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
        assert not thread.is_alive()
    gpus.finish()
    for mine, theirs in zip(found, alone, strict=True):
        for got, wanted in zip(mine, theirs, strict=True):
            np.testing.assert_array_equal(got, wanted)


def test_provider_of_fewer_devices():
    fake = FakeCuda(3)
    assert fake.provider(2).count == 2 and isinstance(fake.provider(), DeviceProvider)
    assert not fake.provider(3).sharing and not fake.provider().sharing


@pytest.mark.parametrize(
    ("devices", "gpus", "on"),
    [
        (2, 1, "2 devices share 1 GPU: devices 0 and 1 on GPU 0"),
        (4, 1, "4 devices share 1 GPU: devices 0 to 3 on GPU 0"),
        (3, 2, "3 devices share 2 GPUs: devices 0 and 2 on GPU 0"),
        (5, 2, "5 devices share 2 GPUs: devices 0, 2 and 4 on GPU 0, devices 1 and 3 on GPU 1"),
        (2, 2, ""),
    ],
)
def test_which_devices_share_a_gpu(devices, gpus, on):
    assert sharing_of(devices, gpus) == on
    taken = [gpu_of(device, devices, gpus) for device in range(devices)]
    assert taken[:gpus] == list(range(gpus)) and set(taken) == set(range(gpus))
    assert gpu_of(devices, devices, gpus) == devices, "not there, and not found anywhere else"
    assert gpu_of(gpus, None, gpus) == gpus


def test_devices_on_one_gpu_have_memory_queues_and_variables_of_their_own():
    gpus = Gpus(3, real=1)
    x = np.ones(N, np.float32)
    addresses = set()
    for device in range(3):
        gpus.use(device)
        gpus.call("acc_copyin", x.ctypes.data, x.nbytes)
        addresses.add(gpus.call("acc_deviceptr", x.ctypes.data))
    states = [gpus.runtime.state(d) for d in range(3)]
    assert len(addresses) == 3
    assert len({state.device.native_stream() for state in states}) == 3
    assert (
        len(
            {
                state.device.native_handles("scale", state.sync_queue, alone=False)
                for state in states
            }
        )
        == 3
    )
    gpus.use(1)
    r = of(x, DataKind.PRESENT)
    gpus.data("data_enter", [r])
    gpus.launch(r)
    gpus.data("data_exit", [r])
    gpus.call("acc_update_self", x.ctypes.data, x.nbytes)
    assert (x == 2).all()
    gpus.call("acc_shutdown_device", 1, DeviceType.DEFAULT)
    for device in (0, 2):
        gpus.use(device)
        gpus.call("acc_update_self", x.ctypes.data, x.nbytes)
        assert (x == 1).all()
        gpus.call("acc_delete", x.ctypes.data, x.nbytes)
    gpus.finish()
    assert [name for name, _ in gpus.fake.log].count("cuDevicePrimaryCtxRelease") == 3


def test_memory_that_another_device_on_the_gpu_will_free(monkeypatch):
    """An allocation that fails waits for the queues of all devices on the GPU."""
    gpus = Gpus(2, real=1)
    first, second = (gpus.runtime.state(d).device for d in (0, 1))
    waited = []
    for device in (first, second):
        monkeypatch.setattr(device.sync_queue, "wait", lambda d=device: waited.append(d.number))
    allocate, answers = gpus.fake.api.cuMemAllocAsync, iter([2, 0])
    monkeypatch.setattr(
        gpus.fake.api,
        "cuMemAllocAsync",
        lambda *args: (status, 0) if (status := next(answers)) else allocate(*args),
    )
    address = second.allocate(64, second.sync_queue)
    assert waited == [0, 1]
    second.free(address, second.sync_queue)
    monkeypatch.undo()
    gpus.finish()


def test_device_numbers_that_do_not_exist(capfd):
    import subprocess
    import sys

    code = (
        "import sys; sys.path.insert(0, 'tests/runtime')\n"
        "from test_several_gpus import Gpus\n"
        "g = Gpus(2); g.program.call('acc_set_device_num', 2, 1)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "there is no device 2: devices 0 to 1 can be used" in done.stderr
