"""Stores that saturate are counted one by one, on every target and in every way a loop is compiled."""

from __future__ import annotations

import ctypes
import functools
from pathlib import Path

import numpy as np
import pytest
from accopt.compiler.api import Program, compile_files
from accopt.compiler.base.options import CompileOptions, TargetName

SOURCE = Path(__file__).parent / "saturation.c"
FORMATS = ("bits16", "bits8", "bits12", "bits21", "half", "bfloat16", "bits16:centred")
WIDE_FORMATS = (
    *("bits32", "bits16", "bits20", "bits40", "half"),
    *("bits32:centred", "bits16:centred", "bits40:centred"),
)
N = 1003


@functools.cache
def program(target: TargetName, real: str, code: str, count: bool = True) -> Program:
    options = CompileOptions(
        target=target,
        defines=(f"REAL={real}", f"CODE={code.replace(':', ',')}"),
        pass_options=() if count else ("compress-arrays{count=false}",),
        verify=True,
    )
    return compile_files([SOURCE], options)


def saturated_stores(p: Program, kernel: str, x: np.ndarray, text: str) -> tuple[float, int]:
    """The statistics' count of one run of `kernel` over `x`, with y's range ±1."""
    pointer, size = ctypes.c_void_p, ctypes.c_size_t
    y = np.zeros_like(x)
    single = ctypes.c_float
    compress = p.function(
        "acc_compress_copyin",
        pointer,
        (pointer, size, ctypes.c_char_p, pointer, ctypes.c_int, single, single),
    )
    p.function("acc_copyin", pointer, (pointer, size))(x.ctypes.data, x.nbytes)
    compress(y.ctypes.data, y.nbytes, text.encode(), None, 0, -1.0, 1.0)
    before, after = (ctypes.c_double * 6)(), (ctypes.c_double * 6)()
    ask = p.function("acc_compression_statistics", ctypes.c_int, (pointer, pointer))
    assert ask(y.ctypes.data, ctypes.addressof(before)) == 1
    p.function(kernel, None, (ctypes.c_long, pointer, pointer))(
        len(x), x.ctypes.data, y.ctypes.data
    )
    assert ask(y.ctypes.data, ctypes.addressof(after)) == 1
    delete = p.function("acc_delete", None, (pointer, size))
    delete(x.ctypes.data, x.nbytes)
    delete(y.ctypes.data, y.nbytes)
    return after[5], int(after[5] - before[5])


def numbers(real: str, code: str, n: int = N) -> tuple[np.ndarray, int]:
    """Numbers of which some saturate in a range of ±1, and how many."""
    x = np.random.default_rng(5).uniform(-1, 1, n).astype(np.float32 if real == "float" else float)
    x[:4] = 1, -1, 0, 1 - 1e-6
    if code in ("half", "bfloat16"):
        x[10::7] = np.inf
        x[11::29] = -np.inf
        x[50] = np.nan
        return x, int(np.isinf(x).sum())
    x[10::7] = 1.5
    x[11::29] = -3e38
    x[50], x[60], x[61] = np.nan, np.inf, -np.inf
    return x, int((~(np.abs(x) <= 1)).sum())


CASES = [("float", c) for c in FORMATS] + [("double", c) for c in WIDE_FORMATS]


def check(target: TargetName, real: str, code: str) -> None:
    p = program(target, real, code)
    x, expected = numbers(real, code)
    text = f"{real}:{code}"
    assert saturated_stores(p, "scale", x, text)[1] == expected
    assert saturated_stores(p, "overwrite", x, text)[1] == expected, "overwritten ones count"


@pytest.mark.parametrize(("real", "code"), CASES)
def test_on_the_host(real: str, code: str):
    check("host", real, code)


@pytest.mark.parametrize(("real", "code"), CASES[::3])
def test_on_the_simulated_gpu(real: str, code: str):
    check("sim", real, code)


@pytest.mark.gpu
@pytest.mark.parametrize(("real", "code"), CASES)
def test_on_the_gpu(real: str, code: str):
    check("nvptx", real, code)


@pytest.mark.parametrize("target", ["host", "sim", pytest.param("nvptx", marks=pytest.mark.gpu)])
def test_stores_of_a_gang(target: TargetName):
    """A store outside the vector loop is one thread's, and counted once."""
    x = np.zeros(100, np.float32)
    x[40:44] = 2
    x[70:76] = 2
    x[90:93] = 2
    p = program(target, "float", "bits16")
    assert saturated_stores(p, "rows", x, "float:bits16")[1] == 2


@pytest.mark.gpu
def test_many_blocks():
    x, expected = numbers("float", "bits16", 5_000_017)
    p = program("nvptx", "float", "bits16")
    assert saturated_stores(p, "scale", x, "float:bits16")[1] == expected


def test_without_counting():
    p = program("host", "float", "bits16", count=False)
    x, _ = numbers("float", "bits16")
    assert saturated_stores(p, "scale", x, "float:bits16")[0] == -1
