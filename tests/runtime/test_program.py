"""The entry points and `acc_*` routines on the host device, called through their C addresses."""

import ctypes
import time

import numpy as np
import pytest
from accopt.compiler.base.abi import DataKind, DeviceOperation, DeviceProperty, DeviceType
from accopt.runtime.device import NativeImage
from accopt.runtime.host.device import HostDevice, HostOptions
from accopt.runtime.program import Runtime
from runtime_harness import DYNAMIC, SCALE_ARGS, NativeCode, Program, record

SITES = [
    {
        "kind": "parallel loop",
        "file": "p.c",
        "line": 7,
        "function": "main",
        "vars": ["x", "y"],
        "kernel": "scale",
        "arg_bytes": SCALE_ARGS,
    },
    {
        "kind": "parallel",
        "file": "p.c",
        "line": 20,
        "kernel": "spin",
        "arg_bytes": [8],
        "declare": [("host_table", "table", 16, int(DataKind.COPYIN))],
    },
]
HOST_TABLE = (ctypes.c_int32 * 4)(5, 6, 7, 8)


@pytest.fixture(scope="module")
def code():
    return NativeCode()


@pytest.fixture(params=[1, 3])
def program(code, request):
    device = HostDevice(HostOptions(threads=request.param, poison=True))
    runtime = Runtime(SITES, device)
    runtime.start(NativeImage(code.address), lambda _: ctypes.addressof(HOST_TABLE))
    yield Program(runtime)
    runtime.finish()


