"""At a cold start, a copy of the process compiles the runtime's own code, and this one the program."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from accopt.compiler.backend import forks
from accopt.compiler.base import command as commands
from accopt.compiler.base.processors import usable_processors
from accopt.compiler.drivers import accc_main

PROGRAM = '#include <stdio.h>\nint main(void) { puts("ran"); return 0; }\n'

# `accrun` as a command, or an executable of `accc`; writes the LLVM IR that this process compiles itself to
# its first argument.
WATCHED = """
import os, sys
import llvmlite.binding as llvm
from accopt.compiler.base.command import begin_command
from accopt.compiler.drivers import accrun_main, linked_program

if sys.argv[2] == "alone":
    os.sched_setaffinity(0, list(os.sched_getaffinity(0))[:1])

def watched(text, *more, parse=llvm.parse_assembly, this=os.getpid(), file=sys.argv[1]):
    if os.getpid() == this:
        with open(file, "a") as record:
            record.write(text)
    return parse(text, *more)

llvm.parse_assembly = watched
if sys.argv[3].endswith(".c"):
    begin_command()
    sys.exit(accrun_main.main(["--target=host", sys.argv[3]]))
del sys.argv[1:3]
sys.exit(linked_program.main())
"""

OWN = ("@accopt_guard_push", "@team_take", "@at.getspecific")
"""What is in the runtime's code: of guards, of the team of threads, of devices."""


@pytest.mark.parametrize("kind", ["accrun", "executable"])
@pytest.mark.parametrize("how", ["alone", "together"])
@pytest.mark.sampled(2)
def test_who_compiles_it(tmp_path: Path, how: str, kind: str) -> None:
    if how == "together" and usable_processors() < 2:
        pytest.skip("one processor")
    program, record = tmp_path / "ran.c", tmp_path / "record"
    program.write_text(PROGRAM)
    if kind == "executable":
        link = ["--target=host", str(program), "-o", str(tmp_path / "ran")]
        assert accc_main.main(link) == 0
        program = tmp_path / "ran"
    command = [sys.executable, "-c", WATCHED, str(record), how, str(program)]
    environment = {**os.environ, "XDG_CACHE_HOME": str(tmp_path / "cache")}
    for _ in range(2):
        done = subprocess.run(
            command, env=environment, capture_output=True, text=True, timeout=120, check=False
        )
        assert (done.returncode, done.stdout, done.stderr) == (0, "ran\n", "")
    compiled = record.read_text()
    assert "define i32 @main" in compiled
    assert [name for name in OWN if name in compiled] == ([*OWN] if how == "alone" else [])
    assert compiled.count("define i32 @main") == 1


def test_no_copies_are_made_of_a_process_that_runs_a_program(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(forks, "usable_processors", lambda: 2)
    monkeypatch.setattr(commands, "_command", True)
    assert forks.copies() == 2
    commands.end_command()
    assert forks.copies() == 1
