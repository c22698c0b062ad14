"""
The measured kernels: arguments, work, sizes and float64 reference of each.

A kernel is one C function with the same name and the same argument list in `kernels/<file>.c`
(OpenACC; pointers are host arrays that are present on the device) and `kernels/<file>.cu` (CUDA;
pointers are device addresses). Arrays named in `outputs` are compared with the reference.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]


@dataclass(frozen=True)
class Case:
    """
    One kernel at one size. `args` in C order: a NumPy array (passed by address) or an int.
    `host_result` names the array that the kernel writes in host memory rather than on the device.
    `bytes` and `flops` are the least that any version must move and compute.
    """

    args: dict[str, Array | int]
    outputs: tuple[str, ...]
    reference: Callable[[], Mapping[str, Array]]
    bytes: float
    flops: float = 0.0
    tolerance: float = 1e-5
    host_result: str | None = None
    long_ints: bool = False

    def arguments(self, addresses: Mapping[str, int]) -> list[Any]:
        """The arguments as ctypes passes them; `addresses` are those of the arrays."""
        integer = ctypes.c_long if self.long_ints else ctypes.c_int
        return [
            ctypes.c_void_p(addresses[name])
            if not isinstance(value, int)
            else (ctypes.c_long if name == "nnz" else integer)(value)
            for name, value in self.args.items()
        ]

    def wrong(self, outputs: Mapping[str, Array]) -> str | None:
        """How outputs differ from the float64 reference; None if they do not."""
        for name, expected in self.reference().items():
            error = error_of(outputs[name].reshape(-1)[: expected.size], expected)
            if not error <= self.tolerance:
                return f"{name} is off by {error:.2e} (allowed {self.tolerance:.0e})"
        return None


def error_of(actual: Array, expected: Array) -> float:
    """‖actual − expected‖ / ‖expected‖ in float64; infinite if anything is not finite."""
    a, e = actual.astype(np.float64).ravel(), np.asarray(expected, np.float64).ravel()
    a = a[: e.size]
    if not np.isfinite(a).all():
        return float("inf")
    return float(np.linalg.norm(a - e) / max(float(np.linalg.norm(e)), 1e-300))


@dataclass(frozen=True)
class Kernel:
    """A kernel: `make(n)` builds a case; `size` for measuring, `small` for checking in CI."""

    name: str
    file: str
    make: Callable[[int], Case]
    size: int
    small: int


def _rng(name: str) -> np.random.Generator:
    return np.random.default_rng(list(name.encode()))


def _uniform(name: str, shape: int | tuple[int, ...], dtype: type = np.float32) -> Array:
    return _rng(name).random(shape, dtype=dtype) + dtype(0.5)


def _f64(a: Array) -> Array:
    return a.astype(np.float64)


def _copy(n: int) -> Case:
    x = _uniform("x", n)
    return Case(
        {"n": n, "x": x, "y": np.zeros_like(x)},
        ("y",),
        lambda: {"y": _f64(x)},
        8.0 * n,
        long_ints=True,
    )


def _vecprod(dtype: type) -> Callable[[int], Case]:
    def make(n: int) -> Case:
        x, y = _uniform("x", n, dtype), _uniform("y", n, dtype)
        return Case(
            {"n": n, "x": x, "y": y, "z": np.zeros_like(x)},
            ("z",),
            lambda: {"z": _f64(x) * _f64(y)},
            3.0 * x.nbytes,
            float(n),
            long_ints=True,
        )

    return make


def _saxpy(n: int) -> Case:
    x, y = _uniform("x", n), _uniform("y", n)
    return Case(
        {"n": n, "x": x, "y": y.copy()},
        ("y",),
        lambda: {"y": 2.5 * _f64(x) + _f64(y)},
        12.0 * n,
        2.0 * n,
        long_ints=True,
    )


def _matadd(n: int) -> Case:
    a, b = _uniform("a", (n, n)), _uniform("b", (n, n))
    return Case(
        {"n": n, "a": a, "b": b, "c": np.zeros_like(a)},
        ("c",),
        lambda: {"c": _f64(a) + _f64(b)},
        3.0 * a.nbytes,
        float(n * n),
    )


def _transpose(n: int) -> Case:
    a = _uniform("a", (n, n))
    return Case(
        {"n": n, "a": a, "b": np.zeros_like(a)}, ("b",), lambda: {"b": _f64(a).T}, 2.0 * a.nbytes
    )


def _nearest(n: int) -> Case:
    records = _uniform("r", (n, 2)) * np.float32(90)

    def reference() -> Mapping[str, Array]:
        r = _f64(records)
        return {"distance": np.hypot(r[:, 0] - 30.0, r[:, 1] - 90.0)}

    return Case(
        {"n": n, "records": records, "distance": np.zeros(n, np.float32)},
        ("distance",),
        reference,
        12.0 * n,
        6.0 * n,
    )


def _stencil(
    formula: Callable[..., Array],
    inputs: tuple[str, ...],
    output: str,
    *,
    rank: int = 2,
    halo: int = 1,
    dtype: type = np.float32,
    flops: float = 6.0,
    planes: Mapping[str, int] | None = None,
) -> Callable[[int], Case]:
    """A stencil over the interior of an n^rank grid; `planes` gives arrays with several grids."""

    def make(n: int) -> Case:
        shape = (n,) * rank
        grids = {
            name: _uniform(
                name, (planes[name], *shape) if planes and name in planes else shape, dtype
            )
            for name in inputs
        }
        out: Array = np.zeros(shape, dtype)
        inner = (slice(halo, -halo),) * rank

        def reference() -> Mapping[str, Array]:
            expected = np.zeros(shape)
            expected[inner] = formula(*(_f64(g) for g in grids.values()))
            return {output: expected}

        cells = float((n - 2 * halo) ** rank)
        moved = sum(g.nbytes for g in grids.values()) + cells * out.itemsize
        return Case({"n": n, **grids, output: out}, (output,), reference, moved, flops * cells)

    return make


def _shift(a: Array, *offsets: int, halo: int = 1) -> Array:
    """The interior of `a` shifted by `offsets`."""
    return a[tuple(slice(halo + o, s - halo + o) for o, s in zip(offsets, a.shape, strict=True))]


def _jacobi5(a: Array) -> Array:
    return 0.25 * (_shift(a, 0, -1) + _shift(a, 0, 1) + _shift(a, -1, 0) + _shift(a, 1, 0))


def _jacobi9(a: Array) -> Array:
    corners = _shift(a, -1, -1) + _shift(a, -1, 1) + _shift(a, 1, -1) + _shift(a, 1, 1)
    return 0.5 * _shift(a, 0, 0) + 0.4 * _jacobi5(a) + 0.025 * corners


def _heat(u: Array) -> Array:
    return _shift(u, 0, 0) + 0.2 * (4.0 * _jacobi5(u) - 4.0 * _shift(u, 0, 0))


def _hotspot(t: Array, power: Array) -> Array:
    c = _shift(t, 0, 0)
    vertical = (_shift(t, -1, 0) + _shift(t, 1, 0) - 2.0 * c) * 0.1
    horizontal = (_shift(t, 0, -1) + _shift(t, 0, 1) - 2.0 * c) * 0.1
    return c + 0.05 * (_shift(power, 0, 0) + vertical + horizontal + (80.0 - c) * 0.0125)


def _neighbours(a: Array, distance: int, halo: int) -> Array:
    total = np.zeros(tuple(s - 2 * halo for s in a.shape))
    for axis in range(3):
        for sign in (-distance, distance):
            offsets = [0, 0, 0]
            offsets[axis] = sign
            total += _shift(a, *offsets, halo=halo)
    return total


def _laplacian(a: Array) -> Array:
    return _neighbours(a, 1, 1) - 6.0 * _shift(a, 0, 0, 0)


def _divergence(u: Array, v: Array, w: Array) -> Array:
    return 0.5 * (
        _shift(u, 0, 0, 1)
        - _shift(u, 0, 0, -1)
        + _shift(v, 0, 1, 0)
        - _shift(v, 0, -1, 0)
        + _shift(w, 1, 0, 0)
        - _shift(w, -1, 0, 0)
    )


def _wave13(now: Array, before: Array) -> Array:
    c = _shift(now, 0, 0, 0, halo=2)
    near, far = _neighbours(now, 1, 2), _neighbours(now, 2, 2)
    return (
        2.0 * c
        - _shift(before, 0, 0, 0, halo=2)
        + 0.1 * (1.3333333 * near - 0.0833333 * far - 7.5 * c)
    )


def _himeno(p: Array, a: Array, bnd: Array) -> Array:
    def s(i: int, j: int, k: int) -> Array:
        return _shift(p, i, j, k)

    coefficient = [_shift(a[m], 0, 0, 0) for m in range(4)]
    s0 = (
        coefficient[0] * s(1, 0, 0)
        + coefficient[1] * s(0, 1, 0)
        + coefficient[2] * s(0, 0, 1)
        + 0.5 * (s(1, 1, 0) - s(1, -1, 0) - s(-1, 1, 0) + s(-1, -1, 0))
        + 0.5 * (s(0, 1, 1) - s(0, -1, 1) - s(0, 1, -1) + s(0, -1, -1))
        + 0.5 * (s(1, 0, 1) - s(-1, 0, 1) - s(1, 0, -1) + s(-1, 0, -1))
        + s(-1, 0, 0)
        + s(0, -1, 0)
        + s(0, 0, -1)
    )
    return s(0, 0, 0) + 0.8 * ((s0 * coefficient[3] - s(0, 0, 0)) * _shift(bnd, 0, 0, 0))


def _reuse(axis: int) -> Callable[[int], Case]:
    def make(n: int) -> Case:
        a = _uniform("a", (n, n))

        def reference() -> Mapping[str, Array]:
            head = _f64(a[:, :64] if axis == 1 else a[:64, :])
            return {"b": np.broadcast_to(head.sum(axis=axis, keepdims=True), (n, n))}

        return Case(
            {"n": n, "a": a, "b": np.zeros_like(a)},
            ("b",),
            reference,
            a.nbytes + 256.0 * n,
            64.0 * n * n,
        )

    return make


def _matmul(n: int) -> Case:
    return product(_uniform("a", (n, n)), _uniform("b", (n, n)))


def product(a: Array, b: Array) -> Case:
    """The product `c` of two square matrices."""
    n = len(a)
    return Case(
        {"n": n, "a": a, "b": b, "c": np.zeros_like(a)},
        ("c",),
        lambda: {"c": _f64(a) @ _f64(b)},
        3.0 * a.nbytes,
        2.0 * n**3,
        tolerance=1e-4,
    )


def _nbody(n: int) -> Case:
    p = _uniform("p", (n, 4))

    def reference() -> Mapping[str, Array]:
        q = _f64(p)
        force = np.zeros((n, 4))
        for start in range(0, n, 256):
            d = q[None, :, :3] - q[start : start + 256, None, :3]
            s = q[None, :, 3] / ((d**2).sum(-1) + 0.01) ** 1.5
            force[start : start + 256, :3] = (d * s[..., None]).sum(1)
        return {"f": force}

    return Case(
        {"n": n, "p": p, "f": np.zeros_like(p)},
        ("f",),
        reference,
        32.0 * n,
        20.0 * n * n,
        tolerance=1e-3,
    )


def _csr(rows: int) -> Case:
    per_row = 27
    offsets = (np.arange(rows + 1, dtype=np.int64) * per_row).astype(np.int32)
    side = max(2, round(rows ** (1 / 3)))
    steps = np.array(
        [z * side * side + y * side + x for z in (-1, 0, 1) for y in (-1, 0, 1) for x in (-1, 0, 1)]
    )
    cols = np.clip(np.arange(rows)[:, None] + steps[None, :], 0, rows - 1).astype(np.int32).ravel()
    coefs, x = _uniform("c", rows * per_row, np.float64), _uniform("x", rows, np.float64)

    def reference() -> Mapping[str, Array]:
        return {"y": (coefs * x[cols]).reshape(rows, per_row).sum(1)}

    nnz = rows * per_row
    args: dict[str, Array | int] = {
        "rows": rows,
        "nnz": nnz,
        "offsets": offsets,
        "cols": cols,
        "coefs": coefs,
        "x": x,
        "y": np.zeros(rows),
    }
    return Case(args, ("y",), reference, 12.0 * nnz + 20.0 * rows, 2.0 * nnz)


def _dyadic(n: int) -> Case:
    a, b = _uniform("a", n), _uniform("b", n)

    def reference() -> Mapping[str, Array]:
        i = np.arange(n)
        return {"c": np.array([_f64(a) @ _f64(b[k ^ i]) for k in range(min(n, 512))])}

    return Case(
        {"n": n, "a": a, "b": b, "c": np.zeros_like(a)},
        ("c",),
        reference,
        12.0 * n,
        2.0 * n * n,
        tolerance=1e-3,
    )


def _histogram(n: int) -> Case:
    data = _rng("h").integers(0, 256, n, dtype=np.uint8)
    return Case(
        {"n": n, "data": data, "bins": np.zeros(256, np.int32)},
        ("bins",),
        lambda: {"bins": np.bincount(data, minlength=256)},
        float(n),
        long_ints=True,
    )


def _monte_carlo(streams: int) -> Case:
    points = 1024

    def reference() -> Mapping[str, Array]:
        state = np.uint32(2463534242) ^ (
            np.arange(streams, dtype=np.uint32) * np.uint32(2654435761)
        )
        count = 0
        for _ in range(points):
            state ^= state << np.uint32(13)
            state ^= state >> np.uint32(17)
            state ^= state << np.uint32(5)
            x = (state & np.uint32(0xFFFF)) / 65536.0
            y = (state >> np.uint32(16)) / 65536.0
            count += int((x * x + y * y < 1.0).sum())
        return {"inside": np.array([count])}

    return Case(
        {"streams": streams, "points": points, "inside": np.zeros(1, np.int64)},
        ("inside",),
        reference,
        0.0,
        12.0 * streams * points,
        host_result="inside",
    )


def _reduction(function: Callable[..., Any], arrays: int) -> Callable[[int], Case]:
    def make(n: int) -> Case:
        inputs = {name: _uniform(name, n) for name in ("x", "y")[:arrays]}
        return Case(
            {"n": n, **inputs, "result": np.zeros(1, np.float32)},
            ("result",),
            lambda: {"result": np.array([function(*(_f64(a) for a in inputs.values()))])},
            4.0 * n * arrays,
            float(n * arrays),
            tolerance=1e-4,
            host_result="result",
            long_ints=True,
        )

    return make


def _scan(dtype: type[np.generic], *, exclusive: bool = False) -> Callable[[int], Case]:
    def make(n: int) -> Case:
        x = np.asarray(_uniform("x", n, np.float64) * 8, dtype)
        x[0] = 0

        def reference() -> dict[str, Array]:
            sums = np.cumsum(x, dtype=np.float64)
            return {"y": np.concatenate([[0.0], sums[:-1]]) if exclusive else sums}

        args: dict[str, Array | int] = {"n": n, "x": x, "y": np.zeros_like(x)}
        moved = 2.0 * x.nbytes
        return Case(args, ("y",), reference, moved, tolerance=1e-4, long_ints=True)

    return make


def _scan_rows(n: int) -> Case:
    x = _uniform("x", (n, n))
    x[:, 0] = 0

    def reference() -> dict[str, Array]:
        return {"y": np.cumsum(x, axis=1, dtype=np.float64)}

    args: dict[str, Array | int] = {"rows": n, "n": n, "x": x, "y": np.zeros_like(x)}
    return Case(args, ("y",), reference, 2.0 * x.nbytes, tolerance=1e-4)


KERNELS: tuple[Kernel, ...] = (
    Kernel("copy_f32", "streaming", _copy, 1 << 27, 1000),
    Kernel("vecprod_f32", "streaming", _vecprod(np.float32), 1 << 27, 1001),
    Kernel("vecprod_f64", "streaming", _vecprod(np.float64), 1 << 27, 1003),
    Kernel("saxpy", "streaming", _saxpy, 1 << 27, 2049),
    Kernel("matadd", "streaming", _matadd, 8192, 70),
    Kernel("transpose", "streaming", _transpose, 8192, 67),
    Kernel("nearest", "streaming", _nearest, 1 << 27, 1000),
    Kernel("jacobi5", "stencils", _stencil(_jacobi5, ("a",), "b", flops=4), 8192, 70),
    Kernel("jacobi9", "stencils", _stencil(_jacobi9, ("a",), "b", flops=11), 8192, 70),
    Kernel("heat2d", "stencils", _stencil(_heat, ("u",), "v", dtype=np.float64, flops=7), 4096, 70),
    Kernel(
        "hotspot",
        "stencils",
        _stencil(_hotspot, ("temperature", "power"), "result", dtype=np.float64, flops=15),
        8192,
        70,
    ),
    Kernel("laplacian", "stencils", _stencil(_laplacian, ("a",), "b", rank=3, flops=7), 512, 21),
    Kernel("divergence", "stencils", _stencil(_divergence, ("u", "v", "w"), "d", rank=3), 512, 21),
    Kernel(
        "wave13",
        "stencils",
        _stencil(_wave13, ("now", "before"), "next", rank=3, halo=2, flops=18),
        512,
        21,
    ),
    Kernel(
        "himeno",
        "stencils",
        _stencil(_himeno, ("p", "a", "bnd"), "q", rank=3, flops=34, planes={"a": 4}),
        512,
        21,
    ),
    Kernel("x_reuse", "stencils", _reuse(1), 8192, 100),
    Kernel("y_reuse", "stencils", _reuse(0), 8192, 100),
    Kernel("matmul", "compute", _matmul, 4096, 65),
    Kernel("matmul_tiled", "compute", _matmul, 4096, 128),
    Kernel("nbody", "compute", _nbody, 65536, 300),
    Kernel("csr", "compute", _csr, 2_097_152, 400),
    Kernel("dyadic", "compute", _dyadic, 65536, 2048),
    Kernel("histogram", "compute", _histogram, 1 << 28, 5000),
    Kernel("monte_carlo", "compute", _monte_carlo, 1 << 20, 600),
    Kernel("sum_f32", "reductions", _reduction(np.sum, 1), 1 << 28, 10007),
    Kernel("max_f32", "reductions", _reduction(np.max, 1), 1 << 28, 10007),
    Kernel("dot_f32", "reductions", _reduction(np.dot, 2), 1 << 27, 10007),
    Kernel("scan_f32", "scans", _scan(np.float32), 1 << 27, 10007),
    Kernel("scan_f64", "scans", _scan(np.float64), 1 << 26, 10007),
    Kernel("scan_exclusive", "scans", _scan(np.int32, exclusive=True), 1 << 27, 10007),
    Kernel("scan_rows", "scans", _scan_rows, 8192, 999),
)
"""Every kernel, in the order of the table."""
