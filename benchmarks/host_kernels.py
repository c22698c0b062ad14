"""
The kernels of the bench on CPU threads, beside GCC's OpenMP: `python -m benchmarks.host_kernels [KERNEL …]`,
on any machine with gcc.

GCC compiles the texts of `kernels/*.c` with directives of OpenMP in place of those of OpenACC (`openmp`),
with `-O3 -march=native -fopenmp`; scans, which OpenMP writes differently, are left out. Both sides check
their results at the small size, and are timed at a size for CPUs (`SIZES`), in turns, in processes of their
own. Our arrays are present, as in the table for GPUs; no construct is asynchronous. Options and columns are
those of `benchmarks.host`.
"""

from __future__ import annotations

import argparse
import ctypes
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from accopt.compiler.api import Program, RunOptions, compile_files
from accopt.compiler.base.options import CompileOptions

from .gcc import FILES
from .host import Row, alternately, parser, report
from .specs import KERNELS, Array, Case, Kernel

HERE = Path(__file__).parent
TOLERANCE = 1e-3
"""Of checksums: GCC adds the 2^24 floats of `dot_f32` one by one, which makes an error of 4e-4."""
FEWEST, MOST = 3, 1000
"""Timed calls of a kernel in a process."""
SIZES = {
    **dict.fromkeys(("copy_f32", "vecprod_f32", "vecprod_f64", "saxpy", "nearest"), 1 << 24),
    **dict.fromkeys(("histogram", "sum_f32", "max_f32", "dot_f32"), 1 << 24),
    **dict.fromkeys(("matadd", "transpose", "jacobi5", "jacobi9", "heat2d", "hotspot"), 4096),
    **dict.fromkeys(("laplacian", "divergence", "wave13", "himeno"), 192),
    **dict.fromkeys(("x_reuse", "y_reuse"), 2048),
    **dict.fromkeys(("matmul", "matmul_tiled"), 512),
    "nbody": 8192,
    "csr": 1 << 18,
    "dyadic": 16384,
    "monte_carlo": 1 << 14,
}
"""The size of each kernel: arrays exceed a core's caches, and a call takes some tens of milliseconds."""

_DIRECTIVE = re.compile(r"#pragma acc (parallel loop|loop|atomic|cache)(.*)")
_KEPT = re.compile(r"\b(?:collapse|reduction) *\([^()]*\)")


def openmp(text: str) -> str:
    """
    A file of kernels with OpenMP's directives: `parallel for` with the clauses `collapse` and `reduction`,
    `simd` for inner loops that reduce, `atomic`. Other directives of inner loops are left out.
    """
    return _DIRECTIVE.sub(lambda found: _translated(found[1], found[2]), text)


def _translated(name: str, rest: str) -> str:
    kept = " ".join(_KEPT.findall(rest))
    if name == "parallel loop":
        return f"#pragma omp parallel for {kept}".rstrip()
    if name == "atomic":
        return f"#pragma omp atomic{rest}"
    return f"#pragma omp simd {kept}" if "reduction" in kept else ""


def chosen(names: Sequence[str]) -> list[Kernel]:
    """The kernels of these names, all that GCC compiles if there are none; a wrong name ends the command."""
    found = [k for k in KERNELS if k.file in FILES and (not names or k.name in names)]
    if unknown := set(names) - {k.name for k in found}:
        raise SystemExit(f"there are no kernels {', '.join(sorted(unknown))}")
    return found


class GccSide:
    """
    `kernels/<file>.c` with OpenMP's directives, compiled by GCC into `folder`. The environment has the number
    of threads: GCC's library reads it when the process starts.
    """

    def __init__(self, folder: Path, *, fast_math: bool, threads: int):
        self.folder = folder
        self.flags = ["-ffast-math"] if fast_math else []
        self.libraries: dict[str, ctypes.CDLL] = {}

    def _library(self, file: str) -> ctypes.CDLL:
        source, library = (self.folder / f"{file}_omp{suffix}" for suffix in (".c", ".so"))
        source.write_text(openmp((HERE / "kernels" / f"{file}.c").read_text()))
        options = ["-O3", "-march=native", "-fopenmp", "-w", "-shared", "-fPIC", *self.flags]
        subprocess.run(["gcc", *options, str(source), "-o", str(library), "-lm"], check=True)
        return ctypes.CDLL(str(library))

    def function(self, kernel: Kernel) -> Any:
        """The C function; its file is compiled when the first is asked for."""
        if kernel.file not in self.libraries:
            self.libraries[kernel.file] = self._library(kernel.file)
        function = self.libraries[kernel.file][kernel.name]
        function.restype = None
        return function

    def place(self, arrays: Mapping[str, Array]) -> None:
        """Kernels use the arrays where they are."""

    def fetch(self, arrays: Mapping[str, Array]) -> None:
        """They have the results."""