def scale(program, r, factor, n, queue=-2, grid=None):
    grid = grid or ((n + 63) // 64, 1, 1)
    values = [ctypes.c_int64(r.device), ctypes.c_float(factor), ctypes.c_int64(n)]
    program.launch(0, values, grid, queue=queue)


def array(n=1000):
    return np.arange(n, dtype=np.float32)


def of(x, kind, flags=0, **more):
    return record(x.ctypes.data, x.nbytes, kind, flags, **more)


def test_construct_with_copy(program):
    x = array()
    r = of(x, DataKind.COPY)
    program.data("data_enter", [r])
    assert r.device != x.ctypes.data
    scale(program, r, 3, len(x))
    assert x[1] == 1, "separate memory: nothing is seen before the copy out"
    program.data("data_exit", [r])
    np.testing.assert_array_equal(x, 3 * array())


def test_grid_dimensions_multiply_and_empty_grids_run_one_gang(program):
    x = array(64 * 12)
    r = of(x, DataKind.COPY)
    program.data("data_enter", [r])
    scale(program, r, 2, len(x), grid=(3, 2, 2))
    scale(program, r, 2, len(x), grid=(0, 1, 1))
    program.data("data_exit", [r])
    expected = 2 * array(64 * 12)
    expected[:64] *= 2
    np.testing.assert_array_equal(x, expected)


def test_constructs_inside_a_data_region_take_the_quick_path(program):
    x, y = array(), array()
    outer = [of(x, DataKind.COPY), of(y, DataKind.COPYIN)]
    program.data("data_enter", outer)
    state = program.runtime.current
    epoch = state.table.epoch
    for step in range(8):
        inner = [of(x, DataKind.PRESENT), of(y, DataKind.COPY)]
        program.data("data_enter", inner)
        assert [r.device for r in inner] == [r.device for r in outer]
        if step % 4 == 3:  # whoever looks sees the counters, and the exit goes through Python
            assert [e.structured for e in state.table if not e.pinned] == [2, 2]
        scale(program, inner[0], 2, len(x))
        program.data("data_exit", inner)
    table = state.table
    assert table.epoch == epoch and [e.structured for e in table if not e.pinned] == [1, 1]
    program.data("data_exit", outer)
    np.testing.assert_array_equal(x, 256 * array())
    np.testing.assert_array_equal(y, array())
    assert len(table) == 1  # the declared global


def test_attached_pointers_on_the_quick_path(program):
    x = array(16)
    holder = ctypes.c_int64(x.ctypes.data)
    at = ctypes.addressof(holder)
    outer = [
        record(at, 8, DataKind.COPYIN),
        record(x.ctypes.data, x.nbytes, DataKind.COPY, pointer=at),
    ]
    program.data("data_enter", outer)
    word = ctypes.c_int64.from_address(outer[0].device)

    def attachments():
        return program.runtime.current.table.at(at).attachments

    for look in (True, True, False, False, True):
        inner = [record(x.ctypes.data, x.nbytes, DataKind.PRESENT, pointer=at)]
        program.data("data_enter", inner)
        assert not look or attachments() == {at: 2}
        assert inner[0].device == word.value
        program.data("data_exit", inner)
        assert not look or attachments() == {at: 1}
    program.call("acc_detach", at)
    assert word.value == x.ctypes.data
    program.data("data_enter", inner)
    assert word.value == outer[1].device and attachments() == {at: 1}
    program.data("data_exit", inner)
    assert word.value == x.ctypes.data and not attachments()
    program.data("data_exit", outer)
    assert holder.value == x.ctypes.data


def test_quick_and_slow_records_mix(program):
    x, y = array(), array()
    outer = of(x, DataKind.COPY)
    program.data("data_enter", [outer])
    for order in ([0, 1], [1, 0]):
        both = [of(x, DataKind.COPY), of(y, DataKind.COPY)]
        both = [both[i] for i in order]
        program.data("data_enter", both)
        scale(program, both[order.index(1)], 2, len(y))
        program.data("data_exit", both)
    program.data("data_exit", [outer])
    np.testing.assert_array_equal(y, 4 * array())
    assert len(program.runtime.current.table) == 1


def test_same_variable_twice_in_one_construct(program):
    x = array()
    twice = [of(x, DataKind.COPY), of(x, DataKind.COPY)]
    program.data("data_enter", twice)
    scale(program, twice[0], 2, len(x))
    program.data("data_exit", twice)
    np.testing.assert_array_equal(x, 2 * array())
    assert len(program.runtime.current.table) == 1


def test_update_and_enter_exit_data(program):
    x = array()
    r = of(x, DataKind.COPYIN, DYNAMIC)
    program.data("data_enter", [r])
    scale(program, r, 2, len(x))
    part = record(x.ctypes.data, 40, DataKind.UPDATE_SELF, offset=40)
    program.data("update", [part])
    np.testing.assert_array_equal(x[:30], [*range(10), *range(20, 40, 2), *range(20, 30)])
    program.data("data_exit", [of(x, DataKind.DELETE, DYNAMIC)])
    assert x[40] == 40


def test_async_queue_keeps_order_and_copies_argument_values(program):
    x = array()
    r = of(x, DataKind.COPY)
    program.data("data_enter", [r], 5)
    for factor in (2, 3, 5):
        scale(program, r, factor, len(x), queue=5)
    program.data("data_exit", [r], 5)
    program.wait(5)
    np.testing.assert_array_equal(x, 30 * array())


def spin(program, flag, queue):
    program.launch(1, [ctypes.c_int64(ctypes.addressof(flag))], queue=queue)


def test_queues_overlap_and_wait_async_orders_them(program):
    flag, x = ctypes.c_int64(0), array()
    r = of(x, DataKind.COPY)
    program.data("data_enter", [r])
    spin(program, flag, 1)
    program.wait(1, async_queue=2)  # queue 2 waits for queue 1; the host does not
    scale(program, r, 2, len(x), queue=2)
    scale(program, r, 1, len(x), queue=3)
    program.wait(3)
    time.sleep(0.01)
    assert program.call("acc_async_test", 1) == 0
    assert program.call("acc_async_test", 2) == 0
    assert program.call("acc_async_test", 3) == 1
    assert program.call("acc_async_test_all") == 0
    assert program.call("acc_wait_any", 2, ctypes.addressof((ctypes.c_int * 2)(1, 3))) == 1
    first = ctypes.c_float.from_address(r.device + 4).value
    assert first == 1
    flag.value = 1
    program.wait()
    assert program.call("acc_async_test_all") == 1
    program.data("data_exit", [r])
    np.testing.assert_array_equal(x, 2 * array())


def test_free_of_async_data_waits_for_its_queue(program):
    flag, x = ctypes.c_int64(0), array()
    r = of(x, DataKind.COPY)
    spin(program, flag, 1)
    program.data("data_enter", [r], 1)
    scale(program, r, 7, len(x), queue=1)
    program.data("data_exit", [r], 1)
    assert x[1] == 1
    flag.value = 1
    program.call("acc_wait", 1)
    np.testing.assert_array_equal(x, 7 * array())


def test_default_queue(program):
    flag = ctypes.c_int64(0)
    default = program.call("acc_get_default_async")
    program.call("acc_set_default_async", 9)
    assert program.call("acc_get_default_async") == 9
    spin(program, flag, -1)
    assert program.call("acc_async_test", 9) == 0
    assert program.call("acc_async_test", default) == 1
    flag.value = 1
    program.call("acc_wait", -1)
    assert program.call("acc_async_test", 9) == 1
    program.entry("device", 0, DeviceOperation.SET_DEFAULT_ASYNC, -1, -2)  # acc_async_sync
    x = array()
    r = of(x, DataKind.COPY)
    program.data("data_enter", [r], -1)
    scale(program, r, 2, len(x), queue=-1)
    program.data("data_exit", [r], -1)
    np.testing.assert_array_equal(x, 2 * array())
    program.call("acc_set_default_async", default)


def test_declared_globals_are_present_from_the_start(program):
    host = ctypes.addressof(HOST_TABLE)
    device = program.call("acc_deviceptr", host)
    assert list((ctypes.c_int32 * 4).from_address(device)) == [5, 6, 7, 8]
    r = record(host, 16, DataKind.COPY)
    program.data("data_enter", [r])
    program.data("data_exit", [r])
    program.call("acc_delete_finalize", host, 16)
    assert program.call("acc_is_present", host, 16) == 1


def test_scratch_is_zeroed_once_and_owned_by_the_site(program):
    first = program.entry("scratch", 0, 64)
    assert list((ctypes.c_int64 * 8).from_address(first)) == [0] * 8
    ctypes.c_int64.from_address(first).value = 3
    assert program.entry("scratch", 0, 32) == first
    assert ctypes.c_int64.from_address(first).value == 3
    assert program.entry("scratch", 1, 64) != first
    bigger = program.entry("scratch", 0, 4096)
    assert not any((ctypes.c_int64 * 512).from_address(bigger))


def test_launches_that_share_scratch_memory_run_one_after_the_other(program):
    flag, x = ctypes.c_int64(0), array()
    r = of(x, DataKind.COPY)
    program.data("data_enter", [r])
    other = ctypes.c_int64(0)
    program.entry("scratch", 1, 64)
    spin(program, flag, 1)
    spin(program, other, 2)
    scale(program, r, 2, len(x), queue=3)  # no scratch: free to overlap
    program.wait(3)
    other.value = 1
    time.sleep(0.01)
    assert program.call("acc_async_test", 2) == 0 and other.value == 1, "waits for queue 1"
    flag.value = 1
    program.wait(2)
    assert program.call("acc_async_test", 1) == 1 and other.value == 0
    program.data("data_exit", [r])
    np.testing.assert_array_equal(x, 2 * array())


def test_strided_sections_through_records(program):
    x = np.arange(64, dtype=np.float32).reshape(8, 8)
    r = of(x, DataKind.COPYIN)
    program.data("data_enter", [r])
    scale(program, r, 0, 64)
    shape = (ctypes.c_int64 * 6)(2, 3, 32, 1, 2, 4)
    part = record(x.ctypes.data, 72, DataKind.UPDATE_SELF, offset=68)
    part.dims, part.shape = 2, ctypes.addressof(shape)
    program.data("update", [part])
    expected = np.arange(64, dtype=np.float32).reshape(8, 8)
    expected[2:5, 1:3] = 0
    np.testing.assert_array_equal(x, expected)
    shape[4] = 0  # an empty section, whatever `bytes` says
    part.kind = DataKind.COPY
    program.data("data_enter", [part])
    assert len([e for e in program.runtime.current.table if not e.pinned]) == 1
    program.data("data_exit", [part])
    program.data("data_exit", [r])


def test_api_copyin_update_copyout(program):
    x = array()
    at, size = x.ctypes.data, x.nbytes
    device = program.call("acc_copyin", at, size)
    assert program.call("acc_copyin", at, size) == device
    assert program.call("acc_deviceptr", at + 8) == device + 8
    assert program.call("acc_hostptr", device + 8) == at + 8
    assert program.call("acc_is_present", at, size) == 1
    assert program.call("acc_is_present", at, size + 1) == 0
    x[:] = 1
    program.call("acc_update_device", at, size)
    x[:] = 2
    program.call("acc_update_self_async", at, 4, 3)
    program.call("acc_wait_all")
    assert list(x[:2]) == [1, 2]
    program.call("acc_delete", at, size)
    program.call("acc_copyout", at, size)
    assert x[1] == 1 and program.call("acc_is_present", at, 0) == 0
    program.call("acc_create", at, size)
    program.call("acc_create_async", at, size, 1)
    program.call("acc_delete_finalize_async", at, size, 1)
    assert program.call("acc_deviceptr", at) == 0


def test_api_malloc_map_and_memcpy(program):
    x, y = array(64), np.zeros(64, np.float32)
    size = x.nbytes
    a, b = program.call("acc_malloc", size), program.call("acc_malloc", size)
    program.call("acc_memcpy_to_device", a, x.ctypes.data, size)
    program.call("acc_memcpy_device", b, a, size)
    program.call("acc_memcpy_from_device_async", y.ctypes.data, b, size, 4)
    program.call("acc_wait", 4)
    np.testing.assert_array_equal(x, y)
    program.call("acc_map_data", y.ctypes.data, b, size)
    assert program.call("acc_deviceptr", y.ctypes.data) == b
    program.call("acc_copyin", x.ctypes.data, size)
    y[:] = 0
    program.call("acc_memcpy_d2d", y.ctypes.data, x.ctypes.data, size, 0, 0)
    program.call("acc_delete", y.ctypes.data, size)
    program.call("acc_update_self", y.ctypes.data, size)
    np.testing.assert_array_equal(x, y)
    program.call("acc_unmap_data", y.ctypes.data)
    assert program.call("acc_is_present", y.ctypes.data, 1) == 0
    program.call("acc_delete", x.ctypes.data, size)
    program.call("acc_free", a)
    program.call("acc_free", b)
    program.call("acc_free", 0)


def test_api_attach(program):
    x = array(16)
    holder = ctypes.c_int64(x.ctypes.data)
    at = ctypes.addressof(holder)
    copy = program.call("acc_copyin", at, 8)
    device = program.call("acc_copyin", x.ctypes.data, x.nbytes)
    word = ctypes.c_int64.from_address(copy)
    program.call("acc_attach", at)
    assert word.value == device
    program.call("acc_attach_async", at, 1)
    program.call("acc_detach", at)
    program.call("acc_wait_all")
    assert word.value == device
    program.call("acc_detach_finalize", at)
    assert word.value == x.ctypes.data
    program.call("acc_shutdown", DeviceType.DEFAULT)
    assert program.call("acc_is_present", at, 8) == 0


def test_api_devices(program):
    assert program.call("acc_get_num_devices", DeviceType.HOST) == 1
    assert program.call("acc_get_num_devices", DeviceType.NVIDIA) == 0
    assert program.call("acc_get_device_type") == DeviceType.HOST
    program.call("acc_init", DeviceType.DEFAULT)
    program.call("acc_set_device_num", 0, DeviceType.HOST)
    assert program.call("acc_get_device_num", DeviceType.CURRENT) == 0
    assert program.call("acc_on_device", DeviceType.HOST) == 1
    assert program.call("acc_on_device", DeviceType.NOT_HOST) == 0
    prop = (0, DeviceType.CURRENT)
    assert program.call("acc_get_property", *prop, DeviceProperty.MEMORY) > 1 << 20
    assert program.call("acc_get_property", *prop, DeviceProperty.SHARED_MEMORY_SUPPORT) == 0
    name = program.call("acc_get_property_string", *prop, DeviceProperty.NAME)
    assert ctypes.string_at(name) == b"CPU"
    assert program.call("acc_get_property_string", *prop, DeviceProperty.MEMORY) == 0


def test_several_devices_have_their_own_tables(code):
    from accopt.runtime.device import DeviceProvider

    provider = DeviceProvider(DeviceType.HOST, 2, lambda _: HostDevice(HostOptions(threads=1)))
    runtime = Runtime([{"kind": "data"}], provider)
    program, x = Program(runtime), array(16)
    first = program.call("acc_copyin", x.ctypes.data, x.nbytes)
    program.call("acc_set_device_num", 1, DeviceType.DEFAULT)
    assert program.call("acc_is_present", x.ctypes.data, 4) == 0
    x[:] = 7
    second = program.call("acc_copyin", x.ctypes.data, x.nbytes)
    assert first != second
    program.call("acc_memcpy_d2d", x.ctypes.data, x.ctypes.data, x.nbytes, 0, 1)
    x[:] = 0
    program.call("acc_set_device_num", 0, DeviceType.DEFAULT)
    program.call("acc_copyout", x.ctypes.data, x.nbytes)
    assert list(x) == [7] * 16
    runtime.finish()


def test_shared_memory_moves_nothing(code):
    runtime = Runtime(SITES, HostDevice(HostOptions(threads=2, shared_memory=True)))
    runtime.start(NativeImage(code.address), lambda _: 0)
    program, x = Program(runtime), array()
    r = of(x, DataKind.COPYIN)
    program.data("data_enter", [r])
    assert r.device == x.ctypes.data
    scale(program, r, 2, len(x))
    np.testing.assert_array_equal(x, 2 * array())
    program.data("data_exit", [r])
    runtime.finish()
