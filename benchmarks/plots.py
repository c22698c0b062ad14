# pyright: reportUnknownMemberType=false
# (matplotlib has no complete types)
"""
Code shared by the plots of all benches: curves and bars by name, and pictures of few kilobytes.

matplotlib is in the extra `plots`. A bench imports this module only where it draws, so that it can measure
without it.
"""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from PIL import Image

DPI = 96
COLOURS = 48

Points = Sequence[tuple[float, float]]


def new_figure(width: float = 8, height: float = 4.5) -> Figure:
    """A figure of `width` × `height` inches whose labels do not overlap; `Figure.subplots` makes its
    axes."""
    return Figure(figsize=(width, height), layout="constrained")


def curves(
    axes: Axes,
    named: Mapping[str, Points],
    *,
    labels: tuple[str, str],
    scales: tuple[Literal["linear", "log"], Literal["linear", "log"]] = ("log", "log"),
    dashed: Mapping[str, Points] | None = None,
    ideal: tuple[str, Points] | None = None,
    title: str = "",
) -> None:
    """
    Draws each name's points `(x, y)` as a line; `labels` and `scales` are those of x and y. `dashed`: a
    second curve of the same colour by name, for comparison. `ideal`: a grey line and its name.
    """
    for index, (name, points) in enumerate(named.items()):
        colour = f"C{index % 10}"
        axes.plot(*_columns(points), f"{colour}o-", markersize=4, linewidth=1.2, label=name)
        if dashed and name in dashed:
            axes.plot(*_columns(dashed[name]), f"{colour}--", linewidth=1.2)
    if ideal is not None:
        axes.plot(*_columns(ideal[1]), color="grey", linestyle=":", linewidth=1, label=ideal[0])
    axes.set(xlabel=labels[0], ylabel=labels[1], xscale=scales[0], yscale=scales[1])
    axes.set_title(title, fontsize=10)
    axes.grid(alpha=0.3)
    axes.legend(fontsize=8)


def bars(
    axes: Axes,
    groups: Sequence[str],
    named: Mapping[str, Mapping[str, float]],
    *,
    label: str,
    line: float | None = 1.0,
    rotation: float = 0,
    title: str = "",
    legend: bool = True,
) -> None:
    """
    Draws `named[name][group]` as a bar for each name in each group that has one. `label` is that of y;
    `line`: the height of a horizontal line.
    """
    width = 0.85 / max(len(named), 1)
    for number, (name, found) in enumerate(named.items()):
        places = [k + number * width for k, group in enumerate(groups) if group in found]
        values = [found[group] for group in groups if group in found]
        axes.bar(places, values, width, label=name)
    middle = (len(named) - 1) * width / 2
    axes.set_xticks([k + middle for k in range(len(groups))], list(groups))
    axes.tick_params(axis="x", rotation=rotation, labelsize=8)
    if line is not None:
        axes.axhline(line, color="black", linewidth=0.8)
    axes.set_ylabel(label)
    axes.set_title(title, fontsize=10)
    if legend and len(named) > 1:
        axes.legend(fontsize=8)


def save(figure: Figure, path: Path, dpi: int = DPI) -> None:
    """Writes the figure as the path's suffix says: SVG, or PNG with few colours, a third of the size."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.suffix != ".png":
        figure.savefig(path)
        return
    buffer = io.BytesIO()
    figure.savefig(buffer, dpi=dpi)
    Image.open(buffer).convert("RGB").quantize(COLOURS).save(path, optimize=True)


def _columns(points: Points) -> tuple[Any, Any]:
    return [x for x, _ in points], [y for _, y in points]
