"""
Nests in all forms of the bench, and with sizes and tiles that fit neither a device nor a loop: right results
for any number of iterations as they are written, without a race in the simulator, and the messages of what
contradicts itself, whether clauses are advice or kept.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest
from accopt.compiler.api import Program, compile_files
from accopt.compiler.base.diagnostics import CompileError
from accopt.compiler.base.options import CompileOptions, Sizes, TargetName
from numpy.typing import NDArray

sys.path.insert(0, str(Path(__file__).parents[2]))

from benchmarks import forms
from benchmarks.forms import FORMS, Form, rewrite

Floats = NDArray[np.float32]

NESTS = {
    "line": """\
#pragma acc parallel loop present(a[0:n*m], b[0:n*m])
    for (int i = 0; i < n * m; i++)
        b[i] = 2.0f * a[i] + i;""",
    "transposition": """\
#pragma acc parallel loop collapse(2) present(a[0:n*m], b[0:n*m])
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            b[j * n + i] = a[i * m + j];""",
    "stencil": """\
#pragma acc parallel loop collapse(2) present(a[0:n*m], b[0:n*m])
    for (int i = 1; i < n - 1; i++)
        for (int j = 1; j < m - 1; j++)
            b[i * m + j] = a[i * m + j - 1] + a[i * m + j + 1] + a[(i - 1) * m + j] + a[(i + 1) * m + j];""",
    "rows": """\
#pragma acc parallel loop present(a[0:n*m], b[0:n*m])
    for (int i = 0; i < n; i++) {
        float sum = 1;
#pragma acc loop reduction(+:sum)
        for (int j = 0; j < m; j++)
            sum += a[i * m + j];
        b[i] = sum;
    }""",
    "cube": """\
#pragma acc parallel loop collapse(3) present(a[0:n*m], b[0:n*m])
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m / 3; j++)
            for (int k = 0; k < 3; k++)
                b[(i * (m / 3) + j) * 3 + k] = a[(i * (m / 3) + j) * 3 + k] + k;""",
    "total": """\
    float sum = 0;
#pragma acc parallel loop collapse(2) reduction(+:sum) present(a[0:n*m], b[0:n*m])
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            sum += a[i * m + j];
#pragma acc serial present(b[0:n*m])
    if (n * m > 0)
        b[0] = sum;""",
}

ODD: Mapping[str, Form] = {
    "2048 lanes": Form(forms.gang_vector, sizes="vector_length(2048)"),
    "64 × 64": Form(forms.gang_worker_vector, sizes="num_workers(64) vector_length(64)"),
    "1500 gangs": Form(forms.gang_vector, sizes="num_gangs(1500)"),
    "3 × 7 × 5": Form(forms.all_levels, sizes="num_gangs(3) num_workers(7) vector_length(5)"),
    "known at run time": Form(
        forms.all_levels, sizes="num_gangs(n + 1) num_workers(m + 1) vector_length(n + m + 1)"
    ),
    "one thread": Form(forms.gang_vector, sizes="num_gangs(1) vector_length(1)"),
    "tiles larger than loops": Form(forms.tiles({1: "4096", 2: "1000,1000", 3: "64,64,64"})),
    "tiles of one": Form(forms.tiles({1: "1", 2: "1,1", 3: "1,1,1"})),
    "odd tiles": Form(forms.tiles({1: "5", 2: "3,7", 3: "2,3,5"})),
    "tiles known at run time": Form(
        forms.tiles({1: "m + 1", 2: "n + 1,m + 1", 3: "m + 1,n + 1,2"})
    ),
}
SIZES = ((0, 5), (4, 0), (1, 1), (3, 35), (37, 6))


def _expected(nest: str, n: int, m: int, a: Floats, before: Floats) -> Floats:
    b, rows = before.copy(), a[: n * m].reshape(n, m)
    if nest == "line":
        b[: n * m] = 2 * a[: n * m] + np.arange(n * m)
    elif nest == "transposition":
        b[: n * m] = rows.T.reshape(-1)
    elif nest == "stencil":
        inner = b[: n * m].reshape(n, m)
        inner[1:-1, 1:-1] = rows[1:-1, :-2] + rows[1:-1, 2:] + rows[:-2, 1:-1] + rows[2:, 1:-1]
    elif nest == "rows":
        b[:n] = 1 + rows.sum(1)
    elif nest == "cube":
        count = n * (m // 3) * 3
        b[:count] = a[:count] + np.arange(count) % 3
    elif n * m > 0:
        b[0] = rows.sum()
    return b


def _write(nest: str, path: Path) -> dict[str, str]:
    """A function for each form of a nest; the forms' names by those of the functions."""
    found: dict[str, str] = {}
    text: list[str] = []
    for form, shape in {**FORMS, **ODD}.items():
        lines = rewrite(NESTS[nest].split("\n"), shape)
        if lines is not None:
            name = f"f{len(found)}"
            found[name] = form
            text += [f"void {name}(int n, int m, float *restrict a, float *restrict b)", "{"]
            text += [*lines, "}", ""]
    path.write_text("\n".join(text))
    return found


