"""
Which stages of which C files two versions of the compiler emit differently.

    python -m tests.tools.compare_emit OLD [NEW] [--files GLOB ...] [--targets nvptx,host] [--stages ptx,llvm]

OLD and NEW are folders of checkouts, or revisions of this repository; NEW is this checkout unless named.
The C files are NEW's `examples`, `benchmarks` and `tests`, and `../shared/cases` where there is one: both
versions compile the same text. Prints a line for every difference (`--diff N` adds N lines of it) and a
table of how many files differ at each stage; exits with 1 if any does (`--code-only`: if code does).

A change that claims to leave the output alone is checked by

    python -m tests.tools.compare_emit main --stages llvm,ptx,messages

PTX is only made where the device's LLVM IR differs: equal IR gives equal PTX.
"""

from __future__ import annotations

import argparse
import difflib
import json
import os
import subprocess
import sys
import tempfile
import tomllib
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).parents[2]
FOLDERS = ("examples", "benchmarks", "tests", "../shared/cases")
IR_STAGES = ("acc", "data", "scheduled", "transformed", "gpu", "host", "runtime", "nvvm")
CODE_STAGES = ("llvm", "device-llvm", "ptx")
STAGES = (*IR_STAGES, *CODE_STAGES, "messages")


def checkout(where: str, folder: Path) -> Path:
    """The folder of a version: `where` itself, or revision `where` unpacked into `folder`."""
    if Path(where).is_dir():
        return Path(where).resolve()
    archive = subprocess.run(["git", "-C", ROOT, "archive", where], capture_output=True)
    if archive.returncode != 0:
        sys.exit(f"'{where}' is neither a folder nor a revision: {archive.stderr.decode().strip()}")
    folder.mkdir()
    subprocess.run(["tar", "-x", "-C", folder], input=archive.stdout, check=True)
    return folder


def package_path(version: Path, folder: Path) -> Path:
    """A folder for `PYTHONPATH` in which `accopt` is that of the checkout `version`."""
    settings = tomllib.loads((version / "pyproject.toml").read_text())
    for package, place in settings["tool"]["setuptools"]["package-dir"].items():
        if "." not in package:
            continue  # the root has nothing that compiles, and the others stand inside of it
        link = folder / package.replace(".", "/")
        link.parent.mkdir(parents=True, exist_ok=True)
        link.symlink_to(version / place)
    return folder


def c_files(version: Path, globs: Sequence[str]) -> dict[str, Path]:
    """Flat name → path of the C files to compile."""
    found: dict[str, Path] = {}
    for pattern in globs or [f"{folder}/**/*.c" for folder in FOLDERS]:
        base = (version / "..").resolve() if pattern.startswith("../") else version
        for path in sorted(base.glob(pattern.removeprefix("../"))):
            found[str(path.relative_to(base)).replace("/", "+")] = path
    return found


Task = tuple[str, str, str, Sequence[str]]


def run(version: Path, tasks: Sequence[Task], out: Path, links: Path, jobs: int) -> None:
    """Emits `tasks` with one version of the compiler into the folder `out`, by `jobs` processes."""
    out.mkdir(exist_ok=True)
    own = version / "tests/tools/emit_stages.py"
    script = own if own.exists() else Path(__file__).with_name("emit_stages.py")
    environment = {**os.environ, "PYTHONPATH": str(links), "PYTHONHASHSEED": "0"}

    def share(part: Sequence[Task]) -> None:
        subprocess.run(
            [sys.executable, script, out],
            input=json.dumps(part),
            text=True,
            check=True,
            env=environment,
        )

    shares = [tasks[i::jobs] for i in range(jobs)]
    with ThreadPoolExecutor(jobs) as pool:
        list(pool.map(share, filter(None, shares)))


def differences(old: Path, new: Path) -> Iterator[tuple[str, str]]:
    """File names that the folders do not both have with one content, with the stage each is of."""
    names = {p.name for p in old.iterdir()} | {p.name for p in new.iterdir()}
    for name in sorted(names):
        texts = [p.read_bytes() if p.exists() else None for p in (old / name, new / name)]
        if texts[0] != texts[1]:
            yield name, name.rsplit(".", 1)[1]


def _needs_ptx(found: Sequence[tuple[str, str]], tasks: Sequence[Task]) -> list[Task]:
    """The tasks whose device code differs, for their PTX."""
    differing = {name for name, stage in found if stage == "device-llvm"}
    return [
        (name, path, target, ("ptx",))
        for name, path, target, _ in tasks
        if f"{name}.{target}.device-llvm" in differing
    ]


def excerpt(old: Path, new: Path, name: str, limit: int) -> list[str]:
    """At most `limit` lines of the difference of a file of the folders `old` and `new`."""
    sides = [
        p.read_text(errors="replace").splitlines() if p.exists() else []
        for p in (old / name, new / name)
    ]
    lines = difflib.unified_diff(*sides, "old", "new", n=1, lineterm="")
    return [line for line, _ in zip(lines, range(limit), strict=False)]


def compare(args: argparse.Namespace, scratch: Path) -> Counter[str]:
    """Compiles with both versions, prints what differs, and counts it by stage."""
    versions = [
        checkout(where, scratch / side) for where, side in ((args.old, "o"), (args.new, "n"))
    ]
    links = [package_path(v, scratch / f"links{i}") for i, v in enumerate(versions)]
    outs = [scratch / "old", scratch / "new"]
    stages = [s for s in args.stages if s != "ptx"]
    if "ptx" in args.stages and "device-llvm" not in stages:
        stages.append("device-llvm")
    tasks: list[Task] = [
        (name, str(path), target, stages)
        for name, path in c_files(versions[1], args.files).items()
        for target in args.targets
    ]
    for version, link, out in zip(versions, links, outs, strict=True):
        run(version, tasks, out, link, args.jobs)
    found = list(differences(*outs))
    again = _needs_ptx(found, tasks) if "ptx" in args.stages else []
    if again:
        for version, link, out in zip(versions, links, outs, strict=True):
            run(version, again, out, link, args.jobs)
        found = list(differences(*outs))
    shown = [entry for entry in found if entry[1] in args.stages]
    for name, _ in shown:
        print(name)
        for line in excerpt(*outs, name, args.diff) if args.diff else []:
            print("    " + line)
    print(f"{len(tasks)} compilations by each version")
    return Counter(stage for _, stage in shown)


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("old")
    parser.add_argument("new", nargs="?", default=str(ROOT))
    parser.add_argument("--files", nargs="*", default=[], help="globs relative to NEW")
    parser.add_argument("--targets", type=lambda s: s.split(","), default=["nvptx", "host"])
    parser.add_argument("--stages", type=lambda s: s.split(","), default=list(STAGES))
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--diff", type=int, default=0, metavar="LINES")
    parser.add_argument(
        "--code-only", action="store_true", help="exit with 1 for llvm and ptx only"
    )
    args = parser.parse_args()
    for stage in args.stages:
        if stage not in STAGES:
            parser.error(f"no stage '{stage}': choose from {', '.join(STAGES)}")
    with tempfile.TemporaryDirectory() as scratch:
        counts = compare(args, Path(scratch))
    for stage in STAGES:
        if counts[stage]:
            print(f"{stage:12} differs for {counts[stage]}")
    if not counts:
        print("no differences")
    return int(any(counts[s] for s in (CODE_STAGES if args.code_only else STAGES)))


if __name__ == "__main__":
    sys.exit(main())
