"""
`accrun`: compile and run a whole OpenACC C program, on a GPU or without one.

    accrun prog.c more.c -- arguments of the program
    accrun --target=host -DN=1000 prog.c

The program's standard input and output, environment and exit status are its own; a program that
does not compile exits with status 1 before anything runs.
"""

from __future__ import annotations

import argparse
import ctypes
import os
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NoReturn

from ..runtime.errors import AccRuntimeError
from ..runtime.trace import TraceOptions
from .at_exit import AtExit
from .diagnostics import UNKNOWN_LOC, CompileError, DiagnosticSink, error, render
from .driver_options import add_compile_arguments, options_from_arguments
from .internal_error import guarded

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp

    from .api import Program


def _argument_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="accrun",
        usage="accrun [options] FILE.c [FILE.c …] [-- ARGUMENT …]",
        description="Compile and run an OpenACC C program.",
        epilog="Exit status: the program's; 1 if it does not compile or its device fails; "
        "2 for a mistake in the command line.",
    )
    parser.add_argument("sources", nargs="+", metavar="FILE.c", help="C files of the program")
    add_compile_arguments(parser, auto_target=True)
    group = parser.add_argument_group("running")
    group.add_argument(
        "-l",
        dest="libraries",
        metavar="NAME",
        action="append",
        default=[],
        help="shared library to link, by name or path",
    )
    group.add_argument(
        "-L",
        dest="library_dirs",
        metavar="DIR",
        action="append",
        default=[],
        help="folder to look for libraries in",
    )
    group.add_argument(
        "--device",
        type=int,
        default=None,
        metavar="N",
        help="number of the GPU (default: ACC_DEVICE_NUM, or 0)",
    )
    group.add_argument(
        "--threads", type=int, default=0, metavar="N", help="CPU threads (host target; 0: all)"
    )
    group.add_argument(
        "--shared-memory", action="store_true", help="host target: no separate device memory"
    )
    group.add_argument(
        "--no-checks", action="store_true", help="sim target: no search for races and unset memory"
    )
    group.add_argument(
        "--report", action="store_true", help="sim target: costs of every source line, to stderr"
    )
    group.add_argument(
        "--compression-report",
        action="store_true",
        help="at exit: range, errors and saturated values of every compressed array",
    )
    return parser


def _split_arguments(argv: Sequence[str]) -> tuple[list[str], list[str]]:
    if "--" in argv:
        at = list(argv).index("--")
        return list(argv[:at]), list(argv[at + 1 :])
    return list(argv), []


def _report(sink: DiagnosticSink) -> None:
    for diagnostic in sink.diagnostics:
        print(render(diagnostic), file=sys.stderr)
    sink.diagnostics.clear()


def _run(args: argparse.Namespace, program_arguments: list[str]) -> int:
    from .api import Program, RunOptions, choose_target
    from .executable import build

    sink = DiagnosticSink()

    def after_stage(stage: str, module: ModuleOp) -> None:
        from .remarks import REMARKS_STAGE, remarks_of

        if stage == REMARKS_STAGE:
            sink.diagnostics += remarks_of(module, options.target)

    number = args.device if args.device is not None else _device_number()
    wanted = _device_type() if args.target == "auto" else args.target
    args.target, capability = choose_target(wanted, number)
    options = options_from_arguments(args)
    if capability is not None and args.sm is None:
        options = replace(options, sm=capability)
    trace = TraceOptions.from_environment(os.environ)
    if args.compression_report:
        trace = replace(trace, compression=True)
    try:
        executable = build(
            [Path(s) for s in args.sources], options, sink, after_stage if args.remarks else None
        )
    finally:
        _report(sink)
    run_options = RunOptions(
        device_number=number,
        libraries=tuple(args.libraries),
        library_folders=tuple(args.library_dirs),
        threads=args.threads,
        shared_memory=args.shared_memory,
        checks=not args.no_checks,
        counters=args.report,
        trace=trace,
        profile_libraries=tuple(filter(None, os.environ.get("ACC_PROFLIB", "").split(";"))),
    )
    program = Program(executable, run_options)
    report = AtExit(lambda status: _simulated(program, status)) if options.target == "sim" else None
    status = program.main([args.sources[0], *program_arguments])
    if report is not None:
        status = report(status)
    program.close()
    return status


def _simulated(program: Program, status: int) -> int:
    """Prints the simulator's report, if it made one; its findings turn success into failure."""
    from ..runtime.sim.counters import table

    lines = program.simulator.lines
    if lines:
        print(table(lines), file=sys.stderr)
    return status or int(bool(program.simulator.findings))


def _device_type() -> Literal["auto", "nvptx", "host"]:
    """The target that the environment variable ACC_DEVICE_TYPE asks for (OpenACC 3.4, 4.1)."""
    text = os.environ.get("ACC_DEVICE_TYPE", "")
    match text.lower().removeprefix("acc_device_"):
        case "" | "default":
            return "auto"
        case "host" | "multicore":
            return "host"
        case "nvidia" | "not_host":
            return "nvptx"
        case _:
            raise error(
                UNKNOWN_LOC,
                f"ACC_DEVICE_TYPE is '{text}', which is no device of this implementation",
                "set it to nvidia, host or default",
            )


def _device_number() -> int:
    text = os.environ.get("ACC_DEVICE_NUM", "0")
    if not text.isdigit():
        raise error(UNKNOWN_LOC, f"ACC_DEVICE_NUM is '{text}'", "set it to a device number")
    return int(text)


def _leave(status: int) -> NoReturn:
    """Ends the process as a C program does: C's buffers are written, `atexit` functions run."""
    sys.stdout.flush()
    sys.stderr.flush()
    ctypes.CDLL(None).exit(status)
    raise AssertionError("exit returned")


def main(argv: Sequence[str] | None = None) -> int:
    """Entry point of the `accrun` command. Leaves the process with the program's exit status."""
    own, program_arguments = _split_arguments(sys.argv[1:] if argv is None else argv)
    args = _argument_parser().parse_args(own)
    return guarded(lambda: _run_and_leave(args, program_arguments))


def _run_and_leave(args: argparse.Namespace, program_arguments: list[str]) -> int:
    try:
        status = _run(args, program_arguments)
    except CompileError as e:
        print("\n".join(render(d) for d in e.diagnostics), file=sys.stderr)
        return 1
    except AccRuntimeError as e:
        print(e.render(), file=sys.stderr)
        return 1
    _leave(status)


if __name__ == "__main__":
    sys.exit(main())
