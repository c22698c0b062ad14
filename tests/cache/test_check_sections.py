"""
`--check-cache` ends a program that leaves the section of a `cache` directive, and says where, on the
host and in the simulator; programs that keep to their sections run as without it.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from tools import commands

PROGRAM = r"""
#include <stdlib.h>
#include <stdio.h>
#define N 200
static float a[N], b[N], m[20][N];
static int at[N];

static void window(int w)
{
#pragma acc parallel loop copyin(a) copy(b)
    for (int i = 8; i < N - 8; i++) {
#pragma acc cache(a[i-3:7])
        float t = 0;
        for (int j = i - w; j <= i + w; j++)
            t += a[j]; /* window */
        b[i] = t;
    }
}

static void store(int w)
{
#pragma acc parallel loop copy(a) async(1)
    for (int i = 8; i < N - 8; i++) {
#pragma acc cache(a[i:1])
        for (int s = 0; s < 3; s++)
            a[i + w * (i == 100)] = s; /* store */
    }
#pragma acc wait
}

static void rows(int w)
{
#pragma acc parallel loop collapse(2) copy(m)
    for (int i = 1; i < 19; i++)
        for (int j = 1; j < N - 1; j++) {
#pragma acc cache(readonly: m[i-1:3][j:w])
            float t = m[i][j + w]; /* rows */
            if (t > 1e30f)
                m[i][j] = t;
        }
}

static void gang(int w)
{
#pragma acc parallel loop gang copyin(a) copy(b)
    for (int i = 0; i < 2; i++) {
#pragma acc cache(a[i*50:60])
#pragma acc loop vector
        for (int j = 0; j < 50; j++)
            b[i * 50 + j] = a[i * 50 + j + w]; /* gang */
    }
}

static void both(int w)
{
#pragma acc parallel loop copyin(a, at) copy(b)
    for (int i = 60; i < N - 60; i++) {
#pragma acc cache(a[i-50:10], a[i+40:10])
        b[i] = a[i - 50] + a[i + 40] + a[at[i] + w]; /* both */
    }
}

#pragma acc routine seq
static float around(int i, int w, const float *restrict r)
{
#pragma acc cache(r[i-3:7])
    return r[i - w] + r[i]; /* routine */
}

static void routine(int w)
{
#pragma acc parallel loop copyin(a) copy(b)
    for (int i = 8; i < N - 8; i++)
        b[i] = around(i, w, a);
}

int main(int argc, char **argv)
{
    int which = atoi(argv[1]), w = atoi(argv[2]);
    for (int i = 0; i < N; i++)
        a[i] = i, at[i] = i + 45;
    switch (which) {
    case 0: window(w); break;
    case 1: store(w); break;
    case 2: rows(w); break;
    case 3: gang(w); break;
    case 4: both(w); break;
    case 5: routine(w); break;
    }
    printf("done\n");
    return 0;
}
"""

CASES = (
    (0, 3, None),
    (0, 4, ("window", "'a' is accessed at index", "the section [")),
    (1, 0, None),
    (1, 2, ("store", "'a' is accessed at index 102", "the section [100:1]", "3 accesses in all")),
    (2, 1, ("rows", "in dimension 2", ":1]")),
    (3, 5, None),
    (3, 12, ("gang", "'a' is accessed at index", ":60]")),
    (4, 0, None),
    (4, 10, ("both", "'a' is accessed at index", ":10]")),
    (5, 3, None),
    (5, 4, ("routine", "'r' is accessed at index", ":7]")),
)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("target", ["host", "sim"])
@pytest.mark.parametrize("case", CASES, ids=str)
def test_accesses_outside_end_the_program(
    tmp_path: Path, case: tuple[int, int, tuple[str, ...] | None], target: str
) -> None:
    which, width, expected = case
    source = tmp_path / "p.c"
    source.write_text(PROGRAM)
    command = ("accrun", f"--target={target}")
    run = commands.run([*command, "--check-cache", str(source), "--", str(which), str(width)])
    if expected is None:
        assert (run.returncode, run.stdout) == (0, "done\n"), run.stderr
        return
    mark, *parts = expected
    line = 1 + PROGRAM[: PROGRAM.index(f"/* {mark} */")].count("\n")
    assert run.returncode == 1 and run.stdout == ""
    assert f"p.c:{line}: error: in the scope of a cache directive" in run.stderr, run.stderr
    assert all(part in run.stderr for part in parts), run.stderr
