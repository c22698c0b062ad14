"""What a user sees when a program goes wrong: each error in its own process, exit status 1."""

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from accopt.compiler.base.abi import DeviceType
from accopt.runtime.errors import (
    AccRuntimeError,
    ErrorClass,
    HostRange,
    NoDeviceError,
    ProgramPlace,
)
from accopt.runtime.host.device import HostDevice, HostOptions
from accopt.runtime.profiling.trace import Notify, Trace, TraceOptions
from accopt.runtime.program import Runtime

PRELUDE = """
import ctypes, sys
from accopt.compiler.base.abi import *
from accopt.runtime.host.device import HostDevice, HostOptions
from accopt.runtime.program import Runtime
from runtime_harness import Program, record
SITES = [{"kind": "parallel loop", "file": "heat.c", "line": 42, "function": "step",
          "vars": ["u", "v"], "kernel": "k", "arg_bytes": []},
         {"kind": "enter data", "file": "heat.c", "line": 12, "function": "main", "vars": ["u"]}]
heap = ctypes.create_string_buffer(4096)
u = ctypes.addressof(heap)
program = Program(Runtime(SITES, HostDevice(HostOptions(threads=2))))
ctypes.CDLL(None).printf(b"printed by C, no newline")
"""


def run(body, **environment):
    env = {"PYTHONPATH": str(Path(__file__).parent), "PATH": "/usr/bin:/bin", **environment}
    return subprocess.run(
        [sys.executable, "-c", PRELUDE + body],
        capture_output=True, text=True, env=env, check=False, timeout=60,
    )  # fmt: skip


