"""The native launch path with a driver made of ctypes callbacks."""

import ctypes
import threading
import time

import pytest
from accopt.compiler.base.abi import ASYNC_ON_DEVICE, Launch
from accopt.runtime.device import NativeDriver
from accopt.runtime.native.clocks import NativeClocks
from accopt.runtime.native.devices import NativeDevices
from accopt.runtime.native.launch import MAX_QUEUES, NativeLauncher
from accopt.runtime.native.queues import NativeQueue

_i, _u, _q, _p = ctypes.c_int32, ctypes.c_uint32, ctypes.c_int64, ctypes.c_void_p


class Driver:
    """Records what compiled code calls; `status` is what the driver answers."""

    def __init__(self):
        self.log, self.launch_status, self.wait_status = [], 0, 0
        self.keep = [
            ctypes.CFUNCTYPE(_i, _q, *[_u] * 7, _q, _q, _q)(self.launch),
            ctypes.CFUNCTYPE(_i, _q)(self.wait),
            ctypes.CFUNCTYPE(None, _i, _q)(lambda *a: self.log.append(("slow", *a))),
            ctypes.CFUNCTYPE(None, _i, _i)(lambda *a: self.log.append(("failed", *a))),
            ctypes.CFUNCTYPE(_q, _i, _q)(lambda *a: -1),
        ]
        launch, wait, slow, failed, scratch = (ctypes.cast(f, _p).value for f in self.keep)
        self.events = [
            ctypes.CFUNCTYPE(_i, _q, _q)(lambda *a: self.log.append(("record", *a)) or 0),
            ctypes.CFUNCTYPE(_i, _q, _q, _u)(lambda *a: self.log.append(("after", *a)) or 0),
        ]
        self.native = native = NativeDriver(
            launch, wait, *(ctypes.cast(f, _p).value for f in self.events)
        )
        self.devices = NativeDevices(2, 0)
        self.code = NativeLauncher(3, self.devices, native, slow, failed, scratch)
        self.launcher = self.code.of(0)
        self.entry = ctypes.CFUNCTYPE(None, _i, _q)(self.code.address)
        self.scratch = ctypes.CFUNCTYPE(_q, _i, _q)(self.code.scratch_address)

    def launch(self, *arguments):
        self.log.append(("launch", *arguments))
        return self.launch_status

    def wait(self, stream):
        self.log.append(("wait", stream))
        return self.wait_status

    def run(self, site, queue):
        launch = Launch((2, 3, 4), (5, 6, 7), 8, 1, queue, 0x1234)
        self.entry(site, ctypes.addressof(launch))
        log, self.log = self.log, []
        slow = ("slow", site, ctypes.addressof(launch))
        return ["slow" if event == slow else event for event in log]


@pytest.fixture
def driver():
    return Driver()


def test_unknown_sites_and_queues_go_to_python(driver):
    assert driver.run(0, -2) == ["slow"]
    driver.launcher.remember(0, 77, 500, 3)
    for site, queue in ((1, 3), (0, 4), (0, -2), (0, -1), (0, -3), (0, MAX_QUEUES), (0, 1 << 40)):
        assert driver.run(site, queue) == ["slow"]
    driver.launcher.remember(0, 77, 600, -2)
    driver.launcher.remember(0, 77, 700, -1)
    for queue in (MAX_QUEUES, MAX_QUEUES + 1, -4, -(1 << 40)):
        assert driver.run(0, queue) == ["slow"], "no number stands for a slot of its own"


def test_a_bare_async_is_native_while_no_thread_chooses_a_queue(driver):
    driver.launcher.remember(0, 77, 700, -1)
    for queue in (-1, -3):
        assert driver.run(0, queue) == [("launch", 77, 2, 3, 4, 5, 6, 7, 8, 700, 0x1234, 0)]
    driver.launcher.forget_default()
    driver.launcher.remember(0, 77, 700, -1)
    assert driver.run(0, -1) == driver.run(0, -3) == ["slow"]


def test_a_known_launch_passes_everything_on(driver):
    driver.launcher.remember(2, 77, 500, 3)
    assert driver.run(2, 3) == [("launch", 77, 2, 3, 4, 5, 6, 7, 8, 500, 0x1234, 0)]


def test_a_synchronous_launch_waits(driver):
    driver.launcher.remember(1, 77, 600, -2)
    assert driver.run(1, -2) == [("launch", 77, 2, 3, 4, 5, 6, 7, 8, 600, 0x1234, 0), ("wait", 600)]
    driver.wait_status = 700
    assert driver.run(1, -2)[1:] == [("wait", 600), ("failed", 1, 700)]


def test_a_failed_launch_is_repeated_by_python(driver):
    driver.launcher.remember(1, 77, 600, -2)
    driver.launch_status = 201
    log = driver.run(1, -2)
    assert log[0][0] == "launch" and log[1:] == ["slow"]


