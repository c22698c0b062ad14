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

from xdsl.utils.exceptions import DiagnosticException, VerifyException

from ..base.deep_stack import with_deep_stack
from ..base.diagnostics import UNKNOWN_LOC, CompileError, DiagnosticSink, error
from ..base.options import CompileOptions
from ..base.phase_table import add_timing, timed
from ..base.phases import LOADING, phase
from ..base.progress import telling_progress
from ..executable import FrontEnd
from ..internal_error import guarded, mistakes_in_ir
from ..process import run_command, without_collection
from .c_options import with_languages
from .driver_options import add_compile_arguments, add_version, compile_options
from .file_kinds import language_of
from .outputs import print_output
from .reporting import options_or_leave, report, take_options

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
        help=".c and .i files of one program, or one .mlir file (default: IR from standard input)",
    )
    add_version(parser)
    add_compile_arguments(parser)
    parser.add_argument(
        "--emit",
        metavar="STAGE",
        help="stage to print (default: acc, or the one IR was saved at): acc, data, scheduled,"
        " transformed, gpu or host, runtime, nvvm, llvm, device-llvm, ptx",
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


def main(argv: Sequence[str] | None = None) -> int:
    """Entry point of the `accopt` command. Returns the exit status."""
    given = sys.argv[1:] if argv is None else argv
    own = options_or_leave(lambda _: with_languages(take_options(given)))
    args = _argument_parser().parse_args(own)
    with without_collection():
        return guarded(lambda: _run(args))


def command() -> NoReturn:
    """The `accopt` command: runs `main` and ends the process."""
    run_command(main)


def _print_schedules(args: argparse.Namespace, options: CompileOptions) -> int:
    from .schedule_report import render_space, schedule_space

    files = _c_files(args)
    if not files:
        raise error(UNKNOWN_LOC, "--schedules takes C files", "give the program's C files")
    print_output(render_space(schedule_space(files, options)))
    return 0


def _c_files(args: argparse.Namespace) -> list[Path]:
    """The inputs if all of them are C, preprocessed or not, by `-x` or their names; otherwise none."""
    paths = [Path(name) for name in args.inputs]
    return paths if all(language_of(path, args.languages) for path in paths) else []


def _answer(args: argparse.Namespace) -> str | None:
    """The answer to an option that asks about passes; None without one."""
    if not (args.list_passes or args.help_pass or args.list_stages):
        return None
    from .pass_help import describe_pass, list_passes, list_stages

    if args.list_passes:
        return list_passes()
    return describe_pass(args.help_pass) if args.help_pass else list_stages(compile_options(args))


def _compile(args: argparse.Namespace, options: CompileOptions) -> int:
    sink = DiagnosticSink()
    files = _c_files(args)
    front_end = FrontEnd(files, options, sink).module if files else None
    with phase(LOADING):  # while a copy of this process checks the files
        from .accopt_run import AccoptRun
    return AccoptRun(args, options, sink, front_end).run()


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
            return _compile(args, compile_options(args))
    except (CompileError, VerifyException, DiagnosticException) as e:
        report(mistakes_in_ir(e))
        return 1


if __name__ == "__main__":
    command()
