"""
The simulator's time: `python -m benchmarks.compile_time.simulated [NAME …]` prints a table of the examples
and of the benchmark kernels at their small sizes, or of those named, the slowest first.

Times are processor seconds, measured after the programs were compiled: for an example those of the whole
process, for a kernel those of copying, launching and checking its results.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Collection, Iterator
from pathlib import Path
from time import process_time

from accopt.compiler.api import Program, compile_files
from accopt.compiler.base.options import CompileOptions

from .. import ACCRUN
from ..forms import BARE, write_form, wrong_run
from ..specs import KERNELS, Kernel
from .measure import ROOT

Row = tuple[str, float, str]
"""The name of the program, its seconds, and what is wrong with its results, if anything."""


def examples(names: Collection[str]) -> Iterator[Row]:
    """The examples of one file."""
    command = [*ACCRUN, "--target=sim"]
    with tempfile.TemporaryDirectory() as cache:
        environment = {**os.environ, "XDG_CACHE_HOME": cache}
        for path in sorted((ROOT / "examples").glob("*.c")):
            if names and path.stem not in names:
                continue
            for _ in range(2):
                before = os.times()
                done = subprocess.run([*command, path], capture_output=True, env=environment)
                after = os.times()
            spent = after.children_user + after.children_system
            spent -= before.children_user + before.children_system
            wrong = "" if done.returncode == 0 else done.stderr.decode().strip()
            yield f"examples/{path.stem}", spent, wrong


def kernels(names: Collection[str]) -> Iterator[Row]:
    """The benchmark kernels."""
    with tempfile.TemporaryDirectory() as folder:
        for kernel in KERNELS:
            if names and kernel.name not in names:
                continue
            path = write_form(kernel.file, kernel.name, BARE, Path(folder))
            assert path is not None
            program = compile_files([path], CompileOptions(target="sim"))
            try:
                yield _timed(program, f"{kernel.file}/{kernel.name}", kernel)
            finally:
                program.close()


def _timed(program: Program, title: str, kernel: Kernel) -> Row:
    start = process_time()
    wrong = wrong_run(program, kernel)
    return title, process_time() - start, wrong or ""


def table(rows: Collection[Row]) -> str:
    """The rows as Markdown."""
    lines = ["| program | seconds |", "|---|---:|"]
    for name, seconds, wrong in sorted(rows, key=lambda row: -row[1]):
        lines.append(f"| {name} | {seconds:.2f}{', wrong: ' + wrong if wrong else ''} |")
    return "\n".join(lines)


def main() -> None:
    names = sys.argv[1:]
    print(table([*examples(names), *kernels(names)]))


if __name__ == "__main__":
    main()
