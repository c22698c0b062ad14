"""The programs that the compression benchmarks time: `kernels.c` by accopt, and the CUDA versions."""

from __future__ import annotations

import ctypes
import shutil
import statistics
from collections.abc import Callable, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from accopt.compiler.api import Program, compile_files
from accopt.compiler.base.options import CompileOptions

from ..harness import build_all
from .cases import LONG, Array, Case, Format

SOURCE = Path(__file__).parent / "kernels.c"
SAMPLES = 15
QUEUE = 1
FLUSH_BYTES = 256 << 20

CUDA: dict[tuple[str, type], tuple[str, str]] = {
    ("copy", np.float32): ("streaming", "copy_f32"),
    ("vecprod", np.float32): ("streaming", "vecprod_f32"),
    ("vecprod", np.float64): ("streaming", "vecprod_f64"),
    ("matadd", np.float32): ("streaming", "matadd"),
    ("nearest_aos", np.float32): ("streaming", "nearest"),
    ("hotspot", np.float64): ("stencils", "hotspot"),
    ("matmul", np.float32): ("compute", "matmul"),
    ("dyadic", np.float32): ("compute", "dyadic"),
}
"""Kernel and type → file and function of the hand-written CUDA version, where there is one."""


def defines(dtype: type, fmt: Format | None, hotspot: Iterable[str] = ()) -> tuple[str, ...]:
    """The macros that select the variant of `kernels.c`; `hotspot` names the packed arrays of HotSpot."""
    found = [f"REAL={'float' if dtype is np.float32 else 'double'}"]
    if dtype is np.float64:
        found.append("SQRT=sqrt")
    if fmt is not None:
        clause = f"compression({fmt.modifiers}: __VA_ARGS__)"
        found.append(f"PACKED{'_RECORDS' if fmt.arrays else ''}(...)={clause}")
        found += [f"PACKED_{word.upper()}(...)={clause}" for word in hotspot]
    return tuple(found)


@dataclass(frozen=True)
class Spec:
    """The arguments of a `Variant`, in the order of its parameters."""

    dtype: type
    format: Format | None
    hotspot: tuple[str, ...] = ()
    pass_options: tuple[str, ...] = ()

    def options(self, target: str) -> CompileOptions:
        """The options with which `kernels.c` is compiled to the variant."""
        return CompileOptions(
            target=target,  # pyright: ignore[reportArgumentType]
            defines=defines(self.dtype, self.format, self.hotspot),
            pass_options=self.pass_options,
        )


def prepare(specs: Iterable[Spec]) -> None:
    """Compiles variants for the GPU side by side, into the compiler's cache. Call before CUDA is in use."""
    build_all((SOURCE, spec.options("nvptx")) for spec in dict.fromkeys(specs))


