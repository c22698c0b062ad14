# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# (matplotlib has no complete types)
"""
The papers' figures from the file of `run.py --json`: `python -m benchmarks.compression.plots JSON
DIRECTORY`.

`compression-copies.png`: copies of doubles over their size (the papers' 6.1 to 6.4).
`compression-kernels.png`: the speedup of the other kernels over their size (6.5 to 6.14).
`compression-speedups.png`: all kernels at one size, with their errors.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from matplotlib.axes import Axes

from ..plots import new_figure, save

Rows = Sequence[dict[str, Any]]
L2_BYTES = 50 << 20
DPI = 72


def _speedup(row: dict[str, Any]) -> float:
    return row["plain_us"] / row["packed_us"]


def _line(axes: Axes, rows: Rows, values: Sequence[float], style: str, label: str) -> None:
    axes.plot([row["size"] for row in rows], values, style, label=label, linewidth=1.2)


def _sizes(axes: Axes, title: str, unit: str) -> None:
    axes.set_title(title, fontsize=10)
    axes.set_xscale("log", base=2)
    axes.set_ylabel(unit, fontsize=8)
    axes.tick_params(labelsize=8)
    axes.grid(alpha=0.3)
    axes.legend(fontsize=7)


def copies(rows: Rows, path: Path) -> None:
    """Times of the simple, reversed and random copy, speedups of the strided one."""
    figure = new_figure(11, 8)
    panels = figure.subplots(2, 2)
    titles = {
        "copy": "copy in order",
        "reverse": "copy in reverse order",
        "gather": "random copy",
    }
    for axes, (kernel, title) in zip(panels.flat, titles.items(), strict=False):
        for cache, style in (("cold", "-"), ("warm", "--")):
            own = [r for r in rows if (r["kernel"], r["cache"]) == (kernel, cache)]
            _line(axes, own, [r["plain_us"] for r in own], "C0" + style, f"plain, {cache} L2")
            _line(axes, own, [r["packed_us"] for r in own], "C1" + style, f"compressed, {cache} L2")
        for arrays_bytes, color in ((16, "C0"), (8, "C1")):
            axes.axvline(L2_BYTES / arrays_bytes, color=color, linestyle=":", linewidth=1)
        axes.set_yscale("log")
        _sizes(axes, f"{title} of doubles in 32 bits (dotted: both arrays fill the L2)", "µs")
    axes = panels.flat[3]
    strides = [k for k in dict.fromkeys(r["kernel"] for r in rows) if k.startswith("strided")]
    for number, kernel in enumerate(["copy", *strides]):
        for cache, style in (("cold", "-"), ("warm", "--")):
            own = [r for r in rows if (r["kernel"], r["cache"]) == (kernel, cache)]
            label = "stride " + kernel.removeprefix("strided ") if number else "no stride"
            label = label if cache == "cold" else "_"
            _line(axes, own, [_speedup(r) for r in own], f"C{number}{style}", label)
    axes.axhline(1.0, color="black", linewidth=0.8)
    _sizes(axes, "strided copy (dashed: warm L2)", "plain time / compressed time")
    figure.supxlabel("elements of each array", fontsize=9)
    save(figure, path, DPI)


def kernels(rows: Rows, path: Path) -> None:
    """The speedup over the size, a panel per kernel."""
    figure = new_figure(12, 7)
    panels = figure.subplots(2, 3)
    groups = {
        "vector product": ["vecprod"],
        "matrix addition": ["matadd"],
        "matrix multiplication": ["matmul"],
        "HotSpot": ["hotspot power", "hotspot temperature", "hotspot both"],
        "nearest neighbour": ["nearest_aos"],
        "dyadic convolution": ["dyadic"],
    }
    formats = list(dict.fromkeys(r["format"] for r in rows))
    for axes, (title, names) in zip(panels.flat, groups.items(), strict=True):
        for number, name in enumerate(names):
            for fmt, style in zip(formats, ("-", "--"), strict=False):
                own = [r for r in rows if (r["kernel"], r["format"]) == (name, fmt)]
                extra = name.removeprefix("hotspot ") + ", " if len(names) > 1 else ""
                _line(axes, own, [_speedup(r) for r in own], f"C{number}{style}", extra + fmt)
        axes.axhline(1.0, color="black", linewidth=0.8)
        _sizes(axes, title, "plain time / compressed time")
    figure.supxlabel("elements of an array, cold L2", fontsize=9)
    save(figure, path, DPI)


def speedups(rows: Rows, path: Path) -> None:
    """A bar per benchmark and format: the speedup, and two errors below."""
    names = list(dict.fromkeys(r["kernel"] for r in rows))
    figure = new_figure(12, 8)
    speed, mean, scaled = figure.subplots(3, 1, sharex=True, height_ratios=(3, 2, 2))
    for position, fmt in enumerate(dict.fromkeys(r["format"] for r in rows)):
        own = {r["kernel"]: r for r in rows if r["format"] == fmt}
        places = [i + 0.27 * (position - 1) for i, name in enumerate(names) if name in own]
        found = [own[name] for name in names if name in own]
        speed.bar(places, [_speedup(r) for r in found], 0.25, label=fmt)
        for axes, key in ((mean, "mean"), (scaled, "scaled")):
            axes.bar(places, [100 * (r["errors"] or {}).get(key, 0) for r in found], 0.25)
    speed.axhline(1.0, color="black", linewidth=0.8)
    speed.set_ylabel("plain time / compressed time")
    speed.legend()
    for axes, text in (
        (mean, "mean relative\nerror, %"),
        (scaled, "largest error,\n% of largest value"),
    ):
        axes.set_yscale("log")
        axes.set_ylabel(text)
    scaled.set_xticks(range(len(names)), names, rotation=60, ha="right", fontsize=8)
    save(figure, path, DPI)


def main() -> int:
    """Entry point of the command; returns the exit status."""
    parser = argparse.ArgumentParser(prog="benchmarks.compression.plots")
    parser.add_argument("json", type=Path)
    parser.add_argument("directory", type=Path)
    args = parser.parse_args()
    found = json.loads(args.json.read_text())
    args.directory.mkdir(parents=True, exist_ok=True)
    speedups(found["rows"], args.directory / "compression-speedups.png")
    if "copies" in found:
        copies(found["copies"], args.directory / "compression-copies.png")
    if "kernels" in found:
        kernels(found["kernels"], args.directory / "compression-kernels.png")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
