"""
Windows of stencils over packed arrays (`passes/compress_arrays/windows.py`): whatever the shape of the loops,
the results are those of the kernel without windows, bit for bit.
"""

from __future__ import annotations

import ctypes
import functools
from pathlib import Path

import numpy as np
import pytest
from accopt.compiler.api import Program, compile_files
from accopt.compiler.base.diagnostics import DiagnosticSink
from accopt.compiler.base.options import CompileOptions
from accopt.compiler.executable import front_end
from accopt.compiler.ir.context import make_context
from accopt.compiler.pipeline import run_to_stage
from accopt.compiler.remarks import REMARKS_STAGE, remarks_of

SOURCE = """
#define PLACE(a, b) present(a[0:rows * n], b[0:rows * n]) compression(FMT: a, b)

void first_columns(int rows, int n, int from, const REAL *restrict a, REAL *restrict b)
{
#pragma acc parallel loop collapse(2) PLACE(a, b)
    for (int i = 1; i < rows - 1; i++)
        for (int j = from; j < n - 2; j++)
            b[i * n + j] = a[(i - 1) * n + j] + a[i * n + j + 2] - a[(i + 1) * n + j];
}

void from_three(int rows, int n, int from, const REAL *restrict a, REAL *restrict b)
{
    int all = rows * n;
#pragma acc parallel loop PLACE(a, b)
    for (int i = 3; i < all - 1; i++)
        b[i] = (REAL)0.5 * a[i + 1];
}

void line(int rows, int n, int from, const REAL *restrict a, REAL *restrict b)
{
    int all = rows * n;
#pragma acc parallel loop PLACE(a, b)
    for (int i = from; i < all - 1; i++)
        b[i] = a[i - 1] + a[i + 1] - a[i];
}

void rows_of(int rows, int n, int from, const REAL (*restrict a)[n], REAL (*restrict b)[n])
{
#pragma acc parallel loop gang present(a[0:rows], b[0:rows]) compression(FMT: a, b)
    for (int i = 1; i < rows - 1; i++)
#pragma acc loop vector
        for (int j = from; j < n - 1; j++)
            b[i][j] = a[i][j - 1] + a[i - 1][j] + (REAL)(i + j) / 512;
}

void planes(int rows, int n, int from, const REAL *restrict a, REAL *restrict b)
{
    int m = rows / 4;
#pragma acc parallel loop collapse(3) PLACE(a, b)
    for (int k = 1; k < 3; k++)
        for (int i = 1; i < m - 1; i++)
            for (int j = 1; j < n - 1; j++)
                b[(k * m + i) * n + j] = a[((k - 1) * m + i) * n + j] + a[(k * m + i - 1) * n + j]
                    + a[(k * m + i) * n + j + 1] + a[(k * m + i) * n + j - 1];
}

void triangle(int rows, int n, int from, const REAL *restrict a, REAL *restrict b)
{
#pragma acc parallel loop PLACE(a, b)
    for (int i = 1; i < rows - 1; i++)
#pragma acc loop
        for (int j = i; j < n - 1; j++)
            b[i * n + j] = a[i * n + j - 1] - a[i * n + j + 1];
}

void in_place(int rows, int n, int from, const REAL *restrict a, REAL *restrict b)
{
#pragma acc parallel loop collapse(2) PLACE(a, b)
    for (int i = 0; i < rows; i++)
        for (int j = 1; j < n - 1; j++)
            b[i * n + j] += a[i * n + j - 1] * a[i * n + j + 1];
}
"""
KERNELS = ("first_columns", "from_three", "line", "rows_of", "planes", "in_place", "triangle")
P, Z, INT, F = ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_float


@functools.cache
def program(directory: Path, real: str, fmt: str, target: str, option: str) -> Program:
    source = directory / f"{real}_{fmt}.c"
    source.write_text(SOURCE)
    options = CompileOptions(
        target=target,  # pyright: ignore[reportArgumentType]
        defines=(f"REAL={real}", f"FMT={fmt}"),
        pass_options=(f"compress-arrays{{{option}}}",),
        verify=True,
    )
    return compile_files([source], options)


