"""Commands and programs whose standard streams are closed, full, or have no reader."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = r"""
#include <stdio.h>
int main(void) {
    int a[8];
#pragma acc parallel loop copyout(a)
    for (int i = 0; i < 8; i++) a[i] = i;
    fprintf(stderr, "message\n");
    puts("printed");
    FILE *log = fopen("log", "w");
    fprintf(log, "%d %d\n", a[7], fflush(stdout));
    fclose(log);
    return 3;
}
"""
BIN = Path(sys.executable).parent


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("streams")
    (folder / "p.c").write_text(PROGRAM)
    for options in ("-o linked", "--standalone -o standalone"):
        subprocess.run(
            [BIN / "accc", "--target=host", "p.c", *options.split()], cwd=folder, check=True
        )
    return folder


def _run(folder: Path, command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["sh", "-c", f"unset PYTHONUNBUFFERED; {command}; exit $?"],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        env={"PATH": f"{BIN}:/usr/bin:/bin", "HOME": str(folder)},
    )


@pytest.mark.parametrize(
    ("streams", "output", "messages", "flushed"),
    [
        ("2>&-", "printed\n", "", 0),
        ("<&- >&- 2>/dev/full", "", "", -1),
    ],
)
@pytest.mark.parametrize(
    "program", ["accrun --target=host p.c", "accrun --target=sim p.c", "./linked", "./standalone"]
)
def test_program(
    folder: Path, program: str, streams: str, output: str, messages: str, flushed: int
) -> None:
    done = _run(folder, f"{program} {streams}")
    assert (done.returncode, done.stdout, done.stderr) == (3, output, messages)
    # Its own file did not take the number of a closed stream.
    assert (folder / "log").read_text() == f"7 {flushed}\n"


CANNOT_WRITE = "cannot write standard output: {}"


@pytest.mark.parametrize(
    ("command", "status", "message"),
    [
        ("accopt p.c >&-", 1, CANNOT_WRITE.format("Bad file descriptor")),
        ("accopt p.c 2>&-", 0, ""),
        ("accopt <&-", 1, "cannot read standard input: Bad file descriptor"),
        ("accc -E - <&-", 1, "cannot read standard input: Bad file descriptor"),
        ("accrun --version >&-", 1, CANNOT_WRITE.format("Bad file descriptor")),
        ("accrun missing.c 2>/dev/full", 1, ""),
        ("{ accc -E p.c; echo $? >status; } | true; exit $(cat status)", 1, ""),
    ],
)
def test_command(folder: Path, command: str, status: int, message: str) -> None:
    done = _run(folder, command)
    assert done.returncode == status, done.stderr
    assert done.stderr.startswith(f"error: {message}" if message else "")
    assert not message or done.stderr.count("error:") == 1
    assert message or not done.stderr
