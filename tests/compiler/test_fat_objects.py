"""`-ffat-lto-objects`: archives that gcc links, and accc as well."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from accopt.compiler.drivers import accc_main

pytestmark = pytest.mark.skipif(
    any(shutil.which(tool) is None for tool in ("gcc", "ar", "objcopy")),
    reason="needs gcc and binutils",
)

FIRST = """
#include <stdio.h>
typedef struct { float x, y, z; } V;
int counter;
__attribute__((constructor)) static void begin(void) { counter = 5; }
__attribute__((destructor)) static void end(void) { puts("end of first"); }
float dot(V a, V b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
"""
SECOND = """
#include <stdio.h>
extern int counter;
__attribute__((constructor)) static void begin(void) { puts("begin of second"); }
int twice(void) { return 2 * counter; }
"""
DIRECTIVES = """
void scale(int n, double *x) {
#pragma acc parallel loop copy(x[0:n])
    for (int i = 0; i < n; i++) x[i] *= 2; }
"""
MAIN = """
#include <stdio.h>
typedef struct { float x, y, z; } V;
float dot(V, V);
int twice(void);
void scale(int, double *);
int main(void) {
    double x[2] = {1, 2};
#ifdef DIRECTIVES
    scale(2, x);
#endif
    printf("%g %d %g\\n", dot((V){1, 2, 3}, (V){1, 1, 1}), twice(), x[1]);
}
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("fat")
    sources = {"first": FIRST, "second": SECOND, "directives": DIRECTIVES, "main": MAIN}
    for name, text in sources.items():
        (folder / f"{name}.c").write_text(text)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        words = ["--target=host", "-O1", "-ffat-lto-objects", "-c"]
        assert accc_main.main([*words, "first.c", "second.c", "directives.c"]) == 0
    objects = [f"{name}.o" for name in sources if name != "main"]
    subprocess.run(["ar", "rcs", "libmixed.a", *objects], cwd=folder, check=True)
    return folder


def test_gcc_links_the_archive(folder: Path):
    subprocess.run(["gcc", "main.c", "libmixed.a", "-o", "main"], cwd=folder, check=True)
    run = subprocess.run([folder / "main"], capture_output=True, text=True, check=False)
    assert run.stdout == "begin of second\n6 10 2\nend of first\n"


def test_gcc_is_told_who_links_directives(folder: Path):
    command = ["gcc", "-DDIRECTIVES", "main.c", "libmixed.a", "-o", "refused"]
    run = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert run.returncode != 0
    assert "objects_with_directives_are_linked_by_accc" in run.stderr


def test_accc_links_the_archive(folder: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(folder)
    words = ["--target=host", "-O1", "-DDIRECTIVES", "main.c", "-L.", "-lmixed", "-o", "whole"]
    assert accc_main.main(words) == 0
    run = subprocess.run([folder / "whole"], capture_output=True, text=True, check=False)
    assert run.stdout == "begin of second\n6 10 4\nend of first\n", run.stderr
