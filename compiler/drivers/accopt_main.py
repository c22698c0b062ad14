"""
`accopt`: the pass driver. C or IR in, any stage of the pipeline out.

    accopt prog.c                          the acc-level IR
    accopt prog.c --emit=ptx               any stage, down to PTX, without a GPU
    accopt prog.c --emit=data -p 'schedule-loops{target=host}'
    accopt saved.mlir --emit=ptx           continues from the stage the file was saved at
    accopt test.mlir -p infer-data-attributes --split-input-file --verify-diagnostics
    accopt prog.c --emit=gpu --print-changes prints what each pass changed; --timing, --crash-reproducer
    accopt prog.c --stop-before widen-rows prints the input of a pass
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NoReturn

from xdsl.dialects.builtin import ModuleOp
from xdsl.utils.exceptions import (
    DiagnosticException,
    VerifyException,
)

from ...passes.ir.ops.messages import take_messages
from ..added_passes import available_passes, no_such_pass, parse_passes
from ..base.deep_stack import with_deep_stack
from ..base.diagnostics import (
    UNKNOWN_LOC,
    CompileError,
    DiagnosticSink,
    error,
    render,
)
from ..base.options import CompileOptions
from ..base.phase_table import add_timing, timed
from ..base.phases import LOADING, phase
from ..base.progress import telling_progress
from ..emit import TEXT_STAGES, emit_text, ptx_ahead
from ..executable import front_end
from ..internal_error import guarded, mistakes_in_ir
from ..ir.context import make_context
from ..ir.printing import print_ir
from ..ir.reading import check_saved, decode, parse_ir, read_ir_text
from ..pipeline import ACC, run_to_stage, stage_names, stage_of
from ..process import run_command, without_collection
from ..remarks import adds_remarks
from ..shared_work import share_device_work
from .driver_options import add_compile_arguments, add_version, compile_options
from .file_kinds import IR, refuse_machine_code, refuse_other_language
from .instrumentation import Instrumentation, PassWatch, pass_names
from .outputs import print_output, write_text
from .reporting import options_or_leave, report, require_no_failing, take_options

_EPILOG = """\
examples:
  accopt prog.c --emit=ptx                          kernels, without a GPU
  accopt prog.c --emit=scheduled --remarks          loops with their levels, and why
  accopt saved.mlir --emit=gpu                      IR of any stage goes on from there
  accopt prog.c --emit=data -p 'schedule-loops{rows=2}'
  accopt prog.c --emit=gpu --print-changes -o /dev/null