def _run(program: Program, name: str, n: int, m: int, a: Floats, b: Floats) -> None:
    section = (ctypes.c_void_p, ctypes.c_size_t)
    copyin = program.function("acc_copyin", ctypes.c_void_p, section)
    copyout = program.function("acc_copyout", None, section)
    pointers = [ctypes.c_void_p(array.ctypes.data) for array in (a, b)]
    for array in (a, b):
        copyin(array.ctypes.data, array.nbytes)
    program.function(name, None, None)(ctypes.c_int(n), ctypes.c_int(m), *pointers)
    for array in (a, b):
        copyout(array.ctypes.data, array.nbytes)


def _wrong(nest: str, target: TargetName, sizes: Sizes, folder: Path) -> list[str]:
    path = folder / f"{nest}.c"
    names = _write(nest, path)
    program = compile_files([path], CompileOptions(target=target, sizes=sizes))
    found: list[str] = []
    try:
        for name, form in names.items():
            for n, m in SIZES:
                a = np.arange(1, n * m + 2, dtype=np.float32) % 7
                b = np.full(n * m + n + 2, -1, np.float32)
                want = _expected(nest, n, m, a, b)
                _run(program, name, n, m, a, b)
                if not np.array_equal(b, want):
                    found.append(f"{form}, {n} × {m}")
    finally:
        program.close()
    return found


@pytest.mark.parametrize("nest", ["rows", "transposition"])
def test_as_written_in_the_simulator(nest: str, tmp_path: Path) -> None:
    assert _wrong(nest, "sim", "as-written", tmp_path) == []


@pytest.mark.slow
@pytest.mark.parametrize("sizes", ["advice", "as-written"])
@pytest.mark.parametrize("target", ["host", "sim"])
@pytest.mark.parametrize("nest", NESTS)
def test_all_nests(nest: str, target: TargetName, sizes: Sizes, tmp_path: Path) -> None:
    assert _wrong(nest, target, sizes, tmp_path) == []


CONTRADICTIONS = {
    "gang num_gangs(0)": "num_gangs",
    "tile(0, 2)": "tile",
    "gang seq": "seq",
    "vector vector_length(-1)": "vector_length",
    "tile(2, 2, 2)": "tile",
}


@pytest.mark.parametrize("clauses", CONTRADICTIONS)
def test_messages_do_not_depend_on_sizes(clauses: str, tmp_path: Path) -> None:
    path = tmp_path / "wrong.c"
    path.write_text(
        f"""void f(int n, float *a)
{{
#pragma acc parallel loop {clauses} copy(a[0:n*n])
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            a[i * n + j] += 1;
}}
"""
    )
    said: list[str] = []
    for sizes in ("advice", "as-written"):
        with pytest.raises(CompileError) as caught:
            compile_files([path], CompileOptions(target="sim", sizes=sizes))
        said.append(str(caught.value))
    assert said[0] == said[1]
    assert "wrong.c:3:" in said[0]
    assert CONTRADICTIONS[clauses] in said[0]
