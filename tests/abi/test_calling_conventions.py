"""Structures, complex numbers and wide floats by value to and from code of other compilers."""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from accopt.compiler.api import compile_files
from signatures import generate
from tools import commands

needs_gcc = pytest.mark.skipif(shutil.which("gcc") is None, reason="compares with gcc")


def _without_halves(gcc: str) -> list[str]:
    """The option that replaces `_Float16` for both compilers, if gcc lacks it."""
    macros = subprocess.run([gcc, "-dM", "-E", "-"], input="", capture_output=True, text=True)
    return [] if "__FLT16_MAX__" in macros.stdout else ["-D_Float16=float"]


def _mismatches(tmp_path: Path, seed: int, count: int) -> list[str]:
    """What the program says, in a process of its own: libraries of one process use each other's names."""
    source = tmp_path / "signatures.c"
    source.write_text(generate(seed, count))
    library = tmp_path / "libtheirs.so"
    halves = _without_halves("gcc")
    theirs = [*halves, "-w", "-O1", "-shared", "-fPIC", "-DSIDE=theirs", "-DOTHER=ours"]
    subprocess.run(["gcc", *theirs, str(source), "-o", str(library)], check=True)
    ours = [*halves, "-w", "-O1", "-DSIDE=ours", "-DOTHER=theirs", "-DMAIN", "--target=host"]
    done = commands.run(["accrun", *ours, source, library])
    return [*done.stdout.splitlines(), *done.stderr.splitlines()]


@needs_gcc
def test_signatures_agree_with_gcc(tmp_path: Path):
    assert _mismatches(tmp_path, 1, 24) == ["0 wrong"]


@needs_gcc
@pytest.mark.slow
@pytest.mark.parametrize("seed", range(100, 130))
def test_more_signatures_agree_with_gcc(seed: int, tmp_path: Path):
    assert _mismatches(tmp_path, seed, 100) == ["0 wrong"]


CROSS = ("aarch64-linux-gnu-gcc", "qemu-aarch64")
needs_aarch64 = pytest.mark.skipif(
    any(shutil.which(tool) is None for tool in CROSS),
    reason=f"compares with gcc for AArch64, in an emulator: needs {' and '.join(CROSS)}",
)


def _mismatches_on_aarch64(tmp_path: Path, seed: int, count: int) -> list[str]:
    """The same of code for AArch64, as two libraries of which ours has `main`."""
    (tmp_path / "signatures.c").write_text(generate(seed, count))
    (tmp_path / "empty.c").write_text("int empty;")
    halves = _without_halves(CROSS[0])
    gcc = [CROSS[0], "-w", "-Wl,-rpath,.", *halves]
    theirs = ["-O1", "-shared", "-fPIC", "-DSIDE=theirs", "-DOTHER=ours"]
    ours = ["-O1", "-shared", "-DSIDE=ours", "-DOTHER=theirs", "-DMAIN", "--target=host", "-w"]
    ours += halves
    accc = [sys.executable, "-m", "accopt.compiler.drivers.accc_main", *ours]
    loaded = ["-Wl,--no-as-needed", "libours.so", "libtheirs.so"]
    root = Path("/usr/aarch64-linux-gnu")
    steps = (
        [*gcc, *theirs, "signatures.c", "-o", "libtheirs.so"],
        [*accc, "signatures.c", "libtheirs.so", "-o", "libours.so"],
        [*gcc, "empty.c", *loaded, "-o", "both"],
    )
    for step in steps:
        environment = {**os.environ, "ACCOPT_MACHINE": "aarch64"}
        subprocess.run(step, cwd=tmp_path, env=environment, check=True)
    run = [CROSS[1], "-L", str(root), "./both"]
    return subprocess.run(
        run, cwd=tmp_path, capture_output=True, text=True, check=False
    ).stdout.splitlines()


@needs_aarch64
def test_signatures_agree_with_gcc_for_aarch64(tmp_path: Path):
    assert _mismatches_on_aarch64(tmp_path, 1, 24) == ["0 wrong"]


@needs_aarch64
@pytest.mark.slow
@pytest.mark.parametrize("seed", range(100, 130))
def test_more_signatures_agree_with_gcc_for_aarch64(seed: int, tmp_path: Path):
    assert _mismatches_on_aarch64(tmp_path, seed, 100) == ["0 wrong"]


class Vector(ctypes.Structure):
    _fields_ = [(name, ctypes.c_float) for name in "xyz"]


class Matrix(ctypes.Structure):
    _fields_ = [("a", ctypes.c_double * 9)]


class Small(ctypes.Structure):
    _fields_ = [("count", ctypes.c_int), ("scale", ctypes.c_double)]


def test_functions_called_from_python(tmp_path: Path):
    source = tmp_path / "vectors.c"
    source.write_text(
        """
        typedef struct { float x, y, z; } Vector;
        typedef struct { double a[9]; } Matrix;
        typedef struct { int count; double scale; } Small;
        float dot(Vector a, Vector b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
        Matrix scaled(Matrix m, Small by) {
            for (int i = 0; i < 9; i++)
                m.a[i] *= by.scale + by.count;
            return m;
        }
        static Small twice(Small s) { Small t = {2 * s.count, 2 * s.scale}; return t; }
        typedef Small (*Map)(Small);
        static const Map maps[] = {twice};
        Map map(void) { return maps[0]; }
        int within(void) {           /* both forms of one function agree */
            Small s = {3, 0.5}, t = maps[0](twice(s));
            return t.count == 12 && t.scale == 2.0 && dot((Vector){1, 2, 3}, (Vector){1, 1, 1}) == 6;
        }
        """
    )
    program = compile_files([source])
    dot = program.function("dot", ctypes.c_float, (Vector, Vector))
    assert dot(Vector(1, 1, 1), Vector(1, 2, 3)) == 6
    scaled = program.function("scaled", Matrix, (Matrix, Small))
    assert list(scaled(Matrix((ctypes.c_double * 9)(*range(9))), Small(1, 0.5)).a) == [
        1.5 * i for i in range(9)
    ]
    address = program.function("map", ctypes.c_void_p, ())()
    twice = ctypes.CFUNCTYPE(Small, Small)(address)
    assert (twice(Small(4, 0.25)).count, twice(Small(4, 0.25)).scale) == (8, 0.5)
    assert program.function("within", ctypes.c_int, ())() == 1
    program.close()
