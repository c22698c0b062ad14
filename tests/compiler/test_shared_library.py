"""`accc -shared`: libraries for programs of other compilers, and for ctypes."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest
from accopt.compiler.drivers import accc_main

pytestmark = pytest.mark.skipif(
    shutil.which("gcc") is None
    or shutil.which("ld") is None
    or not sysconfig.get_config_var("Py_ENABLE_SHARED"),
    reason="needs gcc, binutils, and libpython",
)

LIBRARY = """
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <openacc.h>
typedef struct { float x, y, z; } V;
int counter;
__attribute__((constructor)) static void begin(void) { counter = 5; }
__attribute__((destructor)) static void end(void) { puts("end"); }
volatile __int128 large = (__int128)1 << 80, small = (__int128)1 << 75;
int thirty_two(void) { return large / small; }
int theirs(int);
float dot(V a, V b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
void scale(int n, double a, double *x) {
    counter = theirs(counter);
#pragma acc parallel loop copy(x[0:n])
    for (int i = 0; i < n; i++) x[i] = a * sqrt(x[i]); }
double *ramp(int n) { double *p = malloc(n * sizeof *p); for (int i = 0; i < n; i++) p[i] = i; return p; }
void absent(double *x) {
#pragma acc parallel loop present(x[0:10])
    for (int i = 0; i < 10; i++) x[i] = 1; }
"""
USER = """
#include <stdio.h>
#include <stdlib.h>
typedef struct { float x, y, z; } V;
float dot(V, V); void scale(int, double, double *); double *ramp(int); void absent(double *);
int thirty_two(void);
extern int counter;
int main(int argc, char **argv) {
    V v = {1, 2, 3};
    double *x = ramp(5);
    for (int i = 0; i < 3; i++) scale(5, 2, x);
    printf("%g %d %.4f %.4f %d\\n", dot(v, v), counter, x[1], x[4], thirty_two());
    free(x);
    if (argc > 1) absent(x);
    return 4; }
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("library")
    (folder / "lib.c").write_text(LIBRARY)
    (folder / "theirs.c").write_text("int theirs(int n) { return n + 1; }\n")
    (folder / "user.c").write_text(USER)
    subprocess.run(["gcc", "-fPIC", "-c", "theirs.c"], cwd=folder, check=True)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        arguments = ["--target=host", "-O1", "-shared", "-fPIC", "lib.c", "theirs.o"]
        assert accc_main.main([*arguments, "-o", "libours.so"]) == 0
    link = ["gcc", "user.c", "-L.", "-lours", "-Wl,-rpath,$ORIGIN", "-o", "user"]
    subprocess.run(link, cwd=folder, check=True)
    return folder


def test_program_of_gcc_links_a_library_of_ours(folder: Path):
    run = subprocess.run([folder / "user"], capture_output=True, text=True, check=False)
    assert (run.stdout, run.returncode) == ("14 8 3.3636 4.0000 32\nend\n", 4), run.stderr
    run = subprocess.run([folder / "user", "x"], capture_output=True, text=True, check=False)
    assert run.returncode == 1
    assert "lib.c:20: error: in compute construct: 'x' in present is not present" in run.stderr


def test_python_loads_a_library_of_ours(folder: Path):
    code = (
        "import ctypes; l = ctypes.CDLL('./libours.so'); x = (ctypes.c_double * 3)(1, 4, 9);"
        "l.scale(3, ctypes.c_double(2), x); print(list(x))"
    )
    for isolated in ([], ["-I", "-S"]):
        command = [sys.executable, *isolated, "-c", code]
        run = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
        assert run.stdout == "[2.0, 4.0, 6.0]\nend\n", run.stderr


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("ACC_DEVICE_NUM", "7", "error: in the first directive of "),
        ("ACCOPT_PATIENCE", "long", "error: ACCOPT_PATIENCE is 'long'"),
    ],
)
def test_library_whose_runtime_cannot_start_says_why(
    folder: Path, name: str, value: str, message: str
):
    environment = {**os.environ, name: value}
    run = subprocess.run(
        [folder / "user"], capture_output=True, text=True, check=False, env=environment
    )
    assert run.returncode == 1
    assert run.stderr.startswith(message), run.stderr
    assert "help: " in run.stderr
    assert "Traceback" not in run.stderr


def test_libraries_for_the_simulator_are_refused(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(folder)
    assert accc_main.main(["--target=sim", "-shared", "lib.c", "theirs.o", "-o", "no.so"]) == 1
    assert "-shared is not for the simulated GPU" in capsys.readouterr().err


def test_environment_gives_the_threads_of_a_library(folder: Path):
    code = (
        "import ctypes, os; l = ctypes.CDLL('./libours.so'); x = (ctypes.c_double * 1000000)();"
        "l.scale(1000000, ctypes.c_double(2), x); print(len(os.listdir('/proc/self/task')))"
    )
    command = [sys.executable, "-c", code]
    environment = {**os.environ, "ACC_NUM_CORES": "1"}
    run = subprocess.run(
        command, cwd=folder, capture_output=True, text=True, check=False, env=environment
    )
    assert run.stdout.splitlines()[:1] == ["1"], run.stderr
