"""Results of the compression benchmarks: a row for each kernel and format, as text and as a table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from .cases import Array


@dataclass(frozen=True)
class Errors:
    """
    Errors against the plain result, as fractions: geometric mean and maximum of the relative errors that
    are not 0, and the largest error relative to the largest result, which the code bounds.
    """

    mean: float = 0.0
    largest: float = 0.0
    scaled: float = 0.0

    @staticmethod
    def of(actual: Array, expected: Array) -> Errors:
        """The errors of `actual`; relative ones where `expected` is not 0."""
        a, e = actual.astype(np.float64), expected.astype(np.float64)
        difference = np.abs(a - e)
        relative = difference[e != 0] / np.abs(e[e != 0])
        nonzero = relative[relative > 0]
        mean = float(np.exp(np.log(nonzero).mean())) if nonzero.size else 0.0
        scale = float(np.abs(e).max(initial=0.0)) or 1.0
        return Errors(
            mean, float(relative.max(initial=0.0)), float(difference.max(initial=0.0)) / scale
        )


@dataclass(frozen=True)
class Row:
    """
    One line of the table; `cuda_us` 0 where there is no CUDA version. `runs`: the speedups of the same
    benchmark in further processes.
    """

    kernel: str
    format: str
    size: int
    cache: str
    plain_us: float
    packed_us: float
    errors: Errors | None = None
    cuda_us: float = 0.0
    runs: tuple[float, ...] = ()

    @property
    def speedup(self) -> float:
        return self.plain_us / self.packed_us


def show(row: Row) -> None:
    """Prints one line."""
    errors = row.errors or Errors()
    print(
        f"{row.kernel:20s} {row.format:10s} {row.size:>10d} {row.cache} {row.plain_us:10.1f}"
        f" {row.packed_us:10.1f} {row.speedup:6.2f} {row.cuda_us:10.1f}"
        f" {100 * errors.mean:10.1e} % {100 * errors.largest:10.1e} % {100 * errors.scaled:10.1e} %",
        flush=True,
    )


def markdown(rows: Sequence[Row]) -> str:
    """The table in the form of docs/compression.md."""
    lines = [
        "| kernel | format | CUDA µs | plain µs | compressed µs | speedup | mean error | largest |"
        " of the largest value |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for r in rows:
        e = r.errors
        found = (
            ["–"] * 3 if e is None else [f"{100 * x:.1e} %" for x in (e.mean, e.largest, e.scaled)]
        )
        cuda = f"{r.cuda_us:.1f}" if r.cuda_us else "–"
        lines.append(
            f"| {r.kernel} | {r.format} | {cuda} | {r.plain_us:.1f} | {r.packed_us:.1f} |"
            f" {r.speedup:.2f} | {' | '.join(found)} |"
        )
    return "\n".join(lines) + "\n"
