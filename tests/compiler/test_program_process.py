"""A program's process is as a C compiler's program finds it: signals, fork, what lies around it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from tools import commands

ACCRUN = [sys.executable, "-P", "-m", "accopt.compiler.drivers.accrun_main", "--target=host"]
ACCC = [sys.executable, "-P", "-m", "accopt.compiler.drivers.accc_main", "--target=host"]
ACCRUN_AGAIN, ACCC_AGAIN = (["accrun", "--target=host"], ["accc", "--target=host"])
"""Where the interpreter's start does not matter."""

SUM = """
#include <stdio.h>
#include <unistd.h>
#include <signal.h>
#include <stdlib.h>
#include <math.h>
#include <sys/wait.h>
static int sum(int n)
{
    int s = 0;
#pragma acc parallel loop num_gangs(16) reduction(+:s)
    for (int i = 0; i < n; i++)
        s += i;
    return s;
}
"""


@pytest.fixture(autouse=True)
def interrupts() -> Iterator[None]:
    """Where tests run in the background, SIGINT is ignored, and programs would inherit that."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache"


def write(folder: Path, main: str) -> str:
    path = folder / "program.c"
    path.write_text(SUM + main)
    return str(path)


def run(*command: str, **more) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, capture_output=True, text=True, timeout=120, **more)


@pytest.mark.parametrize("linked", [False, True])
@pytest.mark.sampled(2)
def test_an_interrupt_ends_a_computing_program(tmp_path: Path, linked: bool) -> None:
    source = write(
        tmp_path, 'int main(void) { puts("on"); fflush(stdout); for (volatile int i = 0;; i++) ; }'
    )
    command = [*ACCRUN, source]
    if linked:
        assert commands.run([*ACCC_AGAIN, source, "-o", tmp_path / "x"]).returncode == 0
        command = [str(tmp_path / "x")]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None and process.stdout.readline() == b"on\n"
        process.send_signal(signal.SIGINT)
        try:
            assert process.wait(20) == -signal.SIGINT
        finally:
            process.kill()


@pytest.mark.parametrize("name", ["SIGINT", "SIGPIPE", "SIGTERM"])
@pytest.mark.sampled(3)
def test_raised_signals_have_their_default_actions(tmp_path: Path, name: str) -> None:
    source = write(
        tmp_path, f'int main(void) {{ sum(9); raise({name}); puts("wrong"); return 0; }}'
    )
    done = commands.run([*ACCRUN_AGAIN, source])
    assert done.returncode == -getattr(signal, name) and done.stdout == ""


def test_a_loop_sees_what_a_signal_handler_sets(tmp_path: Path) -> None:
    """Loads of volatile variables stay in loops (C11 5.1.2.3p5)."""
    source = write(
        tmp_path,
        "static volatile sig_atomic_t stop; static void handler(int s) { stop = s; }"
        "int main(void) { signal(SIGALRM, handler); alarm(1); while (!stop) ; return stop != SIGALRM; }",
    )
    assert commands.run([*ACCRUN_AGAIN, source]).returncode == 0


def test_an_interrupt_that_the_parent_ignores_stays_ignored(tmp_path: Path) -> None:
    source = write(tmp_path, 'int main(void) { raise(SIGINT); puts("alive"); return 0; }')
    done = run(*ACCRUN, source, preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_IGN))
    assert done.returncode == 0 and done.stdout == "alive\n"


def test_a_forked_child_computes(tmp_path: Path) -> None:
    """Queues too: what was in them is the parent's, their threads are made again."""
    source = write(
        tmp_path,
        """
static int queued(int n) {
    int t[16] = {0};
#pragma acc parallel loop async(1) copy(t)
    for (int i = 0; i < 16; i++) t[i] = n;
#pragma acc wait
    return t[7];
}
int main(void) {
    int status, first = sum(1000) + queued(1);
    if (fork() == 0) exit(sum(1000) + queued(1) == first && sum(10) == 45 ? 7 : 1);
    wait(&status);
    return WEXITSTATUS(status) != 7 || sum(1000) + queued(1) != first;
}""",
    )
    done = commands.run([*ACCRUN_AGAIN, source])
    assert done.returncode == 0, done.stderr


def test_nothing_in_the_current_folder_is_run(tmp_path: Path) -> None:
    """`fmax` makes LLVM run in a process of its own."""
    source = write(
        tmp_path,
        "int main(int c, char **v) { double m = 0, a[99]; for (int i = 0; i < 99; i++) a[i] = i * c;"
        " for (int i = 0; i < 99; i++) m = fmax(m, a[i]); return m != 98; }",
    )
    folder = tmp_path / "here"
    folder.mkdir()
    for name in ("llvmlite", "subprocess", "accopt", "tempfile"):
        (folder / f"{name}.py").write_text(f"open({str(tmp_path / 'run')!r}, 'w')")
    assert run(*ACCRUN, source, cwd=folder).returncode == 0
    assert not (tmp_path / "run").exists()


