"""
The benchmarks of the compression papers: `python -m benchmarks.compression.run` on a machine with an
NVIDIA GPU (with nvcc, the CUDA versions beside them).

Every kernel of `kernels.c` runs uncompressed and compressed, float in 16 bits, double in 32 and in 16,
on data that is already on the device. The table gives medians in microseconds, the speedup, and the
errors against the uncompressed result. `--sizes` sweeps copies (with a cold and a warm cache) and
kernels over sizes across the L2 cache; `--repeat N` times the streaming kernels in N more processes.
`plots.py` draws what `--json` writes; `transfer.py` times host arrays on their way to the device.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np

from . import accuracy
from .cases import (
    FORMATS,
    TEMPERATURES,
    Case,
    Format,
    copies,
    hotspot,
    nearest,
    sized_cases,
    streaming,
    table_cases,
)
from .report import Errors, Row, markdown, show
from .variants import CudaVersions, Spec, Variant, prepare

CHECK_SCALE = 64
"""Errors are found at sizes divided by this."""

STREAMING = "copy|reverse|vecprod|matadd"
"""The kernels that `--repeat` repeats."""

TILES = {
    (down, across): f"promote-cache-to-shared{{promote=always rows={down} columns={across}}}"
    for down, across in ((2, 1), (4, 1), (4, 4))
}
"""The pass option for HotSpot's tiles by the results of a thread, rows and columns."""

UNTILED = {
    "cache directive as decided": "compress-arrays",
    "decoded for every use": "compress-arrays{wide=false}",
}
"""The pass options of HotSpot without a tile."""

HOTSPOT_WORDS = {
    "": (),
    "power": ("power",),
    "temperature": ("temperature",),
    "both": ("power", "temperature"),
}
"""Array that HotSpot packs → its name in the macros of `kernels.c`."""


class Variants:
    """The variants of one format, compiled when they are first needed."""

    def __init__(self, fmt: Format):
        self.format = fmt
        self.plain = Variant(fmt.dtype, None)
        self._known: dict[str, Variant] = {}

    def packed(self, label: str) -> Variant:
        """The compressed variant for a benchmark; HotSpot's differ in the packed arrays."""
        what = label.removeprefix("hotspot ") if label.startswith("hotspot ") else ""
        if what not in self._known:
            words = HOTSPOT_WORDS[what]
            self._known[what] = Variant(self.format.dtype, self.format, hotspot=words)
        return self._known[what]


def measure(variants: Variants, label: str, case: Case, size: int) -> Row:
    """Times one case in both variants with a cold cache."""
    alone, small = (v.time(case) for v in (variants.plain, variants.packed(label)))
    return Row(label, variants.format.label, size, "cold", alone, small)


def table(everything: Sequence[Variants], scale: int, only: str, cuda: CudaVersions) -> list[Row]:
    """All benchmarks whose label matches `only`, in all formats."""
    rows: list[Row] = []
    for variants in everything:
        dtype = variants.format.dtype
        found: dict[str, Errors] = {}
        for label, case, _ in table_cases(dtype, max(scale, CHECK_SCALE)):
            if re.fullmatch(only, label):
                packed = variants.packed(label).result(case)
                found[label] = Errors.of(packed, variants.plain.result(case))
        for label, case, size in table_cases(dtype, scale):
            if not re.fullmatch(only, label):
                continue
            row = replace(measure(variants, label, case, size), errors=found[label])
            rows.append(replace(row, cuda_us=cuda.time(case, dtype) or 0.0))
            show(rows[-1])
            if label == "nearest_aos":
                rows += members(variants, case, size)
    return rows


