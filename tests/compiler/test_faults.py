"""C code that goes wrong: exceptions for Python callers, messages with C lines for programs."""

from __future__ import annotations

import ctypes
import gc
import signal
from pathlib import Path

import pytest
from accopt.compiler.api import Program, compile_files
from accopt.compiler.backend import host_pieces
from accopt.compiler.base.options import CompileOptions
from accopt.runtime.errors import AccRuntimeError, ProgramExit, ProgramFault
from accopt.runtime.native.guard import supported
from tools import commands

pytestmark = pytest.mark.skipif(not supported(), reason="calls are guarded on x86-64")

SOURCE = """#include <pthread.h>
#include <stdlib.h>
#include <signal.h>
#include <string.h>
int seven(void) { return 7; }
void leave(int n) { exit(n); }
void absent(float *p) {
#pragma acc parallel loop present(p[0:100])
    for (int i = 0; i < 100; i++) p[i] = 1; }
int divide(int a, int b) { return a / b; }
int peek(int *p) { return *p; }
size_t length(char *s) { return strlen(s) + 1; }
void stop(void) { abort(); }
int deep(int n) { volatile int a[1000]; a[n % 1000] = n; return n ? deep(n + 1) + a[5] : 0; }
void fill(float *q) {
#pragma acc parallel loop deviceptr(q)
    for (int i = 0; i < 1000000; i++) q[i] = i; }
typedef struct { double x, y, z; } V;
V third(V v, double a, double b, double c, double d, double e, double f, double g, double h, double i) {
    V r = {v.x, i, a + b + c + d + e + f + g + h}; return r; }
int main(int argc, char **argv) {
    if (argc > 1) peek(0);
    exit(5); }
int jump(int (*f)(void)) { return f() + 1; }
int send(void) { return raise(SIGFPE) + 1; }
void put(char *to, int n) { while (n-- > 0) to[n] = 'x'; }
void (*volatile putting)(char *, int) = put;
int small(int n) { char a[8]; putting(a, n); return a[0]; }
int (*volatile smaller)(int) = small;
int smash(int n) { char room[4000]; putting(room, 4000); return smaller(n) + room[n]; }
int assign(void) { int *p = 0;
    *p = 3; return 0; }
void *aborting(void *p) { abort(); }
int elsewhere(void) { pthread_t t; pthread_create(&t, 0, aborting, 0); return pthread_join(t, 0); }
"""


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Program:
    source = tmp_path_factory.mktemp("faults") / "faults.c"
    source.write_text(SOURCE)
    return compile_files([source])


@pytest.mark.parametrize(
    "name, arguments, line, message",
    [
        ("divide", (1, 0), 10, "integer division by zero"),
        ("peek", (0,), 11, "read from a null pointer"),
        ("peek", (1 << 44,), 11, "where there is no memory"),
        ("length", (3,), 12, "read from a null pointer, 3 bytes from it"),
        ("stop", (), 13, "the program called 'abort'"),
        ("deep", (1,), 14, "stack overflow"),
        ("fill", (0,), 17, "write to"),  # in threads of the runtime
        ("jump", (16,), 24, "call of a null pointer, 16 bytes from it"),
        ("jump", (0,), 24, "call of a null pointer"),
        ("elsewhere", (), 33, "the program called 'abort'"),
        ("stop", (), 13, "the program called 'abort'"),  # again
        ("send", (), 25, "the signal SIGFPE was sent to the program"),
        ("smash", (64,), 28, "its frame on the stack was overwritten"),
        ("assign", (), 32, "write to a null pointer"),
    ],
)
def test_faults_are_exceptions(
    program: Program, name: str, arguments: tuple[int, ...], line: int, message: str
):
    function = program.function(name, ctypes.c_int, (ctypes.c_size_t,) * len(arguments))
    with pytest.raises(ProgramFault) as caught:
        function(*arguments)
    assert f"faults.c:{line}:" in str(caught.value)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    "name, arguments, line", [("divide", (1, 0), 10), ("fill", (0,), 17), ("jump", (16,), 24)]
)
def test_faults_in_pieces(
    name: str,
    arguments: tuple[int, ...],
    line: int,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
):
    """Functions that are objects of their own have lines, too."""
    monkeypatch.setattr(host_pieces, "_WORTH_IT", 0)
    source = tmp_path / "faults.c"
    source.write_text(SOURCE)
    program = compile_files([source])
    assert name in program.host.code.symbols or f"{name}_16_host" in program.host.code.symbols
    test_faults_are_exceptions(program, name, arguments, line, "")


def test_errors_and_exit_are_exceptions(program: Program):
    with pytest.raises(ProgramExit) as left:
        program.function("leave", None, (ctypes.c_int,))(3)
    assert left.value.status == 3
    with pytest.raises(AccRuntimeError, match="'p' in present is not present"):
        program.function("absent", None, (ctypes.c_void_p,))(1 << 20)
    assert program.function("seven", ctypes.c_int, ())() == 7
    assert program.main(["faults"]) == 5


def test_guarded_calls_pass_everything_on(program: Program):
    class V(ctypes.Structure):
        _fields_ = [(name, ctypes.c_double) for name in "xyz"]

    third = program.function("third", V, (V, *[ctypes.c_double] * 9))
    result = third(V(1, 2, 3), *map(float, range(9)))
    assert (result.x, result.y, result.z) == (1, 8, sum(range(8)))


def test_functions_keep_their_program(tmp_path: Path):
    source = tmp_path / "seven.c"
    source.write_text("int seven(void) { return 7; }")
    for target in ("host", "sim"):
        seven = compile_files([source], CompileOptions(target=target)).function(
            "seven", ctypes.c_int, ()
        )
        gc.collect()
        assert seven() == 7


def test_programs_end_with_the_signal_and_a_traceback(tmp_path: Path):
    source = tmp_path / "faults.c"
    source.write_text(SOURCE)
    command = ["accrun", "--target=host"]
    run = commands.run([*command, "-g", "-O0", str(source), "--", "x"])
    assert run.returncode == -signal.SIGSEGV
    assert "faults.c:11:28: error: read from a null pointer" in run.stderr
    assert "faults.c:22:19: note: called from 'main' here" in run.stderr


def test_program_without_main(tmp_path: Path):
    source = tmp_path / "faults.c"
    source.write_text("int seven(void) { return 7; }")
    command = ["accrun", "--target=sim"]
    run = commands.run([*command, str(source)])
    assert run.returncode == 1
    assert "the program has no function 'main'" in run.stderr
