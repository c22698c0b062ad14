"""Runs a program: compiled by gcc for the serial answer, and by accopt in a forked child that has
everything imported."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

SECONDS = 240
"""The limit for compiling and running one program."""


@dataclass(frozen=True)
class Done:
    """The result of a program: its exit status (None: it did not end in time), and its output."""

    status: int | None
    out: str
    err: str


def has_gcc() -> bool:
    return shutil.which("gcc") is not None


def serial(paths: Sequence[Path]) -> str:
    """The output of the program as serial C: compiled by gcc, which ignores the directives, or by accopt
    without them."""
    folder = paths[0].parent
    if not has_gcc():
        return _without_directives(folder)
    binary = folder / "reference"
    subprocess.run(["gcc", "-O1", "-w", *paths, "-o", binary, "-lm"], check=True)
    return subprocess.run([binary], capture_output=True, text=True, check=True, timeout=60).stdout


def _without_directives(folder: Path) -> str:
    plain = folder / "plain"
    plain.mkdir(exist_ok=True)
    for path in [*folder.glob("*.c"), *folder.glob("*.h")]:
        (plain / path.name).write_text(re.sub(r"(?m)^#pragma acc.*$", "", path.read_text()))
    done = accrun(sorted(plain.glob("*.c")), "host", ("-O0",))
    assert done.status == 0, done.err
    return done.out


def accrun(paths: Sequence[Path], target: str, options: Sequence[str] = ()) -> Done:
    """The program under `accrun`, as a user runs it."""
    threads = ("--threads", "3") if target == "host" else ()
    command = [f"--target={target}", *threads, *options, *map(str, paths)]

    def body() -> None:
        from accopt.compiler.drivers.accrun_main import main

        os._exit(main(command))

    return _forked(body, paths[0].parent)


def preload() -> None:
    """Imports what every child needs, so that a child starts at once."""
    from accopt.compiler import api, executable  # noqa: F401
    from accopt.compiler.base.options import CompileOptions
    from accopt.compiler.pipeline import pipeline_passes

    for target in ("host", "sim"):
        pipeline_passes(CompileOptions(target=target))


def _forked(body: Callable[[], None], folder: Path) -> Done:
    """Runs `body` in a child process, whose output goes to files in `folder`."""
    out, err = folder / "stdout", folder / "stderr"
    child = os.fork()
    if child == 0:
        try:
            os.setsid()
            flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC
            os.dup2(os.open(out, flags, 0o600), 1)
            os.dup2(os.open(err, flags, 0o600), 2)
            # pytest's objects write where the parent captures output.
            sys.stdout, sys.stderr = (
                os.fdopen(number, "w", buffering=1, closefd=False) for number in (1, 2)
            )
            os.environ["XDG_CACHE_HOME"] = str(folder / "cache")
            body()
        finally:
            os._exit(70)
    status = _wait(child)
    shutil.rmtree(folder / "cache", ignore_errors=True)
    texts = [path.read_text(errors="replace") if path.exists() else "" for path in (out, err)]
    return Done(status, *texts)


def _wait(child: int) -> int | None:
    end = time.monotonic() + SECONDS
    pause = 0.01
    while time.monotonic() < end:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            return os.waitstatus_to_exitcode(status)
        time.sleep(pause)
        pause = min(pause * 1.2, 0.2)
    os.killpg(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return None
