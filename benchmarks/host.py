"""
CPU threads compared with GCC's OpenMP: `python -m benchmarks.host`, on any machine with gcc.

Every kernel in `kernels/host.c` has directives of both. GCC compiles it to one program (`-O3 -march=native
-fopenmp`, with `--fast-math` also `-ffast-math`), accopt to another; they run in turns, each kernel for
`--budget` milliseconds a turn, each compiler first in every second turn. The smallest time of all `--turns`
counts, as the placement of a process's pages varies; the ratio of the medians stands beside it. CPU time,
of all threads of the process, is more reliable than wall-clock time on a machine that others use. Results
are compared by checksums. `--threads 2,16` measures each number of threads;
`--json FILE` and `--markdown FILE` keep the table.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from . import ACCRUN

SOURCE = Path(__file__).parent / "kernels" / "host.c"
TOLERANCE = 1e-4


@dataclass(frozen=True)
class Timing:
    """
    One kernel in one program: least wall-clock and CPU µs of a call, and its checksum; `median_us`: the
    median over processes of the least wall-clock time.
    """

    us: float
    cpu_us: float
    checksum: float
    median_us: float


def combined(turns: Sequence[Timing]) -> Timing:
    """The timings of one kernel in several processes as one."""
    times = [turn.us for turn in turns]
    return Timing(
        min(times),
        min(turn.cpu_us for turn in turns),
        turns[0].checksum,
        statistics.median(times),
    )


@dataclass(frozen=True)
class Row:
    """One kernel with `threads` threads, by GCC and by accopt."""

    kernel: str
    threads: int
    gcc: Timing
    acc: Timing
    tolerance: float = TOLERANCE

    @property
    def ratio(self) -> float:
        """GCC's time over ours."""
        return self.gcc.us / self.acc.us

    @property
    def median_ratio(self) -> float:
        """The same of the medians."""
        return self.gcc.median_us / self.acc.median_us

    @property
    def same(self) -> bool:
        """Whether the results agree."""
        return abs(self.gcc.checksum - self.acc.checksum) <= self.tolerance * abs(self.gcc.checksum)


def build_gcc(folder: Path, flags: Sequence[str]) -> Path:
    """The OpenMP program; raises `CalledProcessError` with GCC's log on standard error."""
    program = folder / "host_openmp"
    command = ["gcc", "-O3", "-march=native", "-fopenmp", "-w", *flags, str(SOURCE)]
    subprocess.run([*command, "-o", str(program), "-lm"], check=True)
    return program


def run(command: Sequence[str], environment: dict[str, str]) -> dict[str, Timing]:
    """The timings that a program prints, by kernel. Raises `CalledProcessError` if it fails."""
    done = subprocess.run(
        command, env={**os.environ, **environment}, check=True, capture_output=True, text=True
    )
    found: dict[str, Timing] = {}
    for line in done.stdout.splitlines():
        name, _, least, _, cpu, checksum = line.split()
        found[name] = Timing(float(least), float(cpu), float(checksum), float(least))
    return found


def alternately(
    gcc: Sequence[str],
    accopt: Sequence[str],
    threads: int,
    turns: int,
    tolerance: float = TOLERANCE,
) -> list[Row]:
    """Runs both commands in turns, each first in every second turn; checksums may differ by `tolerance`."""
    sides: list[tuple[dict[str, list[Timing]], Sequence[str]]] = [({}, gcc), ({}, accopt)]
    for turn in range(turns):
        for found, command in sides if turn % 2 == 0 else sides[::-1]:
            for name, timing in run(command, {"OMP_NUM_THREADS": str(threads)}).items():
                found.setdefault(name, []).append(timing)
    (theirs, _), (own, _) = sides
    return [
        Row(name, threads, combined(theirs[name]), combined(own[name]), tolerance)
        for name in theirs
    ]


def measure(gcc: Path, args: argparse.Namespace, threads: int) -> list[Row]:
    """Both programs of `kernels/host.c`."""
    arguments = [str(args.budget * 1000), *args.kernels]
    options = ["--fast-math"] if args.fast_math else []
    accrun = (*ACCRUN, "--target=host", f"--threads={threads}")
    ours = [*accrun, *options, str(SOURCE), "--", *arguments]
    return alternately([str(gcc), *arguments], ours, threads, args.turns)


def print_table(rows: Sequence[Row]) -> None:
    print(
        f"{'kernel':16s} {'threads':>7s} {'gcc µs':>11s} {'accopt µs':>11s} {'ratio':>6s}"
        f" {'medians':>7s} {'gcc CPU':>11s} {'accopt CPU':>11s}"
    )
    for row in rows:
        note = "" if row.same else f"  WRONG: {row.acc.checksum} for {row.gcc.checksum}"
        print(
            f"{row.kernel:16s} {row.threads:7d} {row.gcc.us:11.1f} {row.acc.us:11.1f}"
            f" {row.ratio:6.2f} {row.median_ratio:7.2f} {row.gcc.cpu_us:11.1f} {row.acc.cpu_us:11.1f}{note}"
        )
    for threads in dict.fromkeys(row.threads for row in rows):
        ratios = [row.ratio for row in rows if row.threads == threads]
        print(
            f"{threads} threads: geometric mean {statistics.geometric_mean(ratios):.2f} of GCC's"
            f" speed, lowest {min(ratios):.2f}"
        )


def markdown(rows: Sequence[Row]) -> str:
    """The table in the form of docs/performance.md."""
    lines = [
        "| kernel | threads | gcc µs | accopt µs | gcc / accopt | of the medians |",
        "|---|---|---|---|---|---|",
    ]
    lines += [
        f"| {r.kernel} | {r.threads} | {r.gcc.us:.1f} | {r.acc.us:.1f} | {r.ratio:.2f}"
        f" | {r.median_ratio:.2f} |"
        for r in rows
    ]
    return "\n".join(lines) + "\n"


def parser(name: str, description: str) -> argparse.ArgumentParser:
    """The options of this command, which `benchmarks.host_kernels` has, too."""
    options = argparse.ArgumentParser(prog=name, description=description)
    options.add_argument("kernels", nargs="*", help="names of kernels (default: all)")
    options.add_argument("--threads", default=str(len(os.sched_getaffinity(0))))
    options.add_argument("--budget", type=float, default=300.0, help="ms a kernel and turn")
    options.add_argument("--turns", type=int, default=3)
    options.add_argument("--fast-math", action="store_true", help="on both sides")
    options.add_argument("--json", type=Path)
    options.add_argument("--markdown", type=Path)
    return options


def report(rows: Sequence[Row], args: argparse.Namespace) -> int:
    """Prints and keeps the table; returns the exit status, 1 if results differ."""
    print_table(rows)
    if args.json:
        args.json.write_text(json.dumps([asdict(row) for row in rows], indent=1))
    if args.markdown:
        args.markdown.write_text(markdown(rows))
    return 0 if all(row.same for row in rows) else 1


def main() -> int:
    args = parser("benchmarks.host", (__doc__ or "").split("\n")[1]).parse_args()
    flags = ["-ffast-math"] if args.fast_math else []
    rows: list[Row] = []
    with tempfile.TemporaryDirectory() as folder:
        gcc = build_gcc(Path(folder), flags)
        for threads in map(int, args.threads.split(",")):
            rows += measure(gcc, args, threads)
    return report(rows, args)


if __name__ == "__main__":
    sys.exit(main())
