"""Accesses whose threads access different variables, or different kinds of memory."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from sim_programs import call, from_text

CHOOSE = """
struct pair { int first[3]; double second; };
void f(int n, float *a, float *b, double *c)
{
#pragma acc parallel loop copy(a[0:n], c[0:n]) copyin(b[0:n])
    for (int i = 0; i < n; i++) {
        float t[4] = {1, 2, 3, 4}, u[8] = {5, 6, 7, 8, 9, 10, 11, 12};
        float *p = i % 3 == 0 ? t : i % 3 == 1 ? u : b;
        if (i % 3 < 2)
            p[i % 4] += i;
        a[i] = p[i % 4] + t[1] + u[2];
        struct pair x = {{i, 1, 2}, 0.5 * i}, y = {{3, i, 4}, 2.5}, z, w = {{0}, 0};
        *(i % 5 ? &z : &w) = *(i % 2 ? &x : &y);
        struct pair *q = i % 5 ? &z : &w;
        c[i] = q->first[0] + 10 * q->first[1] + 100 * q->second;
    }
}
"""


def test_pointers_into_different_variables(tmp_path: Path) -> None:
    program = from_text(tmp_path, CHOOSE)
    n = 300
    a, b, c = np.zeros(n, np.float32), np.arange(n, dtype=np.float32) * 3, np.zeros(n)
    call(program, "f", n, a, b, c)
    t, u = [1, 2, 3, 4], [5, 6, 7, 8]
    for i in range(n):
        k = i % 4
        chosen = [t[k] + i, u[k] + i, b[k]][i % 3]
        others = (t[1] + (i if i % 3 == 0 and k == 1 else 0)) + (
            u[2] + (i if i % 3 == 1 and k == 2 else 0)
        )
        assert a[i] == chosen + others
        assert c[i] == (i + 10 + 50 * i if i % 2 else 3 + 10 * i + 250)
    assert program.simulator.findings == []


def test_what_is_unset_in_one_of_them_is_found(tmp_path: Path) -> None:
    text = CHOOSE.replace("w = {{0}, 0};\n", "w;\n").replace("*q = i % 5 ? &z : &w", "*q = &z")
    program = from_text(tmp_path, text)
    n = 30
    call(program, "f", n, np.zeros(n, np.float32), np.zeros(n, np.float32), np.zeros(n))
    assert {(f.fault.name, f.line) for f in program.simulator.findings} == {("UNINITIALISED", 15)}