class AccSide:
    """`kernels/<file>.c` compiled by accopt; arrays are present on the device."""

    def __init__(self, folder: Path, *, fast_math: bool, threads: int):
        self.folder = folder
        self.options = CompileOptions(target="host", fast_math=fast_math)
        self.run_options = RunOptions(threads=threads)
        self.programs: dict[str, Program] = {}

    def _program(self, file: str) -> Program:
        source = self.folder / f"{file}.c"
        text = (HERE / "kernels" / f"{file}.c").read_text()
        source.write_text(text.replace("async(1) ", ""))
        return compile_files([source], self.options, self.run_options)

    def function(self, kernel: Kernel) -> Any:
        """The C function; its file is compiled when the first is asked for."""
        if kernel.file not in self.programs:
            self.programs[kernel.file] = self._program(kernel.file)
        self.program = self.programs[kernel.file]
        return self.program.function(kernel.name, None, None)

    def place(self, arrays: Mapping[str, Array]) -> None:
        """Makes the arrays present for the kernel that was asked for last."""
        self._all("acc_copyin", ctypes.c_void_p, arrays)

    def fetch(self, arrays: Mapping[str, Array]) -> None:
        """Copies the results to the arrays, and ends their presence."""
        self._all("acc_copyout", None, arrays)

    def _all(self, routine: str, result: Any, arrays: Mapping[str, Array]) -> None:
        call = self.program.function(routine, result, (ctypes.c_void_p, ctypes.c_size_t))
        for array in arrays.values():
            call(array.ctypes.data, array.nbytes)


Side = GccSide | AccSide
SIDES: dict[str, type[Side]] = {"gcc": GccSide, "accopt": AccSide}


def _run(
    side: Side, kernel: Kernel, case: Case, use: Callable[[Callable[[], None]], None]
) -> dict[str, Array]:
    """Has `use` call the kernel with the arrays of `case`; returns these as they are then."""
    arrays = {n: v.copy() for n, v in case.args.items() if not isinstance(v, int)}
    mapped = {n: a for n, a in arrays.items() if n != case.host_result}
    function = side.function(kernel)
    arguments = case.arguments({n: a.ctypes.data for n, a in arrays.items()})
    side.place(mapped)
    use(lambda: function(*arguments))
    side.fetch(mapped)
    return arrays


def timed(side: Side, kernel: Kernel, case: Case, budget: float) -> str:
    """
    The line of a kernel as `benchmarks.host` reads it: name, calls, least and median wall-clock µs of a
    call, CPU µs of a call, the sum of the results after the first call. `budget` is in seconds.
    """
    times: list[float] = []
    spent = 0.0

    def many(call: Callable[[], None]) -> None:
        nonlocal spent
        call()
        end, before = time.perf_counter() + budget, time.process_time()
        while len(times) < FEWEST or (len(times) < MOST and time.perf_counter() < end):
            start = time.perf_counter()
            call()
            times.append((time.perf_counter() - start) * 1e6)
        spent = (time.process_time() - before) * 1e6

    first = _run(side, kernel, case, lambda call: call())
    checksum = sum(float(np.abs(first[name].astype(np.float64)).sum()) for name in case.outputs)
    _run(side, kernel, case, many)
    least, median, cpu = min(times), statistics.median(times), spent / len(times)
    return f"{kernel.name} {len(times)} {least} {median} {cpu} {checksum!r}"


def lines(side: Side, kernels: Sequence[Kernel], budget: float) -> Iterator[str]:
    """The lines of kernels. Raises `RuntimeError` if the results of one are wrong at its small size."""
    for kernel in kernels:
        small = kernel.make(kernel.small)
        if wrong := small.wrong(_run(side, kernel, small, lambda call: call())):
            raise RuntimeError(f"{kernel.name}: {wrong}")
        yield timed(side, kernel, kernel.make(SIZES[kernel.name]), budget)


def measured(args: argparse.Namespace, threads: int) -> list[Row]:
    """Both sides in turns, each in a process that runs this command with `--side`."""
    rest = ["--budget", str(args.budget), *(["--fast-math"] if args.fast_math else [])]
    command = [
        sys.executable,
        "-m",
        "benchmarks.host_kernels",
        f"--threads={threads}",
        *rest,
        *args.kernels,
    ]
    gcc, accopt = ([*command, "--side", side] for side in SIDES)
    return alternately(gcc, accopt, threads, args.turns, TOLERANCE)


def options() -> argparse.ArgumentParser:
    """The command's options."""
    found = parser("benchmarks.host_kernels", (__doc__ or "").split("\n")[1])
    found.add_argument("--side", choices=SIDES, help="only run this side, and print its times")
    return found


def main() -> int:
    args = options().parse_args()
    kernels = chosen(args.kernels)
    if args.side:
        with tempfile.TemporaryDirectory() as folder:
            side = SIDES[args.side](
                Path(folder), fast_math=args.fast_math, threads=int(args.threads)
            )
            for line in lines(side, kernels, args.budget / 1000):
                print(line, flush=True)
        return 0
    return report([r for n in args.threads.split(",") for r in measured(args, int(n))], args)


if __name__ == "__main__":
    sys.exit(main())
