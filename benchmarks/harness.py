"""
The two sides of a measurement: a CUDA library and a program compiled by accopt, behind one interface
that places arrays on the device, calls a kernel, and times it with CUDA events.
"""

from __future__ import annotations

import ctypes
import subprocess
import time
from abc import ABC, abstractmethod
from collections.abc import Iterable
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
from accopt.compiler.api import Program
from accopt.compiler.base.diagnostics import DiagnosticSink
from accopt.compiler.base.options import CompileOptions
from accopt.compiler.executable import build

from .specs import Array, Case, Kernel, error_of

WARM_UP = 3
SPIN_NS = 40_000

SPIN_PTX = b"""
.version 7.0
.target sm_70
.address_size 64
.visible .entry spin(.param .u64 ns) {
  .reg .u64 %a<5>; .reg .pred %p;
  ld.param.u64 %a1, [ns];
  mov.u64 %a2, %globaltimer;
wait_loop:
  mov.u64 %a3, %globaltimer;
  sub.u64 %a4, %a3, %a2;
  setp.lt.u64 %p, %a4, %a1;
  @%p bra wait_loop;
  ret;
}
"""


def _driver() -> Any:
    from cuda.bindings import driver

    return driver


def call(function: str, *args: Any) -> Any:
    """Calls a CUDA driver function; raises `RuntimeError` with its name if it fails."""
    status, *results = getattr(_driver(), function)(*args)
    if int(status) != 0:
        raise RuntimeError(f"{function}: {status.name}")
    return results[0] if len(results) == 1 else tuple(results)


class Stopwatch:
    """Times work on one stream with events, behind a busy kernel that hides the launch."""

    def __init__(self, stream: int):
        self.stream = stream
        self.start = call("cuEventCreate", 0)
        self.end = call("cuEventCreate", 0)
        self.spin = call("cuModuleGetFunction", call("cuModuleLoadData", SPIN_PTX), b"spin")
        self.ns = ctypes.c_uint64(SPIN_NS)
        self.params = (ctypes.c_void_p * 1)(ctypes.addressof(self.ns))

    def measure(self, work: Any) -> float:
        """Microseconds between the events around `work()`."""
        params = ctypes.addressof(self.params)
        call("cuLaunchKernel", self.spin, 1, 1, 1, 1, 1, 1, 0, self.stream, params, 0)
        call("cuEventRecord", self.start, self.stream)
        work()
        call("cuEventRecord", self.end, self.stream)
        call("cuEventSynchronize", self.end)
        return (
            call(
                "cuEventElapsedTime_v2"
                if hasattr(_driver(), "cuEventElapsedTime_v2")
                else "cuEventElapsedTime",
                self.start,
                self.end,
            )
            * 1e3
        )


class Side(ABC):
    """One implementation of the kernels."""

    name: str

    def __init__(self) -> None:
        self.values: dict[str, Any] = {}

    @abstractmethod
    def place(self, case: Case) -> None:
        """Puts the arrays of `case` on the device."""

    @abstractmethod
    def release(self) -> None:
        """Takes them off again."""

    @abstractmethod
    def function(self, kernel: Kernel) -> Any:
        """The C function, as ctypes calls it."""

    @abstractmethod
    def fetch(self, name: str, like: Array) -> Array:
        """The device's copy of array `name`."""

    @abstractmethod
    def stream(self) -> int:
        """The stream that the kernels of this side run on."""

    def invoke(self, kernel: Kernel, case: Case) -> Any:
        """A function that calls the kernel once with the placed arguments."""
        function = self.function(kernel)
        function.restype = None
        args = case.arguments(self.values)
        return lambda: function(*args)

    def run_once(self, kernel: Kernel, case: Case) -> dict[str, Array]:
        """Calls the kernel once on fresh arrays; the outputs."""
        self.place(case)
        try:
            self.invoke(kernel, case)()
            call("cuCtxSynchronize")
            return {
                name: case.args[name].copy()  # pyright: ignore[reportAttributeAccessIssue]
                if name == case.host_result
                else self.fetch(name, case.args[name])  # pyright: ignore[reportArgumentType]
                for name in case.outputs
            }
        finally:
            self.release()

    def sample(self, kernel: Kernel, case: Case, samples: int) -> list[float]:
        """Places the arrays and times `samples` calls, in microseconds."""
        self.place(case)
        try:
            return self.time(kernel, case, samples)
        finally:
            self.release()

    def time(self, kernel: Kernel, case: Case, samples: int) -> list[float]:
        """Microseconds of `samples` calls. Read-backs are timed by the host clock."""
        work = self.invoke(kernel, case)
        for _ in range(WARM_UP):
            work()
        call("cuCtxSynchronize")
        if case.host_result is None:
            watch = Stopwatch(self.stream())
            return [watch.measure(work) for _ in range(samples)]
        times: list[float] = []
        for _ in range(samples):
            start = time.perf_counter()
            work()
            times.append((time.perf_counter() - start) * 1e6)
        return times


