"""Measures compilations by this compiler and by others, each in a separate process."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
LIMIT = 600
"""The time limit of a compilation, in seconds."""


@dataclass
class Program:
    """C files that make one program; `cuda` are the same kernels for nvcc, where there are any."""

    name: str
    files: list[Path]
    options: list[str] = field(default_factory=list[str])
    cuda: list[Path] = field(default_factory=list[Path])

    @property
    def lines(self) -> int:
        return sum(file.read_bytes().count(b"\n") for file in self.files)


@dataclass
class Result:
    """
    `seconds` of the processor (user and system) without those for counting operations, `phases` as in
    `child.py`, `peak` in MB; `gcc` and `nvcc` are the seconds of those compilers, if they were run and
    finished.
    """

    name: str
    target: str
    lines: int
    seconds: float
    phases: list[Any]
    peak: float
    error: str = ""
    gcc: float | None = None
    nvcc: float | None = None

    def plain(self) -> dict[str, Any]:
        return asdict(self)


def _processor_seconds(command: Sequence[str], environment: dict[str, str]) -> tuple[float, str]:
    """The seconds that a process and its children take, and what it prints; raises if it fails."""
    before = os.times()
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=LIMIT, env=environment, cwd=ROOT
    )
    after = os.times()
    if done.returncode != 0:
        raise RuntimeError(done.stderr.strip()[-400:] or f"status {done.returncode}")
    spent = after.children_user + after.children_system
    return spent - before.children_user - before.children_system, done.stdout


def compile_once(program: Program, target: str) -> Result:
    """Compiles with an empty cache."""
    files = [str(file.resolve()) for file in program.files]
    command = [sys.executable, "-m", "benchmarks.compile_time.child", target]
    with tempfile.TemporaryDirectory() as cache:
        environment = {**os.environ, "XDG_CACHE_HOME": cache}
        try:
            _, text = _processor_seconds([*command, *program.options, *files], environment)
        except (RuntimeError, subprocess.TimeoutExpired) as e:
            return Result(
                program.name,
                target,
                program.lines,
                0.0,
                ["total", 0, 0, None, None, [], 0.0],
                0.0,
                str(e),
            )
    answer = json.loads(text.splitlines()[-1])
    return Result(
        program.name,
        target,
        program.lines,
        answer["phases"][1] + answer["others"],
        answer["phases"],
        answer["peak"],
        answer.get("error", ""),
    )


def others(program: Program) -> tuple[float | None, float | None]:
    """The seconds of gcc -O2 and nvcc -ptx for a program's files."""
    return (
        _other("gcc", ["-O2", "-w", "-c", *program.options], program.files),
        _other("nvcc", ["-O3", "-ptx", "-arch=sm_90"], program.cuda),
    )


def _other(compiler: str, options: Sequence[str], files: Sequence[Path]) -> float | None:
    if not files or shutil.which(compiler) is None:
        return None
    total = 0.0
    with tempfile.TemporaryDirectory() as folder:
        for file in files:
            command = [compiler, *options, str(file.resolve()), "-o", f"{folder}/out"]
            try:
                total += _processor_seconds(command, dict(os.environ))[0]
            except (RuntimeError, subprocess.TimeoutExpired):
                return None
    return total
