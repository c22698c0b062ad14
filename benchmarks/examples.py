"""
Kernel and transfer times of the example programs: `python -m benchmarks.examples --target=nvptx`.

Every example runs as a user would run it, at a size that gives a device something to do, with the
runtime's time summary on (`NVCOMPILER_ACC_TIME`); the table adds up what the summary says. The
summary waits for every action, so that times are of the action alone.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from . import ACCRUN

EXAMPLES = Path(__file__).parent.parent / "examples"
ARGUMENTS: dict[str, tuple[str, ...]] = {
    "saxpy": ("20000000",),
    "matmul": ("1024",),
    "jacobi": (),
    "cg": ("100",),
    "heat": ("2048", "200"),
    "nearest": ("20000000",),
    "histogram": ("50000000",),
    "pi": ("1048576",),
    "particles": ("1000000",),
    "svm": ("4000",),
    "fdk": ("128", "180"),
    "clusters": ("200000",),
    "thermodynamics": ("3000000",),
}
LINE = re.compile(
    r"^\s+(launch|copy in|copy out)\s+(.+?)\s+(\d+) times\s+([\d.]+) us(?:\s+(\d+) bytes)?"
)


@dataclass
class Totals:
    """The totals of one program: counts, microseconds, bytes."""

    launches: int = 0
    kernel_us: float = 0.0
    in_us: float = 0.0
    in_bytes: int = 0
    out_us: float = 0.0
    out_bytes: int = 0

    def add(self, line: str) -> None:
        match = LINE.match(line)
        if match is None:
            return
        what, _, count, us, size = match.groups()
        if what == "launch":
            self.launches += int(count)
            self.kernel_us += float(us)
        elif what == "copy in":
            self.in_us += float(us)
            self.in_bytes += int(size or 0)
        else:
            self.out_us += float(us)
            self.out_bytes += int(size or 0)


def run(name: str, target: str) -> tuple[Totals, float, str]:
    """Runs one example; its totals, wall-clock seconds and the last line it printed."""
    path = EXAMPLES / f"{name}.c"
    sources = [path] if path.exists() else sorted((EXAMPLES / name).glob("*.c"))
    command = [*ACCRUN, f"--target={target}"]
    command += [*map(str, sources), "--", *ARGUMENTS[name]]
    environment = os.environ | {"NVCOMPILER_ACC_TIME": "1"}
    start = time.perf_counter()
    result = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    seconds = time.perf_counter() - start
    if result.returncode != 0:
        raise RuntimeError(f"{name} failed:\n{result.stdout}{result.stderr}")
    totals = Totals()
    for line in result.stderr.splitlines():
        totals.add(line)
    return totals, seconds, result.stdout.strip().splitlines()[-1]


def main() -> int:
    parser = argparse.ArgumentParser(prog="benchmarks.examples")
    parser.add_argument("--target", choices=("nvptx", "host"), default="nvptx")
    args = parser.parse_args()
    print(
        "| program | launches | kernels ms | in MB | in ms | out MB | out ms | whole run s | it says |"
    )
    print("|---|---|---|---|---|---|---|---|---|")
    for name in ARGUMENTS:
        t, seconds, said = run(name, args.target)
        print(
            f"| {name} {' '.join(ARGUMENTS[name])} | {t.launches} | {t.kernel_us / 1e3:.2f} |"
            f" {t.in_bytes / 1e6:.1f} | {t.in_us / 1e3:.2f} | {t.out_bytes / 1e6:.1f} |"
            f" {t.out_us / 1e3:.2f} | {seconds:.2f} | {said} |"
        )
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except RuntimeError as failure:
        sys.exit(f"error: {failure}")
