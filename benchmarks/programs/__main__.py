"""
The command: `python -m benchmarks.programs --collection FILE --checkout FOLDER --targets host,sim,nvptx`.

All builds come first, several at a time; then everything is run, one program at a time. Results are written
after every step, so that those of an interrupted run are kept. `--table FILE` only prints the table of a
file of results.
"""

from __future__ import annotations

import argparse
import os
import shutil
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from .collection import Program, read_collection
from .steps import OURS, Result, Setting, Side, build, count_launches, load, run, save
from .table import table


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="benchmarks.programs", description=__doc__)
    parser.add_argument(
        "--collection",
        metavar="FILE",
        help="description of the collection; a name stands for NAME.toml beside the checkout",
    )
    parser.add_argument("--checkout", type=Path, metavar="FOLDER", help="the collection's files")
    parser.add_argument("--targets", default="host", help="of host, sim, nvptx, gcc, gcc-acc")
    parser.add_argument("--classes", default="", help="sizes to try (default: the smallest)")
    parser.add_argument("--programs", default="", help="names of programs (default: all)")
    parser.add_argument("--time-limit", type=float, default=300, help="seconds for each run")
    parser.add_argument("--build-limit", type=float, default=600, help="seconds for each build")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="builds at a time")
    parser.add_argument("--sm", type=int, default=90, help="compute capability to build for")
    parser.add_argument("--flags", default="", help="further options of accc")
    parser.add_argument("--no-run", action="store_true", help="only build")
    parser.add_argument("--again", action="store_true", help="run what the output has already")
    parser.add_argument("--launches", action="store_true", help="count launches, in another run")
    parser.add_argument("--work", type=Path, default=Path("build/programs"), help="for builds")
    parser.add_argument("--output", type=Path, metavar="FILE", help="results, as they come")
    parser.add_argument("--table", type=Path, metavar="FILE", help="print the table of results")
    return parser


def _sizes(program: Program, wanted: Sequence[str], side: Side) -> list[str]:
    sizes = [size for size in program.classes if size in wanted] or list(program.classes[:1])
    if side == "sim":
        return list(program.classes[:1]) if program.sim else []
    return sizes


def _run_all(
    setting: Setting,
    programs: Sequence[Program],
    results: Sequence[Result],
    done: set[tuple[str, str, str]],
    args: argparse.Namespace,
) -> list[Result]:
    """Runs the built programs that are not in `done`, serial programs first."""
    by_name = {program.name: program for program in programs}
    finished: list[Result] = []
    for result in sorted(results, key=lambda result: result.side != "gcc"):
        if result.failed or result.key in done:
            continue
        program = by_name[result.program]
        reference = setting.folder(program, result.size, "gcc") / "run.log"
        run(setting, program, result, reference)
        if args.launches and result.side in OURS and result.ran is not None:
            count_launches(setting, program, result)
        verdict = {True: "verified", False: "WRONG", None: "not checked"}[result.verified]
        seconds = f"{result.ran:.2f} s" if result.ran is not None else "-"
        print(*result.key, verdict, seconds, result.message, flush=True)
        finished.append(result)
        if args.output:
            save(result, args.output)
    return finished


def main() -> None:
    parser = _parser()
    args = parser.parse_args()
    if args.table:
        print(table(load(args.table)))
        return
    if args.collection is None or args.checkout is None:
        parser.error("--collection and --checkout are needed")
    description = Path(args.collection)
    if not description.exists():
        description = args.checkout.parent / f"{args.collection}.toml"
    if not description.exists() or not args.checkout.is_dir():
        parser.error(f"there is no {description}, or no folder {args.checkout}")
    names = [name for name in args.programs.split(",") if name]
    programs = [p for p in read_collection(description) if not names or p.name in names]
    work = args.work.absolute() / description.stem
    setting = Setting(
        args.checkout.absolute(), work, args.build_limit, args.time_limit, args.sm, args.flags
    )
    wanted = [size for size in args.classes.split(",") if size]
    before = load(args.output) if args.output and not args.again else []
    jobs: list[tuple[Program, str, Side]] = []
    for side in args.targets.split(","):
        if side.startswith("gcc") and shutil.which("gcc") is None:
            continue
        jobs += [(p, size, side) for p in programs for size in _sizes(p, wanted, side)]

    def attempt(job: tuple[Program, str, Side]) -> Result:
        result = build(setting, *job)
        state = f"built {result.built:.1f} s" if result.built is not None else result.failed
        print(*result.key, state, result.message, flush=True)
        if args.output and result.failed:
            save(result, args.output)
        return result

    with ThreadPoolExecutor(args.jobs) as pool:
        results = list(pool.map(attempt, jobs))
    if not args.no_run:
        done = {result.key for result in before if result.ran is not None}
        _run_all(setting, programs, results, done, args)
    print(table(load(args.output) if args.output else results))


if __name__ == "__main__":
    main()
