"""
Which programs two versions of accopt run with different calls of the CUDA driver, on a machine without a GPU.

    python -m tests.tools.compare_calls OLD [NEW] [--files GLOB ...] [--gpus N]

OLD and NEW are as in `compare_emit`; the C files are NEW's `examples` and conformance programs, whose files
in a folder `devices` are run with two GPUs. Each program runs on a stand-in for the driver
(`stand_in_driver.c`) that notes each call, whose copies are performed, and whose kernels do nothing: the
output is wrong, but a change of the runtime that is meant to leave its behaviour alone leaves the calls and
the output alone. Prints a line for every program that differs (`--diff N` adds N lines of it); exits with 1
if any does.

Needs `cc` and cuda-bindings: the package, or what `./test.sh` puts into `.venv/cuda`, apart from the packages
so that programs look for a GPU only here.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from .compare_emit import ROOT, c_files, checkout, differences, excerpt, package_path

SOURCE = Path(__file__).with_name("stand_in_driver.c")
PROGRAMS = ("examples/*.c", "tests/conformance/*.c", "tests/conformance/devices/*.c")
BINDINGS = ROOT / ".venv/cuda"
SECONDS = 30
"""A program whose end depends on what its kernels compute is stopped."""
_VARIES = re.compile(r"\d+[.\d]*(e[-+]\d+)? ?(s|ms|us|µs|seconds|GB/s|MB/s|GFLOP/s)\b|0x[0-9a-f]+")
"""Times, speeds and addresses in a program's output."""


def build_driver(folder: Path) -> Path:
    """Compiles the stand-in as `folder/libcuda.so.1`, and returns the folder."""
    library = folder / "libcuda.so.1"
    command = ["cc", "-shared", "-fPIC", "-O1", "-w", SOURCE, "-o", library, "-lpthread"]
    subprocess.run(command, check=True)
    return folder


def environment(driver: Path, packages: Path, scratch: Path, gpus: int) -> dict[str, str]:
    """The environment of a program that runs on the stand-in, with the `accopt` of `packages`."""
    return {
        **os.environ,
        "LD_LIBRARY_PATH": str(driver),
        "PYTHONPATH": f"{packages}:{BINDINGS}",
        "XDG_CACHE_HOME": str(scratch / f"cache-{packages.name}"),
        "STAND_IN_GPUS": str(gpus),
    }


def run(path: Path, calls: Path, variables: Mapping[str, str]) -> None:
    """Runs a program; writes its output and the calls of all of its processes to the file `calls`."""
    command = [sys.executable, "-m", "accopt.compiler.drivers.accrun_main", "--target=nvptx", path]
    with tempfile.TemporaryDirectory() as folder:
        try:
            ended = subprocess.run(
                command,
                env={**variables, "STAND_IN_CALLS": f"{folder}/calls"},
                cwd=folder,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=SECONDS,
            )
        except subprocess.TimeoutExpired:
            calls.write_text("stopped\n")
            return
        output = _VARIES.sub("…", (ended.stdout + ended.stderr).decode(errors="replace"))
        output = output.replace(folder, "")
        noted = [p.read_text() for p in sorted(Path(folder).glob("calls.*"), key=_process)]
    calls.write_text("".join([*noted, output, f"exit status {ended.returncode}\n"]))


def _process(path: Path) -> int:
    return int(path.suffix[1:])


def run_all(
    files: Mapping[str, Path], out: Path, packages: Path, driver: Path, gpus: int | None, jobs: int
) -> None:
    """Runs `files` (flat name → path) with the `accopt` of `packages`; the calls go to the folder `out`."""
    out.mkdir()

    def one(name: str) -> None:
        path = files[name]
        count = gpus or (2 if path.parent.name == "devices" else 1)
        run(path, out / f"{name}.calls", environment(driver, packages, out.parent, count))

    with ThreadPoolExecutor(jobs) as pool:
        list(pool.map(one, files))


def compare(args: argparse.Namespace, scratch: Path) -> int:
    """Runs all programs with both versions, prints what differs, and returns how many do."""
    driver = build_driver(scratch)
    sides = {"old": args.old, "new": args.new}
    versions = {side: checkout(where, scratch / f"{side}-tree") for side, where in sides.items()}
    files = c_files(versions["new"], args.files or PROGRAMS)
    for side, version in versions.items():
        packages = package_path(version, scratch / f"{side}-packages")
        run_all(files, scratch / side, packages, driver, args.gpus, args.jobs)
    outs = [scratch / side for side in sides]
    found = [name for name, _ in differences(*outs)]
    for name in found:
        print(name)
        for line in excerpt(*outs, name, args.diff) if args.diff else []:
            print("    " + line)
    print(f"{len(files)} programs with each version, {len(found)} differ")
    return len(found)


def missing() -> str | None:
    """What this machine lacks for the stand-in."""
    if shutil.which("cc") is None:
        return "cc"
    found = BINDINGS.is_dir() or importlib.util.find_spec("cuda") is not None
    return None if found else "cuda-bindings"


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("old")
    parser.add_argument("new", nargs="?", default=str(ROOT))
    parser.add_argument("--files", nargs="*", default=[], help="globs relative to NEW")
    parser.add_argument("--gpus", type=int, help="GPUs of the stand-in, for all programs")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--diff", type=int, default=0, metavar="LINES")
    args = parser.parse_args(arguments)
    if lacking := missing():
        parser.error(f"needs {lacking}, which this machine does not have")
    with tempfile.TemporaryDirectory() as scratch:
        return int(compare(args, Path(scratch)) > 0)


if __name__ == "__main__":
    sys.exit(main())