Exit status: 0; 1 for a mistake in the input; 2 for a mistake in the command line."""


def _argument_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="accopt",
        usage="accopt [OPTION ...] [FILE ...]",
        description="Compile OpenACC C to any stage of the pipeline, or run passes.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "inputs",
        nargs="*",
        metavar="FILE",
        help=".c files of one program, or one .mlir file (default: IR from standard input)",
    )
    add_version(parser)
    add_compile_arguments(parser)
    parser.add_argument(
        "--emit",
        metavar="STAGE",
        help="stage to print (default: acc, or the one IR was saved at): acc, data, scheduled,"
        " transformed, gpu or host, runtime, nvvm, " + ", ".join(TEXT_STAGES),
    )
    parser.add_argument(
        "-p", "--passes", default="", help="passes to run after reaching the stage, comma-separated"
    )
    parser.add_argument("-o", "--output", help="file to write instead of standard output")
    parser.add_argument(
        "--schedules",
        action="store_true",
        help="list the possible schedules of each construct of .c files, and the resources of their "
        "kernels if ptxas is installed",
    )
    parser.add_argument(
        "--split-input-file",
        action="store_true",
        help="treat the pieces between '// -----' as separate files",
    )
    parser.add_argument(
        "--verify-diagnostics",
        action="store_true",
        help="print errors to standard output and go on, with status 0 (for tests)",
    )
    _add_questions(parser)
    _add_watching(parser)
    return parser


def _add_questions(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("questions about passes")
    group.add_argument(
        "--list-passes", action="store_true", help="print all passes, each with a summary"
    )
    group.add_argument(
        "--help-pass", metavar="PASS", help="print the contract of a pass, and its options"
    )
    group.add_argument(
        "--list-stages",
        action="store_true",
        help="print the stages of the target's pipeline and the passes that lead to each",
    )


def _add_watching(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("watching passes (printed to standard error)")
    names: dict[str, Any] = {"metavar": "PASSES", "action": "append", "default": []}
    group.add_argument("--print-before", help="print the IR before these passes", **names)
    group.add_argument("--print-after", help="print the IR after these passes", **names)
    group.add_argument(
        "--print-before-all", action="store_true", help="print the IR before every pass"
    )
    group.add_argument(
        "--print-after-all", action="store_true", help="print the IR after every pass"
    )
    group.add_argument(
        "--print-changes", action="store_true", help="print what each pass changes, as a diff"
    )
    add_timing(group)
    group.add_argument(
        "--crash-reproducer",
        metavar="FILE",
        type=Path,
        help="when a pass fails, write the IR it began with, and the command to repeat it",
    )
    group.add_argument(
        "--stop-before",
        metavar="PASS",
        help="print the IR before this pass of the pipeline, and stop; saved IR continues with the pass",
    )
    group.add_argument("--print-debuginfo", action="store_true", help="print C locations")
    group.add_argument(
        "--print-op-generic", action="store_true", help="print IR in the generic syntax"
    )


def _watch(args: argparse.Namespace) -> PassWatch:
    known = available_passes() if args.print_before or args.print_after else {}
    before, after = pass_names(args.print_before), pass_names(args.print_after)
    for name in sorted((before | after) - known.keys()):
        raise no_such_pass(name, known)
    return PassWatch(
        before,
        after,
        args.print_before_all,
        args.print_after_all,
        args.print_changes,
        args.crash_reproducer,
    )


class AccoptMain:
    """One run of the driver; `run` returns the exit status."""

    def __init__(self, args: argparse.Namespace, options: CompileOptions):
        self.args = args
        self.options = options
        with phase(LOADING):
            self.ctx = make_context()
        self.sink = DiagnosticSink()
        self.passes = Instrumentation(_watch(args), debug_info=args.print_debuginfo)

    def process(self, module: ModuleOp, default_stage: str) -> str:
        stop: str | None = self.args.stop_before
        stage = self.args.emit or (stage_names(self.options.target)[-1] if stop else default_stage)
        text_stage = TEXT_STAGES.get(stage)
        kernels: str | None = None
        with ptx_ahead(self.options) as make_ptx:
            try:
                if text_stage and not stop and self.only_code():
                    kernels = share_device_work(
                        self.ctx,
                        module,
                        self.options,
                        run_pass=self.passes.run,
                        use_kernels=make_ptx if stage == "ptx" else len,
                    )
                run_to_stage(
                    self.ctx,
                    module,
                    text_stage or stage,
                    self.options,
                    self.passes.run,
                    adds_remarks(self.sink, self.options.target) if self.args.remarks else None,
                    stop_before=stop,
                    every_pass=not self.only_code(),
                )
            finally:
                self.sink.diagnostics += take_messages(module, wall=self.options.wall)
        if stage == "ptx" and self.options.target == "host":
            raise error(UNKNOWN_LOC, "the target 'host' has no PTX", "leave out --target=host")
        if self.args.passes:
            self.run_passes(module)
        if text_stage is not None and not stop:
            return emit_text(module, stage, self.options, kernels)
        with phase("(printing)"):
            return print_ir(
                module, debug_info=self.args.print_debuginfo, generic=self.args.print_op_generic
            )

    def only_code(self) -> bool:
        """Whether only the final code is wanted, and no IR of stages or passes."""
        return self.passes.watch == PassWatch() and not self.args.remarks and not self.args.passes

    def run_passes(self, module: ModuleOp) -> None:
        for module_pass in parse_passes(self.args.passes):
            self.passes.run(self.ctx, module_pass, module)
            module.verify()
        self.sink.diagnostics += take_messages(module, wall=self.options.wall)

    def inputs(self) -> list[tuple[str, str | None]]:
        """(name, IR text) of every piece to process; text None means C files."""
        names: list[str] = self.args.inputs
        if names and all(n.endswith(".c") for n in names):
            return [(names[0], None)]
        if len(names) > 1:
            raise error(
                UNKNOWN_LOC, "several inputs must all be .c files", "give one .mlir file at a time"
            )
        named = names and names[0] != "-"
        if named and not names[0].endswith(IR):
            refuse_other_language(Path(names[0]), "a file of C or IR")
            refuse_machine_code(Path(names[0]), "a file of C or IR")
        text = read_ir_text(Path(names[0])) if named else decode(sys.stdin.buffer.read(), "<stdin>")
        pieces = _split(text) if self.args.split_input_file else [text]
        return [(names[0] if names else "<stdin>", piece) for piece in pieces]

    def report(self) -> None:
        """Prints the collected diagnostics; raises a `CompileError` without diagnostics if there are errors
        among them."""
        said = list(self.sink.diagnostics)
        self.sink.diagnostics.clear()
        report(said)
        require_no_failing(said)

    def run_piece(self, name: str, text: str | None) -> str:
        if text is None:
            paths = [Path(name) for name in self.args.inputs]
            module = front_end(paths, self.options, self.sink)
            default_stage = ACC.name
        else:
            with phase("read IR"):
                module = parse_ir(self.ctx, text, name)
            default_stage = stage_of(module)
            if self.options.checks_ir:
                check_saved(module, default_stage)
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
                output.append("\n".join(map(render, mistakes_in_ir(e))) + "\n")
            finally:
                self.report()
        self.passes.report()
        write_text(Path(self.args.output) if self.args.output else None, "".join(output))
        return 0


def _split(text: str) -> list[str]:
    """The pieces between `// -----`, each with the empty lines before it that keep its line numbers."""
    pieces: list[str] = []
    line = 0
    for piece in text.split("// -----"):
        pieces.append("\n" * line + piece)
        line += piece.count("\n")
    return pieces


def main(argv: Sequence[str] | None = None) -> int:
    """Entry point of the `accopt` command. Returns the exit status."""
    own = options_or_leave(lambda _: take_options(sys.argv[1:] if argv is None else argv))
    args = _argument_parser().parse_args(own)
    with without_collection():
        return guarded(lambda: _run(args))


def command() -> NoReturn:
    """The `accopt` command: runs `main` and ends the process."""
    run_command(main)


def _print_schedules(args: argparse.Namespace, options: CompileOptions) -> int:
    from .schedule_report import render_space, schedule_space

    if not args.inputs or not all(name.endswith(".c") for name in args.inputs):
        raise error(UNKNOWN_LOC, "--schedules takes .c files", "give the program's C files")
    print_output(render_space(schedule_space([Path(n) for n in args.inputs], options)))
    return 0


def _answer(args: argparse.Namespace) -> str | None:
    """The answer to an option that asks about passes; None without one."""
    if not (args.list_passes or args.help_pass or args.list_stages):
        return None
    from .pass_help import describe_pass, list_passes, list_stages

    if args.list_passes:
        return list_passes()
    return describe_pass(args.help_pass) if args.help_pass else list_stages(compile_options(args))


@with_deep_stack
def _run(args: argparse.Namespace) -> int:
    try:
        answer = _answer(args)
        if answer is not None:
            print_output(answer)
            return 0
        if args.schedules:
            return _print_schedules(args, compile_options(args))
        with telling_progress(), timed(wanted=args.timing):
            return AccoptMain(args, compile_options(args)).run()
    except (CompileError, VerifyException, DiagnosticException) as e:
        report(mistakes_in_ir(e))
        return 1
    except BrokenPipeError:
        return 1


if __name__ == "__main__":
    command()
