"""Programs under `ulimit -v`: a result, or a message about memory."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from accopt.compiler.base.memory import memory_ran_out
from accopt.compiler.internal_error import describe

PROGRAM = r"""
#include <stdio.h>
#include <stdlib.h>
int main(void) {
    int a[4];
#pragma acc parallel loop copyout(a)
    for (int i = 0; i < 4; i++) a[i] = i;
    void *refused = malloc((size_t)1 << 46);
    puts(a[3] == 3 && !refused ? "right" : "wrong");
    return 0;
}
"""


@pytest.mark.parametrize(
    ("target", "kib", "runs"),
    [
        ("host", 80_000, False),
        ("host", 200_000, False),
        ("host", 265_000, False),
        ("host", 700_000, True),
        ("sim", 330_000, False),
        ("sim", 900_000, True),
    ],
)
def test_limit(tmp_path: Path, target: str, kib: int, runs: bool) -> None:
    (tmp_path / "p.c").write_text(PROGRAM)
    accrun = Path(sys.executable).parent / "accrun"
    done = subprocess.run(
        ["sh", "-c", f"ulimit -v {kib}; exec {accrun} --target={target} p.c"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        env={"PATH": "/usr/bin:/bin", "HOME": str(tmp_path), "OPENBLAS_NUM_THREADS": "1"},
    )
    if runs:
        assert (done.returncode, done.stdout, done.stderr) == (0, "right\n", "")
    else:
        assert done.returncode == 1
        assert "error: memory ran out" in done.stderr or f"the limit is {kib} kB" in done.stderr
        assert "Traceback" not in done.stderr and "internal error" not in done.stderr


def _caused(outer: Exception, cause: Exception) -> Exception:
    outer.__cause__ = cause
    return outer


@pytest.mark.parametrize(
    ("failure", "expected"),
    [
        (MemoryError(), True),
        (OSError(12, "Cannot allocate memory"), True),
        (RuntimeError("can't start new thread"), True),
        (ImportError("libx.so: failed to map segment from shared object"), True),
        (_caused(ValueError("x"), MemoryError()), True),
        (SystemError("error return without exception set"), False),
        (OSError(28, "No space left on device"), False),
        (ImportError("No module named x"), False),
        (ValueError("cannot allocate memory"), False),
    ],
)
def test_failures_for_want_of_memory(failure: Exception, expected: bool) -> None:
    assert memory_ran_out(failure) is expected
    assert describe(failure).message.startswith("memory ran out") is expected


@pytest.mark.parametrize(
    ("kib", "room", "thread"), [(200_000, False, False), (2_000_000, True, True)]
)
def test_room(kib: int, room: bool, thread: bool) -> None:
    """Where memory is scarce, LLVM is not called, as it would end the process, and no thread is started."""
    text = (
        "import resource, threading\n"
        f"resource.setrlimit(resource.RLIMIT_AS, ({kib} << 10,) * 2)\n"
        "from accopt.compiler.base.memory import require_room\n"
        "from accopt.compiler.base.deep_stack import with_deep_stack\n"
        "here = threading.current_thread()\n"
        "print(with_deep_stack(threading.current_thread)() is not here)\n"
        "try: require_room(4 << 20)\n"
        "except MemoryError: print(False)\n"
        "else: print(True)\n"
    )
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=True)
    assert done.stdout.split() == [str(thread), str(room)]
