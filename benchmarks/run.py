"""
The kernel bench: `python -m benchmarks.run` on a machine with an NVIDIA GPU and nvcc.

For every kernel it checks the OpenACC and the CUDA version against the float64 reference at a small
size, compares their outputs with each other at the measured size, times both with CUDA events on
data that is already on the device, and prints one table. `--json FILE` keeps the numbers and
`--plot DIR` draws them. `--gcc FOLDER` adds GCC's offloading, from what `benchmarks.gcc` has built there.

Each sample queues the kernel behind a short busy kernel, so that the time between the two events is
the kernel's and not that of launching it. Kernels that end with a read-back (the reductions) are timed
with the host clock around the call, synchronised on both sides.
"""

from __future__ import annotations

import argparse
import json
import shutil
import statistics
import sys
import tempfile
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from accopt.compiler.base.options import CompileOptions
from accopt.runtime.errors import NoDeviceError

from .gcc import FILES as GCC_FILES
from .gcc import GccSide
from .harness import AccSide, CudaSide, Side, bandwidth_ceilings, build_cuda, check, differs
from .specs import KERNELS, Kernel

HERE = Path(__file__).parent
SAMPLES = 25
GCC_SAMPLES = 7


@dataclass(frozen=True)
class Row:
    """
    One line of the table: medians in microseconds, `ratio` is CUDA's time over ours. `gcc_us` is 0 if GCC
    was not measured; `gcc_problem` describes a wrong result of GCC.
    """

    kernel: str
    cuda_us: float
    acc_us: float
    ratio: float
    gbytes_per_s: float
    gflops_per_s: float
    of_roofline: float
    acc_spread: float
    problem: str | None = None
    gcc_us: float = 0.0
    gcc_problem: str | None = None


def build_kernels(file: str, directory: Path) -> Path:
    """The library of `kernels/<file>.cu` (`build_cuda`)."""
    return build_cuda(HERE / "kernels" / f"{file}.cu", directory, "--extended-lambda")


def measure(kernel: Kernel, sides: tuple[Side, Side], ceilings: tuple[float, float]) -> Row:
    """Checks and times one kernel on both sides. `ceilings`: bytes/s of a copy, flop/s."""
    for side in sides:
        problem = check(side, kernel, kernel.make(kernel.small))
        if problem is not None:
            return Row(kernel.name, 0, 0, 0, 0, 0, 0, 0, f"{side.name}: {problem}")
    case = kernel.make(kernel.size)
    problem = differs(sides, kernel, case)
    times = [side.sample(kernel, case, SAMPLES) for side in sides]
    cuda, acc = (statistics.median(t) for t in times)
    floor = max(case.bytes / ceilings[0], case.flops / ceilings[1]) * 1e6
    return Row(
        kernel.name,
        cuda,
        acc,
        cuda / acc,
        case.bytes / acc * 1e-3,
        case.flops / acc * 1e-3,
        floor / acc,
        (max(times[1]) - min(times[1])) / acc,
        problem,
    )


def with_gcc(row: Row, gcc: Side, kernel: Kernel) -> Row:
    """The row with GCC's time, if its result is right."""
    problem = check(gcc, kernel, kernel.make(kernel.small))
    if problem is not None:
        return replace(row, gcc_problem=problem)
    times = gcc.sample(kernel, kernel.make(kernel.size), GCC_SAMPLES)
    return replace(row, gcc_us=statistics.median(times))


def geometric_mean(values: list[float]) -> float:
    return statistics.geometric_mean(values) if values else 0.0


