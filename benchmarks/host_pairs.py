"""
CPU threads compared with GCC's OpenMP in one process, on the same memory: `python -m benchmarks.host_pairs
[KERNEL …]`, on any machine with gcc.

The kernels of `benchmarks.host_kernels` and those of `kernels/host.c`. The time of a kernel that only moves
memory depends on the physical pages that a process is given, more than on the compiler. So here both
compilers' functions are called in turns with the same addresses, those of our device memory; each team of
threads sleeps while the other one works. A round times a group of calls by GCC and one by accopt, in
alternating order, and gives one ratio of their medians; the ratio of a kernel is the median over the rounds
of all processes, with the 95 % interval that is found by drawing processes and their rounds again and again.
Results are checked by the other two commands.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import os
import random
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from accopt.compiler.api import RunOptions, compile_files
from accopt.compiler.base.options import CompileOptions

from .host import SOURCE
from .host_kernels import SIZES, AccSide, GccSide, chosen
from .specs import KERNELS

PAUSE = 0.004
"""Seconds between groups, in which the threads of the other team fall asleep."""
GROUP = 0.01
"""Seconds of a group of calls, which has at least `FEWEST` calls."""
FEWEST = 3
DRAWS = 2000

WITHOUT_DIRECTIVES = ("no_data",)
"""Kernels of `kernels/host.c` whose arrays are not present."""
_POINTERS = re.compile(r"^static (?:double|float|int) (\*[^;(]*);", re.MULTILINE)
_KERNELS = re.compile(r"^static void (\w+)\(void\)", re.MULTILINE)

Call = Callable[[], Any]
Round = tuple[float, float]
"""µs of a call by GCC and by accopt."""


@dataclass(frozen=True)
class Pair:
    """A kernel as compiled by both, on the same arrays."""

    name: str
    gcc: Call
    acc: Call


@dataclass(frozen=True)
class Ratio:
    """GCC's time over ours for one kernel; `low` and `high` are the ends of the 95 % interval."""

    kernel: str
    threads: int
    gcc_us: float
    acc_us: float
    ratio: float
    low: float
    high: float


def kernels_of_host_c() -> list[str]:
    """The names of the kernels in `kernels/host.c`."""
    return _KERNELS.findall(SOURCE.read_text())


def exported(text: str) -> str:
    """`kernels/host.c` as a library: its kernels are visible, and `exchange` reads or writes its pointers."""
    names = [name.strip(" *") for found in _POINTERS.findall(text) for name in found.split(",")]
    lines = [f"    if (set) {n} = p[{i}]; else p[{i}] = {n};" for i, n in enumerate(names)]
    body = "\n".join(lines)
    shown = _KERNELS.sub(r"void \1(void)", text)
    return f"{shown}\nint exchange(int set, void **p)\n{{\n{body}\n    return {len(names)};\n}}\n"


def pairs_of_kernels(folder: Path, threads: int, names: Sequence[str]) -> Iterator[Pair]:
    """The kernels of `benchmarks.host_kernels`. A pair's arrays stay until the next one is asked for."""
    gcc = GccSide(folder, fast_math=False, threads=threads)
    acc = AccSide(folder, fast_math=False, threads=threads)
    for kernel in chosen(names) if names else []:
        case = kernel.make(SIZES[kernel.name])
        arrays = {n: v.copy() for n, v in case.args.items() if not isinstance(v, int)}
        mapped = {n: a for n, a in arrays.items() if n != case.host_result}
        ours, theirs = acc.function(kernel), gcc.function(kernel)
        acc.place(mapped)
        device = acc.program.function("acc_deviceptr", ctypes.c_void_p, (ctypes.c_void_p,))
        host = {n: a.ctypes.data for n, a in arrays.items()}
        there = {n: device(host[n]) if n in mapped else host[n] for n in arrays}
        own, same = case.arguments(host), case.arguments(there)
        yield Pair(kernel.name, lambda f=theirs, a=same: f(*a), lambda f=ours, a=own: f(*a))
        acc.fetch(mapped)


