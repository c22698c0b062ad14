"""At a cold start, a copy of the process compiles the runtime's own code, and this one the program."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from accopt.compiler.base.processors import usable_processors

PROGRAM = '#include <stdio.h>\nint main(void) { puts("ran"); return 0; }\n'

# `accrun` as a command, which writes the LLVM IR that this process compiles itself to its first argument.
WATCHED = """
import os, sys
import llvmlite.binding as llvm
from accopt.compiler.base.command import begin_command
from accopt.compiler.drivers.accrun_main import main

if sys.argv[2] == "alone":
    os.sched_setaffinity(0, list(os.sched_getaffinity(0))[:1])

def watched(text, *more, parse=llvm.parse_assembly, this=os.getpid()):
    if os.getpid() == this:
        with open(sys.argv[1], "a") as record:
            record.write(text)
    return parse(text, *more)

llvm.parse_assembly = watched
begin_command()
sys.exit(main(sys.argv[3:]))
"""

OWN = ("@accopt_guard_push", "@team_take", "@at.getspecific")
"""What is in the runtime's code: of guards, of the team of threads, of devices."""


@pytest.mark.parametrize("how", ["alone", "together"])
def test_who_compiles_it(tmp_path: Path, how: str) -> None:
    if how == "together" and usable_processors() < 2:
        pytest.skip("one processor")
    program, record = tmp_path / "ran.c", tmp_path / "record"
    program.write_text(PROGRAM)
    command = [sys.executable, "-c", WATCHED, str(record), how, "--target=host", str(program)]
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