def test_forgetting(driver):
    driver.launcher.remember(1, 77, 600, 0)
    driver.launcher.remember(1, 77, 600, MAX_QUEUES + 5)  # a number without a slot is not kept
    assert sum(1 for s in driver.launcher.known()[1] if s) == 1
    driver.launcher.forget()
    assert driver.run(1, 0) == ["slow"]


def test_scratch_that_is_large_enough_is_answered(driver):
    assert driver.scratch(1, 64) == -1
    driver.launcher.remember_scratch(1, 0x5000, 64)
    assert [driver.scratch(1, n) for n in (1, 64, 65)] == [0x5000, 0x5000, -1]
    assert driver.scratch(0, 64) == -1
    driver.launcher.forget()
    assert driver.scratch(1, 64) == -1


def test_scratch_binds_a_site_to_the_queue_of_its_last_launch(driver):
    driver.launcher.remember(0, 77, 500, 3)
    driver.launcher.remember(0, 77, 600, -2, scratch=True)
    assert driver.run(0, 3) == ["slow"], "Python makes queue 3 wait first"
    assert driver.run(0, -2)[0][0] == "launch"
    driver.launcher.remember(0, 77, 500, 3, scratch=True)
    assert driver.run(0, 3)[0][0] == "launch" and driver.run(0, -2) == ["slow"]
    driver.launcher.interrupt(0)
    assert driver.run(0, 3) == ["slow"]


def test_a_construct_of_a_device_is_not_waited_for_unless_the_program_could_tell(driver):
    driver.launcher.remember(1, 77, 600, -2)
    row = driver.devices.rows[0]
    assert [event[0] for event in driver.run(1, ASYNC_ON_DEVICE)] == ["launch"]
    row.waits = 1
    assert [event[0] for event in driver.run(1, ASYNC_ON_DEVICE)] == ["launch", "wait"]
    assert row.epoch == 2


def test_other_queues_are_put_after_constructs_that_nobody_waited_for(driver):
    driver.launcher.remember(1, 77, 600, -2)
    driver.launcher.remember(1, 77, 500, 3)
    sync = NativeQueue(stream=600, event=40)
    driver.devices.rows[0].sync = ctypes.addressof(sync)
    driver.run(1, ASYNC_ON_DEVICE)
    log = driver.run(1, 3)
    assert log[:2] == [("record", 40, 600), ("after", 500, 40, 0)] and log[2][0] == "launch"
    assert [event[0] for event in driver.run(1, 3)] == ["launch"], "once for each construct"


def test_who_reads_a_clock_finds_synchronous_constructs_done(driver):
    driver.launcher.remember(1, 77, 600, -2)
    driver.code.of(1).remember(1, 88, 900, -2)
    queues = [NativeQueue(stream=600), NativeQueue(stream=900)]
    for row, queue in zip(driver.devices.rows, queues, strict=False):
        row.sync = ctypes.addressof(queue)
    native = NativeClocks(driver.devices, driver.native, 0)
    now = ctypes.CFUNCTYPE(_q, _p)(native.addresses["time"])
    ticks = ctypes.CFUNCTYPE(ctypes.c_double)(native.addresses["MPI_Wtime"])
    assert abs(now(None) - time.time()) < 60 and driver.log == []
    driver.run(1, ASYNC_ON_DEVICE)
    first = ticks()
    assert driver.log == [("wait", 600)] and 0 <= ticks() - first < 60
    driver.devices.become(1)
    driver.log.clear()
    driver.run(1, ASYNC_ON_DEVICE)
    driver.devices.become(0)
    now(None)
    now(None)
    assert driver.log == [("wait", 900)], "each device with work, once"


def test_other_queues_come_to_python_where_there_are_no_events(driver):
    driver.launcher.remember(1, 77, 600, -2)
    driver.launcher.remember(1, 77, 500, 3)
    assert driver.run(1, 3)[0][0] == "launch"
    driver.run(1, ASYNC_ON_DEVICE)
    assert driver.run(1, 3) == ["slow"]
    driver.launcher.remember(1, 77, 500, 3, epoch=1)
    assert driver.run(1, 3)[0][0] == driver.run(1, -2)[0][0] == "launch"


def test_each_thread_launches_with_the_tables_of_its_device(driver):
    driver.launcher.remember(1, 77, 600, -2)
    driver.code.of(1).remember(1, 88, 900, -2)
    kernels = []
    for device in (0, 1, 0):
        driver.devices.become(device)
        kernels.append(driver.run(1, -2)[0][1])
    assert kernels == [77, 88, 77]

    def other():
        kernels.append(driver.run(1, -2)[0][1])

    driver.devices.become(1)
    thread = threading.Thread(target=other)
    thread.start()
    thread.join()
    assert kernels[-1] == 77, "a new thread begins with the first device"
    driver.devices.become(0)


def test_both_sides_find_the_same_place_for_a_queue(driver):
    place = driver.code._code.function("slot_of", _q, _q)
    for number in (*range(-5, MAX_QUEUES + 3), 1 << 40, -(1 << 40)):
        assert place(number) == (-1 if (slot := driver.launcher.slot(number)) is None else slot)