def pairs_of_host_c(folder: Path, threads: int, names: Sequence[str]) -> Iterator[Pair]:
    """The kernels of `kernels/host.c`."""
    if not names:
        return
    source, library = folder / "host_pairs.c", folder / "host_pairs.so"
    source.write_text(exported(SOURCE.read_text()))
    options = ["-O3", "-march=native", "-fopenmp", "-w", "-shared", "-fPIC", "-Dmain=prepare"]
    subprocess.run(["gcc", *options, str(source), "-o", str(library), "-lm"], check=True)
    gcc = ctypes.CDLL(str(library))
    program = compile_files([source], CompileOptions(target="host"), RunOptions(threads=threads))
    pointers = (ctypes.c_void_p * 64)()
    gcc.prepare(3, (ctypes.c_char_p * 4)(b"", b"0", b"none", None))
    count = gcc.exchange(0, pointers)
    exchange = program.function("exchange", ctypes.c_int, (ctypes.c_int, ctypes.c_void_p))
    exchange(1, pointers)
    host = list(pointers)[:count]
    size = ctypes.CDLL(None).malloc_usable_size
    size.argtypes, size.restype = (ctypes.c_void_p,), ctypes.c_size_t
    copyin, copyout = (
        program.function(f"acc_{name}", ctypes.c_void_p, (ctypes.c_void_p, ctypes.c_size_t))
        for name in ("copyin", "copyout")
    )

    def pairs(chosen: Sequence[str], device: Sequence[int | None]) -> Iterator[Pair]:
        gcc.exchange(1, (ctypes.c_void_p * 64)(*device))
        for name in chosen:
            yield Pair(name, gcc[name], program.function(name, None, ()))

    yield from pairs([n for n in names if n in WITHOUT_DIRECTIVES], host)
    present = [n for n in names if n not in WITHOUT_DIRECTIVES]
    yield from pairs(present, [copyin(p, size(p)) for p in host])
    for pointer in host:
        copyout(pointer, size(pointer))


def _group(call: Call, calls: int) -> float:
    """Median µs of a call, after one that wakes the threads."""
    time.sleep(PAUSE)
    call()
    times: list[float] = []
    for _ in range(calls):
        start = time.perf_counter()
        call()
        times.append((time.perf_counter() - start) * 1e6)
    return statistics.median(times)


def rounds(pair: Pair, budget: float) -> list[Round]:
    """Rounds of a pair for about `budget` seconds, at least four."""
    for call in (pair.gcc, pair.acc):
        _group(call, FEWEST)
    both = _group(pair.gcc, FEWEST) + _group(pair.acc, FEWEST)
    calls = max(FEWEST, min(1000, int(2 * GROUP * 1e6 / max(both, 1.0))))
    found: list[Round] = []
    end = time.perf_counter() + budget
    while len(found) < 4 or time.perf_counter() < end:
        if len(found) % 2 == 0:
            gcc, acc = _group(pair.gcc, calls), _group(pair.acc, calls)
        else:
            acc, gcc = _group(pair.acc, calls), _group(pair.gcc, calls)
        found.append((gcc, acc))
    return found


def median_ratio(processes: Sequence[Sequence[Round]]) -> float:
    """GCC's time over ours, the median over the rounds of all processes."""
    return statistics.median(g / a for found in processes for g, a in found)


def summary(kernel: str, threads: int, processes: Sequence[Sequence[Round]]) -> Ratio:
    """The ratio of a kernel with its interval: processes are drawn with replacement, and rounds in each."""
    draw = random.Random(0)
    ratios = sorted(
        median_ratio([draw.choices(p, k=len(p)) for p in draw.choices(processes, k=len(processes))])
        for _ in range(DRAWS)
    )
    return Ratio(
        kernel,
        threads,
        statistics.median(g for found in processes for g, _ in found),
        statistics.median(a for found in processes for _, a in found),
        median_ratio(processes),
        ratios[int(0.025 * DRAWS)],
        ratios[int(0.975 * DRAWS) - 1],
    )


