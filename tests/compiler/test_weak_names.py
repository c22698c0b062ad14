"""Weak definitions and aliases (GNU C): which definition is used, in any order of the files, by whom."""

from __future__ import annotations

import ctypes
import itertools
from pathlib import Path

import pytest
from accopt.compiler.base.diagnostics import CompileError, DiagnosticSink
from accopt.compiler.c.program import load_program
from accopt.compiler.drivers import accc_main
from tools import commands

FILES = {
    "main.c": """
#include <stdio.h>
struct triple { double x, y, z; };
int level = 2, show(void), hook(void), kept(int), twice(int), weak_twice(int);
struct triple other(double, struct triple);
extern int named[3];
int main(void)
{
    struct triple t = {1, 2, 3};
    named[1] = 7;
    t = other(2, t);
    int (*p)(int) = twice;
    printf("%d %d %d %d %g %g %d %d\\n", hook(), show(), kept(4), p(5), t.x, t.z, named[1], weak_twice(6));
    return 0;
}
""",
    "weak.c": """
#include <stdarg.h>
struct triple { double x, y, z; };
int own[3] = {3, 4, 5};
extern int named[3] __attribute__((alias("own")));
__attribute__((weak)) int level = 1;
int show(void) { return level * 10 + own[1]; }
static int base(void) { return 10; }
int hook(void) __attribute__((weak, alias("base")));
__attribute__((weak)) int kept(int x) { return x; }
static int sum(int n, ...) { va_list l; va_start(l, n); int s = va_arg(l, int) + n; va_end(l); return s; }
int sums(int n, ...) __attribute__((alias("sum")));
#pragma acc routine seq
static int doubled(int x) { return 2 * x; }
#pragma weak weak_twice = doubled
int weak_twice(int);
int again(int) __attribute__((alias("doubled")));
int twice() __attribute__((alias("again")));
static struct triple moved(double a, struct triple t)
{
    struct triple r = {a + t.x, t.y, sums(1, 4)};
    return r;
}
struct triple other(double a, struct triple t) __attribute__((alias("moved")));
""",
    "strong.c": "int hook(void) { return 11; }\nint kept(int x) { return -x; }\n",
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    return tmp_path


def run(folder: Path, *files: str) -> str:
    command = ["accrun", "--target=host", *files]
    done = commands.run(command, cwd=folder, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("files", list(itertools.permutations(FILES)), ids="-".join)
def test_definitions_replace_weak_ones(folder: Path, files: tuple[str, ...]) -> None:
    assert run(folder, *files) == "11 27 -4 10 3 5 7 12\n"


def test_weak_definitions_alone(folder: Path) -> None:
    assert run(folder, "main.c", "weak.c") == "10 27 4 10 3 5 7 12\n"


def test_libraries_have_the_aliases(folder: Path) -> None:
    """Others call a function by each of its names, records by the platform's convention."""

    class Triple(ctypes.Structure):
        _fields_ = [(name, ctypes.c_double) for name in "xyz"]

    path = folder / "libweak.so"
    assert accc_main.main(["-shared", "-fPIC", str(folder / "weak.c"), "-o", str(path)]) == 0
    library = ctypes.CDLL(str(path))
    assert (library.hook(), library.twice(5), library.weak_twice(6)) == (10, 10, 12)
    library.other.argtypes, library.other.restype = [ctypes.c_double, Triple], Triple
    result = library.other(2.0, Triple(1, 2, 3))
    assert (result.x, result.y, result.z) == (3, 2, 5)


def test_an_alias_of_nothing(tmp_path: Path) -> None:
    path = tmp_path / "a.c"
    path.write_text('int f(int);\nint g(int) __attribute__((alias("f")));\n')
    with pytest.raises(
        CompileError, match="'g' is an alias of 'f', which this file does not define"
    ):
        load_program([path], None, DiagnosticSink())
