"""
The product of matrices as existing programs write it (`kernels/products.c`), compared with cuBLAS.

    python -m benchmarks.products [SPELLING ...] [--type float|double] [--size N]

Each spelling is a file of its own. They are compiled in as many processes as there are processors, checked
at two small sizes (one is a multiple of 16), and timed on a GPU at N. If the machine has cuBLAS, its
product comes last.
"""

from __future__ import annotations

import argparse
import ctypes
import os
import re
import statistics
import sys
import tempfile
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from accopt.compiler.base.options import CompileOptions

from .forms import HERE
from .harness import AccSide, Stopwatch, build_all, call, check
from .specs import Array, Case, Kernel

SOURCE = HERE / "kernels" / "products.c"
SMALL = (96, 65)
TYPES: Mapping[str, Any] = {"float": np.float32, "double": np.float64}
SAMPLES = 5
CUBLAS = ("libcublas.so.13", "libcublas.so.12", "libcublas.so")


def spellings() -> list[str]:
    """The names of the functions in the file."""
    found = re.findall(r"^(?:void |PRODUCT\()(\w+)[(,]", SOURCE.read_text(), re.MULTILINE)
    return [name for name in found if name != "name"]


def write_spellings(names: Sequence[str], folder: Path) -> Path:
    """A file with only these functions and those that they call, named after the first one."""
    pieces = re.split(r"\n(?=PRODUCT\()|\n(?=\n)", SOURCE.read_text())
    defines = re.compile(r"^(?:void |PRODUCT\()(\w+)", re.MULTILINE)
    kept = [p for p in pieces if not (found := defines.search(p)) or found[1] in (*names, "name")]
    path = folder / f"{names[0]}.c"
    path.write_text("\n".join(kept) + "\n")
    return path


def case_of(name: str, kind: str, n: int) -> Case:
    """Matrices of small integers, whose products are exact in any order."""
    random = np.random.default_rng(7)
    a: Array = random.integers(-4, 5, (n, n)).astype(TYPES[kind])
    b: Array = random.integers(-4, 5, (n, n)).astype(TYPES[kind])
    c: Array = np.full((n, n), -1, TYPES[kind])
    return Case(
        {"n": n, "a": a, "b": b, "c": c},
        ("c",),
        lambda: {"c": expected(name, a, b)},
        3.0 * a.nbytes,
        2.0 * n**3,
    )


def expected(name: str, a: Array, b: Array) -> Array:
    """The expected result of a spelling, in memory order."""
    transposed = re.fullmatch(r"(rows|columns)_([nt])([nt])", name)
    if transposed is None:
        return a @ b
    order, left, right = transposed.groups()
    x, y = (a, b) if order == "rows" else (a.T, b.T)
    product = (x.T if left == "t" else x) @ (y.T if right == "t" else y)
    return product if order == "rows" else np.ascontiguousarray(product.T)


def kernel_of(name: str, kind: str, size: int) -> Kernel:
    """A spelling as a kernel of the bench."""
    return Kernel(name, "products", partial(case_of, name, kind), size, SMALL[1])


def measure(path: Path, kind: str, options: CompileOptions, size: int) -> float | str:
    """Microseconds of a spelling, or what is wrong with its results."""
    name = path.stem
    kernel = kernel_of(name, kind, size)
    side = AccSide(path, options)
    try:
        for small in SMALL:
            problem = check(side, kernel, kernel.make(small))
            if problem is not None:
                return f"FAILED for {small}: {problem}"
        return statistics.median(side.sample(kernel, kernel.make(size), SAMPLES))
    finally:
        side.close()


def cublas(kind: str, n: int) -> float | None:
    """Microseconds of cuBLAS's product; None without the library. Needs a current context."""
    for name in CUBLAS:
        try:
            library = ctypes.CDLL(name)
            break
        except OSError:
            continue
    else:
        return None
    handle = ctypes.c_void_p()
    if library.cublasCreate_v2(ctypes.byref(handle)):
        return None
    size = np.dtype(TYPES[kind]).itemsize * n * n
    arrays = [ctypes.c_void_p(int(call("cuMemAlloc", size))) for _ in range(3)]
    for array in arrays:
        call("cuMemsetD8", array.value, 0, size)
    real = ctypes.c_float if kind == "float" else ctypes.c_double
    one, zero = real(1), real(0)
    function = library.cublasSgemm_v2 if kind == "float" else library.cublasDgemm_v2

    def work() -> None:
        function(
            handle,
            0,
            0,
            n,
            n,
            n,
            ctypes.byref(one),
            arrays[0],
            n,
            arrays[1],
            n,
            ctypes.byref(zero),
            arrays[2],
            n,
        )

    work()
    watch = Stopwatch(0)
    median = statistics.median(watch.measure(work) for _ in range(SAMPLES))
    for array in arrays:
        call("cuMemFree", array.value)
    library.cublasDestroy_v2(handle)
    return median


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="benchmarks.products", description=(__doc__ or "").split("\n")[1]
    )
    parser.add_argument("spellings", nargs="*", help="names of functions (default: all)")
    parser.add_argument("--type", choices=list(TYPES), default="float")
    parser.add_argument("--fast-math", action="store_true")
    parser.add_argument("--pass-option", action="append", default=[])
    parser.add_argument("--size", type=int, default=4096)
    args = parser.parse_args()
    options = CompileOptions(
        target="nvptx",
        pass_options=tuple(args.pass_option),
        fast_math=args.fast_math,
        defines=(f"REAL={args.type}",),
    )
    flops = 2.0 * args.size**3
    times: list[float] = []
    with tempfile.TemporaryDirectory() as scratch:
        paths = [write_spellings([n], Path(scratch)) for n in args.spellings or spellings()]
        build_all(((path, options) for path in paths), len(os.sched_getaffinity(0)))
        for path in paths:
            took = measure(path, args.type, options, args.size)
            if isinstance(took, str):
                print(f"{path.stem:20s} {took}", flush=True)
                continue
            times.append(took)
            print(f"{path.stem:20s} {took:10.1f} µs {flops / took * 1e-6:6.1f} TFLOP/s", flush=True)
    vendor = cublas(args.type, args.size)
    if vendor is not None:
        print(f"{'cuBLAS':20s} {vendor:10.1f} µs {flops / vendor * 1e-6:6.1f} TFLOP/s")
    if times:
        print(f"the slowest takes {max(times) / min(times):.2f} times as long as the best")
    return 0 if len(times) == len(paths) else 1


if __name__ == "__main__":
    sys.exit(main())