def print_table(ratios: Sequence[Ratio]) -> None:
    print(f"{'kernel':16s} {'threads':>7s} {'gcc µs':>11s} {'accopt µs':>11s} {'ratio':>6s}  95 %")
    for r in ratios:
        note = "  slower" if r.high < 1 else ""
        print(
            f"{r.kernel:16s} {r.threads:7d} {r.gcc_us:11.1f} {r.acc_us:11.1f} {r.ratio:6.2f}"
            f"  {r.low:.2f} to {r.high:.2f}{note}"
        )
    for threads in dict.fromkeys(r.threads for r in ratios):
        of = [r.ratio for r in ratios if r.threads == threads]
        mean = statistics.geometric_mean(of)
        print(f"{threads} threads: geometric mean {mean:.2f} of GCC's speed, lowest {min(of):.2f}")


def one_process(args: argparse.Namespace, threads: int) -> None:
    """Prints a line of JSON for each pair: its name and rounds."""
    host_c = kernels_of_host_c()
    bench = [k.name for k in KERNELS if k.name in SIZES]
    if unknown := set(args.kernels) - {*bench, *(f"host.{n}" for n in host_c)}:
        raise SystemExit(f"there are no kernels {', '.join(sorted(unknown))}")
    wanted = set(args.kernels) or {*bench, *(f"host.{n}" for n in host_c)}
    with tempfile.TemporaryDirectory() as folder:
        for prefix, pairs in (
            (
                "host.",
                pairs_of_host_c(
                    Path(folder), threads, [n for n in host_c if f"host.{n}" in wanted]
                ),
            ),
            ("", pairs_of_kernels(Path(folder), threads, [n for n in bench if n in wanted])),
        ):
            for pair in pairs:
                print(
                    json.dumps([prefix + pair.name, rounds(pair, args.budget / 1000)]), flush=True
                )


def measured(args: argparse.Namespace, threads: int) -> list[Ratio]:
    """The ratios over `--processes` processes, each of which runs this command with `--one`."""
    found: dict[str, list[list[Round]]] = {}
    command = [sys.executable, "-m", "benchmarks.host_pairs", "--one", f"--threads={threads}"]
    command += [f"--budget={args.budget}", *args.kernels]
    environment = {**os.environ, "OMP_NUM_THREADS": str(threads)}
    for _ in range(args.processes):
        done = subprocess.run(command, env=environment, check=True, capture_output=True, text=True)
        for line in done.stdout.splitlines():
            if line.startswith("["):
                name, of = json.loads(line)
                found.setdefault(name, []).append([(g, a) for g, a in of])
    return [summary(name, threads, processes) for name, processes in found.items()]


def options() -> argparse.ArgumentParser:
    """The command's options."""
    found = argparse.ArgumentParser(prog="benchmarks.host_pairs")
    found.add_argument(
        "kernels", nargs="*", help="names; host.NAME of kernels/host.c (default: all)"
    )
    found.add_argument("--threads", default=str(len(os.sched_getaffinity(0))))
    found.add_argument("--budget", type=float, default=500.0, help="ms a kernel and process")
    found.add_argument("--processes", type=int, default=3)
    found.add_argument("--json", type=Path)
    found.add_argument("--one", action="store_true", help="only one process: print its rounds")
    return found


def main() -> int:
    args = options().parse_args()
    if args.one:
        one_process(args, int(args.threads))
        return 0
    ratios = [r for n in args.threads.split(",") for r in measured(args, int(n))]
    print_table(ratios)
    if args.json:
        args.json.write_text(json.dumps([vars(r) for r in ratios], indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
