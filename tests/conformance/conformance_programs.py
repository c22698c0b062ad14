"""
Programs that check themselves, one per family of directives and clauses (OpenACC 3.4), and how they run.

Those in `serial` print what a C compiler that knows no OpenACC makes them print, which is kept beside
them; those in `host_only` are about CPU threads.
"""

from __future__ import annotations

from pathlib import Path

from tools import commands

PROGRAMS = sorted(Path(__file__).parent.glob("*.c"))
SERIAL = sorted((Path(__file__).parent / "serial").glob("*.c"))
HOST_ONLY = sorted((Path(__file__).parent / "host_only").glob("*.c"))


def check(program: Path, target: str, *options: str) -> None:
    """Runs a program on a target, and compares what it prints or says of itself."""
    command = ["accrun", f"--target={target}", *options, str(program)]
    done = commands.run(command, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    if program in SERIAL:
        assert done.stdout == program.with_suffix(".txt").read_text()
    else:
        assert "failed" not in done.stdout, done.stdout + done.stderr
