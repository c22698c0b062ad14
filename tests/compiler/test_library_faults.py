"""Faults in libraries of `accc -shared` under a program of gcc: the C line, and the program's handlers."""

from __future__ import annotations

import shutil
import signal
import subprocess
from pathlib import Path

import pytest
from accopt.compiler.base.machine import this_machine
from accopt.compiler.drivers import accc_main

pytestmark = pytest.mark.skipif(
    shutil.which("gcc") is None or shutil.which("ld") is None or this_machine() != "x86_64",
    reason="needs gcc and binutils for x86-64",
)

FIRST = """
struct node { double pad[3], value; struct node *next; };
double last(struct node *n) {
    while (n->next)
        n = n->next;
    return n->next->value;
}
int call(int (*f)(int), int x) {
    return 1 + f(x);
}
int deep(int n) { volatile char big[4096]; big[0] = n; return deep(n + 1) + big[0]; }
"""
SECOND = "int divide(int a, int b) { return a / b; }\n"
MAIN = r"""
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
struct node { double pad[3], value; struct node *next; };
double last(struct node *);
int call(int (*)(int), int), divide(int, int), deep(int);
int bad(int x) { return *(volatile int *)(long)x; }
static jmp_buf place;
static void mine(int signal) { longjmp(place, signal); }
int main(int count, char **words) {
    struct node one = {{0}};
    switch (atoi(words[1])) {
    case 0: last(&one); break;
    case 1: divide(1, count - 2); break;
    case 2: call(bad, 8); break;
    case 3: call(0, 8); break;
    case 4: deep(0); break;
    case 5: bad(8); break;
    case 6: abort();
    case 7:
        signal(SIGSEGV, mine);
        if (setjmp(place) == 0) last(&one);
        puts("went on");
    }
}
"""


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("faults")
    (folder / "main.c").write_text(MAIN)
    for name, text in (("first", FIRST), ("second", SECOND)):
        source = folder / f"{name}.c"
        source.write_text(text)
        library = str(folder / f"lib{name}.so")
        assert accc_main.main(["--target=host", "-shared", str(source), "-o", library]) == 0
    link = ["gcc", "-rdynamic", "main.c", "-L.", "-lfirst", "-lsecond", "-Wl,-rpath,$ORIGIN"]
    subprocess.run([*link, "-o", "main"], cwd=folder, check=True)
    return folder / "main"


def _run(program: Path, case: int) -> subprocess.CompletedProcess[str]:
    return subprocess.run([program, str(case)], capture_output=True, text=True, check=False)


@pytest.mark.parametrize(
    ("case", "number", "expected"),
    [
        (0, signal.SIGSEGV, "first.c:6:21: error: read from a null pointer, 24 bytes from it"),
        (1, signal.SIGFPE, "second.c:1:35: error: integer division by zero"),
        (2, signal.SIGSEGV, "first.c:9:16: error: read from a null pointer, 8 bytes from it, in 'bad'"),
        (3, signal.SIGSEGV, "first.c:9:16: error: call of a null pointer"),
        (4, signal.SIGSEGV, "first.c:11:63: error: stack overflow"),
    ],
)  # fmt: skip
def test_fault_names_its_line(program: Path, case: int, number: int, expected: str):
    run = _run(program, case)
    assert run.returncode == -number
    assert expected in run.stderr
    assert "note:" not in run.stderr


@pytest.mark.parametrize(("case", "number"), [(5, signal.SIGSEGV), (6, signal.SIGABRT)])
def test_fault_of_the_program_is_its_own(program: Path, case: int, number: int):
    run = _run(program, case)
    assert (run.returncode, run.stderr) == (-number, "")


def test_handler_of_the_program_is_called_alone(program: Path):
    run = _run(program, 7)
    assert (run.returncode, run.stdout, run.stderr) == (0, "went on\n", "")
