"""Host code that ends LLVM's vectoriser is compiled all the same, and right."""

from __future__ import annotations

import ctypes
from contextlib import nullcontext
from pathlib import Path

import pytest
from accopt.compiler.api import compile_files
from accopt.compiler.backend import host_code
from accopt.compiler.backend.host_code import compile_here, hide_divisors
from accopt.compiler.base.options import CompileOptions

DIVISION = """define i32 @f(i32 %n.1, i32 %m.2) nounwind {
bb0:
  %q.3 = urem i32 1000, %n.1
  %c.4 = sdiv i32 %q.3, 7
  %v.5 = sdiv i16 %x, %y, !dbg !3
  ret i32 %q.3
}
"""


def test_divisors_that_are_not_constant_are_hidden() -> None:
    text = hide_divisors(DIVISION)
    assert 'asm "", "=r,0"(i32 %n.1)' in text and 'asm "", "=r,0"(i16 %y)' in text
    assert "%q.3 = urem i32 1000, %q.3.divisor\n" in text
    assert "%v.5 = sdiv i16 %x, %v.5.divisor, !dbg !3\n" in text
    assert "%c.4 = sdiv i32 %q.3, 7\n" in text
    assert text.count("declare i1 @llvm.is.constant.i32(i32)") == 1
    assert (
        hide_divisors(text.replace("%q.3.divisor", "7").replace("%v.5.divisor", "7")).count("asm")
        == 2
    )


@pytest.mark.parametrize(("cpu", "avoids"), [("znver4", True), ("sapphirerapids", False)])
def test_gathers_where_they_are_fast(
    cpu: str, avoids: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("llvmlite.binding.get_host_cpu_name", lambda: cpu)
    features = host_code.processor().features.split(",")
    assert ("+prefer-no-gather" in features, "+prefer-no-scatter" in features) == (avoids, avoids)


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


NOT_VECTORISED = """
define void @f(ptr %p, i64 %n) {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  call void @g(i64 %i)
  %next = add i64 %i, 1
  %more = icmp slt i64 %next, %n
  br i1 %more, label %loop, label %done, !llvm.loop !0
done:
  ret void
}
declare void @g(i64)
!0 = distinct !{!0, !1}
!1 = !{!"llvm.loop.vectorize.enable", i1 true}
"""


def test_llvm_does_not_speak_of_loops_it_could_not_vectorise(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert compile_here(NOT_VECTORISED, 3)
    assert capfd.readouterr().err == ""
    monkeypatch.setattr(host_code, "without_missed_loops", lambda **_: nullcontext())
    assert compile_here(NOT_VECTORISED, 3)
    assert "loop not vectorized" in capfd.readouterr().err, "LLVM says so otherwise"
