"""Executables of `accc --standalone`, and those for several compute capabilities."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import llvmlite
import pytest
from accopt.compiler.base.diagnostics import CompileError
from accopt.compiler.drivers import accc_main
from accopt.compiler.drivers.linked_program import PYTHON_VARIABLE
from accopt.compiler.drivers.run_program import best_capability

SOURCE = """
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv) {
    int n = atoi(argv[1]), *p = 0;
    double sum = 0;
#pragma acc parallel loop reduction(+:sum)
    for (int i = 0; i < n; i++) sum += sqrt(i * (double)i);
    printf("%g\\n", sum);
    return n > 3 ? n : *p;
}
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a standalone program, and a Python that has llvmlite and nothing else."""
    folder = tmp_path_factory.mktemp("a place")
    (folder / "sum.c").write_text(SOURCE)
    arguments = ["--standalone", "--sm=90,75", str(folder / "sum.c"), "-o", str(folder / "sum")]
    assert accc_main.main(arguments) == 0
    (folder / "sum.c").unlink()
    (folder / "site").mkdir()
    (folder / "site" / "llvmlite").symlink_to(Path(llvmlite.__file__).parent)
    (folder / "python").write_text(f'#!/bin/sh\nexec "{sys.executable}" -S "$@"\n')
    (folder / "python").chmod(0o755)
    return folder


def _run(folder: Path, *arguments: str, site: str = "site") -> subprocess.CompletedProcess[str]:
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": "/proc/self",  # no place for a cache
        "PYTHONPATH": str(folder / site),
        PYTHON_VARIABLE: str(folder / "python"),
    }
    return subprocess.run(
        ["./sum", *arguments],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )


def test_standalone_programs_need_no_accopt(folder: Path):
    done = _run(folder, "10")
    assert (done.returncode, done.stdout, done.stderr) == (10, "45\n", "")


def test_standalone_programs_tell_their_faults(folder: Path):
    done = _run(folder, "3")
    assert done.returncode < 0
    assert done.stdout == "3\n"
    assert "error: read from a null pointer, in function 'main'" in done.stderr


def test_standalone_programs_say_what_is_missing(folder: Path):
    done = _run(folder, "10", site="no such folder")
    assert done.returncode == 127
    assert "has no llvmlite, which the program needs: pip install 'llvmlite==" in done.stderr


def test_standalone_programs_have_code_for_every_device(folder: Path):
    with zipfile.ZipFile(folder / "sum") as archive:
        programs = json.loads(archive.read("program.json"))["programs"]
        names = archive.namelist()
    kinds = {(each["target"], each["sm"] if each["ptx"] else 0): each["ptx"] for each in programs}
    assert kinds.keys() == {("host", 0), ("nvptx", 75), ("nvptx", 90)}
    assert ".target sm_75" in kinds["nvptx", 75] and ".target sm_90" in kinds["nvptx", 90]
    assert len([name for name in names if name.startswith("code/")]) >= 3
    assert (folder / "sum").stat().st_size < 2 << 20


@pytest.mark.parametrize("arguments", [["--target=sim"], ["-shared"]])
def test_what_cannot_stand_alone(arguments: list[str], tmp_path: Path):
    (tmp_path / "one.c").write_text("int main(void) { return 1; }")
    command = ["--standalone", *arguments, str(tmp_path / "one.c"), "-o", str(tmp_path / "one")]
    assert accc_main.main(command) == 2


@pytest.mark.parametrize(
    ("sms", "device", "best"),
    [
        ((), 90, 90),
        ((), 107, 103),
        ((), None, None),
        ((70, 80), 90, 80),
        ((70, 80), 75, 70),
        ((80, 90), None, 80),
    ],
)
def test_the_newest_code_that_a_gpu_runs(sms: tuple[int, ...], device: int | None, best: int):
    assert best_capability(sms, device) == best


def test_code_for_newer_gpus_only():
    with pytest.raises(CompileError, match="capability 80, 90, but the GPU has 75"):
        best_capability((80, 90), 75)
