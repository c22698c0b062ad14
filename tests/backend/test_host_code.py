"""Host code that ends LLVM's vectoriser is compiled all the same, and right."""

from __future__ import annotations

import ctypes
from pathlib import Path

import pytest
from accopt.compiler.api import compile_files
from accopt.compiler.options import CompileOptions

SOURCE = """
#include <math.h>
float largest(const float v[40][LENGTH], const float w[40][LENGTH])
{
    float worst = 0;
    for (int i = 0; i < 40; i++)
        for (int j = 0; j < LENGTH; j++)
            worst = fmaxf(worst, fabsf(w[i][j] - v[i][j]));
    return worst;
}
"""


@pytest.mark.parametrize("length", [30, 64, 127])
def test_maxima_over_constant_trip_counts(
    length: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Lengths of 30 and 127 ended the process in LLVM 22; a length of 64 did not."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    path = tmp_path / "largest.c"
    path.write_text(SOURCE)
    program = compile_files([path], CompileOptions(target="host", defines=(f"LENGTH={length}",)))
    count = 40 * length
    v = (ctypes.c_float * count)(*(float(k % 97) for k in range(count)))
    w = (ctypes.c_float * count)(*(float(k % 89) for k in range(count)))
    largest = program.function("largest", ctypes.c_float, (ctypes.c_void_p, ctypes.c_void_p))
    expected = max(abs(a - b) for a, b in zip(v, w, strict=True))
    assert largest(ctypes.addressof(v), ctypes.addressof(w)) == expected
    program.close()
