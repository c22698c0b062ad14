"""
Times of the forms whose code differs from that of the bare nest, on a GPU (`benchmarks.forms --time`).

Everything is compiled first, in as many processes as there are processors; then one process checks and
times. Forms with the same code are timed once, those with the bare form's code not at all.
"""

from __future__ import annotations

import hashlib
import os
import statistics
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from accopt.compiler.base.options import CompileOptions

from .forms import BARE, FORMS, code_of, write_form
from .harness import AccSide, build_all, check
from .run import SAMPLES
from .specs import KERNELS


@dataclass(frozen=True)
class Written:
    """A form of a kernel, as a file of C."""

    kernel: str
    form: str
    path: Path


def _digest(written: Written, fast_math: bool) -> str:
    return hashlib.sha256(code_of(written.path, written.kernel, fast_math).encode()).hexdigest()


def _median(written: Written, options: CompileOptions) -> float | str:
    """Microseconds of a form at the measured size, or what is wrong with its results at the small one."""
    kernel = next(k for k in KERNELS if k.name == written.kernel)
    side = AccSide(written.path, options)
    try:
        problem = check(side, kernel, kernel.make(kernel.small))
        if problem is not None:
            return f"FAILED: {problem}"
        return statistics.median(side.sample(kernel, kernel.make(kernel.size), SAMPLES))
    finally:
        side.close()


def _write(kernels: Sequence[tuple[str, str]], folder: Path) -> list[Written]:
    found: list[Written] = []
    for file, name in kernels:
        for form in FORMS:
            path = write_form(file, name, form, folder)
            if path is not None:
                found.append(Written(name, form, path))
    return found


def time_forms(kernels: Sequence[tuple[str, str]], folder: Path, fast_math: bool) -> Iterator[str]:
    """A line for every form of the kernels: `=`, or its time and how it compares with the best form's."""
    written = _write(kernels, folder)
    processes = len(os.sched_getaffinity(0))
    with ProcessPoolExecutor(processes) as pool:
        codes = dict(
            zip(written, pool.map(partial(_digest, fast_math=fast_math), written), strict=True)
        )
        bare = {each.kernel: codes[each] for each in written if each.form == BARE}
        first: dict[tuple[str, str], Written] = {}
        for each in written:
            first.setdefault((each.kernel, codes[each]), each)
        several = {k for k, code in first if code != bare[k]}
        timed = [each for each in first.values() if each.kernel in several]
    options = CompileOptions(target="nvptx", fast_math=fast_math)
    build_all(((each.path, options) for each in timed), processes)
    times = {each: _median(each, options) for each in timed}
    for each in written:
        time = times.get(first[each.kernel, codes[each]])
        text = "="
        if isinstance(time, str):
            text = time
        elif time is not None:
            alike = [
                t for e, t in times.items() if e.kernel == each.kernel and isinstance(t, float)
            ]
            text = f"{time:10.1f} µs {time / min(alike):6.2f} of the best form's"
        yield f"{each.kernel:14s} {each.form:26s} {text}"