CASES = {
    "absent": (
        'program.data("data_enter", [record(u, 64, DataKind.PRESENT, var=1)])',
        ["heat.c:42: error: in parallel loop: 'v' in present is not present on the device",
         "[acc_error_not_present]", "(64 bytes)", "device:    host (CPU, 2 threads)",
         "help: map it first: enter data copyin(v)"],
    ),
    "partly present": (
        'program.data("data_enter", [record(u, 64, DataKind.CREATE, DataFlag.DYNAMIC)], site=1)\n'
        'program.data("data_enter", [record(u, 96, DataKind.COPY)])',
        ["heat.c:42: error: in parallel loop: 'u' is only partly present",
         "[acc_error_partly_present]", "(96 bytes)",
         "(64 bytes), mapped by enter data at heat.c:12, 'u'"],
    ),
    "too long": (
        'import mmap\nblock = mmap.mmap(-1, 1 << 20)\n'
        'program.data("data_enter", [record(ctypes.addressof(ctypes.c_char.from_buffer(block)),'
        " 1 << 46, DataKind.COPYIN)])",
        ["the section of 'u' reaches beyond the program's memory",
         "[acc_error_invalid_data_section]", "help: name its elements, not its bytes"],
    ),
    "implicit": (
        'program.data("data_enter", [record(u, 0, DataKind.PRESENT, '
        "DataFlag.IMPLICIT | DataFlag.UNBOUNDED)])",
        ["'u' is used in the construct", "copy(u[0:n])"],
    ),
    "update": (
        'program.data("update", [record(u, 8, DataKind.UPDATE_SELF)])',
        ["'u' in update self is not present"],
    ),
    "bad queue": (
        'program.data("data_enter", [record(u, 8, DataKind.COPYIN)], -7)',
        ["-7 is not an async value", "[acc_error_invalid_async]"],
    ),
    "wrong device type": (
        'program.call("acc_set_device_type", DeviceType.NVIDIA)',
        ["error: in acc_set_device_type: the program requests a device of type acc_device_nvidia",
         "--target=nvptx"],
    ),
    "no such device": (
        'program.call("acc_set_device_num", 3, DeviceType.HOST)',
        ["there is no device 3", "[acc_error_device_unavailable]"],
    ),
    "out of memory": (
        'program.call("acc_malloc", 1 << 60)',
        ["cannot allocate 1152921504606846976 bytes", "[acc_error_out_of_memory]"],
    ),
    "double free": (
        'p = program.call("acc_malloc", 8)\nprogram.call("acc_free", p)\n'
        'program.call("acc_free", p)',
        ["in acc_free", "or was freed before"],
    ),
    "mapped twice": (
        'program.call("acc_create", u, 64)\nprogram.call("acc_map_data", u + 8, u, 8)',
        ["in acc_map_data: the host data is present on the device already", "[acc_error_present]"],
    ),
    "not mapped": ('program.call("acc_unmap_data", u)', ["was not mapped with acc_map_data"]),
    "copy to null": (
        'program.call("acc_memcpy_to_device", 0, u, 8)', ["[acc_error_invalid_null_pointer]"],
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_user_error(case):
    body, expected = CASES[case]
    done = run(body + "\nprint('not reached')")
    assert done.returncode == 1
    assert done.stdout == "printed by C, no newline"
    for text in expected:
        assert text in done.stderr
    assert "Traceback" not in done.stderr


def test_internal_error_hides_its_traceback_unless_asked():
    body = 'program.data("data_enter", [record(u, 8, 99)])'
    done = run(body)
    assert done.returncode == 1 and "Traceback" not in done.stderr
    assert done.stderr.startswith("internal error: ValueError")
    assert "Traceback" in run(body, ACCOPT_DEBUG="1").stderr


def test_exit_waits_for_device_work_and_keeps_its_status():
    body = """
flag = ctypes.create_string_buffer(8)
queue = program.runtime.current.queue(1, 1)
import time
queue.submit(lambda: (time.sleep(0.2), ctypes.memset(flag, 1, 1), print("done", flush=True)))
leave = ctypes.CFUNCTYPE(None, ctypes.c_int)(program.addresses["exit"])
leave(5)
"""
    done = run(body)
    assert done.returncode == 5 and "done" in done.stdout and "printed by C" in done.stdout


def test_rendering_without_a_place():
    error = AccRuntimeError(ErrorClass.OTHER, "so it is", requested=HostRange(16, 16))
    assert error.render() == (
        "error: so it is [acc_error_other]\n    requested: 0x10..0x20 (16 bytes)"
    )
    located = error.located(ProgramPlace("data", "a.c", 3), "host")
    assert located.render().startswith("a.c:3: error: in data: so it is")
    assert located.located(ProgramPlace("other"), "x").place == ProgramPlace("data", "a.c", 3)


def test_no_device_names_cause_and_remedy():
    text = NoDeviceError("cuInit failed").render()
    assert "cuInit failed" in text and "--target=host" in text


def test_trace_options():
    read = TraceOptions.from_environment
    assert read({}) == TraceOptions()
    assert read({"NVCOMPILER_ACC_NOTIFY": "3"}).notify == Notify.KERNELS | Notify.DATA
    assert read({"NV_ACC_NOTIFY": "1", "ACCOPT_TRACE": "data, waits"}).notify == Notify(11)
    assert read({"ACCOPT_TRACE": "all"}).notify == Notify(31)
    assert read({"NVCOMPILER_ACC_TIME": "1"}).time and not read({"NV_ACC_TIME": "0"}).time
    with pytest.raises(AccRuntimeError, match="kernals"):
        read({"ACCOPT_TRACE": "kernals"})


def test_trace_of_a_program(capsys):
    import ctypes
    import io

    from accopt.compiler.base.abi import DataKind
    from accopt.runtime.device import NativeImage
    from accopt.runtime.host.device import HostDevice
    from accopt.runtime.program import Runtime
    from runtime_harness import NativeCode, Program, record

    sites = [{"kind": "parallel", "file": "a.c", "line": 5, "function": "f", "vars": ["flag"],
              "kernel": "spin", "arg_bytes": [8],
              "declare": [("t", "table", 16, int(DataKind.COPYIN))]}]  # fmt: skip
    table = ctypes.create_string_buffer(16)
    runtime = Runtime(sites, HostDevice(), trace=TraceOptions(Notify(31), True))
    runtime.trace.out = io.StringIO()
    code = NativeCode()
    runtime.start(NativeImage(code.address), lambda _: ctypes.addressof(table))
    program = Program(runtime)
    flag = ctypes.c_int64(1)
    r = record(ctypes.addressof(flag), 8, DataKind.COPY)
    program.data("data_enter", [r])
    program.launch(0, [ctypes.c_int64(r.device)])
    program.data("data_exit", [r])
    program.wait()
    runtime.finish()
    text = runtime.trace.out.getvalue()
    assert flag.value == 0
    for line in (
        "copy in t ",
        "enter parallel file=a.c function=f line=5 device=host",
        "allocate flag file=a.c function=f line=5 bytes=8",
        "copy in flag file=a.c function=f line=5 bytes=8",
        "launch spin file=a.c function=f line=5",
        "copy out flag",
        "free flag",
        "wait all queues",
    ):
        assert line in text
    assert "parallel at a.c:5" in text and "1 times" in text


def test_nothing_is_traced_by_default():
    assert not Trace(TraceOptions()).active and Trace(TraceOptions()).summary() == ""


def test_lines_are_looked_for_when_they_are_wanted():
    """Finding the line of a call compiles the program again, which no program that goes right waits for."""
    asked: list[str] = []

    def locate(routine: str, addresses: Sequence[int]) -> tuple[str, int]:
        assert addresses
        asked.append(routine)
        return "heat.c", 7

    runtime = Runtime((), HostDevice(HostOptions(threads=1)))
    runtime.failures.locate = locate
    runtime.shutdown(DeviceType.DEFAULT, place=ProgramPlace("acc_shutdown"))
    assert not asked
    where = runtime.current.shut_down
    assert where is not None and str(where()) == "acc_shutdown at heat.c:7"
    assert asked == ["acc_shutdown"]
