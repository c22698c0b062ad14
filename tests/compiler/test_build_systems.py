"""CMake, Meson, autoconf and configure scripts with accc as the compiler."""

from __future__ import annotations

import importlib.util
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
    "mpi_main.c": """
        #include <mpi.h>
        #include "scale.h"
        int main(int argc, char **argv) {
            double x[3] = {1, 4, 9};
            MPI_Init(&argc, &argv); scale(3, 2, x); MPI_Finalize(); return x[2] != 6; }
        """,
    "CMakeLists.txt": """
        cmake_minimum_required(VERSION 3.16)
        project(scale C)
        set(CMAKE_C_STANDARD 11)
        set(CMAKE_C_STANDARD_REQUIRED ON)
        include(CheckFunctionExists)
        include(CheckTypeSize)
        check_function_exists(gettimeofday HAVE_GETTIMEOFDAY)
        check_function_exists(totally_missing_function HAVE_MISSING)
        check_type_size(long LONG_SIZE)
        include(TestBigEndian)
        test_big_endian(IS_BIG)
        if(NOT DEFINED IS_BIG)
          message(FATAL_ERROR "no order of bytes")
        endif()
        if(NOT HAVE_GETTIMEOFDAY OR HAVE_MISSING OR NOT LONG_SIZE EQUAL 8 OR NOT CMAKE_SIZEOF_VOID_P EQUAL 8)
          message(FATAL_ERROR "wrong answers")
        endif()
        find_package(OpenACC REQUIRED)
        find_package(Threads REQUIRED)
        find_package(MPI)
        add_library(scale SHARED scale.c)
        set_target_properties(scale PROPERTIES VERSION 1.2.3 SOVERSION 1)
        target_link_libraries(scale PRIVATE m OpenACC::OpenACC_C)
        add_executable(main main.c)
        target_compile_features(main PRIVATE c_std_99)
        target_link_libraries(main scale Threads::Threads)
        enable_testing()
        add_test(NAME main COMMAND main)
        if(MPI_C_FOUND)
          add_executable(mpi_main mpi_main.c)
          target_link_libraries(mpi_main scale MPI::MPI_C)
          add_test(NAME mpi COMMAND mpi_main)
        endif()
        """,
    "meson.build": """
        project('scale', 'c', default_options: ['c_std=c11', 'warning_level=2'])
        cc = meson.get_compiler('c')
        assert(cc.has_function('gettimeofday', prefix: '#include <sys/time.h>'))
        assert(not cc.has_function('totally_missing_function'))
        assert(cc.sizeof('long') == 8)
        assert(cc.has_header('math.h') and not cc.has_header('no_such_header.h'))
        m = cc.find_library('m')
        lib = static_library('scale', 'scale.c', dependencies: m)
        shared = shared_library('scale_shared', 'scale.c', dependencies: m, version: '1.2.3')
        test('static', executable('main', 'main.c', link_with: lib))
        test('shared', executable('main_shared', 'main.c', link_with: shared))
        """,
    "configure.ac": """
        AC_INIT([scale],[1.0])
        AC_CONFIG_MACRO_DIRS([m4])
        AM_INIT_AUTOMAKE([foreign])
        AC_PROG_CC
        AM_PROG_AR
        LT_INIT
        AC_CHECK_LIB([m],[sqrt])
        AC_CHECK_FUNCS([gettimeofday totally_missing_function])
        AC_CHECK_SIZEOF([long])
        AC_CONFIG_HEADERS([config.h])
        AC_CONFIG_FILES([Makefile])
        AC_OUTPUT
        """,
    "Makefile.am": """
        ACLOCAL_AMFLAGS = -I m4
        lib_LTLIBRARIES = libscale.la
        libscale_la_SOURCES = scale.c scale.h
        libscale_la_LDFLAGS = -version-info 2:1:1
        bin_PROGRAMS = main
        main_SOURCES = main.c
        main_LDADD = libscale.la
        TESTS = main
        """,
    "configure.plain": """#!/bin/sh
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


def needs(*tools: str) -> pytest.MarkDecorator:
    missing = [tool for tool in tools if shutil.which(tool) is None]
    return pytest.mark.skipif(bool(missing), reason=f"needs {', '.join(missing)}")


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


@pytest.mark.parametrize(
    "generator",
    [
        pytest.param("Unix Makefiles", marks=needs("cmake", "make")),
        pytest.param("Ninja", marks=needs("cmake", "ninja")),
    ],
)
def test_cmake(folder: Path, generator: str):
    build = ("cmake", "--build", "build")
    said = _run("cmake", "-S", ".", "-B", "build", "-G", generator, folder=folder)
    assert "Found OpenACC" in said
    assert "Found MPI_C" in said or shutil.which("mpicc") is None
    _run(*build, folder=folder)
    assert "100% tests passed" in _run("ctest", "--test-dir", "build", folder=folder)
    assert "Building" not in _run(*build, folder=folder)
    (folder / "scale.h").write_text(SOURCES["scale.h"] + "#define CHANGED 1\n")
    assert "Building C object CMakeFiles/scale.dir/scale.c.o" in _run(*build, folder=folder)


@pytest.mark.skipif(importlib.util.find_spec("mesonbuild") is None, reason="needs meson")
@needs("ninja")
def test_meson(folder: Path):
    meson = (sys.executable, "-m", "mesonbuild.mesonmain")
    _run(*meson, "setup", "build", folder=folder)
    _run("ninja", "-C", "build", folder=folder)
    assert "no work to do" in _run("ninja", "-C", "build", folder=folder)
    assert "Ok:                2" in _run(*meson, "test", "-C", "build", folder=folder)
    (folder / "scale.h").write_text(SOURCES["scale.h"] + "#define CHANGED 1\n")
    assert "Compiling C object" in _run("ninja", "-C", "build", folder=folder)


@needs("autoreconf", "automake", "libtoolize", "make")
def test_autoconf_and_libtool(folder: Path):
    (folder / "m4").mkdir()
    _run("autoreconf", "-fi", folder=folder)
    said = _run("./configure", f"--prefix={folder}/installed", folder=folder)
    assert "totally_missing_function... no" in said
    _run("make", "check", "install", folder=folder)
    _run("make", "clean", folder=folder)
    assert (folder / "installed/lib/libscale.so.1").exists()
    assert _run("installed/bin/main", folder=folder) == "6\n"


@needs("make")
def test_configure_and_make(folder: Path):
    _run("sh", "./configure.plain", folder=folder)
    make = ("make", f"CC={ACCC}", "CFLAGS=--target=host -O1")
    _run(*make, folder=folder)
    assert _run("./main", folder=folder) == "6\n"
    assert "Nothing to be done" in _run(*make, folder=folder)
