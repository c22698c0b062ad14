"""A program that has been compiled starts without the compiler: `accrun` with everything in its cache."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

SAXPY = Path(__file__).parents[2] / "examples" / "saxpy.c"

# `accrun` in a process that writes, to its second argument, what LLVM had to do and what was imported.
WATCHED = """
import sys
from pathlib import Path
import llvmlite.binding as llvm
from accopt.compiler.drivers import run_program
from accopt.compiler.drivers.accrun_main import main

record, parsed = Path(sys.argv[1]), []

def watched(text, *more, parse=llvm.parse_assembly):
    parsed.append(text)
    return parse(text, *more)

llvm.parse_assembly = watched
leave = run_program._leave

def note(status):
    record.write_text(f"{len(parsed)} " + " ".join(sys.modules))
    leave(status)

run_program._leave = note
sys.exit(main(sys.argv[2:]))
"""


def start(folder: Path, *options: str) -> tuple[int, set[str]]:
    """Runs saxpy; the LLVM IR modules that were compiled, and the modules of Python."""
    record = folder / "record"
    command = [sys.executable, "-c", WATCHED, str(record), *options, str(SAXPY)]
    done = subprocess.run(
        command,
        env={**os.environ, "XDG_CACHE_HOME": str(folder / "cache")},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "0 wrong" in done.stdout
    count, *modules = record.read_text().split()
    return int(count), set(modules)


@pytest.fixture(scope="module")
def starts(tmp_path_factory) -> list[tuple[int, set[str]]]:
    folder = tmp_path_factory.mktemp("warm")
    return [start(folder, "--target=host") for _ in range(2)]


def test_a_cold_start_compiles(starts):
    """What the other tests look for is there to be found."""
    compiled, modules = starts[0]
    assert compiled > 3
    assert "xdsl" in modules
    assert "accopt.compiler.c.ast" in modules


def test_a_warm_start_compiles_no_native_code(starts):
    """Neither the program's nor the runtime's own (`NativeCode`)."""
    compiled, _ = starts[1]
    assert compiled == 0


@pytest.mark.parametrize("name", ["xdsl", "numpy", "pycparser"])
def test_a_warm_start_leaves_packages_of_the_compiler_alone(starts, name):
    _, modules = starts[1]
    assert name not in modules


@pytest.mark.parametrize("room", ["c.ast", "c.types", "c.sema", "irgen", "ir", "llvmir"])
def test_a_warm_start_leaves_rooms_of_the_compiler_alone(starts, room):
    _, modules = starts[1]
    inside = f"accopt.compiler.{room}"
    assert not [m for m in modules if m == inside or m.startswith(inside + ".")]


def test_a_warm_start_loads_no_pass(starts):
    _, modules = starts[1]
    assert not [m for m in modules if m.startswith(("accopt.passes", "accopt.dialects"))]
