"""Copies of the process make of constructs what one process makes (compiler/shared_work.py)."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
from dataclasses import replace
from pathlib import Path

import pytest
from accopt.compiler import register_pressure, shared_work
from accopt.compiler.backend import forks, ptx
from accopt.compiler.base.diagnostics import CompileError, DiagnosticSink
from accopt.compiler.base.options import CompileOptions
from accopt.compiler.compiled import Executable
from accopt.compiler.executable import build
from accopt.compiler.ir.context import make_context
from accopt.compiler.ir.flat import flatten, unflatten
from accopt.compiler.ir.printing import print_ir
from accopt.compiler.ir.reading import parse_ir

OPTIONS = CompileOptions(target="nvptx")
REAL = shared_work.share_device_work

PROGRAM = """
#include <math.h>
#include <stdio.h>
double table[64];
#pragma acc declare copyin(table)
static const float weights[3] = {0.25f, 0.5f, 0.25f};
#pragma acc routine seq
double chosen(double *x, int i) {
    double sum = 0;
    for (int k = 0; k < i; k++) { if (x[k] < 0) continue; sum += x[k] * exp(x[i]); }
    return sum;
}
void on_host(double *x) { x[0] = 1; }
double total(double *x, int n) {
    double sum = 0;
    #pragma acc parallel loop reduction(+ : sum) copyin(x[0:n])
    for (int i = 0; i < n; i++) sum += x[i] * table[i % 64];
    on_host(x);
    return sum;
}
void smooth(float *restrict a, const float *restrict b, int n) {
    #pragma acc parallel loop copyin(b[0:n]) copyout(a[0:n])
    for (int i = 1; i < n - 1; i++)
        a[i] = weights[0] * b[i - 1] + weights[1] * b[i] + weights[2] * b[i + 1];
}
void product(float *restrict a, float *restrict b, float *restrict c, int n) {
    #pragma acc parallel loop collapse(2) copyin(b[0:n*n], c[0:n*n]) copyout(a[0:n*n])
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            float sum = 0;
            for (int k = 0; k < n; k++) sum += b[i * n + k] * c[k * n + j];
            a[i * n + j] = sum;
        }
}
double largest(double *x, int n) {
    double most = 0;
    #pragma acc data copy(x[0:n])
    {
        #pragma acc parallel loop
        for (int i = 0; i < n; i++) x[i] = chosen(x, i) + sin(x[i]);
        #pragma acc parallel loop reduction(max : most) async(2)
        for (int i = 0; i < n; i++) most = fmax(most, x[i]);
        #pragma acc wait(2)
    }
    return most;
}
long double wide(long double *x, int n) {
    long double sum = 0;
    #pragma acc parallel loop reduction(+ : sum) copy(x[0:n])
    for (int i = 0; i < n; i++) { x[i] = chosen(table, i); sum += x[i]; }
    return sum;
}
int main(void) { double x[9] = {0}; printf("%g %g\\n", total(x, 9), largest(x, 9)); }
"""


def _between(first: str, last: str) -> str:
    return PROGRAM[PROGRAM.index(first) : PROGRAM.index(last)]


SHORT = PROGRAM.replace(_between("void smooth", "double largest"), "").replace(
    _between("long double wide", "int main"), ""
)
"""Two functions with constructs, which use a table and a routine."""


def built(
    path: Path, monkeypatch: pytest.MonkeyPatch, number: int, options: CompileOptions = OPTIONS
) -> tuple[Executable, list[str], bool]:
    """The program, its warnings, and whether it was shared, with so many copies."""
    shared: list[bool] = []

    def spy(*arguments, **named):
        found = REAL(*arguments, **named)
        shared.append(found is not None)
        return found

    monkeypatch.setattr(shared_work, "copies", lambda: number)
    monkeypatch.setattr(shared_work, "_WORTH_COPIES", 0)
    monkeypatch.setattr(ptx, "copies", lambda: number)
    monkeypatch.setattr(register_pressure, "find_ptxas", lambda: None)
    monkeypatch.setattr(shared_work, "share_device_work", spy)
    sink = DiagnosticSink()
    made = build([path], options, sink, cached=False)
    return replace(made, sources=()), [str(d) for d in sink.diagnostics], shared == [True]


@pytest.mark.sampled(3)
def test_what_copies_make_is_what_one_process_makes(tmp_path: Path, monkeypatch):
    path = tmp_path / "program.c"
    path.write_text(PROGRAM)
    monkeypatch.setattr(register_pressure, "relieve", lambda made, *_: made)
    alone, said, shared = built(path, monkeypatch, 1)
    assert not shared and alone.ptx.count(".entry") >= 6 and said
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "other"))
    made, again, shared = built(path, monkeypatch, 3)
    assert shared and (made, again) == (alone, said)


def test_limits_of_places_reach_the_functions_that_have_them(tmp_path: Path, monkeypatch):
    path = tmp_path / "program.c"
    path.write_text(SHORT)
    monkeypatch.setattr("accopt.compiler.device_parts._SMALL_PART", 0)
    monkeypatch.setattr(register_pressure, "relieve", lambda made, *_: made)
    line = 1 + PROGRAM[: PROGRAM.index("#pragma acc parallel loop")].count("\n")
    limited = replace(OPTIONS, pass_options=(f'schedule-loops{{most="program.c:{line}=1"}}',))
    alone, _, _ = built(path, monkeypatch, 1, limited)
    made, _, shared = built(path, monkeypatch, 2, limited)
    assert shared and made == alone


def test_errors_are_those_of_one_process(tmp_path: Path, monkeypatch):
    path = tmp_path / "wrong.c"
    wrong = PROGRAM.replace("void on_host", "double missing(double); void on_host")
    path.write_text(wrong.replace("x[i] = chosen(x, i) + sin", "x[i] = missing(x[i]) + sin"))
    texts: list[str] = []
    for number in (1, 3):
        with pytest.raises(CompileError) as failure:
            built(path, monkeypatch, number)
        texts.append(str(failure.value))
    assert texts[0] == texts[1] and "missing" in texts[0]


def _square(number: int) -> int:
    return number * number


def _killed(number: int) -> int:
    if number == 3:
        os.kill(os.getpid(), signal.SIGKILL)
    return number


def _raises(number: int) -> int:
    return 1 // (number - 3)


def _children() -> set[int]:
    """The processes that this one has begun, and not waited for."""
    found = set[int]()
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):  # it has just ended
            number, _, rest = stat.read_text().partition(" ")
            if int(rest.rpartition(")")[2].split()[1]) == os.getpid():
                found.add(int(number))
    return found


def test_copies_answer_or_there_is_no_answer():
    others = _children()
    assert forks.ForkedCopies(_square, [5, 3, 900], 2).finish() == {5: 25, 3: 9, 900: 810000}
    assert forks.ForkedCopies(lambda n: "x" * 200_000, [1, 2], 2).finish() == dict.fromkeys(
        [1, 2], "x" * 200_000
    )
    assert forks.ForkedCopies(_killed, range(5), 2).finish() is None
    assert forks.ForkedCopies(_raises, range(5), 2).finish() is None
    assert _children() <= others


def test_processes_of_others_are_not_copied():
    assert forks.copies() == 1


def test_operations_are_the_same_as_plain_data():
    text = """
      llvm.func @f(%n: i32, %p: !llvm.ptr) -> i32 {
        %c = arith.constant 1 : i32
        cf.br ^later
      ^early:
        %s = arith.addi %late, %c overflow<nsw> : i32
        llvm.return %s : i32
      ^later:
        %t = arith.cmpi slt, %n, %c : i32
        %late = scf.if %t -> (i32) { scf.yield %n : i32 } else { scf.yield %c : i32 }
        cf.cond_br %t, ^early, ^end(%late : i32)
      ^end(%a: i32):
        cf.br ^early
      }
    """
    module = parse_ir(make_context(), text, "t.mlir")
    (function,) = module.body.block.ops
    again = unflatten(flatten(function))
    assert print_ir(again, debug_info=True) == print_ir(function, debug_info=True)


@pytest.mark.sampled(2)
def test_an_edit_makes_its_part_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr("accopt.compiler.device_parts._SMALL_PART", 0)
    path = tmp_path / "program.c"
    parts = tmp_path / "cache" / "accopt" / "parts"
    counts: list[int] = []
    for last, first in (("", ""), ("", ""), ("x[i] + 1", ""), ("x[i] + 1", "\n")):
        path.write_text(first + SHORT.replace("sin(x[i])", last or "sin(x[i])"))
        shutil.rmtree(tmp_path / "cache" / "accopt" / "program", ignore_errors=True)
        found, messages, shared = built(path, monkeypatch, 2)
        assert shared
        counts.append(len(list(parts.iterdir())))
    assert counts == [2, 2, 3, 5]
    shutil.rmtree(parts)
    assert built(path, monkeypatch, 2)[:2] == (found, messages)
    assert built(path, monkeypatch, 1)[:2] == (found, messages)
