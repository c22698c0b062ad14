"""The measured kernels of `kernels/cache.c`, their references, and the variants of each."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from ..specs import Array, Case, Kernel, product


@dataclass(frozen=True)
class Variant:
    """One way to compile `cache.c`: options of promote-cache-to-shared; `plain`: no directives."""

    name: str
    options: str = ""
    plain: bool = False


OPENACC = Variant("OpenACC", plain=True)
AUTO = Variant("cache")
RBI = Variant("RBI", "promote=always method=rbi rows=1 columns=1")
RBC = Variant("RBC", "promote=always method=rbc rows=1 columns=1")
EHC = Variant("EHC", "promote=always method=ehc rows=1 columns=1")
TUNED = (
    Variant("4×4", "promote=always rows=4 columns=4 stages=1"),
    Variant("8×8", "promote=always rows=8 columns=8 stages=1 transpose=false"),
    Variant("8×8 transposed", "promote=always rows=8 columns=8 stages=1"),
    Variant("8×8 async ahead", "promote=always rows=8 columns=8 stages=2 fetch=async"),
)
ALTERNATIVES = (
    Variant("communicating", "promote=always renewal=communicating rows=1 columns=1"),
    Variant("asynchronous", "promote=always fetch=async rows=1 columns=1"),
    Variant("ahead", "promote=always stages=2 rows=1 columns=1"),
    Variant("async ahead", "promote=always fetch=async stages=2 rows=1 columns=1"),
)
BULK = (
    Variant("bulk", "promote=always fetch=bulk rows=1 columns=1"),
    Variant("8×8 bulk", "promote=always fetch=bulk rows=8 columns=8"),
)
WIDTH = Variant("width synchronised", "promote=always width=synchronisation rows=1 columns=1")
ROWS = Variant("RBI 4 rows", "promote=always rows=4")
RBI_ROWS = Variant("RBI 4×4", "promote=always rows=4 columns=4")
COLUMNS = Variant("RBI 4 columns", "promote=always columns=4")
METHODS = (OPENACC, AUTO, RBI, RBC)


@dataclass(frozen=True)
class Measured:
    """A kernel and the variants that make sense for it."""

    kernel: Kernel
    variants: tuple[Variant, ...]


def _uniform(seed: int, *shape: int) -> Array:
    return np.random.default_rng(seed).random(shape, np.float32) + np.float32(0.5)


def _wide(a: Array) -> Array:
    return a.astype(np.float64)


def _gemm(n: int) -> Case:
    return product(_uniform(1, n, n), _uniform(2, n, n))


def _gemm_checked(n: int) -> Case:
    case = _gemm(n)
    return replace(case, args={"n": n, "t": 16, **{k: v for k, v in case.args.items() if k != "n"}})


def _nbody(n: int) -> Case:
    p = _uniform(1, n, 4)

    def reference() -> Mapping[str, Array]:
        q = _wide(p)
        d = q[None, :, :3] - q[:, None, :3]
        s = q[None, :, 3] / ((d**2).sum(-1) + 0.01) ** 1.5
        force = np.zeros((n, 4))
        force[:, :3] = (d * s[..., None]).sum(1)
        return {"f": force}

    arrays: dict[str, Array | int] = {"n": n, "p": p, "f": np.zeros_like(p)}
    return Case(arrays, ("f",), reference, 32.0 * n, 20.0 * n * n, tolerance=1e-3)


def _line(radius: int) -> Callable[[int], Case]:
    def make(n: int) -> Case:
        a = _uniform(1, n)

        def reference() -> Mapping[str, Array]:
            out = np.zeros(n)
            window = np.ones(2 * radius + 1) / (2 * radius + 1)
            out[radius : n - radius] = np.convolve(_wide(a), window, "valid")
            return {"b": out}

        arrays: dict[str, Array | int] = {"n": n, "a": a, "b": np.zeros_like(a)}
        return Case(arrays, ("b",), reference, 8.0 * n, (2.0 * radius + 2) * n)

    return make


def _shifted(a: Array, radius: int, y: int, x: int) -> Array:
    n = len(a)
    return a[radius + y : n - radius + y, radius + x : n - radius + x]


def _jacobi(n: int) -> Case:
    a = _uniform(1, n, n)

    def reference() -> Mapping[str, Array]:
        out, wide = np.zeros((n, n)), _wide(a)
        out[1:-1, 1:-1] = sum(_shifted(wide, 1, y, x) for y in (-1, 0, 1) for x in (-1, 0, 1)) / 9
        return {"b": out}

    arrays: dict[str, Array | int] = {"n": n, "a": a, "b": np.zeros_like(a)}
    return Case(arrays, ("b",), reference, 2.0 * a.nbytes, 9.0 * n * n)


def _hotspot(n: int) -> Case:
    t, p = _uniform(1, n, n), _uniform(2, n, n)

    def reference() -> Mapping[str, Array]:
        w, out = _wide(t), np.zeros((n, n))
        here = _shifted(w, 1, 0, 0)
        sides = [_shifted(w, 1, y, x) for y, x in ((-1, 0), (1, 0), (0, -1), (0, 1))]
        flow = (sum(sides) - 4 * here) * 0.1 + (80.0 - here) * 0.0125
        out[1:-1, 1:-1] = here + 0.05 * (_shifted(_wide(p), 1, 0, 0) + flow)
        return {"r": out}

    arrays: dict[str, Array | int] = {"n": n, "t": t, "p": p, "r": np.zeros_like(t)}
    return Case(arrays, ("r",), reference, 3.0 * t.nbytes, 15.0 * n * n)


def _convolution(n: int) -> Case:
    a, w = _uniform(1, n, n), _uniform(2, 49)

    def reference() -> Mapping[str, Array]:
        out, wide = np.zeros((n, n)), _wide(a)
        out[3:-3, 3:-3] = sum(
            float(w[(y + 3) * 7 + x + 3]) * _shifted(wide, 3, y, x)
            for y in range(-3, 4)
            for x in range(-3, 4)
        )
        return {"b": out}

    arrays: dict[str, Array | int] = {"n": n, "a": a, "w": w, "b": np.zeros_like(a)}
    return Case(arrays, ("b",), reference, 2.0 * a.nbytes, 98.0 * n * n)


def _lu(n: int) -> Case:
    lower, upper, a = _uniform(1, n, 16), _uniform(2, 16, n), _uniform(3, n, n)
    arrays: dict[str, Array | int] = {"n": n, "l": lower, "u": upper, "a": a}
    return Case(
        arrays,
        ("a",),
        lambda: {"a": _wide(a) - _wide(lower) @ _wide(upper)},
        2.0 * a.nbytes,
        33.0 * n * n,
        tolerance=1e-4,
    )


def write_case(n: int, steps: int, sparse: bool) -> Case:
    """The write-policy workloads: `steps` writes of each element, or of one in 64, one time in 64."""
    a, c = _uniform(1, n), _uniform(2, n)

    def reference() -> Mapping[str, Array]:
        out = _wide(a)
        for step in range(steps):
            active = (np.arange(n) % 64 == 7) & (step % 64 == 0) if sparse else np.ones(n, bool)
            out = np.where(active, 0.5 * out + _wide(c), out)
        return {"a": out}

    arrays: dict[str, Array | int] = {"n": n, "steps": steps, "a": a, "c": c}
    return Case(arrays, ("a",), reference, 12.0 * n, 2.0 * n * steps, tolerance=1e-4)


MEASURED = (
    Measured(
        Kernel("gemm16", "cache", _gemm, 4096, 96), (*METHODS, *ALTERNATIVES, WIDTH, *TUNED, *BULK)
    ),
    Measured(Kernel("gemm16_checked", "cache", _gemm_checked, 4096, 96), (AUTO, RBI, RBC, EHC)),
    Measured(Kernel("gemm32", "cache", _gemm, 4096, 96), (OPENACC, AUTO, RBI, RBC, TUNED[0])),
    Measured(Kernel("gemm8", "cache", _gemm, 4096, 256), (AUTO, *TUNED)),
    Measured(Kernel("nbody", "cache", _nbody, 65536, 512), (*METHODS, *ALTERNATIVES, WIDTH)),
    Measured(
        Kernel("jacobi", "cache", _jacobi, 8192, 99), (*METHODS, ALTERNATIVES[0], WIDTH, ROWS)
    ),
    Measured(Kernel("stencil1", "cache", _line(1), 1 << 26, 1000), (*METHODS, COLUMNS)),
    Measured(
        Kernel("stencil30", "cache", _line(30), 1 << 26, 1000), (*METHODS, COLUMNS, EHC, BULK[0])
    ),
    Measured(Kernel("hotspot", "cache", _hotspot, 8192, 99), (*METHODS, ROWS)),
    Measured(Kernel("convolution", "cache", _convolution, 8192, 99), (*METHODS, ROWS)),
    Measured(Kernel("lu", "cache", _lu, 8192, 99), (*METHODS, RBI_ROWS)),
)
"""Every kernel, in the order of the table."""

SIZES = {
    "gemm16": (128, 256, 512, 1024, 2048, 4096),
    "nbody": (4096, 16384, 65536),
    "jacobi": (1024, 2048, 4096, 8192),
    "stencil30": (1 << 20, 1 << 23, 1 << 26),
}
"""The paper's figures 3 to 5, and a stencil of one dimension: by size."""