class CudaSide(Side):
    """A library built by nvcc from `kernels/<file>.cu`; it launches on the default stream."""

    name = "CUDA"

    def __init__(self, library: Path):
        super().__init__()
        self.library = ctypes.CDLL(str(library))

    def place(self, case: Case) -> None:
        for name, value in case.args.items():
            if isinstance(value, int):
                continue
            if name == case.host_result:
                self.values[name] = value.ctypes.data
                continue
            address = call("cuMemAlloc", value.nbytes)
            call("cuMemcpyHtoD", address, value.ctypes.data, value.nbytes)
            self.values[name] = int(address)
        self.owned = [
            n for n, v in case.args.items() if not isinstance(v, int) and n != case.host_result
        ]

    def release(self) -> None:
        call("cuCtxSynchronize")
        for name in self.owned:
            call("cuMemFree", self.values[name])
        self.values.clear()

    def function(self, kernel: Kernel) -> Any:
        return self.library[kernel.name]

    def fetch(self, name: str, like: Array) -> Array:
        out = np.empty_like(like)
        call("cuMemcpyDtoH", out.ctypes.data, self.values[name], out.nbytes)
        return out

    def stream(self) -> int:
        return 0


class PresentSide(Side):
    """A side whose arrays are made present by `acc_copyin` and deleted by `acc_delete`; kernels run on queue
    1."""

    QUEUE = 1

    def __init__(self) -> None:
        super().__init__()
        self.arrays: dict[str, Array] = {}

    def call_on(self, routine: str, array: Array) -> None:
        """Calls a routine with an array's address and bytes."""
        raise NotImplementedError

    def place(self, case: Case) -> None:
        for name, value in case.args.items():
            if isinstance(value, int):
                continue
            self.values[name] = value.ctypes.data
            if name != case.host_result:
                self.arrays[name] = value if name not in case.outputs else value.copy()
                self.values[name] = self.arrays[name].ctypes.data
                self.call_on("acc_copyin", self.arrays[name])

    def release(self) -> None:
        call("cuCtxSynchronize")
        for array in self.arrays.values():
            self.call_on("acc_delete", array)
        self.arrays.clear()
        self.values.clear()

    def fetch(self, name: str, like: Array) -> Array:
        self.call_on("acc_update_self", self.arrays[name])
        return self.arrays[name].copy()


class AccSide(PresentSide):
    """`kernels/<file>.c` compiled by accopt."""

    name = "accopt"

    def __init__(
        self,
        source: Path,
        options: CompileOptions,
    ):
        super().__init__()
        self.executable = build([source], options, DiagnosticSink())
        self.program = Program(self.executable)
        size = (ctypes.c_void_p, ctypes.c_size_t)
        self._routines = {
            name: self.program.function(name, result, size)
            for name, result in (
                ("acc_copyin", ctypes.c_void_p),
                ("acc_delete", None),
                ("acc_update_self", None),
            )
        }

    def call_on(self, routine: str, array: Array) -> None:
        self._routines[routine](array.ctypes.data, array.nbytes)

    def function(self, kernel: Kernel) -> Any:
        return self.program.function(kernel.name, None, None)

    def stream(self) -> int:
        return self.program.stream(self.QUEUE)

    def close(self) -> None:
        self.program.close()


def build_all(builds: Iterable[tuple[Path, CompileOptions]], processes: int | None = None) -> None:
    """Compiles files side by side into the program cache, where `AccSide` finds the executables."""
    with ProcessPoolExecutor(processes, mp_context=get_context("spawn")) as pool:
        list(pool.map(_build, builds))


def _build(file: tuple[Path, CompileOptions]) -> None:
    source, options = file
    build([source], options, DiagnosticSink())


def build_cuda(source: Path, directory: Path, *options: str) -> Path:
    """Compiles a CUDA file to a shared library in a folder; raises `CalledProcessError`, after nvcc's log on
    standard error."""
    library = directory / f"{source.stem}.so"
    command = ["nvcc", "-O3", "-arch=sm_90", *options, "-shared", "-Xcompiler", "-fPIC"]
    subprocess.run([*command, str(source), "-o", str(library)], check=True)
    return library


def check(side: Side, kernel: Kernel, case: Case) -> str | None:
    """Runs the kernel once and compares with the float64 reference; what is wrong, or None."""
    return case.wrong(side.run_once(kernel, case))


def differs(sides: tuple[Side, Side], kernel: Kernel, case: Case) -> str | None:
    """Compares the two sides with each other at the measured size; what is wrong, or None."""
    first, second = (side.run_once(kernel, case) for side in sides)
    for name in case.outputs:
        error = error_of(second[name], first[name])
        if not error <= case.tolerance:
            return f"{name} differs from CUDA's by {error:.2e}"
    return None


def bandwidth_ceilings() -> tuple[float, float]:
    """This device's rates now: bytes/s of a large copy (read + write), and float32 flop/s."""
    size = 1 << 30
    source, target = call("cuMemAlloc", size), call("cuMemAlloc", size)
    call("cuMemsetD32", source, 0x3F800000, size // 4)
    watch = Stopwatch(0)
    samples = [
        watch.measure(lambda: call("cuMemcpyDtoDAsync", target, source, size, 0)) for _ in range(12)
    ]
    call("cuMemFree", source)
    call("cuMemFree", target)
    device = call("cuDeviceGet", 0)
    attribute = _driver().CUdevice_attribute
    processors = call(
        "cuDeviceGetAttribute", attribute.CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, device
    )
    clock_khz = call("cuDeviceGetAttribute", attribute.CU_DEVICE_ATTRIBUTE_CLOCK_RATE, device)
    return 2.0 * size / (
        sorted(samples)[len(samples) // 2] * 1e-6
    ), processors * 128 * 2 * clock_khz * 1e3
