"""
Builds and runs one program with one compiler at one size, and records the result.

A build has a folder of its own (`WORK/program.class.side`), with the log of its commands. An existing build
from the same command and the same compiler's files is not repeated, so that builds can be carried from one
machine to another.
"""

from __future__ import annotations

import json
import os
import re
import resource
import shlex
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import asdict, dataclass, field
from pathlib import Path

from .collection import Program
from .numbers import difference

Side = str
"""`host`, `sim`, `nvptx`: our targets; `gcc`: serial; `gcc-acc`: GCC's OpenACC."""
OURS = ("host", "sim", "nvptx")
_TIMED_OUT = -signal.SIGKILL
_ERROR = re.compile(r"\berror:|undefined reference|^Traceback|\binternal:|\*\*\* ")
_KEPT = 2_000_000
"""The most characters of a program's output that are kept."""


@dataclass
class Result:
    """
    The result of one build: `built` in seconds, or the stage that failed (`compile`, `link`) with its
    message; `ran`, the seconds of the whole run; `measured`, the seconds that the program itself measured;
    `verified` is None if the program does not verify itself. `launches` is counted in a separate run.
    """

    program: str
    size: str
    side: Side
    built: float | None = None
    failed: str = ""
    message: str = ""
    ran: float | None = None
    measured: float | None = None
    verified: bool | None = None
    launches: int | None = None

    @property
    def key(self) -> tuple[str, str, str]:
        return self.program, self.size, self.side


@dataclass(frozen=True)
class Setting:
    """The folder of builds, the checkout, the time limits of a build and a run in seconds, and the GPU."""

    checkout: Path
    work: Path
    build_limit: float
    run_limit: float
    sm: int = 90
    flags: str = ""
    environment: dict[str, str] = field(default_factory=dict[str, str])

    def compiler(self, side: Side) -> str:
        """The compiler's command for a side."""
        if side == "gcc":
            return "gcc -O3 -Wl,--no-as-needed -lgomp"  # for acc_* routines
        if side == "gcc-acc":
            return "gcc -O3 -fopenacc"
        accc = Path(sys.executable).parent / "accc"
        sm = f" --sm {self.sm}" if side == "nvptx" else ""
        return f"{accc} --target {side}{sm} {self.flags}".rstrip()

    def folder(self, program: Program, size: str, side: Side) -> Path:
        return self.work / ".".join(part for part in (program.name, size, side) if part)


def _call(
    command: str | list[str], folder: Path, limit: float, environment: dict[str, str]
) -> tuple[int, str, float]:
    """Status (`_TIMED_OUT` after `limit` seconds), standard output and error together, seconds."""

    def prepare() -> None:
        _, hard = resource.getrlimit(resource.RLIMIT_STACK)
        resource.setrlimit(resource.RLIMIT_STACK, (hard, hard))  # as programs of this kind ask for

    start = time.monotonic()
    process = subprocess.Popen(
        command,
        cwd=folder,
        shell=isinstance(command, str),
        env={**os.environ, **environment},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
        preexec_fn=prepare,
    )
    try:
        output, _ = process.communicate(timeout=limit)
        status = process.returncode
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        output, _ = process.communicate()
        status = _TIMED_OUT
    seconds = time.monotonic() - start
    return status, output[:_KEPT].decode(errors="replace"), seconds


def build(setting: Setting, program: Program, size: str, side: Side) -> Result:
    """Builds the program unless the same build is there."""
    result = Result(program.name, size, side)
    folder = setting.folder(program, size, side)
    note = folder / "built.json"
    command = program.fill(program.build, size, _portable(setting.compiler(side)))
    if note.exists():
        before = json.loads(note.read_text())
        if (
            before["command"] == command
            and (folder / program.fill(program.executable, size)).exists()
        ):
            result.built = before["seconds"]
            return result
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(setting.checkout / program.fill(program.folder, size), folder, symlinks=True)
    command_here = program.fill(program.build, size, setting.compiler(side))
    status, output, seconds = _call(command_here, folder, setting.build_limit, setting.environment)
    (folder / "build.log").write_text(output)
    if status == 0 and (folder / program.fill(program.executable, size)).exists():
        result.built = seconds
        note.write_text(json.dumps({"command": command, "seconds": seconds}))
        return result
    result.failed, result.message = _failure(output, status, setting.build_limit)
    return result


