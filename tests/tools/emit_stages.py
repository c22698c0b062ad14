"""
Writes every stage of C files to a folder: the half of `compare_emit.py` that runs within one checkout.

    python emit_stages.py OUT < tasks.json

A task is `[name, path, target, stages]`; the text of a stage goes to `OUT/<name>.<target>.<stage>`, what the
compiler says of the file (warnings, remarks, the error that ended it) to `OUT/<name>.<target>.messages`.
It is kept apart because it names modules of the compiler, which each checkout has in places of its own.
"""

from __future__ import annotations

import json
import sys
import traceback
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from accopt.compiler.base.diagnostics import CompileError, DiagnosticSink, render
from accopt.compiler.base.options import CompileOptions, TargetName
from accopt.compiler.emit import TEXT_STAGES, emit_text
from accopt.compiler.executable import front_end
from accopt.compiler.ir.context import make_context
from accopt.compiler.ir.printing import print_ir
from accopt.compiler.pipeline import run_to_stage
from accopt.compiler.process import without_collection
from accopt.compiler.remarks import REMARKS_STAGE, remarks_of
from xdsl.dialects.builtin import ModuleOp


def emit(path: Path, target: TargetName, stages: Sequence[str], write) -> None:
    """Calls `write(stage, text)` for those of `stages` that `path` has for `target`, and for "messages"."""
    options = replace(CompileOptions(), target=target)
    sink = DiagnosticSink()

    def after_stage(stage: str, module: ModuleOp) -> None:
        if stage == REMARKS_STAGE:
            sink.diagnostics += remarks_of(module, target)
        if stage in stages:
            write(stage, print_ir(module))

    try:
        module = front_end([path], options, sink)
        if "acc" in stages:
            write("acc", print_ir(module))
        run_to_stage(make_context(), module, "nvvm", options, after_stage=after_stage)
        for stage in TEXT_STAGES:
            if stage in stages and (stage == "llvm" or target != "host"):
                write(stage, emit_text(module, stage, options))
    except CompileError as e:
        sink.diagnostics += e.diagnostics
    except Exception:
        write("messages", traceback.format_exc(limit=-1))
        return
    write("messages", "".join(render(d) + "\n" for d in sink.diagnostics))


def main() -> None:
    out = Path(sys.argv[1])
    sys.setrecursionlimit(20_000)
    with without_collection():
        for name, path, target, stages in json.load(sys.stdin):

            def write(stage: str, text: str, stem: str = f"{name}.{target}") -> None:
                (out / f"{stem}.{stage}").write_text(text, errors="surrogateescape")

            emit(Path(path), target, stages, write)


if __name__ == "__main__":
    main()
