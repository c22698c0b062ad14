# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# (matplotlib has no complete types)
"""What the compression benchmarks find: a row per kernel and format, as text, as a table, as plots."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]


@dataclass(frozen=True)
class Row:
    """One line of the table; errors are fractions, `cuda_us` 0 where there is no CUDA version."""

    kernel: str
    format: str
    size: int
    cache: str
    plain_us: float
    packed_us: float
    mean_error: float
    max_error: float
    cuda_us: float = 0.0


def errors(actual: Array, expected: Array) -> tuple[float, float]:
    """Geometric mean of the nonzero relative errors, and their maximum, where the value is not 0."""
    a, e = actual.astype(np.float64), expected.astype(np.float64)
    relative = np.abs(a - e)[e != 0] / np.abs(e[e != 0])
    nonzero = relative[relative > 0]
    mean = float(np.exp(np.log(nonzero).mean())) if nonzero.size else 0.0
    return mean, float(relative.max(initial=0.0))


def show(row: Row) -> None:
    """Prints one line."""
    print(
        f"{row.kernel:20s} {row.format:10s} {row.size:>10d} {row.cache} {row.plain_us:10.1f}"
        f" {row.packed_us:10.1f} {row.plain_us / row.packed_us:6.2f} {row.cuda_us:10.1f}"
        f" {100 * row.mean_error:11.2e} % {100 * row.max_error:11.2e} %",
        flush=True,
    )


def markdown(rows: Sequence[Row]) -> str:
    """The table as it stands in docs/performance.md."""
    lines = [
        "| kernel | format | size | CUDA µs | plain µs | compressed µs | speedup | mean error | largest |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for r in rows:
        lines.append(
            f"| {r.kernel} | {r.format} | {r.size} | {f'{r.cuda_us:.1f}' if r.cuda_us else '–'} |"
            f" {r.plain_us:.1f} | {r.packed_us:.1f} |"
            f" {r.plain_us / r.packed_us:.2f} | {100 * r.mean_error:.1e} % |"
            f" {100 * r.max_error:.1e} % |"
        )
    return "\n".join(lines) + "\n"


def plot(rows: Sequence[Row], directory: Path) -> None:
    """`speedups.png`: a bar per benchmark and format; `sizes.png`: copies over their size."""
    from matplotlib.figure import Figure

    directory.mkdir(parents=True, exist_ok=True)
    table = [r for r in rows if r.mean_error or r.kernel.startswith("nearest")]
    names = list(dict.fromkeys(r.kernel for r in table))
    figure = Figure(figsize=(12, 7), layout="constrained")
    speed, errors_ = figure.subplots(2, 1, sharex=True)
    labels = list(dict.fromkeys(r.format for r in table))
    for position, fmt in enumerate(labels):
        own = {r.kernel: r for r in table if r.format == fmt}
        places = [i + 0.27 * (position - 1) for i, name in enumerate(names) if name in own]
        found = [own[name] for name in names if name in own]
        speed.bar(places, [r.plain_us / r.packed_us for r in found], 0.25, label=fmt)
        errors_.bar(places, [100 * r.mean_error for r in found], 0.25)
    speed.axhline(1.0, color="black", linewidth=0.8)
    speed.set_ylabel("plain time / compressed time")
    speed.legend()
    errors_.set_yscale("log")
    errors_.set_ylabel("geometric mean of the relative error, %")
    errors_.set_xticks(range(len(names)), names, rotation=60, ha="right")
    figure.savefig(directory / "speedups.png", dpi=120)
    sizes = [r for r in rows if r not in table]
    if not sizes:
        return
    figure = Figure(figsize=(8, 5), layout="constrained")
    axes = figure.subplots()
    for kernel in dict.fromkeys(r.kernel for r in sizes):
        for cache in ("cold", "warm"):
            line = [r for r in sizes if (r.kernel, r.cache) == (kernel, cache)]
            ratios = [r.plain_us / r.packed_us for r in line]
            style = "-" if cache == "cold" else "--"
            axes.plot([r.size for r in line], ratios, style, label=f"{kernel}, {cache} cache")
    axes.set_xscale("log", base=2)
    axes.set_xlabel("elements")
    axes.set_ylabel("plain time / compressed time")
    axes.legend()
    figure.savefig(directory / "sizes.png", dpi=120)
