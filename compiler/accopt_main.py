"""
`accopt`: the pass driver. C or IR in, any stage of the pipeline out.

    accopt prog.c                          the acc-level IR
    accopt prog.c --emit=ptx               any stage, down to PTX, without a GPU
    accopt prog.c --emit=data -p 'schedule-loops{target=host}'
    accopt saved.mlir --emit=ptx           continues from the stage the file was saved at
    accopt test.mlir -p infer-data-attributes --split-input-file --verify-diagnostics
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.parser import Parser
from xdsl.passes import ModulePass
from xdsl.utils.exceptions import (
    DiagnosticException,
    ParseError,
    VerifyException,
)

from ..passes.registry import all_passes
from .added_passes import parse_passes
from .diagnostics import (
    UNKNOWN_LOC,
    CompileError,
    Diagnostic,
    DiagnosticSink,
    Severity,
    error,
    render,
)
from .driver_options import add_compile_arguments, compile_options
from .emit import TEXT_STAGES, emit_text
from .executable import front_end
from .internal_error import guarded
from .ir.context import make_context
from .ir.printing import print_ir
from .options import CompileOptions
from .pipeline import ACC, run_to_stage, stage_of
from .remarks import REMARKS_STAGE, remarks_of


def _argument_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="accopt",
        description="Compile OpenACC C to any stage of the pipeline, or run passes.",
        epilog="Exit status: 0; 1 for a mistake in the input; 2 for a mistake in the command line.",
    )
    parser.add_argument(
        "inputs",
        nargs="*",
        metavar="FILE",
        help=".c files of one program, or one .mlir file (default: IR from standard input)",
    )
    add_compile_arguments(parser)
    parser.add_argument(
        "--emit",
        metavar="STAGE",
        help="stage to print: acc, data, scheduled, transformed, gpu or host, runtime, nvvm, "
        + ", ".join(TEXT_STAGES),
    )
    parser.add_argument(
        "-p", "--passes", default="", help="passes to run after reaching the stage, comma-separated"
    )
    parser.add_argument("-o", "--output", help="file to write instead of standard output")
    parser.add_argument(
        "--schedules",
        action="store_true",
        help="list the schedules that each construct of .c files may have, and what their kernels "
        "need if ptxas is installed",
    )
    parser.add_argument("--list-passes", action="store_true", help="print the names of all passes")
    parser.add_argument(
        "--print-after-all", action="store_true", help="print the IR after every pass to stderr"
    )
    parser.add_argument("--print-debuginfo", action="store_true", help="print C locations")
    parser.add_argument(
        "--split-input-file", action="store_true", help="treat pieces between '// -----' apart"
    )
    parser.add_argument(
        "--verify-diagnostics",
        action="store_true",
        help="print errors to standard output and go on, with status 0 (for tests)",
    )
    return parser


def _parse_ir(ctx: Context, text: str, name: str) -> ModuleOp:
    try:
        module = Parser(ctx, text, name).parse_module()
        module.verify()
    except ParseError as e:
        raise error(
            UNKNOWN_LOC, f"cannot parse IR: {e}", "check the text at the place shown"
        ) from e
    return module


class AccoptMain:
    """One run of the driver; `run` returns the exit status."""

    def __init__(self, args: argparse.Namespace, options: CompileOptions):
        self.args = args
        self.options = options
        self.ctx = make_context()
        self.sink = DiagnosticSink()
        self.out = sys.stdout

    def after_pass(self, module_pass: ModulePass, module: ModuleOp) -> None:
        if self.args.print_after_all:
            print(f"// IR after {module_pass.name}:", file=sys.stderr)
            print(print_ir(module), file=sys.stderr)

    def after_stage(self, stage: str, module: ModuleOp) -> None:
        if self.args.remarks and stage == REMARKS_STAGE:
            self.sink.diagnostics += remarks_of(module, self.options.target)

    def process(self, module: ModuleOp, default_stage: str) -> str:
        stage = self.args.emit or default_stage
        text_stage = TEXT_STAGES.get(stage)
        run_to_stage(
            self.ctx, module, text_stage or stage, self.options, self.after_pass, self.after_stage
        )
        if stage == "ptx" and self.options.target == "host":
            raise error(UNKNOWN_LOC, "the target 'host' has no PTX", "leave out --target=host")
        if self.args.passes:
            self.run_passes(module)
        if text_stage is not None:
            return emit_text(module, stage, self.options)
        return print_ir(module, debug_info=self.args.print_debuginfo)

    def run_passes(self, module: ModuleOp) -> None:
        for module_pass in parse_passes(self.args.passes):
            module_pass.apply(self.ctx, module)
            self.after_pass(module_pass, module)
            module.verify()

    def inputs(self) -> list[tuple[str, str | None]]:
        """(name, IR text) of every piece to process; text None means C files."""
        names: list[str] = self.args.inputs
        if names and all(n.endswith(".c") for n in names):
            return [(names[0], None)]
        if len(names) > 1:
            raise error(
                UNKNOWN_LOC, "several inputs must all be .c files", "give one .mlir file at a time"
            )
        try:
            text = Path(names[0]).read_text() if names and names[0] != "-" else sys.stdin.read()
        except OSError as e:
            raise error(
                UNKNOWN_LOC, f"cannot read '{names[0]}': {e.strerror}", "check the path"
            ) from e
        pieces = text.split("// -----") if self.args.split_input_file else [text]
        return [(names[0] if names else "<stdin>", piece) for piece in pieces]

    def report(self) -> None:
        for diagnostic in self.sink.diagnostics:
            print(render(diagnostic), file=sys.stderr)
        self.sink.diagnostics.clear()

    def run_piece(self, name: str, text: str | None) -> str:
        if text is None:
            paths = [Path(name) for name in self.args.inputs]
            module = front_end(paths, self.options, self.sink)
            default_stage = ACC.name
        else:
            module = _parse_ir(self.ctx, text, name)
            default_stage = stage_of(module)
        return self.process(module, default_stage)

    def run(self) -> int:
        output: list[str] = []
        for i, (name, text) in enumerate(self.inputs()):
            if i > 0:
                output.append("// -----\n")
            try:
                output.append(self.run_piece(name, text))
            except (CompileError, VerifyException, DiagnosticException) as e:
                if not self.args.verify_diagnostics:
                    raise
                output.append(_error_text(e) + "\n")
            finally:
                self.report()
        self.write("".join(output))
        return 0

    def write(self, text: str) -> None:
        if not self.args.output:
            sys.stdout.write(text)
            return
        try:
            Path(self.args.output).write_text(text)
        except OSError as e:
            message = f"cannot write '{self.args.output}': {e.strerror}"
            raise error(UNKNOWN_LOC, message, "check the path") from e


def _error_text(e: Exception) -> str:
    if isinstance(e, CompileError):
        return "\n".join(render(d) for d in e.diagnostics)
    return render(Diagnostic(Severity.ERROR, UNKNOWN_LOC, f"invalid IR: {e}"))


def main(argv: Sequence[str] | None = None) -> int:
    """Entry point of the `accopt` command. Returns the exit status."""
    args = _argument_parser().parse_args(argv)
    if args.list_passes:
        print("\n".join(all_passes()))
        return 0
    return guarded(lambda: _run(args))


def _print_schedules(args: argparse.Namespace, options: CompileOptions) -> int:
    from .schedule_report import render_space, schedule_space

    if not args.inputs or not all(name.endswith(".c") for name in args.inputs):
        raise error(UNKNOWN_LOC, "--schedules takes .c files", "give the program's C files")
    sys.stdout.write(render_space(schedule_space([Path(n) for n in args.inputs], options)))
    return 0


def _run(args: argparse.Namespace) -> int:
    try:
        if args.schedules:
            return _print_schedules(args, compile_options(args))
        return AccoptMain(args, compile_options(args)).run()
    except (CompileError, VerifyException, DiagnosticException) as e:
        print(_error_text(e), file=sys.stderr)
        return 1
    except BrokenPipeError:
        return 1


if __name__ == "__main__":
    sys.exit(main())
