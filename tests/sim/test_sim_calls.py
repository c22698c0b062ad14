"""Calls through pointers on the simulated device."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from accopt.compiler.base.diagnostics import CompileError
from sim_programs import call, from_text
from tools import commands

CHOOSE = """
typedef long (*operation)(long, int);
#pragma acc routine seq
static long twice(long x, int n) { return 2 * x + n; }
#pragma acc routine seq
static long rounds(long x, int n) { long s = x; for (int i = 0; i < n % 7; i++) s += i; return s; }
#pragma acc routine seq
static void add(long *p, float v) { *p += (long)v; }
#pragma acc routine seq
static operation choose(int i) { return i % 3 ? twice : i % 2 ? rounds : NEVER(rounds); }
void f(int n, long *a)
{
#pragma acc parallel loop copy(a[0:n])
    for (int i = 0; i < n; i++) {
        operation chosen = choose(i), fixed = twice;
        void (*effect)(long *, float) = add;
        a[i] = chosen(a[i], i) + fixed(1, 2);
        if (i % 5 == 0)
            effect(a + i, i * 0.5f);
    }
}
"""


def expected(n: int) -> list[int]:
    out: list[int] = []
    for i in range(n):
        chosen = 2 * (3 * i) + i if i % 3 else 3 * i + sum(range(i % 7))
        out.append(chosen + 4 + (i // 2 if i % 5 == 0 else 0))
    return out


def test_threads_call_what_their_pointers_say(tmp_path: Path) -> None:
    program = from_text(tmp_path, CHOOSE.replace("NEVER", ""))
    a = np.arange(1000) * 3
    call(program, "f", 1000, a)
    assert a.tolist() == expected(1000)
    assert program.simulator.findings == []


def test_a_call_of_no_function_ends_the_program(tmp_path: Path) -> None:
    path = tmp_path / "prog.c"
    text = CHOOSE.replace("NEVER(rounds)", "(operation)0")
    path.write_text(text + "int main(void) { static long a[100]; f(100, a); return 0; }\n")
    command = ["accrun", "--target=sim", str(path)]
    done = commands.run(command, timeout=60)
    assert done.returncode == 1
    assert (
        "prog.c:17: error: in kernel f_13_kernel: call of an invalid function: 0x0" in done.stderr
    )
    assert "thread (0,0,0)" in done.stderr


def test_a_routine_that_nobody_defines_is_named(tmp_path: Path) -> None:
    text = """#pragma acc routine seq
long nowhere(long);
void f(long *a) {
#pragma acc parallel loop copyout(a[0:10])
    for (int i = 0; i < 10; i++) a[i] = nowhere(i);
}
"""
    with pytest.raises(CompileError, match="'nowhere' is called in device code; no file"):
        call(from_text(tmp_path, text), "f", np.zeros(10, dtype=np.int64))