def members(variants: Variants, case: Case, size: int) -> list[Row]:
    """Nearest neighbour with its records as arrays on the device, compressed and not."""
    rows: list[Row] = []
    fmt = variants.format
    alone = variants.plain.time(case)
    small = nearest("nearest_aos", size // CHECK_SCALE, fmt.dtype)
    for clause in (fmt.clause, "plain"):
        packed = Variant(fmt.dtype, replace(fmt, clause=clause, arrays=True))
        label = "nearest → arrays" + (", plain" if clause == "plain" else "")
        found = Errors.of(packed.result(small), variants.plain.result(small))
        rows.append(Row(label, fmt.label, size, "cold", alone, packed.time(case), found))
        show(rows[-1])
    return rows


def sweep_copies(variants: Variants) -> list[Row]:
    """Copies over sizes across the L2 cache, cold and warm."""
    rows: list[Row] = []
    for exponent in (14, 16, 18, 20, 21, 22, 23, 24, 26):
        cases = copies(1 << exponent, variants.format.dtype)
        alone = variants.plain.times(cases.values(), samples=9)
        small = variants.packed("").times(cases.values(), samples=9)
        for label, plain, packed in zip(cases, alone, small, strict=True):
            for number, cache in enumerate(("cold", "warm")):
                times = plain[number], packed[number]
                rows.append(Row(label, variants.format.label, 1 << exponent, cache, *times))
                show(rows[-1])
    return rows


def sweep_kernels(variants: Variants) -> list[Row]:
    """The other kernels over their sizes."""
    rows: list[Row] = []
    for label, case, size in sized_cases(variants.format.dtype):
        rows.append(measure(variants, label, case, size))
        show(rows[-1])
    return rows


def tiles(fmt: Format, scale: int) -> list[Row]:
    """
    HotSpot's temperatures with a tile in shared memory that is filled with decoded numbers, per shape of
    the tile: the uncompressed kernel has the same tile.
    """
    rows: list[Row] = []
    case = hotspot(int(8192 / scale**0.5), fmt.dtype, "temperature", kernel="hotspot_cached")
    for (down, across), option in TILES.items():
        plain = Variant(fmt.dtype, None, pass_options=(option,)).time(case)
        packed = Variant(fmt.dtype, fmt, hotspot=("temperature",), pass_options=(option,))
        size = case.args["n"]
        assert isinstance(size, int)
        label = f"hotspot temperature, tile, {down} × {across} per thread"
        rows.append(Row(label, fmt.label, size, "cold", plain, packed.time(case)))
        show(rows[-1])
    for text, option in UNTILED.items():
        label = f"hotspot temperature, {text}"
        plain = Variant(fmt.dtype, None).time(case)
        packed = Variant(fmt.dtype, fmt, hotspot=("temperature",), pass_options=(option,))
        rows.append(Row(label, fmt.label, rows[0].size, "cold", plain, packed.time(case)))
        show(rows[-1])
    return rows


def centred(fmt: Format, scale: int) -> list[Row]:
    """
    The kernels whose numbers are not around zero, and the streaming kernels, with the centred code and with
    the published one.
    """
    rows: list[Row] = []
    n, side = (1 << 27 if fmt.dtype is np.float32 else 1 << 26) // scale, int(8192 / scale**0.5)
    places = "North Atlantic"
    cases = (
        ("copy", streaming("copy", n, fmt.dtype), n, "", False),
        ("vecprod", streaming("vecprod", n, fmt.dtype), n, "", False),
        ("nearest → arrays", nearest("nearest_aos", n // 2, fmt.dtype, places), n // 2, "", True),
        *(
            (f"hotspot {w}", hotspot(side, fmt.dtype, w, result=TEMPERATURES), side, w, False)
            for w in ("temperature", "both")
        ),
    )
    for label, case, size, what, arrays in cases:
        alone = Variant(fmt.dtype, None).time(case)
        for clause in (fmt.clause, f"{fmt.clause}, centred"):
            known = replace(fmt, clause=clause, arrays=arrays)
            packed = Variant(fmt.dtype, known, hotspot=HOTSPOT_WORDS[what]).time(case)
            text = f"{label}, centred" if "centred" in clause else label
            rows.append(Row(text, fmt.label, size, "cold", alone, packed))
            show(rows[-1])
    return rows


def repeated(rows: list[Row], times: int, scale: int) -> list[Row]:
    """The rows with the streaming kernels' speedups in more processes."""
    found: dict[tuple[str, str], list[float]] = {}
    for _ in range(times):
        with tempfile.NamedTemporaryFile(suffix=".json") as file:
            command = [sys.executable, "-m", f"{__package__}.run", "--json", file.name]
            command += ["--scale", str(scale), "--only", STREAMING, "--no-cuda"]
            subprocess.run(command, check=True)
            for row in json.loads(Path(file.name).read_text())["rows"]:
                key = row["kernel"], row["format"]
                found.setdefault(key, []).append(row["plain_us"] / row["packed_us"])
    return [replace(r, runs=tuple(found.get((r.kernel, r.format), ()))) for r in rows]


def specs(*, members: bool, neighbours: bool, tiles: bool, centred: bool) -> list[Spec]:
    """All variants that a run needs."""
    found: list[Spec] = []
    for fmt in FORMATS:
        found.append(Spec(fmt.dtype, None))
        found += [Spec(fmt.dtype, fmt, words) for words in HOTSPOT_WORDS.values()]
        if members:
            for clause in (fmt.clause, "plain"):
                found.append(Spec(fmt.dtype, replace(fmt, clause=clause, arrays=True)))
        if centred:
            other = replace(fmt, clause=f"{fmt.clause}, centred")
            found += [Spec(fmt.dtype, other, words) for words in HOTSPOT_WORDS.values()]
            found.append(Spec(fmt.dtype, replace(other, arrays=True)))
        if tiles:
            for option in TILES.values():
                found.append(Spec(fmt.dtype, None, (), (option,)))
            for option in (*TILES.values(), *UNTILED.values()):
                found.append(Spec(fmt.dtype, fmt, ("temperature",), (option,)))
    return found + (accuracy.specs() if neighbours else [])


def main() -> int:
    """Entry point of the command; returns the exit status."""
    parser = argparse.ArgumentParser(prog="benchmarks.compression.run")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--markdown", type=Path)
    parser.add_argument("--scale", type=int, default=1, help="divide the sizes by this")
    parser.add_argument("--only", default=".*", help="kernels whose label matches this")
    parser.add_argument("--no-cuda", action="store_true")
    parser.add_argument("--sizes", action="store_true")
    parser.add_argument("--tiles", action="store_true")
    parser.add_argument("--neighbours", action="store_true")
    parser.add_argument("--centred", action="store_true", help="that code beside the other")
    parser.add_argument("--repeat", type=int, default=0, metavar="N")
    args = parser.parse_args()
    found: dict[str, Any] = {}

    def write() -> None:
        # After each part: a run that is cut short keeps what it has.
        if args.json is not None:
            args.json.write_text(json.dumps(found, indent=1))

    wanted = {"neighbours": args.neighbours, "tiles": args.tiles, "centred": args.centred}
    prepare(specs(members=not args.no_cuda, **wanted))
    everything = [Variants(fmt) for fmt in FORMATS]
    with tempfile.TemporaryDirectory() as directory:
        cuda = CudaVersions(Path(directory), enabled=not args.no_cuda)
        rows = table(everything, args.scale, args.only, cuda)
    if args.repeat:
        rows = repeated(rows, args.repeat, args.scale)
    found["rows"] = [asdict(row) for row in rows]
    write()
    if args.neighbours:
        found["neighbours"] = accuracy.neighbours()
        found["temperatures"] = accuracy.temperatures()
        write()
    if args.centred:
        found["centred"] = [asdict(row) for fmt in FORMATS for row in centred(fmt, args.scale)]
    if args.tiles:
        found["tiles"] = [asdict(row) for fmt in FORMATS for row in tiles(fmt, args.scale)]
    write()
    if args.sizes:
        found["kernels"] = [asdict(r) for v in everything[:2] for r in sweep_kernels(v)]
        write()
        found["copies"] = [asdict(r) for r in sweep_copies(everything[1])]
    write()
    if args.markdown is not None:
        args.markdown.write_text(markdown(rows))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
