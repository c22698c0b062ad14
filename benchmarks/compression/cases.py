"""The inputs of the compression benchmarks: formats, and a case per kernel of `kernels.c`."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
DISTINCT = 1 << 20


@dataclass(frozen=True)
class Format:
    """The format of a variant's packed arrays; `clause` is its modifier."""

    label: str
    dtype: type
    clause: str

    arrays: bool = False
    """Whether an array of pairs becomes a pair of arrays on the device."""

    @property
    def type_text(self) -> str:
        """The `type` argument of the runtime routines."""
        base = "float" if self.dtype is np.float32 else "double"
        return f"{base}:{self.clause.replace(', ', ':')}" + (":soa2" if self.arrays else "")

    @property
    def modifiers(self) -> str:
        """The modifiers of the `compression` clause."""
        return f"soa, {self.clause}" if self.arrays else self.clause


FORMATS = (
    Format("float→16", np.float32, "bits16"),
    Format("double→32", np.float64, "bits32"),
    Format("double→16", np.float64, "bits16"),
)


@dataclass(frozen=True)
class Case:
    """One kernel call: arguments in C order, and the arrays that the compressed version packs."""

    kernel: str
    args: dict[str, Array | int]
    packed: tuple[str, ...]
    output: str
    ranges: dict[str, tuple[float, float]]


LONG = frozenset(("copy", "reverse", "strided", "gather", "vecprod"))
"""Kernels whose `n` is a long."""

HOTSPOTS = {
    "power": ("power",),
    "temperature": ("temperature", "result"),
    "both": ("power", "temperature", "result"),
}
"""The arrays that HotSpot packs in its three versions."""

TEMPERATURES = (320.0, 346.0)
"""A range that contains HotSpot's temperatures, 323 to 343, also after a step."""

PLACES = {"globe": ((70, 710), (0, 3590)), "North Atlantic": ((70, 701), (2600, 3590))}
"""Data sets → latitudes and degrees east, in tenths of degrees; the upper ends are not in it."""

STRIDES = (2, 4, 8, 16, 32)


def uniform(seed: int, n: int, dtype: type, low: float = 0.0, high: float = 1.0) -> Array:
    """Random numbers; large arrays repeat a million of them."""
    few = np.random.default_rng(seed).uniform(low, high, min(n, DISTINCT)).astype(dtype)
    return np.resize(few, n)


def streaming(kernel: str, n: int, dtype: type, *, stride: int = 1) -> Case:
    """copy, reverse, strided and random copy, vector product."""
    x = uniform(1, n, dtype)
    args: dict[str, Array | int] = {"n": n}
    if kernel == "strided":
        args["stride"] = stride
    if kernel == "gather":
        args["index"] = np.random.default_rng(2).integers(0, n, n).astype(np.int32)
    args["x"] = x
    if kernel == "vecprod":
        args |= {"y": uniform(3, n, dtype), "z": np.zeros(n, dtype)}
        return Case(kernel, args, ("x", "y", "z"), "z", {"z": (0.0, 1.0)})
    args["y"] = np.zeros(n, dtype)
    return Case(kernel, args, ("x", "y"), "y", {"y": (0.0, 1.0)})


def copies(n: int, dtype: type) -> dict[str, Case]:
    """All copies of the same arrays: in order, reversed, in steps, at random."""
    gather = streaming("gather", n, dtype)
    arrays = {name: gather.args[name] for name in ("x", "y")}
    found = {"gather": gather}
    for kernel in ("copy", "reverse"):
        found[kernel] = replace(gather, kernel=kernel, args={"n": n, **arrays})
    for stride in STRIDES:
        args = {"n": n, "stride": stride, **arrays}
        found[f"strided {stride}"] = replace(gather, kernel="strided", args=args)
    return found


def matrices(kernel: str, n: int, dtype: type) -> Case:
    """Matrix addition and multiplication of n × n matrices."""
    args: dict[str, Array | int] = {
        "n": n,
        "a": uniform(1, n * n, dtype),
        "b": uniform(2, n * n, dtype),
        "c": np.zeros(n * n, dtype),
    }
    packed = ("a", "b", "c") if kernel == "matadd" else ("a", "b")
    return Case(kernel, args, packed, "c", {"c": (0.0, 2.0)})


