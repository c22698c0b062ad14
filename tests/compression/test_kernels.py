"""
The kernels of the compression benchmarks on the host target: packed results are close to plain ones,
whatever the format, with and without groups of iterations, at sizes that are no multiple of a group.
"""

from __future__ import annotations

import ctypes
import functools
from pathlib import Path

import numpy as np
import pytest
from accopt.compiler.api import Program, compile_files
from accopt.compiler.base.options import CompileOptions

SOURCE = Path(__file__).parents[2] / "benchmarks/compression/kernels.c"
FORMATS = {
    "bits16": (np.float32, 2e-5),
    "bits8": (np.float32, 5e-3),
    "bits12": (np.float32, 3e-4),
    "bits20": (np.float32, 2e-6),
    "half": (np.float32, 6e-4),
    "bfloat16": (np.float32, 5e-3),
    "bits32": (np.float64, 3e-10),
    "bits16d": (np.float64, 2e-5),
    "bits40": (np.float64, 3e-12),
    "halfd": (np.float64, 6e-4),
    "bits16, centred": (np.float32, 2e-5),
    "bits32, centred, d": (np.float64, 3e-10),
}
"""Formats, those of doubles with a d behind them → type and tolerance."""
P, Z, INT, L, S, F = (
    ctypes.c_void_p,
    ctypes.c_size_t,
    ctypes.c_int,
    ctypes.c_long,
    ctypes.c_char_p,
    ctypes.c_float,
)


def modifiers(fmt: str) -> str:
    return fmt if fmt.endswith("centred") else fmt.removesuffix("d").removesuffix(", ")


@functools.cache
def program(fmt: str, *, wide: bool) -> Program:
    double = FORMATS[fmt][0] is np.float64
    clause = f"compression({modifiers(fmt)}: __VA_ARGS__)"
    defines = (
        f"REAL={'double' if double else 'float'}",
        f"SQRT={'sqrt' if double else 'sqrtf'}",
        *(f"PACKED{part}(...)={clause}" for part in ("", "_POWER", "_TEMPERATURE")),
    )
    # The groups are meant for GPUs; the code is the same everywhere.
    target = "nvptx" if wide else "host"
    options = CompileOptions(
        target="host",
        defines=defines,
        pass_options=(f"compress-arrays{{target={target} threads=0}}",),
        verify=True,
    )
    return compile_files([SOURCE], options)


class Arrays:
    """Arrays on the device, packed in one format; taken off at the end."""

    def __init__(self, fmt: str, *, wide: bool):
        self.program = program(fmt, wide=wide)
        base = "float" if FORMATS[fmt][0] is np.float32 else "double"
        self.type = f"{base}:{modifiers(fmt).replace(', ', ':')}".encode()
        self.dtype, self.tolerance = FORMATS[fmt]
        self.live: list[np.ndarray] = []
        self.compress = self.program.function("acc_compress_copyin", P, (P, Z, S, P, INT, F, F))
        self.copyin = self.program.function("acc_copyin", P, (P, Z))
        self.update = self.program.function("acc_update_self", None, (P, Z))
        self.delete = self.program.function("acc_delete", None, (P, Z))

    def packed(self, x: np.ndarray, low: float = 0, high: float = 0) -> int:
        """Puts `x` on the device packed; scanned unless a range is given."""
        self.live.append(x)
        self.compress(x.ctypes.data, x.nbytes, self.type, None, int(low == high), low, high)
        return x.ctypes.data

    def plain(self, x: np.ndarray) -> int:
        self.live.append(x)
        self.copyin(x.ctypes.data, x.nbytes)
        return x.ctypes.data

    def call(self, name: str, *args: object) -> None:
        self.program.function(name, None, tuple(type(a) for a in args))(*args)
        self.program.function("acc_wait_all", None, ())()

    def fetch(self, x: np.ndarray) -> np.ndarray:
        self.update(x.ctypes.data, x.nbytes)
        return x

    def numbers(self, n: int, seed: int, low: float = 0, high: float = 1) -> np.ndarray:
        return np.random.default_rng(seed).uniform(low, high, n).astype(self.dtype)

    def close(self) -> None:
        for x in self.live:
            self.delete(x.ctypes.data, x.nbytes)


both = pytest.mark.parametrize("wide", [True, False], ids=["wide", "narrow"])
formats = pytest.mark.parametrize("fmt", FORMATS)
N = 1003


