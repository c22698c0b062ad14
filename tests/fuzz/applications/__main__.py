"""
Many random programs on several targets:

    python -m tests.fuzz.applications --count 2000 --target host,sim,nvptx --jobs 8 --seed 1

Programs are compiled several at a time and run in forked children, one worker per job. Every failing nest is
saved as a program of its own; the first few are made smaller. The exit status says whether any failed.
"""

from __future__ import annotations

import argparse
import multiprocessing
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import replace
from pathlib import Path

from .choose import programs
from .execute import preload
from .judge import FAILURES, Verdict, judge
from .model import Unit
from .report import by_feature, save, table, too_strict
from .shrink import shrink

NESTS = 3
"""Nests in a program."""


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="tests.fuzz.applications", description=__doc__)
    parser.add_argument("--count", type=int, default=60, help="programs of three nests each")
    parser.add_argument(
        "--target", default="host,sim", help="host, sim, nvptx; separated by commas"
    )
    parser.add_argument("--jobs", type=int, default=1, help="worker processes")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--first", type=int, default=0, help="the first program of the seed")
    parser.add_argument("--batch", type=int, default=6, help="programs compiled together")
    parser.add_argument("--shrink", type=int, default=4, metavar="N", help="failures made smaller")
    parser.add_argument("--keep", type=Path, help="folder for failing programs")
    parser.add_argument("--option", action="append", default=[], help="an option for accrun")
    return parser.parse_args()


def _batches(args: argparse.Namespace) -> Iterator[list[Unit]]:
    for first in range(args.first, args.first + args.count, args.batch):
        last = min(first + args.batch, args.first + args.count)
        yield [unit for p in range(first, last) for unit in programs(args.seed, p, NESTS)]


def _smaller(verdict: Verdict, options: list[str]) -> Verdict:
    """The verdict of the smallest unit found that fails alike."""
    best = verdict

    def fails(unit: Unit) -> bool:
        nonlocal best
        (again,) = judge([unit], verdict.target, parts=0, options=options)
        if again.word == verdict.word:
            best = again
        return again.word == verdict.word

    if fails(verdict.unit):  # alone, too
        shrink(verdict.unit, fails)
    return replace(best, unit=best.unit)


def main() -> int:
    args = _arguments()
    keep = args.keep or Path(tempfile.mkdtemp(prefix="applications-"))
    preload()
    start = time.monotonic()
    verdicts: list[Verdict] = []
    context = multiprocessing.get_context("fork")
    with ProcessPoolExecutor(args.jobs, mp_context=context) as pool:
        work = [
            pool.submit(judge, batch, target, parts=3, options=args.option)
            for batch in _batches(args)
            for target in args.target.split(",")
        ]
        for future in as_completed(work):
            for verdict in future.result():
                verdicts.append(verdict)
                if verdict.word in FAILURES:
                    print(
                        f"{verdict.word}: {save(verdict, keep)}: {verdict.detail[:300]}", flush=True
                    )
        failed = sorted((v for v in verdicts if v.word in FAILURES), key=lambda v: v.unit.number)
        smaller = pool.map(_smaller, failed[: args.shrink], [args.option] * len(failed))
        for verdict in smaller:
            print(f"\nmade smaller: {save(verdict, keep / 'small')}")
            print(verdict.detail[:1000])
    for why, found in too_strict(verdicts).items():
        if found:
            print(f"\n{len(found)} nests got a message, but have one answer; {why}:")
        for verdict in found:
            print(f"{save(verdict, keep / 'messages')}: {verdict.detail[:300]}")
    verdicts.sort(key=lambda v: v.unit.number)
    print(f"\n{by_feature(verdicts)}\n\n{table(verdicts, NESTS)}")
    print(f"{args.count} programs in {time.monotonic() - start:.0f} s; failing ones are in {keep}")
    return int(bool(failed))


if __name__ == "__main__":
    sys.exit(main())
