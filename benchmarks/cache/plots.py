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

METHODS = ("OpenACC", "cache", "RBI", "RBC", "EHC")
CHOICES = (
    "RBI", "communicating", "width synchronised", "asynchronous", "ahead", "async ahead", "bulk",
    "4×4", "8×8", "8×8 transposed", "8×8 async ahead", "8×8 bulk", "cache",
)  # fmt: skip
CHOICE_KERNELS = ("gemm16", "nbody", "jacobi")
"""The paper's figures 6 and 7: how a width is found and a tile renewed, and what goes beyond."""

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
    """The paper's figures 3 to 5: times as fast as OpenACC without the directive, by size."""
    from matplotlib.figure import Figure

    kernels = list(dict.fromkeys(row["kernel"] for row in rows))
    figure = Figure(figsize=(3.6 * len(kernels), 3.5), layout="constrained")
    for axes, kernel in zip(figure.subplots(1, len(kernels)), kernels, strict=True):
        own = [row for row in rows if row["kernel"] == kernel]
        base = {row["n"]: row["us"] for row in own if row["variant"] == "OpenACC"}
        variants = list(dict.fromkeys(row["variant"] for row in own))
        width = 0.85 / len(variants)
        for number, variant in enumerate(variants):
            line = [row for row in own if row["variant"] == variant]
            places = [k + number * width for k in range(len(line))]
            label = "cache, as decided" if variant == "cache" else variant
            axes.bar(places, [base[row["n"]] / row["us"] for row in line], width, label=label)
        axes.set_xticks([k + 0.4 for k in range(len(base))], [str(n) for n in base])
        axes.axhline(1.0, color="black", linewidth=0.8)
        axes.set_title(kernel)
    figure.axes[0].set_ylabel("times as fast as OpenACC")
    figure.axes[0].legend(fontsize=7)
    figure.savefig(path, dpi=120)


def _methods(rows: list[dict[str, Any]], path: Path) -> None:
    """The paper's methods, and what is decided, for every kernel."""
    _bars(rows, METHODS, list(dict.fromkeys(row["kernel"] for row in rows)), path)


def _bars(
    rows: list[dict[str, Any]], variants: Sequence[str], kernels: Sequence[str], path: Path
) -> None:
    """Time of hand-written CUDA over that of each variant, by kernel."""
    from matplotlib.figure import Figure

    kernels = [name for name in kernels if any(row["kernel"] == name for row in rows)]
    figure = Figure(figsize=(12, 4.5), layout="constrained")
    axes = figure.subplots()
    width = 0.85 / len(variants)
    for number, variant in enumerate(variants):
        found = {row["kernel"]: row["ratio"] for row in rows if row["variant"] == variant}
        places = [k + number * width for k, name in enumerate(kernels) if name in found]
        axes.bar(places, [found[name] for name in kernels if name in found], width, label=variant)
    axes.set_xticks([k + 0.4 for k in range(len(kernels))], kernels)
    axes.axhline(1.0, color="black", linewidth=0.8)
    axes.set_ylabel("CUDA time / time")
    axes.legend(ncols=4, fontsize=8)
    figure.savefig(path, dpi=120)


def _writes(rows: list[dict[str, Any]], path: Path) -> None:
    from matplotlib.figure import Figure

    cases = list(dict.fromkeys((row["pattern"], row["n"]) for row in rows))
    figure = Figure(figsize=(4 * len(cases), 3.5), layout="constrained")
    for axes, (pattern, n) in zip(figure.subplots(1, len(cases)), cases, strict=True):
        own = [row for row in rows if (row["pattern"], row["n"]) == (pattern, n)]
        for policy in dict.fromkeys(row["policy"] for row in own):
            line = [row for row in own if row["policy"] == policy]
            steps, times = [row["steps"] for row in line], [row["us"] for row in line]
            axes.loglog(steps, times, marker="o", label=f"write-{policy}")
        axes.set_title(f"{pattern}, {n} iterations")
        axes.set_xlabel("writes per iteration")
        axes.set_ylabel("µs")
        axes.legend(fontsize=8)
    figure.savefig(path, dpi=120)


def _micro(rows: list[dict[str, Any]], path: Path) -> None:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(12, 4), layout="constrained")
    for axes, type_ in zip(figure.subplots(1, 2), ("int", "double"), strict=True):
        own = [row for row in rows if row["type"] == type_]
        names = [
            f"{row['layout']} {row['order']} +{row['padding']} ×{row['iterations']}" for row in own
        ]
        axes.bar(names, [row["us"] for row in own], color="#4477aa")
        axes.tick_params(axis="x", rotation=90, labelsize=7)
        axes.set_title(type_)
        axes.set_ylabel("µs")
    figure.savefig(path, dpi=120)


if __name__ == "__main__":
    plot(json.loads(Path(sys.argv[1]).read_text()), Path(sys.argv[2]))
