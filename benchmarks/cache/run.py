"""
The bench of the `cache` directive: `python -m benchmarks.cache.run` on a machine with an NVIDIA GPU and
nvcc.

Every kernel runs as OpenACC without the directive, with it (as decided, and by each method), and as
hand-written CUDA with shared memory; results are checked against float64 references at a small size
and against CUDA at the measured one. Then the shared-memory micro-benchmark and the two write-policy
workloads. `--json FILE` keeps the numbers, `--plot DIR` draws the figures.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import statistics
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path

import numpy as np
from accopt.compiler.base.options import CompileOptions

from ..harness import AccSide, CudaSide, Side, Stopwatch, build_all, build_cuda, call, check
from ..specs import Array, Case, Kernel, error_of
from .specs import MEASURED, METHODS, SIZES, Measured, Variant, write_case

HERE = Path(__file__).parent
SOURCE = HERE / "kernels" / "cache.c"
PASS = "promote-cache-to-shared"
SAMPLES = 15
WRITE_STEPS = (4, 16, 64, 256, 1024, 4096)
WRITE_SIZES = (4096, 131072)
MICRO_SIZE = 4096


@dataclass(frozen=True)
class Row:
    """One variant of one kernel: median microseconds, the ratio of CUDA's time to it, and the resources of
    a block."""

    kernel: str
    variant: str
    us: float
    ratio: float
    gflops_per_s: float
    gbytes_per_s: float
    registers: int = 0
    shared_bytes: int = 0
    occupancy: float = 0.0
    problem: str | None = None


@dataclass(frozen=True)
class WriteRow:
    """A write-policy workload."""

    pattern: str
    policy: str
    n: int
    steps: int
    us: float
    problem: str | None = None


@dataclass(frozen=True)
class MicroRow:
    """One configuration of the shared-memory micro-benchmark."""

    layout: str
    type: str
    padding: int
    order: str
    iterations: int
    us: float


@dataclass(frozen=True)
class SizeRow:
    """One variant of one kernel at one size."""

    kernel: str
    variant: str
    n: int
    us: float


def options_of(variant: Variant) -> CompileOptions:
    """The options with which `cache.c` is compiled to the variant."""
    return CompileOptions(
        target="nvptx",
        pass_options=(f"{PASS}{{{variant.options}}}",) if variant.options else (),
        defines=("NO_CACHE",) if variant.plain else (),
    )


def sides_of(variants: Mapping[str, Variant]) -> dict[str, AccSide]:
    """`cache.c` compiled to each variant, by name."""
    return {name: AccSide(SOURCE, options_of(variant)) for name, variant in variants.items()}


def occupancies(side: AccSide) -> dict[str, tuple[int, int, float]]:
    """
    Registers per thread, shared bytes per block and occupancy of every function's kernel; if it has several
    versions, of the one with the largest blocks.
    """
    executable = side.executable
    module = call("cuModuleLoadData", executable.ptx.encode() + b"\0")
    found: dict[str, tuple[int, int, float]] = {}
    for site in executable.sites:
        kernel = site.get("kernel")
        if not kernel:
            continue
        function = call("cuModuleGetFunction", module, str(kernel).encode())
        found.setdefault(str(site["function"]), occupancy(function))
    call("cuModuleUnload", module)
    return found


def occupancy(function: object) -> tuple[int, int, float]:
    """Registers, shared bytes and occupancy (the part of a multiprocessor's threads that can be resident)
    of a kernel."""
    from cuda.bindings import driver

    attribute = driver.CUfunction_attribute
    registers = call("cuFuncGetAttribute", attribute.CU_FUNC_ATTRIBUTE_NUM_REGS, function)
    shared = call("cuFuncGetAttribute", attribute.CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, function)
    threads = call(
        "cuFuncGetAttribute", attribute.CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, function
    )
    blocks = call("cuOccupancyMaxActiveBlocksPerMultiprocessor", function, threads, 0)
    return registers, shared, blocks * threads / 2048


def time_side(side: Side, kernel: Kernel, case: Case) -> tuple[float, dict[str, Array]]:
    """The median of several calls, and the outputs of one call on fresh arrays."""
    outputs = side.run_once(kernel, case)
    return statistics.median(side.sample(kernel, case, SAMPLES)), outputs


def measure(
    item: Measured,
    cuda: CudaSide,
    accs: dict[str, AccSide],
    needs: dict[str, dict[str, tuple[int, int, float]]],
) -> list[Row]:
    """All variants of one kernel, CUDA first."""
    kernel = item.kernel
    small, case = kernel.make(kernel.small), kernel.make(kernel.size)
    problem = check(cuda, kernel, small)
    base, expected = time_side(cuda, kernel, case)
    rows = [
        Row(
            kernel.name,
            "CUDA",
            base,
            1.0,
            case.flops / base * 1e-3,
            case.bytes / base * 1e-3,
            problem=problem,
        )
    ]
    for variant in item.variants:
        side = accs[variant.name]
        problem = check(side, kernel, small)
        us, outputs = time_side(side, kernel, case)
        for name in case.outputs:
            error = error_of(outputs[name].ravel()[::61], expected[name].ravel()[::61])
            if problem is None and not error <= case.tolerance:
                problem = f"{name} differs from CUDA's by {error:.2e}"
        rows.append(
            Row(
                kernel.name,
                variant.name,
                us,
                base / us,
                case.flops / us * 1e-3,
                case.bytes / us * 1e-3,
                *needs[variant.name].get(kernel.name, (0, 0, 0.0)),
                problem,
            )
        )
    return rows


def measure_sizes(item: Measured, cuda: CudaSide, accs: dict[str, AccSide]) -> list[SizeRow]:
    """The methods over the sizes of a kernel."""
    rows: list[SizeRow] = []
    sides: dict[str, Side] = {"CUDA": cuda}
    sides |= {v.name: accs[v.name] for v in METHODS if v in item.variants}
    for n in SIZES.get(item.kernel.name, ()):
        case = item.kernel.make(n)
        for name, side in sides.items():
            us = statistics.median(side.sample(item.kernel, case, SAMPLES))
            rows.append(SizeRow(item.kernel.name, name, n, us))
    return rows


def measure_writes(accs: dict[str, AccSide]) -> list[WriteRow]:
    """Write-through and write-back over writes per element, dense and sparse, large and small."""
    rows: list[WriteRow] = []
    for sparse in (False, True):
        name = "write_sparse" if sparse else "write_dense"
        kernel = Kernel(name, "cache", lambda n: write_case(n, 4, False), 0, 0)
        for policy, side in accs.items():
            problem = check(side, kernel, write_case(1000, 70, sparse))
            for n in WRITE_SIZES:
                for steps in WRITE_STEPS:
                    case = write_case(n, steps, sparse)
                    us = statistics.median(side.sample(kernel, case, SAMPLES))
                    rows.append(WriteRow(name[6:], policy, n, steps, us, problem))
    return rows


def measure_micro(cuda: CudaSide) -> list[MicroRow]:
    """Types × layout × padding × order × iterations."""
    rows: list[MicroRow] = []
    watch = Stopwatch(0)
    for type_, size in (("int", 4), ("double", 8)):
        array = call("cuMemAlloc", MICRO_SIZE * MICRO_SIZE * size)
        call("cuMemsetD8", array, 0, MICRO_SIZE * MICRO_SIZE * size)
        for layout in ("micro", "flat"):
            for padding in (0, 1):
                for xy in (0, 1):
                    for iterations in (1, 2, 4):
                        function = cuda.library[f"{layout}_{type_}_{padding}_{xy}_{iterations}"]
                        work = partial(
                            function, ctypes.c_int(MICRO_SIZE), ctypes.c_void_p(int(array))
                        )
                        work()
                        us = statistics.median(watch.measure(work) for _ in range(SAMPLES))
                        shape = "2D" if layout == "micro" else "flat"
                        order = "XY" if xy else "YX"
                        rows.append(MicroRow(shape, type_, padding, order, iterations, us))
        call("cuMemFree", array)
    return rows


def print_rows(rows: Sequence[Row]) -> None:
    print(
        f"{'kernel':12s} {'variant':15s} {'µs':>10s} {'of CUDA':>8s} {'GFLOP/s':>8s} {'GB/s':>6s}"
        f" {'regs':>5s} {'shared':>7s} {'occup.':>6s}"
    )
    for row in rows:
        print(
            f"{row.kernel:12s} {row.variant:15s} {row.us:10.1f} {row.ratio:8.2f}"
            f" {row.gflops_per_s:8.0f} {row.gbytes_per_s:6.0f} {row.registers:5d}"
            f" {row.shared_bytes:7d} {row.occupancy:6.2f}  {row.problem or ''}"
        )


def main() -> int:
    parser = argparse.ArgumentParser(prog="benchmarks.cache.run")
    parser.add_argument("kernels", nargs="*", help="names of kernels, or writes (default: all)")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--plot", type=Path)
    args = parser.parse_args()
    chosen = [m for m in MEASURED if not args.kernels or m.kernel.name in args.kernels]
    variants = {v.name: v for m in chosen for v in m.variants}
    rows: list[Row] = []
    sizes: list[SizeRow] = []
    with tempfile.TemporaryDirectory() as directory:
        policies = {
            policy: Variant(policy, f"promote=always write={policy}")
            for policy in ("through", "back", "mask")
        }
        every = (*variants.values(), *policies.values())
        build_all((SOURCE, options_of(variant)) for variant in every)
        cuda = CudaSide(build_cuda(HERE / "kernels" / "cache.cu", Path(directory)))
        accs = sides_of(variants)
        needs = {name: occupancies(side) for name, side in accs.items()}
        for item in chosen:
            rows += measure(item, cuda, accs, needs)
            sizes += measure_sizes(item, cuda, accs)
            print_rows(rows[-len(item.variants) - 1 :])
            sys.stdout.flush()
        writes: list[WriteRow] = []
        micro: list[MicroRow] = []
        if not args.kernels or "writes" in args.kernels:
            writes = measure_writes(sides_of(policies))
            micro = measure_micro(cuda)
            for row in writes:
                print(
                    f"{row.pattern} {row.policy} n={row.n} steps={row.steps} {row.us:.1f} µs"
                    f" {row.problem or ''}"
                )
            for row in micro:
                print(
                    f"{row.layout} {row.type} +{row.padding} {row.order} x{row.iterations} {row.us:.1f} µs"
                )
        for side in accs.values():
            side.close()
    numbers = {
        "kernels": [asdict(row) for row in rows],
        "sizes": [asdict(row) for row in sizes],
        "writes": [asdict(row) for row in writes],
        "micro": [asdict(row) for row in micro],
    }
    if args.json:
        args.json.write_text(json.dumps(numbers, indent=1))
    if args.plot:
        from .plots import plot

        plot(numbers, args.plot)
    return 0 if all(row.problem is None for row in rows) else 1


if __name__ == "__main__":
    np.seterr(all="raise")
    sys.exit(main())