class Variant:
    """`kernels.c` compiled with some arrays packed (`fmt` None: none)."""

    def __init__(
        self,
        dtype: type,
        fmt: Format | None,
        target: str = "nvptx",
        hotspot: tuple[str, ...] = (),
        pass_options: tuple[str, ...] = (),
    ):
        options = Spec(dtype, fmt, hotspot, pass_options).options(target)
        self.format = fmt
        self.program: Program = compile_files([SOURCE], options)
        pointer, size = ctypes.c_void_p, ctypes.c_size_t
        f = self.program.function
        self.copyin = f("acc_copyin", pointer, (pointer, size))
        compress = (pointer, size, ctypes.c_char_p, pointer, ctypes.c_int)
        self.compress = f(
            "acc_compress_copyin", pointer, (*compress, ctypes.c_float, ctypes.c_float)
        )
        self.delete = f("acc_delete", None, (pointer, size))
        self.update = f("acc_update_self", None, (pointer, size))
        self.wait = f("acc_wait_all", None, ())

    def place(self, case: Case) -> None:
        """Puts the arrays on the device."""
        for name, value in case.args.items():
            if isinstance(value, int):
                continue
            address, size = value.ctypes.data, value.nbytes
            if self.format is None or name not in case.packed:
                self.copyin(address, size)
                continue
            low, high = case.ranges.get(name, (0.0, 0.0))
            scan = int(name not in case.ranges)
            text = self.format.type_text.encode()
            self.compress(address, size, text, None, scan, low, high)

    def release(self, case: Case) -> None:
        """Takes them off again."""
        for value in case.args.values():
            if not isinstance(value, int):
                self.delete(value.ctypes.data, value.nbytes)

    def call(self, case: Case) -> Callable[[], Any]:
        """A function that calls the kernel once."""
        function = self.program.function(case.kernel, None, None)
        function.restype = None
        args: list[Any] = []
        for name, value in case.args.items():
            if isinstance(value, int):
                wide = name == "n" and case.kernel in LONG
                args.append(ctypes.c_long(value) if wide else ctypes.c_int(value))
            else:
                args.append(ctypes.c_void_p(value.ctypes.data))
        return lambda: function(*args)

    def result(self, case: Case) -> Array:
        """The output after one call."""
        output = case.args[case.output]
        assert not isinstance(output, int)
        self.place(case)
        try:
            self.call(case)()
            self.wait()
            self.update(output.ctypes.data, output.nbytes)
            return output.copy()
        finally:
            self.release(case)
            output[:] = 0

    def time(self, case: Case, *, cold: bool = True, samples: int = SAMPLES) -> float:
        """Median microseconds of the kernel; `cold`: with the L2 cache full of other data."""
        (found,) = self.times([case], caches=(cold,), samples=samples)
        return found[0]

    def times(
        self,
        cases: Iterable[Case],
        *,
        caches: tuple[bool, ...] = (True, False),
        samples: int = SAMPLES,
    ) -> list[tuple[float, ...]]:
        """
        As `time`, of several kernels on the same arrays (those of the first case), a time for each
        of `caches`: whether the cache is cold.
        """
        from ..harness import Stopwatch, call

        known = list(cases)
        flush = call("cuMemAlloc", FLUSH_BYTES)
        self.place(known[0])
        try:
            return [
                tuple(self._time(case, flush, cold, samples, Stopwatch, call) for cold in caches)
                for case in known
            ]
        finally:
            self.wait()
            self.release(known[0])
            call("cuMemFree", flush)

    def _time(
        self, case: Case, flush: int, cold: bool, samples: int, stopwatch: Any, call: Any
    ) -> float:
        work = self.call(case)
        for _ in range(3):
            work()
        self.wait()
        stream = self.program.stream(QUEUE)
        watch = stopwatch(stream)
        found: list[float] = []
        for number in range(samples):
            if cold:
                call("cuMemsetD32Async", flush, number, FLUSH_BYTES // 4, stream)
            found.append(watch.measure(work))
        return statistics.median(found)


class CudaVersions:
    """The hand-written kernels of `benchmarks/kernels`, built in the background; none without nvcc."""

    def __init__(self, directory: Path, *, enabled: bool = True):
        from ..run import build_kernels

        self._sides: dict[str, Any] = {}
        self._built: dict[str, Future[Any]] = {}
        if enabled and shutil.which("nvcc") is not None:
            pool = ThreadPoolExecutor()
            for file in sorted({file for file, _ in CUDA.values()}):
                self._built[file] = pool.submit(build_kernels, file, directory)

    def time(self, case: Case, dtype: type) -> float | None:
        """Median microseconds of the CUDA version of a case, if there is one."""
        known = CUDA.get((case.kernel, dtype))
        if known is None or not self._built:
            return None
        from ..harness import CudaSide
        from ..specs import Case as CudaCase
        from ..specs import Kernel

        file, function = known
        if file not in self._sides:
            self._sides[file] = CudaSide(self._built[file].result())
        side = self._sides[file]
        again = CudaCase(dict(case.args), (), dict, 0.0, long_ints=case.kernel in LONG)
        kernel = Kernel(function, file, lambda n: again, 0, 0)
        return statistics.median(side.sample(kernel, again, SAMPLES))
