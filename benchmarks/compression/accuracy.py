"""
Errors of compression in results, for the data of the papers' experiments, and the effect of the centred
code. Nothing is timed: `python -m benchmarks.compression.accuracy --target host` needs no GPU and gives the
same bits.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from .cases import PLACES, TEMPERATURES, Case, Format, hotspot, hurricanes, nearest
from .report import Errors
from .variants import Spec, Variant

RECORDS = 42764
"""The number of records of the nearest-neighbour data whose errors are reported separately."""

FAR = 31.0
"""The distance in degrees from which a record counts as far away."""

NEIGHBOURS = (
    ("nearest_aos", Format("float→16, one range", np.float32, "bits16")),
    ("nearest_aos", Format("float→16, a range each", np.float32, "bits16", arrays=True)),
    ("nearest_aos", Format("float→16, centred, one range", np.float32, "bits16, centred")),
    ("nearest_aos", Format("float→16, centred, each", np.float32, "bits16, centred", arrays=True)),
    ("nearest_aos", Format("float→21, one range", np.float32, "bits21")),
    ("nearest_aos", Format("float→21, centred, each", np.float32, "bits21, centred", arrays=True)),
    ("nearest_aos", Format("double→32, one range", np.float64, "bits32")),
)

HOTSPOTS = (
    Format("float→16", np.float32, "bits16"),
    Format("float→16, centred", np.float32, "bits16, centred"),
    Format("double→16", np.float64, "bits16"),
    Format("double→16, centred", np.float64, "bits16, centred"),
    Format("double→32", np.float64, "bits32"),
    Format("double→32, centred", np.float64, "bits32, centred"),
)


def neighbours(
    target: str = "nvptx", formats: Iterable[tuple[str, Format]] = NEIGHBOURS
) -> list[dict[str, Any]]:
    """
    Errors of nearest neighbour's distances as the papers' experiment has them, for each data set. A
    relative error is unbounded for a record next to the target, so three are given: over all records, over
    those at least 31 degrees away, and over the ten nearest ones.
    """
    out: list[dict[str, Any]] = []
    for places in PLACES:
        of_types: dict[type, np.ndarray[Any, Any]] = {}
        for kernel, fmt in formats:
            dtype = fmt.dtype
            case = nearest(kernel, RECORDS, dtype, places)
            latitude, longitude = hurricanes(RECORDS, dtype, places)
            exact = np.hypot(latitude.astype(np.float64) - 30, longitude.astype(np.float64) - 90)
            if dtype not in of_types:
                of_types[dtype] = Variant(dtype, None, target).result(case).astype(np.float64)
            plain = of_types[dtype]
            packed = Variant(dtype, fmt, target).result(case).astype(np.float64)
            far, ten = exact >= FAR, np.argsort(plain, kind="stable")[:10]
            again = np.argsort(packed, kind="stable")[:10]
            every = Errors.of(packed, plain)
            out.append(
                {
                    "places": places,
                    "format": fmt.label,
                    "mean": every.mean,
                    "largest": every.largest,
                    "scaled": every.scaled,
                    "far": Errors.of(packed[far], plain[far]).largest,
                    "ten": Errors.of(packed[ten], plain[ten]).largest,
                    "same_ten": set(ten.tolist()) == set(again.tolist()),
                    "nearest": float(plain.min()),
                }
            )
            print(out[-1], flush=True)
    return out


def temperatures(target: str = "nvptx", side: int = 512) -> list[dict[str, Any]]:
    """Errors of a step of HotSpot whose temperatures, and result, are packed within `TEMPERATURES`."""
    out: list[dict[str, Any]] = []
    of_types: dict[type, np.ndarray[Any, Any]] = {}
    for fmt in HOTSPOTS:
        dtype = fmt.dtype
        case = hotspot(side, dtype, "temperature", result=TEMPERATURES)
        what = ("temperature",)
        if dtype not in of_types:
            of_types[dtype] = _inside(Variant(dtype, None, target, hotspot=what), case, side)
        plain = of_types[dtype]
        packed = _inside(Variant(dtype, fmt, target, hotspot=what), case, side)
        found = Errors.of(packed, plain)
        out.append({"format": fmt.label, "mean": found.mean, "largest": found.largest})
        out[-1]["absolute"] = float(np.abs(packed - plain).max())
        print(out[-1], flush=True)
    return out


def _inside(variant: Variant, case: Case, side: int) -> np.ndarray[Any, Any]:
    """The result without the border, which is not written."""
    return variant.result(case).astype(np.float64).reshape(side, side)[1:-1, 1:-1]


def specs() -> list[Spec]:
    """All variants that `neighbours` and `temperatures` need."""
    found = [Spec(fmt.dtype, fmt) for _, fmt in NEIGHBOURS]
    return found + [Spec(fmt.dtype, fmt, ("temperature",)) for fmt in HOTSPOTS]


def main() -> int:
    """Entry point of the command; returns the exit status."""
    parser = argparse.ArgumentParser(prog="benchmarks.compression.accuracy")
    parser.add_argument("--target", default="nvptx", choices=("nvptx", "host"))
    parser.add_argument("--json", type=Path)
    args = parser.parse_args()
    found = {"neighbours": neighbours(args.target), "temperatures": temperatures(args.target)}
    if args.json is not None:
        args.json.write_text(json.dumps(found, indent=1))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