@pytest.mark.sampled(4)
@both
@formats
def test_streaming(fmt: str, wide: bool):
    arrays = Arrays(fmt, wide=wide)
    x, y, z = arrays.numbers(N, 1), arrays.numbers(N, 2), np.zeros(N, arrays.dtype)
    px, py, pz = (arrays.packed(v, 0, 1) for v in (x, y, z))
    close = {"atol": 3 * arrays.tolerance, "rtol": 0}
    arrays.call("copy", L(N), P(px), P(pz))
    assert np.allclose(arrays.fetch(z), x, **close)
    arrays.call("vecprod", L(N), P(px), P(py), P(pz))
    assert np.allclose(arrays.fetch(z), x * y, **close)
    arrays.call("reverse", L(N), P(py), P(pz))
    assert np.allclose(arrays.fetch(z), y, **close)
    index = np.random.default_rng(9).integers(0, N, N).astype(np.int32)
    arrays.call("gather", L(N), P(arrays.plain(index)), P(px), P(pz))
    assert np.allclose(arrays.fetch(z), x[index], **close)
    z[:] = arrays.fetch(z)
    before = z.copy()
    arrays.call("strided", L(N), INT(7), P(py), P(pz))
    arrays.fetch(z)
    assert np.allclose(z[: N // 7 * 7 : 7], y[: N // 7 * 7 : 7], **close)
    rest = np.ones(N, bool)
    rest[: N // 7 * 7 : 7] = False
    assert (z[rest] == before[rest]).all(), "the neighbours of what is stored stay as they are"
    arrays.close()


@pytest.mark.sampled(9)
@both
@formats
@pytest.mark.parametrize("n", [33, 64])
def test_matrices(fmt: str, wide: bool, n: int):
    arrays = Arrays(fmt, wide=wide)
    a, b = arrays.numbers(n * n, 1), arrays.numbers(n * n, 2)
    total, product = np.zeros(n * n, arrays.dtype), np.zeros(n * n, arrays.dtype)
    pa, pb = arrays.packed(a), arrays.packed(b)
    arrays.call("matadd", INT(n), P(pa), P(pb), P(arrays.packed(total, 0, 2)))
    assert np.allclose(arrays.fetch(total), a + b, rtol=0, atol=6 * arrays.tolerance)
    arrays.call("matmul", INT(n), P(pa), P(pb), P(arrays.plain(product)))
    exact = (a.reshape(n, n).astype(np.float64) @ b.reshape(n, n)).ravel()
    slack = 1e-5 if arrays.dtype is np.float32 else 1e-12
    assert np.allclose(arrays.fetch(product), exact, rtol=2 * arrays.tolerance + slack)
    arrays.close()


@pytest.mark.sampled(4)
@both
@formats
def test_hotspot_and_neighbours(fmt: str, wide: bool):
    arrays = Arrays(fmt, wide=wide)
    n = 41
    t, power = arrays.numbers(n * n, 1, 0.5, 1), arrays.numbers(n * n, 2)
    out = np.zeros(n * n, arrays.dtype)
    pointers = arrays.packed(t), arrays.packed(power), arrays.packed(out, 0, 10)
    arrays.call("hotspot", INT(n), *(P(p) for p in pointers))
    g, p = t.reshape(n, n).astype(np.float64), power.reshape(n, n)
    c = g[1:-1, 1:-1]
    vertical = (g[:-2, 1:-1] + g[2:, 1:-1] - 2 * c) * 0.1
    horizontal = (g[1:-1, :-2] + g[1:-1, 2:] - 2 * c) * 0.1
    expected = c + 0.05 * (p[1:-1, 1:-1] + vertical + horizontal + (80 - c) * 0.0125)
    inner = arrays.fetch(out).reshape(n, n)[1:-1, 1:-1]
    assert np.allclose(inner, expected, rtol=0, atol=12 * arrays.tolerance)

    records, distance = arrays.numbers(2 * N, 3, 0, 90), np.zeros(N, arrays.dtype)
    where = arrays.plain(distance)
    arrays.call("nearest_aos", INT(N), P(arrays.packed(records)), P(where))
    expected = np.hypot(records[::2].astype(np.float64) - 30, records[1::2].astype(np.float64) - 90)
    assert np.allclose(arrays.fetch(distance), expected, rtol=0, atol=200 * arrays.tolerance)
    latitude, longitude = records[::2].copy(), records[1::2].copy()
    distance[:] = 0
    pointers = arrays.packed(latitude), arrays.packed(longitude), where
    arrays.call("nearest_soa", INT(N), *(P(p) for p in pointers))
    assert np.allclose(arrays.fetch(distance), expected, rtol=0, atol=200 * arrays.tolerance)
    arrays.close()


@both
def test_dyadic(wide: bool):
    arrays = Arrays("bits16", wide=wide)
    n = 256
    x, y, z = arrays.numbers(n, 1), arrays.numbers(n, 2), np.zeros(n, np.float32)
    pointers = arrays.packed(x), arrays.packed(y), arrays.plain(z)
    arrays.call("dyadic", INT(n), *(P(p) for p in pointers))
    i = np.arange(n)
    expected = (x[None, :] * y[i[:, None] ^ i[None, :]]).sum(1)
    assert np.allclose(arrays.fetch(z), expected, rtol=1e-4)
    arrays.close()
