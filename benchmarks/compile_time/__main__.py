"""The command: `python -m benchmarks.compile_time [--help]`."""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from .generated import FAMILIES, MAIN
from .measure import ROOT, Program, Result, compile_once, others
from .report import phase_table, plot, summary

KERNELS = ("streaming", "stencils", "compute", "reductions")
"""The benchmark kernels, which together make one program."""


def _own_programs(folder: Path) -> Iterator[Program]:
    """An empty program, saxpy, the other examples, and the benchmark kernels."""
    empty = folder / "empty.c"
    empty.write_text(MAIN)
    yield Program("empty", [empty])
    examples = sorted((ROOT / "examples").glob("*.c"), key=lambda p: (p.stem != "saxpy", p))
    for example in examples:
        yield Program(f"examples/{example.stem}", [example])
    kernels = ROOT / "benchmarks" / "kernels"
    yield Program(
        "benchmarks/kernels",
        [kernels / f"{name}.c" for name in KERNELS],
        cuda=[kernels / f"{name}.cu" for name in KERNELS],
    )


def _generated(folder: Path, families: Sequence[str], sizes: Sequence[int]) -> Iterator[Program]:
    for family in families:
        for size in sizes:
            path = folder / f"{family}_{size}.c"
            path.write_text(FAMILIES[family](size) + MAIN)
            yield Program(f"{family} {size}", [path])


def _given(path: Path, options: Sequence[str]) -> Program:
    """A C file, or the C files of a folder as one program."""
    files = sorted(path.glob("*.c")) if path.is_dir() else [path]
    if not files:
        raise SystemExit(f"there are no C files in '{path}'")
    return Program(str(path), files, list(options))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="benchmarks.compile_time", description=__doc__)
    parser.add_argument("programs", nargs="*", type=Path, help="C files, or folders of C files")
    parser.add_argument("--targets", default="nvptx", help="of nvptx, host (default: nvptx)")
    parser.add_argument(
        "--sets",
        default="own,generated",
        help="of own, generated; none beside the programs given: --sets=",
    )
    parser.add_argument("--families", default=",".join(FAMILIES), help="of generated programs")
    parser.add_argument("--sizes", default="1000,3000,10000,30000", help="lines of generated ones")
    parser.add_argument(
        "--option", action="append", default=[], help="-I… or -D… for programs given"
    )
    parser.add_argument("--repeats", type=int, default=1, help="compilations, the fastest counts")
    parser.add_argument("--phases", action="store_true", help="the table of each program's phases")
    parser.add_argument("--alone", action="store_true", help="without gcc and nvcc")
    parser.add_argument("--json", type=Path, help="file for all numbers")
    parser.add_argument(
        "--read", type=Path, nargs="*", default=[], help="files of --json, instead of measuring"
    )
    parser.add_argument("--plot", type=Path, help="file (.png, .svg) for seconds against lines")
    return parser


def _measured(args: argparse.Namespace, results: list[Result]) -> None:
    """Compiles what the command line asks for; each result is printed, and in the file, when it is there."""
    sets = args.sets.split(",")
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        programs = [_given(path, args.option) for path in args.programs]
        if "own" in sets:
            programs += _own_programs(folder)
        if "generated" in sets:
            sizes = [int(size) for size in args.sizes.split(",")]
            programs += _generated(folder, args.families.split(","), sizes)
        print(summary([]), flush=True)
        for program in programs:
            gcc, nvcc = (None, None) if args.alone else others(program)
            for target in args.targets.split(","):
                tries = [compile_once(program, target) for _ in range(args.repeats)]
                result = replace(min(tries, key=lambda r: r.seconds), gcc=gcc, nvcc=nvcc)
                results.append(result)
                print(summary([result]).splitlines()[-1], flush=True)
                if args.phases:
                    print(phase_table(result), flush=True)
                if args.json is not None:
                    args.json.write_text(json.dumps([result.plain() for result in results]))


def main() -> None:
    args = _parser().parse_args()
    results = [Result(**each) for path in args.read for each in json.loads(path.read_text())]
    if args.read:
        print(summary(results))
    else:
        _measured(args, results)
    if args.plot is not None:
        plot(results, args.plot)


if __name__ == "__main__":
    main()