def hotspot(
    n: int,
    dtype: type,
    what: str,
    *,
    kernel: str = "hotspot",
    result: tuple[float, float] = (0.0, 350.0),
) -> Case:
    """
    One step of HotSpot on an n × n grid; `what` selects the packed arrays (`HOTSPOTS`), `result` is the
    given range of the result.
    """
    args: dict[str, Array | int] = {
        "n": n,
        "temperature": uniform(1, n * n, dtype, 323, 343),
        "power": uniform(2, n * n, dtype, 0, 0.002),
        "result": np.zeros(n * n, dtype),
    }
    return Case(kernel, args, HOTSPOTS[what], "result", {"result": result})


def hurricanes(n: int, dtype: type, places: str = "globe") -> tuple[Array, Array]:
    """Latitudes and longitudes in degrees with one decimal, as in records of hurricanes' positions."""
    few = min(n, DISTINCT)
    random = np.random.default_rng(1)
    (south, north), (west, east) = PLACES[places]
    latitude = random.integers(south, north, few) / 10
    longitude = random.integers(west, east, few) / 10
    return np.resize(latitude, n).astype(dtype), np.resize(longitude, n).astype(dtype)


def nearest(kernel: str, n: int, dtype: type, places: str = "globe") -> Case:
    """Distances of n places to one, as an array of structures or two arrays."""
    latitude, longitude = hurricanes(n, dtype, places)
    args: dict[str, Array | int] = {"n": n}
    if kernel == "nearest_aos":
        args["records"] = np.stack([latitude, longitude], axis=1).reshape(-1)
        packed: tuple[str, ...] = ("records",)
    else:
        args |= {"latitude": latitude, "longitude": longitude}
        packed = ("latitude", "longitude")
    args["distance"] = np.zeros(n, dtype)
    return Case(kernel, args, packed, "distance", {})


def dyadic(n: int, dtype: type) -> Case:
    """Dyadic (xor) convolution of two vectors."""
    args: dict[str, Array | int] = {
        "n": n,
        "x": uniform(1, n, dtype),
        "y": uniform(2, n, dtype),
        "z": np.zeros(n, dtype),
    }
    return Case("dyadic", args, ("x", "y"), "z", {})


def table_cases(dtype: type, scale: int) -> list[tuple[str, Case, int]]:
    """Label, case and size of the table's benchmarks; `scale` divides the number of elements."""
    n, side = (1 << 27 if dtype is np.float32 else 1 << 26) // scale, int(8192 / scale**0.5)
    out = [(name, case, n) for name, case in copies(n, dtype).items()]
    out.append(("vecprod", streaming("vecprod", n, dtype), n))
    out.append(("matadd", matrices("matadd", side, dtype), side))
    for kernel in ("matmul", "matmul_cached"):
        out.append((kernel, matrices(kernel, side // 4, dtype), side // 4))
    for kernel in ("nearest_aos", "nearest_soa"):
        out.append((kernel, nearest(kernel, n // 2, dtype), n // 2))
    points = max(64, (1 << 15) // scale)
    out.append(("dyadic", dyadic(points, dtype), points))
    for what in HOTSPOTS:
        out.append((f"hotspot {what}", hotspot(side, dtype, what), side))
    return out


def sized_cases(dtype: type) -> list[tuple[str, Case, int]]:
    """The kernels of the table over their sizes, as in the papers' figures."""
    out: list[tuple[str, Case, int]] = []
    for exponent in (14, 16, 18, 20, 22, 24, 26):
        n = 1 << exponent
        out.append(("vecprod", streaming("vecprod", n, dtype), n))
        out.append(("nearest_aos", nearest("nearest_aos", n, dtype), n))
    for side in (256, 512, 1024, 2048, 4096, 8192):
        out.append(("matadd", matrices("matadd", side, dtype), side * side))
        out += [(f"hotspot {w}", hotspot(side, dtype, w), side * side) for w in HOTSPOTS]
    for side in (128, 256, 512, 1024, 2048):
        out.append(("matmul", matrices("matmul", side, dtype), side * side))
    for exponent in (10, 12, 14, 15):
        out.append(("dyadic", dyadic(1 << exponent, dtype), 1 << exponent))
    return out
