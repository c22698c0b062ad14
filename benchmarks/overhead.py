"""
The overhead of runtime and compiler: `python -m benchmarks.overhead`.

On a machine with an NVIDIA GPU and nvcc: 100,000 launches of an empty kernel on present data, on an async
queue and synchronous, and a 1024² Jacobi iteration with max-reduction and read-back, compared with the same
loops in CUDA C++ (`kernels/overhead.c` and `.cu`), by the host's clock. On any machine: the time from
`accrun` to the end of each example with empty and with full caches, and the same for a minimal program. One
table; `--json FILE` keeps the numbers.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from . import ACCRUN

if TYPE_CHECKING:
    from .harness import Side

HERE = Path(__file__).parent
EXAMPLES = HERE.parent / "examples"
LAUNCHES = 100_000
STEPS = 2_000
GRID = 1024
REPEATS = 3

EMPTY_PROGRAM = """
int main(void)
{
    float x[64];
#pragma acc parallel loop copyout(x)
    for (int i = 0; i < 64; i++)
        x[i] = i;
    return x[3] != 3.0f;
}
"""


@dataclass(frozen=True)
class Launch:
    """Microseconds of one repetition on both sides, and the largest allowed ratio (accopt/CUDA)."""

    name: str
    cuda_us: float
    acc_us: float
    bar: float
    problem: str | None = None

    @property
    def ratio(self) -> float:
        return self.acc_us / self.cuda_us


@dataclass(frozen=True)
class Start:
    """Seconds from `accrun` to the end of a program, with empty caches and with full ones."""

    name: str
    cold_s: float
    warm_s: float


def per_repetition(work: Callable[[], Any], repetitions: int) -> float:
    """Microseconds per repetition: the median of some calls of `work`, after one to warm up."""
    work()
    times: list[float] = []
    for _ in range(REPEATS):
        start = time.perf_counter()
        work()
        times.append((time.perf_counter() - start) * 1e6 / repetitions)
    return statistics.median(times)


def measure_launches(directory: Path) -> list[Launch]:
    """Both sides of the three loops; needs a GPU and nvcc."""
    from accopt.compiler.base.options import CompileOptions

    from .harness import AccSide, CudaSide
    from .run import build_kernels
    from .specs import Case

    cuda = CudaSide(build_kernels("overhead", directory))
    acc = AccSide(HERE / "kernels" / "overhead.c", CompileOptions(target="nvptx"))
    rows: list[Launch] = []
    x = np.zeros(64, np.float32)
    for name in ("empty_async", "empty_sync"):
        case = Case({"x": x}, ("x",), dict, 0.0)
        times = [_time_empty(side, name, case) for side in (cuda, acc)]
        rows.append(Launch(name, times[0], times[1], 1.4))
    a = np.random.default_rng(1).random((GRID, GRID), np.float32)
    case = Case({"a": a, "b": a.copy()}, ("a", "b"), dict, 0.0)
    times, changes = zip(*(_time_jacobi(side, case) for side in (cuda, acc)), strict=True)
    same = abs(changes[0] - changes[1]) <= 1e-5 * abs(changes[0])
    problem = None if same else f"largest change {changes[1]}, not {changes[0]}"
    rows.append(Launch(f"jacobi {GRID}^2", times[0], times[1], 1.3, problem))
    acc.close()
    return rows


def _function(side: Side, name: str, result: Any) -> Any:
    from .harness import AccSide, CudaSide

    if isinstance(side, AccSide):
        return side.program.function(name, result, None)
    assert isinstance(side, CudaSide)
    function = side.library[name]
    function.restype = result
    return function


def _time_empty(side: Side, name: str, case: Any) -> float:
    side.place(case)
    function, x = _function(side, name, None), ctypes.c_void_p(side.values["x"])
    us = per_repetition(lambda: function(ctypes.c_int(LAUNCHES), x), LAUNCHES)
    side.release()
    return us


def _time_jacobi(side: Side, case: Any) -> tuple[float, float]:
    side.place(case)
    function = _function(side, "jacobi", ctypes.c_float)
    a, b = (ctypes.c_void_p(side.values[name]) for name in "ab")
    change = function(ctypes.c_int(GRID), ctypes.c_int(11), a, b)
    us = per_repetition(lambda: function(ctypes.c_int(GRID), ctypes.c_int(STEPS), a, b), STEPS)
    side.release()
    return us, change


def measure_start(name: str, sources: list[Path], target: str, cache: Path) -> Start:
    """Runs a program with an empty cache, then (the median of three) with a full one."""
    shutil.rmtree(cache, ignore_errors=True)
    command = [*ACCRUN, f"--target={target}"]
    environment = {**os.environ, "XDG_CACHE_HOME": str(cache)}

    def seconds() -> float:
        start = time.perf_counter()
        subprocess.run(
            [*command, *map(str, sources)],
            env=environment,
            check=True,
            stdout=subprocess.DEVNULL,
        )
        return time.perf_counter() - start

    cold = seconds()
    return Start(name, cold, statistics.median(seconds() for _ in range(3)))


def measure_starts(target: str, directory: Path) -> list[Start]:
    """The empty program, then every example."""
    empty = directory / "empty.c"
    empty.write_text(EMPTY_PROGRAM)
    programs = {"(start-up)": [empty]}
    programs |= {path.stem: [path] for path in sorted(EXAMPLES.glob("*.c"))}
    programs["particles"] = sorted((EXAMPLES / "particles").glob("*.c"))
    cache = directory / "cache"
    return [measure_start(name, files, target, cache) for name, files in programs.items()]


def print_table(launches: list[Launch], starts: list[Start]) -> None:
    if launches:
        print(f"{'µs each':16s} {'CUDA':>8s} {'accopt':>8s} {'ratio':>6s} {'bar':>5s}")
    for row in launches:
        verdict = row.problem or ("" if row.ratio <= row.bar else "MISSED")
        print(
            f"{row.name:16s} {row.cuda_us:8.2f} {row.acc_us:8.2f} {row.ratio:6.2f} {row.bar:5.1f}"
            f" {verdict}"
        )
    if starts:
        print(f"{'accrun, s':16s} {'cold':>8s} {'warm':>8s}")
    for start in starts:
        print(f"{start.name:16s} {start.cold_s:8.2f} {start.warm_s:8.2f}")


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="benchmarks.overhead", description=(__doc__ or "").split("\n")[1]
    )
    parser.add_argument("--target", choices=("nvptx", "host"), default="nvptx")
    parser.add_argument("--no-starts", action="store_true", help="launches only")
    parser.add_argument("--json", type=Path)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        directory = Path(name)
        launches = measure_launches(directory) if args.target == "nvptx" else []
        starts = [] if args.no_starts else measure_starts(args.target, directory)
    print_table(launches, starts)
    if args.json:
        rows = {
            "launches": [asdict(row) | {"ratio": row.ratio} for row in launches],
            "starts": [asdict(row) for row in starts],
        }
        args.json.write_text(json.dumps(rows, indent=1))
    return 0 if all(row.ratio <= row.bar and row.problem is None for row in launches) else 1


if __name__ == "__main__":
    sys.exit(main())