def _portable(compiler: str) -> str:
    """The compiler's command without the folder, which differs between machines."""
    return " ".join([Path(compiler.split()[0]).name, *compiler.split()[1:]])


def _failure(output: str, status: int, limit: float) -> tuple[str, str]:
    """The stage that failed, and why, from the log of a build."""
    commands = [""]
    for line in output.splitlines():
        if _ERROR.search(line):
            stage = "compile" if re.search(r"\s-c\b", commands[-1]) else "link"
            return stage, line.strip()[:200]
        if re.search(r"\b(accc|gcc)\b.*\s-", line):
            commands.append(line)
    stage = "compile" if re.search(r"\s-c\b", commands[-1]) else "link"
    if status == _TIMED_OUT:
        return stage, f"not done after {limit:.0f} s"
    return stage, (output.strip().splitlines() or [f"exit status {status}"])[-1][:200]


def run(setting: Setting, program: Program, result: Result, reference: Path | None) -> None:
    """Runs a built program; the output goes to `run.log`. `reference`: the serial program's output."""
    folder = setting.folder(program, result.size, result.side)
    command = _command(folder, program, result)
    place = Path(command[-1] if result.side not in OURS else command[4]).parent
    command += shlex.split(program.fill(program.arguments, result.size))
    status, output, seconds = _call(command, place, setting.run_limit, setting.environment)
    (folder / "run.log").write_text(output)
    if status == _TIMED_OUT:
        result.failed, result.message = "run", f"not done after {setting.run_limit:.0f} s"
        return
    result.ran = seconds
    if program.time and (found := re.search(program.time, output)):
        result.measured = float(found.group(1))
    result.verified, result.message = _verdict(program, status, output, reference)
    if not result.verified and status != 0:
        result.failed = "run"


def _command(folder: Path, program: Program, result: Result) -> list[str]:
    executable = (folder / program.fill(program.executable, result.size)).absolute()
    if result.side not in OURS:
        return [str(executable)]
    # Not by its first line, which names the Python of the machine it was built on.
    return [sys.executable, "-P", "-m", "accopt.compiler.drivers.linked_program", str(executable)]


def _verdict(
    program: Program, status: int, output: str, reference: Path | None
) -> tuple[bool | None, str]:
    """Whether the program verifies, and if not, the reason."""
    if status != 0:
        lines = [line for line in output.splitlines() if _ERROR.search(line) or "finding" in line]
        last = (lines or output.strip().splitlines() or [""])[0]
        return False, f"exit status {status}: {last.strip()[:160]}"
    if program.fails and (found := re.search(program.fails, output)):
        return False, found.group(0).strip()[:160]
    if program.verify and not re.search(program.verify, output):
        return False, f"no '{program.verify}' in its output"
    if program.compare:
        if reference is None or not reference.exists():
            return None, "nothing to compare with"
        reason = difference(
            reference.read_text(errors="replace"), output, program.tolerance, program.ignore
        )
        return reason is None, reason or ""
    return (True if program.verify or program.fails else None), ""


def count_launches(setting: Setting, program: Program, result: Result) -> None:
    """Runs the program once more with the report of launches, and counts them."""
    folder = setting.folder(program, result.size, result.side)
    command = _command(folder, program, result)
    place = Path(command[4]).parent
    command += shlex.split(program.fill(program.arguments, result.size))
    environment = {**setting.environment, "NVCOMPILER_ACC_TIME": "1"}
    status, output, _ = _call(command, place, 2 * setting.run_limit, environment)
    (folder / "profile.log").write_text(output)
    if status != _TIMED_OUT:
        result.launches = sum(int(n) for n in re.findall(r"kernel launched (\d+) times?", output))


def save(result: Result, path: Path) -> None:
    """Appends the result to a file, a JSON object per line."""
    with path.open("a") as file:
        file.write(json.dumps(asdict(result)) + "\n")
        file.flush()
        os.fsync(file.fileno())


def load(path: Path) -> list[Result]:
    """The results in a file; for each build, the last one."""
    lines = path.read_text().splitlines() if path.exists() else []
    found = [Result(**json.loads(line)) for line in lines]
    return list({result.key: result for result in found}.values())
