"""
Benchmarks of several GPUs: `python -m benchmarks.devices` on a machine with some.

It measures copies between two GPUs by size, compared with `cuMemcpyPeer` (one call, waited for); transfers
with one thread for each GPU; and the matrix product and the heat equation of `examples/`, and Jacobi's
method without overlap of exchange and computation, on one GPU and on more. `--json FILE` keeps the numbers
and `--plot DIR` draws them.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import re
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from . import ACCRUN

HERE = Path(__file__).parent
EXAMPLES = HERE.parent / "examples"
SOURCE = HERE / "kernels" / "devices.c"
SIZES = tuple(4**k for k in range(2, 15))
"""Bytes of the copies, as in `devices.c`."""
TRIALS = 60
PRODUCT, SIDE, STEPS = 8192, 8192, 400

Numbers = dict[str, list[Any]]


def run(program: Path, devices: int, *arguments: object) -> str:
    """The output of a program run on `devices` GPUs. Raises `RuntimeError` with its messages if it
    fails."""
    command = [*ACCRUN, f"--devices={devices}", str(program), "--", *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{program.name} on {devices} devices: {done.stdout}{done.stderr}")
    return done.stdout


def lines_of(text: str, word: str) -> list[tuple[float, ...]]:
    """The numbers of the lines that begin with a word."""
    found = [line.split() for line in text.splitlines()]
    return [tuple(map(float, words[1:])) for words in found if words[:1] == [word]]


def reference() -> list[tuple[int, float]]:
    """Microseconds of `cuMemcpyPeer` from GPU 0 to GPU 1 by bytes, until both GPUs have finished; the
    smallest of many."""
    cuda = ctypes.CDLL("libcuda.so.1")
    cuda.cuInit(0)
    contexts, memory = (ctypes.c_void_p * 2)(), (ctypes.c_uint64 * 2)()
    for number in range(2):
        cuda.cuDevicePrimaryCtxRetain(ctypes.byref(contexts, 8 * number), number)
        cuda.cuCtxSetCurrent(ctypes.c_void_p(contexts[number]))
        cuda.cuMemAlloc_v2(ctypes.byref(memory, 8 * number), ctypes.c_size_t(SIZES[-1]))
    for number in range(2):
        cuda.cuCtxSetCurrent(ctypes.c_void_p(contexts[number]))
        cuda.cuCtxEnablePeerAccess(ctypes.c_void_p(contexts[1 - number]), 0)
    own, other = map(ctypes.c_void_p, contexts)
    target, source = ctypes.c_uint64(memory[1]), ctypes.c_uint64(memory[0])

    def once(size: int) -> float:
        cuda.cuCtxSetCurrent(own)
        start = time.perf_counter()
        cuda.cuMemcpyPeer(target, other, source, own, ctypes.c_size_t(size))
        cuda.cuCtxSynchronize()
        cuda.cuCtxSetCurrent(other)
        cuda.cuCtxSynchronize()
        return 1e6 * (time.perf_counter() - start)

    return [(size, min(once(size) for _ in range(TRIALS))) for size in SIZES]


def speedup(text: str) -> tuple[float, float]:
    """Microseconds on one device and on all, of an example's line `M|…|all us…|one on one|…`."""
    found = re.search(r"M\|[^|]*\|([\d.]+) us[^|]*\|([\d.]+) on one", text)
    if found is None:
        raise RuntimeError(f"no times in {text!r}")
    return float(found[2]), float(found[1])


