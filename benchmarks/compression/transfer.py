"""
Transfers of host arrays to the device and back: `python -m benchmarks.compression.transfer`.

For each size and format, medians in milliseconds: the plain transfer; compressed with a given range, and
with a range found by scanning; an array of structures that becomes two arrays; the transfers back, plain,
compressed and from two arrays.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from accopt.compiler.api import Program, compile_files
from accopt.compiler.base.options import CompileOptions, TargetName

SOURCE = "void touch(float *x) {\n#pragma acc parallel present(x[0:1])\n  x[0] += 0;\n}\n"
SIZES = (1 << 30, 1 << 28, 1 << 26, 1 << 24, 1 << 22, 1 << 20, 1 << 16)
FORMATS = {"float:bits16": np.float32, "double:bits32": np.float64, "double:bits16": np.float64}
WARM_UP = 3
DISTINCT = 1 << 20


@dataclass(frozen=True)
class Row:
    """Milliseconds of one way to move `bytes` of plain numbers."""

    format: str
    bytes: int
    way: str
    median: float
    least: float

    @property
    def text(self) -> str:
        rate = self.bytes / self.median * 1e-6
        return (
            f"{self.format:14} {self.bytes >> 10:8} KiB  {self.way:22} {self.median:8.3f} ms"
            f" (least {self.least:.3f}), {rate:.1f} GB/s"
        )


class Side:
    """The routines of one program."""

    def __init__(self, program: Program):
        pointer, size = ctypes.c_void_p, ctypes.c_size_t
        f = program.function
        self.copyin = f("acc_copyin", pointer, (pointer, size))
        single, text = ctypes.c_float, ctypes.c_char_p
        types = (pointer, size, text, pointer, ctypes.c_int, single, single)
        self.compress = f("acc_compress_copyin", pointer, types)
        self.delete = f("acc_delete", None, (pointer, size))
        self.update_self = f("acc_update_self", None, (pointer, size))
        self.wait = f("acc_wait_all", None, ())


def sample(
    work: Callable[[], Any], after: Callable[[], Any], wait: Callable[[], Any], count: int
) -> list[float]:
    """Milliseconds of `work`; `after` undoes it."""
    samples: list[float] = []
    for number in range(WARM_UP + count):
        start = time.perf_counter()
        work()
        wait()
        if number >= WARM_UP:
            samples.append(1e3 * (time.perf_counter() - start))
        after()
    return samples


def measure(side: Side, text: str, bytes: int, count: int) -> list[Row]:
    """All ways of one format and size."""
    dtype = FORMATS[text]
    few = np.random.default_rng(1).uniform(0, 1, min(DISTINCT, bytes // 8)).astype(dtype)
    x = np.resize(few, bytes // few.itemsize)
    address = x.ctypes.data

    def delete() -> None:
        side.delete(address, bytes)

    def compress(how: str, scan: int) -> None:
        side.compress(address, bytes, how.encode(), None, scan, 0.0, 1.0)

    rows: list[Row] = []

    def note(way: str, work: Callable[[], Any], after: Callable[[], Any]) -> None:
        found = sample(work, after, side.wait, count)
        rows.append(Row(text, bytes, way, statistics.median(found), min(found)))
        print(rows[-1].text, flush=True)

    base = text.split(":")[0]
    ways: dict[str, Callable[[], Any]] = {
        "plain": lambda: side.copyin(address, bytes),
        "range given": lambda: compress(text, 0),
        "range found": lambda: compress(text, 1),
        "two arrays": lambda: compress(f"{text}:soa2", 1),
        "two plain arrays": lambda: compress(f"{base}:plain:soa2", 0),
    }
    for way, work in ways.items():
        note(way, work, delete)
    for way in ("plain", "range given", "two arrays"):
        ways[way]()
        note(f"{way}, back", lambda: side.update_self(address, bytes), lambda: None)
        delete()
    return rows


def run(sizes: Sequence[int], formats: Sequence[str], target: TargetName, count: int) -> list[Row]:
    """The whole table."""
    path = Path(__file__).parent / "build"
    path.mkdir(exist_ok=True)
    source = path / "touch.c"
    source.write_text(SOURCE)
    side = Side(compile_files([source], CompileOptions(target=target)))
    return [row for text in formats for size in sizes for row in measure(side, text, size, count)]


def main() -> int:
    """Entry point of the command; returns the exit status."""
    parser = argparse.ArgumentParser(prog="benchmarks.compression.transfer")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--target", choices=("nvptx", "host"), default="nvptx")
    parser.add_argument("--samples", type=int, default=9)
    parser.add_argument("--sizes", type=int, nargs="*", default=list(SIZES), metavar="BYTES")
    parser.add_argument("--formats", nargs="*", default=list(FORMATS), choices=list(FORMATS))
    args = parser.parse_args()
    rows = run(args.sizes, args.formats, args.target, args.samples)
    if args.json is not None:
        args.json.write_text(json.dumps([asdict(row) for row in rows]))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