def print_table(rows: list[Row]) -> None:
    print(
        f"{'kernel':14s} {'CUDA µs':>10s} {'accopt µs':>10s} {'ratio':>6s} {'GB/s':>7s} {'GFLOP/s':>8s}"
        f" {'roof':>5s} {'GCC µs':>10s} {'ratio':>6s}"
    )
    for row in rows:
        if row.ratio == 0:
            print(f"{row.kernel:14s} FAILED: {row.problem}")
            continue
        note = f"  {row.problem}" if row.problem else ""
        note += f"  GCC: {row.gcc_problem}" if row.gcc_problem else ""
        gcc = f" {row.gcc_us:10.1f} {row.gcc_us / row.acc_us:6.2f}" if row.gcc_us else ""
        print(
            f"{row.kernel:14s} {row.cuda_us:10.1f} {row.acc_us:10.1f} {row.ratio:6.2f}"
            f" {row.gbytes_per_s:7.0f} {row.gflops_per_s:8.0f} {row.of_roofline:5.2f}{gcc}{note}"
        )
    good = [row.ratio for row in rows if row.ratio > 0]
    print(
        f"geometric mean {geometric_mean(good):.3f} over {len(good)} kernels,"
        f" lowest {min(good, default=0):.2f}"
    )
    gcc = [row.gcc_us / row.acc_us for row in rows if row.gcc_us > 0]
    if gcc:
        print(f"faster than GCC by {geometric_mean(gcc):.2f}, lowest {min(gcc):.2f}")


def markdown(rows: list[Row]) -> str:
    """The table in the form of docs/performance.md."""
    lines = [
        "| kernel | CUDA µs | accopt µs | CUDA / accopt | GB/s | GFLOP/s | of roofline | GCC µs |",
        "|---|---|---|---|---|---|---|---|",
    ]
    lines += [
        f"| {r.kernel} | {r.cuda_us:.1f} | {r.acc_us:.1f} | {r.ratio:.2f} | {r.gbytes_per_s:.0f} |"
        f" {r.gflops_per_s:.0f} | {r.of_roofline:.2f} | {f'{r.gcc_us:.1f}' if r.gcc_us else '–'} |"
        for r in rows
        if r.ratio > 0
    ]
    return "\n".join(lines) + "\n"


def plot(rows: list[Row], directory: Path) -> None:
    """Writes `ratios.png`: CUDA's time over ours, one bar per kernel."""
    from .plots import bars, new_figure, save

    figure = new_figure(11, 4)
    ratios = {"accopt": {r.kernel: r.ratio for r in rows}}
    names = [r.kernel for r in rows]
    bars(figure.subplots(), names, ratios, label="CUDA time / accopt time", rotation=70)
    save(figure, directory / "ratios.png")


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="benchmarks.run", description=(__doc__ or "").split("\n")[1]
    )
    parser.add_argument("kernels", nargs="*", help="names of kernels (default: all)")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--markdown", type=Path)
    parser.add_argument("--plot", type=Path)
    parser.add_argument("--gcc", type=Path, help="folder made by benchmarks.gcc")
    parser.add_argument("--fast-math", action="store_true", help="for the OpenACC side")
    parser.add_argument("--pass-option", action="append", default=[])
    args = parser.parse_args()
    known = [kernel.name for kernel in KERNELS]
    for name in args.kernels:
        if name not in known:
            parser.error(f"there is no kernel '{name}'; choose of {', '.join(known)}")
    if shutil.which("nvcc") is None:
        parser.error("nvcc is not in PATH")
    chosen = [k for k in KERNELS if not args.kernels or k.name in args.kernels]
    passes = tuple(args.pass_option)
    options = CompileOptions(target="nvptx", pass_options=passes, fast_math=args.fast_math)
    rows: list[Row] = []
    with tempfile.TemporaryDirectory() as directory:
        for file in dict.fromkeys(k.file for k in chosen):
            source = HERE / "kernels" / f"{file}.c"
            acc = AccSide(source, options)
            cuda = CudaSide(build_kernels(file, Path(directory)))
            ceilings = bandwidth_ceilings()
            gcc = GccSide(args.gcc, file) if args.gcc and file in GCC_FILES else None
            for kernel in chosen:
                if kernel.file == file:
                    row = measure(kernel, (cuda, acc), ceilings)
                    rows.append(row if gcc is None else with_gcc(row, gcc, kernel))
                    print(rows[-1], file=sys.stderr, flush=True)
            acc.close()
    print_table(rows)
    if args.json:
        args.json.write_text(json.dumps([asdict(row) for row in rows], indent=1))
    if args.markdown:
        args.markdown.write_text(markdown(rows))
    if args.plot:
        plot([row for row in rows if row.ratio > 0], args.plot)
    return 0 if all(row.ratio > 0 and row.problem is None for row in rows) else 1


if __name__ == "__main__":
    try:
        sys.exit(main())
    except NoDeviceError as failure:
        sys.exit(f"error: {failure}")