def measure(counts: Sequence[int]) -> Numbers:
    """All measurements, on the first GPUs for each of `counts`."""
    copies = run(SOURCE, 2, "copies")
    numbers: Numbers = {
        "copies": lines_of(copies, "copy"),
        "columns": lines_of(copies, "columns"),
        "reference": reference(),
        "transfers": [],
        "programs": [],
    }
    for count in counts:
        numbers["transfers"] += lines_of(run(SOURCE, count, "transfers"), "transfer")
        heat = run(EXAMPLES / "heat_devices.c", count, SIDE + 2, STEPS, "time")
        product = run(EXAMPLES / "matmul_devices.c", count, PRODUCT, "time")
        ((_, _, alone, together),) = lines_of(
            run(SOURCE, count, "exchange", SIDE, STEPS), "exchange"
        )
        numbers["programs"] += [
            ["matrix product", count, *speedup(product)],
            ["heat equation, exchange overlapped", count, *speedup(heat)],
            ["Jacobi, exchange not overlapped", count, alone, together],
        ]
    return numbers


def tables(numbers: Numbers) -> str:
    """The numbers in Markdown."""
    lines = ["| program | GPUs | one, µs | all, µs | times as fast |", "|---|---|---|---|---|"]
    lines += [
        f"| {name} | {count} | {one:.1f} | {some:.1f} | {one / some:.2f} |"
        for name, count, one, some in numbers["programs"]
    ]
    lines += ["", "| bytes | copy, µs | `cuMemcpyPeer`, µs | ratio |", "|---|---|---|---|"]
    beside = dict(numbers["reference"])
    lines += [
        f"| {size:.0f} | {own:.1f} | {beside[size]:.1f} | {beside[size] / own:.2f} |"
        for size, own in numbers["copies"]
        if size in beside
    ]
    lines += ["", "| columns of 8192 floats | copy, µs |", "|---|---|"]
    lines += [f"| {count:.0f} | {us:.1f} |" for count, us in numbers["columns"]]
    lines += ["", "| threads | GPU | in, GB/s | out, GB/s |", "|---|---|---|---|"]
    lines += [f"| {t:.0f} | {d:.0f} | {i:.1f} | {o:.1f} |" for t, d, i, o in numbers["transfers"]]
    return "\n".join(lines) + "\n"


def plot(numbers: Numbers, directory: Path) -> None:
    """Writes `devices-speedups.png` and `devices-copies.png` into `directory`."""
    from .plots import Points, curves, new_figure, save

    figure = new_figure(6, 4)
    gains: dict[str, list[tuple[float, float]]] = {}
    for name, count, one, some in numbers["programs"]:
        gains.setdefault(name, [(1, 1)]).append((count, one / some))
    most = max(count for _, count, *_ in numbers["programs"])
    ideal = "ideal", [(1.0, 1.0), (float(most), float(most))]
    labels = "GPUs", "times as fast as one"
    curves(figure.subplots(), gains, labels=labels, scales=("linear", "linear"), ideal=ideal)
    save(figure, directory / "devices-speedups.png")
    figure = new_figure(10, 4)
    times, rates = figure.subplots(1, 2)
    own: dict[str, Points] = {"accopt": numbers["copies"], "cuMemcpyPeer": numbers["reference"]}
    curves(times, own, labels=("bytes", "µs"))
    speeds = {name: [(b, 1e-3 * b / us) for b, us in points] for name, points in own.items()}
    curves(rates, speeds, labels=("bytes", "GB/s"))
    save(figure, directory / "devices-copies.png")


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="benchmarks.devices", description=(__doc__ or "").split("\n")[1]
    )
    parser.add_argument("counts", nargs="*", type=int, default=[2], help="GPUs to use (default: 2)")
    parser.add_argument("--json", type=Path, help="where to keep the numbers")
    parser.add_argument(
        "--from", dest="kept", type=Path, help="numbers kept before, not measured again"
    )
    parser.add_argument("--plot", type=Path, help="folder for the pictures")
    args = parser.parse_args()
    numbers = json.loads(args.kept.read_text()) if args.kept else measure(args.counts)
    print(tables(numbers))
    if args.json:
        args.json.write_text(json.dumps(numbers) + "\n")
    if args.plot:
        plot(numbers, args.plot)
    return 0


if __name__ == "__main__":
    sys.exit(main())
