"""What pointers declared `restrict` promise of kernel arguments, and what arrays are called."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from tools import commands

LOOP = """
#pragma acc parallel loop{clauses}
    for (int i = 0; i < n; i++)
        p[i] = 2 * q[i];
"""
PRESENT = " present(p[0:n], q[0:n])"
DATA = "#pragma acc data copyin(q[0:n]) copyout(p[0:n])\n{"

PROMISED = {
    "parameters": ("float *restrict p, float *restrict q", "", PRESENT, ""),
    "local pointers": (
        "float *a, float *b",
        "float *restrict p = a, *restrict q = b;",
        PRESENT,
        "",
    ),
    "in a data region": (
        "float *a, float *b",
        "float *restrict p = a, *restrict q = b;" + DATA,
        "",
        "}",
    ),
    "local pointers to members": (
        "struct s *s",
        "float *restrict p = s->x, *restrict q = s->y;",
        PRESENT,
        "",
    ),
    "allocations": ("void", "n = 99; float *p = malloc(4 * n), *q = malloc(4 * n);", PRESENT, ""),
}
NOT_PROMISED = {
    "parameters": ("float *p, float *q", "", PRESENT, ""),
    "local pointers": ("float *a, float *b", "float *p = a, *q = b;", PRESENT, ""),
    "one array twice": ("float *a", "float *restrict p = a, *restrict q = a;", PRESENT, ""),
}


def attributes(folder: Path, case: tuple[str, str, str, str]) -> list[bool]:
    """Whether each pointer argument of the kernel is noalias."""
    parameters, before, clauses, after = case
    path = folder / "prog.c"
    path.write_text(
        "#include <stdlib.h>\nstruct s { float *x, *y; };\nint n;\n"
        f"void f({parameters})\n{{\n{before}{LOOP.format(clauses=clauses)}{after}\n}}\n"
    )
    command = ["accopt", "--emit=gpu", str(path)]
    done = commands.run(command, timeout=60)
    assert done.returncode == 0, done.stderr
    (kernel,) = re.findall(r"gpu\.kernel, arg_attrs = \[(.*?)\]", done.stdout)
    found = re.findall(r"\{(.*?)\}", kernel)
    return ["noalias" in text for text in found]


@pytest.mark.parametrize("name", PROMISED)
def test_distinct_arrays(name: str, tmp_path: Path):
    assert attributes(tmp_path, PROMISED[name]).count(True) == 2


@pytest.mark.parametrize("name", NOT_PROMISED)
def test_arrays_that_may_overlap(name: str, tmp_path: Path):
    assert True not in attributes(tmp_path, NOT_PROMISED[name])


def test_arrays_are_called_by_their_variables(tmp_path: Path):
    path = tmp_path / "prog.c"
    path.write_text("""#include <stdlib.h>
float *get(int n) { return malloc(4 * n); }
int main(int argc, char **argv)
{
    int n = 1000;
    float *x = malloc(4 * n), *y;
    float *(*alloc)(int) = argc > 1 ? get : 0;
    y = (float *)calloc(n, 4);
    float *z = alloc(n);
#pragma acc parallel loop
    for (int i = 0; i < n; i++)
        z[i] = x[i] + y[i];
    return 0;
}
""")
    command = ["accopt", "--remarks", "--emit=transformed", str(path)]
    done = commands.run(command, timeout=60)
    assert done.returncode == 0, done.stderr
    remarks = re.findall(r"remark: implicit (.*)", done.stderr)
    assert sorted(remarks) == ["copy(z)", "copyin(x)", "copyin(y)"]