def test_the_first_run_of_an_executable_compiles_nothing(tmp_path: Path, cache: Path) -> None:
    """But for the runtime's own code, which the first of all programs on a machine makes."""

    def kept() -> set[str]:
        return {path.name for path in cache.rglob("*") if path.is_file()}

    source = write(tmp_path, "int main(void) { return sum(3) != 3; }")
    assert commands.run([*ACCRUN_AGAIN, source]).returncode == 0
    first = kept()
    source = write(tmp_path, "int main(void) { return sum(N) != 45; }")
    command = [
        *ACCC_AGAIN,
        "-DN=10",
        f"-I{tmp_path}",
        "-UQ",
        "--skip-pass=unroll-inner-loops",
        source,
    ]
    assert commands.run([*command, "-o", tmp_path / "x"]).returncode == 0
    before = kept()
    assert run(str(tmp_path / "x")).returncode == 0
    assert kept() == before
    assert len(before - first) == 4, (
        "its preprocessed file, its typed tree, the program, and its host code"
    )


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_full_disk_is_reported(tmp_path: Path) -> None:
    source = write(tmp_path, "int main(void) { return 0; }")
    done = run(*ACCC, source, "-c", "-o", "/dev/full")
    assert done.returncode == 1 and "cannot write '/dev/full': No space" in done.stderr
    with open("/dev/full", "w") as full:
        done = subprocess.run([*ACCC, "-E", source], stdout=full, stderr=subprocess.PIPE, text=True)
    assert done.returncode == 1 and "cannot write standard output" in done.stderr


@pytest.mark.sampled(2)
def test_what_cannot_be_written_whole_is_removed(tmp_path: Path) -> None:
    """The limit on file sizes stands for the end of a disk."""
    source = write(tmp_path, "int main(void) { return 0; }" + "int a_variable;\n" * 50)
    code = (
        "import resource, sys; resource.setrlimit(resource.RLIMIT_FSIZE, (200, 200));"
        "from accopt.compiler.drivers.accc_main import main; sys.exit(main(sys.argv[1:]))"
    )
    for options in (["-c", "-o", "x.o"], ["-o", "x"], ["-E", "-o", "x.i"]):
        done = run(
            sys.executable, "-P", "-c", code, "--target=host", source, *options, cwd=tmp_path
        )
        assert done.returncode == 1 and "cannot write 'x" in done.stderr, done.stderr
        assert "warning: cannot keep" in done.stderr or options[0] != "-o"
    assert not [path for path in tmp_path.rglob("*") if path.name.startswith((".new-", "x"))]


def test_a_cache_that_others_can_write_is_not_used(tmp_path: Path, cache: Path) -> None:
    source = write(tmp_path, "int main(void) { return sum(10) != 45; }")
    assert commands.run([*ACCRUN_AGAIN, source]).stderr == ""
    assert all(path.stat().st_mode & 0o077 == 0 for path in (cache / "accopt").rglob("*"))
    (cache / "accopt").chmod(0o777)
    times = {path: path.stat().st_mtime for path in cache.rglob("*") if path.is_file()}
    os.utime(next(iter(times)), (time.time(), 1))
    done = commands.run([*ACCRUN_AGAIN, source])
    assert done.returncode == 0
    assert done.stderr.count("the cache is not used, as others can write") == 1


LARGE = """
#include <stdio.h>
#include <pthread.h>
static double first(int n)
{
    double a[n][1024];
    a[0][0] = 1;
    a[n - 1][5] = 2;
    return a[0][0] + a[n - 1][5];
}
static void *thread(void *p) { return p; }
int main(int argc, char **argv)
{
    pthread_t t;
    if (pthread_create(&t, NULL, thread, NULL) || pthread_join(t, NULL))
        return 1;
    printf("%g\\n", first(argc > 1 ? 64 * 1024 : 8 * 1024));
}
"""


def test_large_arrays_in_functions(tmp_path: Path) -> None:
    """64 MiB with `accrun`, 512 MiB in an executable, where C compilers' programs have 8."""
    source, program = tmp_path / "large.c", tmp_path / "large"
    source.write_text(LARGE)
    done = subprocess.run([*ACCRUN, str(source)], capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stdout) == (0, "3\n"), done.stderr
    commands.run([*ACCC_AGAIN, source, "-o", program], check=True)
    done = subprocess.run([program, "more"], capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stdout) == (0, "3\n"), done.stderr
