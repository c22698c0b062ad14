"""CMake and configure scripts with accc as the compiler."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ACCC = str(Path(sys.executable).parent / "accc")

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not Path(ACCC).exists(), reason="needs accc where Python is"),
]

SOURCES = {
    "scale.h": "void scale(int n, double a, double *x);\n",
    "scale.c": """
        #include "scale.h"
        #include <math.h>
        void scale(int n, double a, double *x) {
        #pragma acc parallel loop copy(x[0:n])
            for (int i = 0; i < n; i++) x[i] = a * sqrt(x[i]); }
        """,
    "main.c": """
        #include <stdio.h>
        #include "scale.h"
        int main(void) { double x[3] = {1, 4, 9}; scale(3, 2, x); printf("%g\\n", x[2]); return x[2] != 6; }
        """,
    "CMakeLists.txt": """
        cmake_minimum_required(VERSION 3.16)
        project(scale C)
        include(CheckFunctionExists)
        check_function_exists(gettimeofday HAVE_GETTIMEOFDAY)
        check_function_exists(totally_missing_function HAVE_MISSING)
        if(NOT HAVE_GETTIMEOFDAY OR HAVE_MISSING)
          message(FATAL_ERROR "wrong answers")
        endif()
        add_library(scale STATIC scale.c)
        target_link_libraries(scale m)
        add_executable(main main.c)
        target_link_libraries(main scale)
        enable_testing()
        add_test(NAME main COMMAND main)
        """,
    "configure": """#!/bin/sh
        # what configure scripts of autoconf ask of a compiler
        set -e
        echo 'int main(void) { return 0; }' > conftest.c
        $CC -o conftest $CFLAGS conftest.c && ./conftest
        echo 'not C' > conftest.c
        if $CC -c conftest.c 2> conftest.err; then exit 1; fi
        echo 'char gettimeofday(); int main(void) { return gettimeofday(); }' > conftest.c
        $CC -o conftest $CFLAGS conftest.c 2> conftest.err
        echo 'char totally_missing(); int main(void) { return totally_missing(); }' > conftest.c
        if $CC -o conftest $CFLAGS conftest.c 2> conftest.err; then exit 1; fi
        printf 'all: main\\n\\nmain: main.o libscale.a\\n\\t$CC main.o libscale.a -lm -o main\\n' > Makefile
        printf 'libscale.a: scale.o\\n\\tar rc $@ scale.o\\n' >> Makefile
        printf '%%.o: %%.c scale.h\\n\\t$CC -c $CFLAGS $< -o $@\\n' >> Makefile
        sed -i 's/\\$CC/$(CC)/; s/\\$CFLAGS/$(CFLAGS)/' Makefile
        """,
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, text in SOURCES.items():
        lines = text.splitlines()
        (tmp_path / name).write_text("\n".join(line.removeprefix(" " * 8) for line in lines) + "\n")
    return tmp_path


def _run(*command: str, folder: Path) -> str:
    environment = {**os.environ, "CC": ACCC, "CFLAGS": "--target=host -O1"}
    run = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stdout + run.stderr
    return run.stdout


@pytest.mark.skipif(
    shutil.which("cmake") is None or shutil.which("make") is None, reason="needs cmake and make"
)
def test_cmake(folder: Path):
    build = ("cmake", "--build", "build")
    _run("cmake", "-S", ".", "-B", "build", "-G", "Unix Makefiles", folder=folder)
    _run(*build, folder=folder)
    assert "100% tests passed" in _run("ctest", "--test-dir", "build", folder=folder)
    assert "Building" not in _run(*build, folder=folder)
    (folder / "scale.h").write_text(SOURCES["scale.h"] + "#define CHANGED 1\n")
    assert "Building C object CMakeFiles/scale.dir/scale.c.o" in _run(*build, folder=folder)


@pytest.mark.skipif(shutil.which("make") is None, reason="needs make")
def test_configure_and_make(folder: Path):
    _run("sh", "./configure", folder=folder)
    make = ("make", f"CC={ACCC}", "CFLAGS=--target=host -O1")
    _run(*make, folder=folder)
    assert _run("./main", folder=folder) == "6\n"
    assert "Nothing to be done" in _run(*make, folder=folder)
