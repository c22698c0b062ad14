"""Tables and a plot of the results of `measure.py`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from .measure import Result

FRONT = ("preprocess", "check", "generate IR")
COLUMNS = ("program", "target", "lines", "seconds", "load", "front", "passes", "IR text", "PTX")


def _groups(result: Result) -> list[float]:
    """The seconds of loading, the front end, all passes, the text of LLVM IR, and PTX."""
    seconds = dict.fromkeys(("load", "front", "passes", "text", "ptx"), 0.0)
    for name, total, *_ in result.phases[5]:
        if name in FRONT:
            seconds["front"] += total
        elif name.startswith("to stage"):
            seconds["passes"] += total
        elif name.startswith("LLVM IR"):
            seconds["text"] += total
        elif name == "PTX":
            seconds["ptx"] += total
        elif name == "(loading)":
            seconds["load"] += total
    return list(seconds.values())


def summary(results: Sequence[Result]) -> str:
    """A line of Markdown for each compilation, under a head."""
    heads = [*COLUMNS, "MB", "gcc -O2", "nvcc"]
    lines = ["| " + " | ".join(heads) + " |", "|---|---" + "|---:" * (len(heads) - 2) + "|"]
    for result in results:
        cells = [result.name, result.target, f"{result.lines:,}"]
        if result.error:
            cells += [f"refused: {result.error}"]
        else:
            cells += [f"{s:.2f}" for s in (result.seconds, *_groups(result))]
            cells += [f"{result.peak:.0f}"]
            cells += ["" if s is None else f"{s:.2f}" for s in (result.gcc, result.nvcc)]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def phase_table(result: Result) -> str:
    """
    Every phase: seconds, those of its own, the most memory in MB until its end, operations before and after;
    the longest first.
    """
    rows = ["seconds     own     MB  operations          phase"]

    def add(phase: list[Any], depth: int) -> None:
        name, seconds, own, before, after, inside, peak = phase
        counts = "" if before is None else f"{before:,} → {after:,}"
        rows.append(f"{seconds:7.3f} {own:7.3f} {peak:6.0f}  {counts:18}  {'  ' * depth}{name}")
        for inner in sorted(inside, key=lambda p: -p[1]):
            add(inner, depth + 1)

    add(result.phases, 0)
    return "\n".join(rows)


def plot(results: Sequence[Result], path: Path) -> None:
    """
    Plots seconds against lines: a panel for each family of generated programs and target, with a curve for
    each group of phases. Linear time has slope 1.
    """
    from matplotlib.figure import Figure
    from matplotlib.ticker import NullFormatter

    panels: dict[str, list[Result]] = {}
    for result in results:
        found = re.fullmatch(r"(\w+) \d+", result.name)
        if found and not result.error:
            panels.setdefault(f"{found[1]} ({result.target})", []).append(result)
    rows = max(1, -(-len(panels) // 4))
    figure = Figure(figsize=(14, 3.2 * rows), layout="constrained")
    shown: dict[str, Any] = {}
    for number, (name, points) in enumerate(sorted(panels.items()), 1):
        axes = figure.add_subplot(rows, 4, number, title=name, xscale="log", yscale="log")
        points.sort(key=lambda point: point.lines)
        lines = [point.lines for point in points]
        curves: dict[str, list[float | None]] = {"all": [point.seconds for point in points]}
        for index, group in enumerate(("loading", "front end", "passes", "LLVM IR", "PTX")):
            curves[group] = [_groups(point)[index] for point in points]
        if all(point.gcc for point in points):
            curves["gcc -O2"] = [point.gcc for point in points]
        for index, (label, seconds) in enumerate(curves.items()):
            if all(second and second > 0.005 for second in seconds):
                style = "k--" if label == "gcc -O2" else f"C{index}o-"
                (shown[label],) = axes.plot(lines, seconds, style, ms=3)
        least = min(points[0].seconds, 0.02)
        (shown["linear"],) = axes.plot(
            lines, [least * x / lines[0] for x in lines], "k:", alpha=0.5
        )
        axes.xaxis.set_minor_formatter(NullFormatter())
        if number % 4 == 1:
            axes.set_ylabel("processor seconds")
        if number > len(panels) - 4:
            axes.set_xlabel("lines")
    figure.legend(shown.values(), shown.keys(), loc="outside lower center", ncols=len(shown))
    figure.savefig(path)
