"""
The figures of the bench: performance by method and by size, write policies, the shared-memory
micro-benchmark. `python -m benchmarks.cache.plots NUMBERS.json DIR` draws them from kept numbers.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ..plots import bars, curves, new_figure, save

METHODS = ("OpenACC", "cache", "RBI", "RBC", "EHC")
CHOICES = (
    "RBI", "communicating", "width synchronised", "asynchronous", "ahead", "async ahead", "bulk",
    "4×4", "8×8", "8×8 transposed", "8×8 async ahead", "8×8 bulk", "cache",
)  # fmt: skip
CHOICE_KERNELS = ("gemm16", "nbody", "jacobi")
"""The variants of the paper's figures 6 and 7 (how a width is found and a tile renewed), and further
ones."""

Numbers = dict[str, list[dict[str, Any]]]


def plot(numbers: Numbers, directory: Path) -> None:
    """Writes `cache-methods.png`, `-choices`, `-sizes`, `-writes` and `-micro` into `directory`."""
    directory.mkdir(parents=True, exist_ok=True)
    _bars(numbers["kernels"], CHOICES, CHOICE_KERNELS, directory / "cache-choices.png")
    drawings = {"kernels": _methods, "sizes": _sizes, "writes": _writes, "micro": _micro}
    for name, draw in drawings.items():
        if numbers.get(name):
            draw(numbers[name], directory / f"cache-{'methods' if name == 'kernels' else name}.png")


def _sizes(rows: list[dict[str, Any]], path: Path) -> None:
    """The paper's figures 3 to 5: speedup over OpenACC without the directive, by size."""
    kernels = list(dict.fromkeys(row["kernel"] for row in rows))
    figure = new_figure(3.6 * len(kernels), 3.5)
    for axes, kernel in zip(figure.subplots(1, len(kernels)), kernels, strict=True):
        own = [row for row in rows if row["kernel"] == kernel]
        base = {row["n"]: row["us"] for row in own if row["variant"] == "OpenACC"}
        ratios: dict[str, dict[str, float]] = {}
        for row in own:
            label = "cache, as decided" if row["variant"] == "cache" else row["variant"]
            ratios.setdefault(label, {})[str(row["n"])] = base[row["n"]] / row["us"]
        sizes = [str(n) for n in base]
        bars(
            axes, sizes, ratios,
            label="times as fast as OpenACC", title=kernel, legend=axes is figure.axes[0],
        )  # fmt: skip
    save(figure, path)


def _methods(rows: list[dict[str, Any]], path: Path) -> None:
    """The paper's methods, and the compiler's choice, for every kernel."""
    _bars(rows, METHODS, list(dict.fromkeys(row["kernel"] for row in rows)), path)


def _bars(
    rows: list[dict[str, Any]], variants: Sequence[str], kernels: Sequence[str], path: Path
) -> None:
    """Time of hand-written CUDA over that of each variant, by kernel."""
    kernels = [name for name in kernels if any(row["kernel"] == name for row in rows)]
    ratios = {
        variant: {row["kernel"]: row["ratio"] for row in rows if row["variant"] == variant}
        for variant in variants
    }
    figure = new_figure(12)
    bars(figure.subplots(), kernels, ratios, label="CUDA time / time")
    save(figure, path)


def _writes(rows: list[dict[str, Any]], path: Path) -> None:
    cases = list(dict.fromkeys((row["pattern"], row["n"]) for row in rows))
    figure = new_figure(4 * len(cases), 3.5)
    for axes, (pattern, n) in zip(figure.subplots(1, len(cases)), cases, strict=True):
        times: dict[str, list[tuple[float, float]]] = {}
        for row in rows:
            if (row["pattern"], row["n"]) == (pattern, n):
                times.setdefault(f"write-{row['policy']}", []).append((row["steps"], row["us"]))
        title = f"{pattern}, {n} iterations"
        curves(axes, times, labels=("writes per iteration", "µs"), title=title)
    save(figure, path)


def _micro(rows: list[dict[str, Any]], path: Path) -> None:
    figure = new_figure(12, 4)
    for axes, type_ in zip(figure.subplots(1, 2), ("int", "double"), strict=True):
        own = [row for row in rows if row["type"] == type_]
        names = [
            f"{row['layout']} {row['order']} +{row['padding']} ×{row['iterations']}" for row in own
        ]
        times = {"": {name: row["us"] for name, row in zip(names, own, strict=True)}}
        bars(axes, names, times, label="µs", line=None, rotation=90, title=type_)
    save(figure, path)


if __name__ == "__main__":
    plot(json.loads(Path(sys.argv[1]).read_text()), Path(sys.argv[2]))