def results(compiled: Program, real: str, fmt: str, kernel: str, shape: tuple[int, int, int]):
    """What `kernel` leaves in b, whose range is wide enough for all of them."""
    rows, n, start = shape
    dtype = np.float32 if real == "float" else np.float64
    a = np.random.default_rng(7).uniform(-1, 1, rows * n).astype(dtype)
    b = np.random.default_rng(8).uniform(-1, 1, rows * n).astype(dtype)
    f = compiled.function
    place = f("acc_compress_copyin", P, (P, Z, ctypes.c_char_p, P, INT, F, F))
    for array in (a, b):
        place(array.ctypes.data, array.nbytes, f"{real}:{fmt}".encode(), None, 0, -5.0, 5.0)
    f(kernel, None, (INT, INT, INT, P, P))(rows, n, start, a.ctypes.data, b.ctypes.data)
    f("acc_wait_all", None, ())()
    f("acc_update_self", None, (P, Z))(b.ctypes.data, b.nbytes)
    for array in (a, b):
        f("acc_delete", None, (P, Z))(array.ctypes.data, array.nbytes)
    return b


SHAPES = [(12, 40, 1), (13, 48, 5), (12, 37, 2), (16, 16, 1), (9, 8, 1)]


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("windows")


@pytest.mark.sampled(3)  # one of each type, and of each size of groups
@pytest.mark.parametrize(
    "real,fmt,group",
    [
        ("float", "bits16", 16),
        ("float", "bits8", 32),
        ("double", "bits32", 16),
        ("double", "half", 32),
    ],
)
def test_windows_change_nothing(directory: Path, real: str, fmt: str, group: int):
    plain = program(directory, real, fmt, "host", "wide=false target=host")
    wide = program(directory, real, fmt, "host", f"target=nvptx threads=0 rows=4 group={group}")
    for kernel in KERNELS:
        for shape in SHAPES:
            expected = results(plain, real, fmt, kernel, shape)
            actual = results(wide, real, fmt, kernel, shape)
            assert actual.tobytes() == expected.tobytes(), (kernel, shape)


def test_on_the_simulated_gpu(directory: Path):
    plain = program(directory, "float", "bits16", "host", "wide=false target=host")
    wide = program(directory, "float", "bits16", "sim", "threads=0")
    for kernel in KERNELS:
        for shape in SHAPES[:3]:
            expected = results(plain, "float", "bits16", kernel, shape)
            actual = results(wide, "float", "bits16", kernel, shape)
            assert actual.tobytes() == expected.tobytes(), (kernel, shape)


@pytest.mark.gpu
@pytest.mark.parametrize("real,fmt", [("float", "bits16"), ("double", "bits16")])
def test_on_the_gpu(directory: Path, real: str, fmt: str):
    plain = program(directory, real, fmt, "host", "wide=false target=host")
    wide = program(directory, real, fmt, "nvptx", "threads=0")
    for kernel in KERNELS:
        for shape in [*SHAPES, (400, 1000, 1)]:
            expected = results(plain, real, fmt, kernel, shape)
            actual = results(wide, real, fmt, kernel, shape)
            assert actual.tobytes() == expected.tobytes(), (kernel, shape)


def test_all_kernels_have_windows(directory: Path):
    source = directory / "float_bits16.c"
    source.write_text(SOURCE)
    options = CompileOptions(
        target="nvptx",
        defines=("REAL=float", "FMT=bits16"),
        pass_options=("compress-arrays{threads=0}",),
    )
    module = front_end([source], options, DiagnosticSink())
    run_to_stage(make_context(), module, REMARKS_STAGE, options)
    found = [r.loc.line for r in remarks_of(module, "nvptx") if "decoded once" in r.message]
    assert len(set(found)) == len(KERNELS)
