"""
One compilation in a process of its own: `python -m benchmarks.compile_time.child TARGET [-I…] [-D…] FILE …`
prints a line of JSON. `phases` is the tree of `compiler/base/phases.py` as `[name, seconds, own, before,
after, inside, peak]`, `peak` the most memory in MB (of a phase: until its end), `others` the seconds of
processes it started (ptxas), `output` the bytes of LLVM IR and PTX.
"""

from __future__ import annotations

import gc
import json
import resource
import sys
from pathlib import Path
from typing import Any

from accopt.compiler.base.command import begin_command
from accopt.compiler.base.diagnostics import CompileError, DiagnosticSink
from accopt.compiler.base.options import CompileOptions
from accopt.compiler.base.phases import Phase, recording
from accopt.compiler.executable import build


def as_list(phase: Phase) -> list[Any]:
    before, after = phase.sizes or (None, None)
    inside = [as_list(inner) for inner in phase.inside.values()]
    return [phase.name, phase.seconds, phase.own, before, after, inside, phase.peak]


def count(module: Any) -> int:
    """Operations of the IR."""
    return sum(1 for _ in module.walk())


def main() -> None:
    target, *arguments = sys.argv[1:]
    options = CompileOptions(
        target="host" if target == "host" else "nvptx",
        include_dirs=tuple(Path(a[2:]) for a in arguments if a.startswith("-I")),
        defines=tuple(a[2:] for a in arguments if a.startswith("-D")),
    )
    files = [Path(a) for a in arguments if not a.startswith("-")]
    begin_command()
    gc.disable()  # as the commands do
    answer: dict[str, Any] = {}
    with recording(count) as phases:
        try:
            made = build(files, options, DiagnosticSink(), cached=False)
            answer["output"] = len(made.host_ir) + len(made.ptx)
        except CompileError as e:
            answer["error"] = e.diagnostics[0].message
    answer["phases"] = as_list(phases)
    others = resource.getrusage(resource.RUSAGE_CHILDREN)
    answer["others"] = others.ru_utime + others.ru_stime
    answer["peak"] = phases.peak
    print(json.dumps(answer))


if __name__ == "__main__":
    main()
